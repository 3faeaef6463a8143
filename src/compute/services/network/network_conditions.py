"""What the network service says of its objects."""

from collections.abc import Iterable
from typing import Final

from compute.api.conditions import ConditionType, NeighbourCondition
from compute.api.reasons import NeighbourReason, Reason
from kubekit.api.meta import EPOCH, Condition, ConditionStatus

ALLOCATED: Final = NeighbourCondition.ALLOCATED
PROGRAMMED: Final = ConditionType.PROGRAMMED
READY: Final = ConditionType.READY


def said(
    kind: str, status: ConditionStatus, reason: str, message: str, generation: int
) -> Condition:
    """A condition. Since when it is so is found out when it is put beside the others."""
    return Condition(
        type=kind,
        status=status,
        reason=reason,
        message=message,
        observed_generation=generation,
        last_transition_time=EPOCH,
    )


def refused(kinds: Iterable[str], reason: str, why: str, generation: int) -> tuple[Condition, ...]:
    """The same refusal for each of these."""
    return tuple(said(kind, "False", reason, why, generation) for kind in kinds)


def usable(account: str, generation: int) -> Condition:
    """Ready, of what can be used; ``account`` says of a network that is being deleted that it is."""
    reason = Reason.NETWORK_TERMINATING if account else Reason.READY
    return said(READY, "True", reason, account or "The network can be used", generation)


def subnet_ready(addresses: str, generation: int) -> tuple[Condition, ...]:
    """What a Subnet says that can be used."""
    return (
        said(ALLOCATED, "True", NeighbourReason.PREFIX_ALLOCATED, addresses, generation),
        said(PROGRAMMED, "True", Reason.PROGRAMMED, "The subnet is set up", generation),
        said(READY, "True", Reason.READY, "The subnet can be used", generation),
    )


def claim_ready(addresses: str, generation: int) -> tuple[Condition, ...]:
    """What a claim says that has its Subnet."""
    return (
        said(ALLOCATED, "True", NeighbourReason.PREFIX_ALLOCATED, addresses, generation),
        said(PROGRAMMED, "True", Reason.PROGRAMMED, "The subnet is set up", generation),
        said(READY, "True", NeighbourReason.SUBNET_READY, "The subnet can be used", generation),
    )
