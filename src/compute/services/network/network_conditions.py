"""The conditions of the objects of the network service."""

from collections.abc import Iterable
from typing import Final

from compute.api.conditions import ConditionType, NeighbourCondition
from compute.api.reasons import NeighbourReason, Reason
from kubekit.api.meta import EPOCH, Condition, ConditionStatus

ALLOCATED: Final = NeighbourCondition.ALLOCATED
PROGRAMMED: Final = ConditionType.PROGRAMMED
READY: Final = ConditionType.READY


def condition(
    kind: str, status: ConditionStatus, reason: str, message: str, generation: int
) -> Condition:
    """A condition. `put` sets its transition time."""
    return Condition(
        type=kind,
        status=status,
        reason=reason,
        message=message,
        observed_generation=generation,
        last_transition_time=EPOCH,
    )


def refused(
    kinds: Iterable[str], reason: str, message: str, generation: int
) -> tuple[Condition, ...]:
    """The same refusal in each of these condition types."""
    return tuple(condition(kind, "False", reason, message, generation) for kind in kinds)


def usable(terminating: str, generation: int) -> Condition:
    """Ready; ``terminating`` is the message of a network that is being deleted, else empty."""
    reason = Reason.NETWORK_TERMINATING if terminating else Reason.READY
    return condition(READY, "True", reason, terminating or "The network can be used", generation)


def subnet_ready(addresses: str, generation: int) -> tuple[Condition, ...]:
    """The conditions of a Subnet that can be used."""
    return (
        condition(ALLOCATED, "True", NeighbourReason.PREFIX_ALLOCATED, addresses, generation),
        condition(PROGRAMMED, "True", Reason.PROGRAMMED, "The subnet is set up", generation),
        condition(READY, "True", Reason.READY, "The subnet can be used", generation),
    )


def claim_ready(addresses: str, generation: int) -> tuple[Condition, ...]:
    """The conditions of a claim that has its Subnet."""
    return (
        condition(ALLOCATED, "True", NeighbourReason.PREFIX_ALLOCATED, addresses, generation),
        condition(PROGRAMMED, "True", Reason.PROGRAMMED, "The subnet is set up", generation),
        condition(
            READY, "True", NeighbourReason.SUBNET_READY, "The subnet can be used", generation
        ),
    )
