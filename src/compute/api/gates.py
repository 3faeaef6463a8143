"""Scheduling gates: what an Instance waits for before it is started. One row for each gate.

Every decision that depends on gates reads this table: rollout (the gates of a new Instance, and how
many Instances start at once), readiness (Ready while a gate is closed), ranking (the rank of its
reasons), rollup (the deployment's ReplicasReady), settling (which reports may be delayed) and
explain. `docs/decide.md` lists what else a new gate needs.
"""

from collections.abc import Mapping
from functools import cached_property
from typing import Final

import msgspec

from compute.api.conditions import ConditionType
from compute.api.reason_types import Rank
from compute.api.reasons import Reason

NETWORK: Final = "Network"
QUOTA: Final = "Quota"
REFERENCED_DATA: Final = "ReferencedData"


class Gate(msgspec.Struct, frozen=True, kw_only=True):
    """A scheduling gate, and the condition that explains it.

    ``on_binding``: the condition is on the Instance's NetworkBinding; else on the Instance itself.

    ``is_initial``: Instances are created with it, unless it could be opened at once.

    ``is_service``: a service that all cells share answers it. A rollout limits how many Instances
    wait for the service at a time (the admission window), and an answer that is not True is reported
    at once.

    ``undecided`` is the reason while there is no answer yet; ``reasons`` are those that keep the
    gate closed, ranked by ``rank``.

    ``denial`` is the reason that the provider's conditions and Ready take while the condition is
    False, so that a denial stops an Instance at any time. Without it, only Ready takes the
    condition's own reason.

    ``replicas_reason`` is the reason of the deployment's ReplicasReady while the condition is False,
    and the condition's own where it is None; ``reported_first`` is reported before all others.
    ``on_deployment`` translates reasons of an Instance for its deployment's Available.
    """

    name: str
    condition: str
    rank: Rank
    reasons: tuple[str, ...]
    waiting: str  # the message while the condition has none
    opened: str  # by which controller, and when
    undecided: str | None = None
    on_binding: bool = False
    is_initial: bool = False
    is_service: bool = False
    denial: str | None = None
    replicas_reason: str | None = None
    reported_first: str | None = None
    on_deployment: Mapping[str, str] = msgspec.field(default_factory=dict)


class GateTable(msgspec.Struct, frozen=True, dict=True):
    """The gates, in the order in which an Instance lists them."""

    gates: tuple[Gate, ...]

    @cached_property
    def by_name(self) -> Mapping[str, Gate]:
        return {gate.name: gate for gate in self.gates}

    @cached_property
    def on_instances(self) -> tuple[Gate, ...]:
        """The gates whose condition is on the Instance."""
        return tuple(gate for gate in self.gates if not gate.on_binding)

    @cached_property
    def services(self) -> tuple[Gate, ...]:
        """The gates on Instances that a shared service answers."""
        return tuple(gate for gate in self.on_instances if gate.is_service)

    @cached_property
    def answered(self) -> tuple[Gate, ...]:
        """The gates that others answer, a service or the network; the highest rank first."""
        answered = (gate for gate in self.gates if gate.is_service or gate.on_binding)
        return tuple(sorted(answered, key=lambda gate: -gate.rank))

    @cached_property
    def reporting(self) -> tuple[Gate, ...]:
        """The gates whose conditions explain an Instance at any time, whether they are open or not."""
        return tuple(gate for gate in self.on_instances if not gate.is_service)

    @cached_property
    def denying(self) -> tuple[Gate, ...]:
        """The gates on Instances whose condition overrides the provider's while it is False."""
        return tuple(gate for gate in self.on_instances if gate.denial is not None)

    @cached_property
    def initial(self) -> tuple[str, ...]:
        """The names of the gates that Instances are created with."""
        return tuple(gate.name for gate in self.gates if gate.is_initial)

    @cached_property
    def ranks(self) -> Mapping[str, Rank]:
        """The rank of each reason that keeps a gate closed."""
        return {reason: gate.rank for gate in self.gates for reason in gate.reasons}

    @cached_property
    def on_deployment(self) -> Mapping[str, str]:
        """What a deployment reports for a reason of its Instances, where that differs."""
        return {old: new for gate in self.gates for old, new in gate.on_deployment.items()}


TABLE: Final = GateTable(
    (
        Gate(
            name=NETWORK,
            condition=ConditionType.READY,
            on_binding=True,
            rank=Rank.NETWORK,
            reasons=(Reason.NETWORK_PROVISIONING, Reason.NO_MATCHING_LOCATION),
            waiting="The network is not ready in the city yet.",
            opened="by the cell's deployment controller, once the deployment's networks are ready",
            is_initial=True,
        ),
        Gate(
            name=QUOTA,
            condition=ConditionType.QUOTA_GRANTED,
            rank=Rank.QUOTA,
            undecided=Reason.PENDING_EVALUATION,
            reasons=(
                Reason.PENDING_QUOTA,
                Reason.QUOTA_BACKEND_UNAVAILABLE,
                Reason.QUOTA_EXCEEDED,
                Reason.QUOTA_MISCONFIGURED,
                Reason.QUOTA_NAMESPACE_NOT_FOUND,
                Reason.QUOTA_NO_BUDGET,
                Reason.QUOTA_NOT_GRANTED,
                Reason.QUOTA_PROJECT_ID_UNRESOLVABLE,
                Reason.QUOTA_PROJECT_NOT_FOUND,
                Reason.VALIDATION_FAILED,
            ),
            waiting="The quota service has not answered yet.",
            opened="by the cell's instance controller, once the Instance's claim is granted",
            is_initial=True,
            is_service=True,
            denial=Reason.PENDING_QUOTA,
            reported_first=Reason.QUOTA_EXCEEDED,
            # Only a refusal by the project's own budget becomes QuotaNotGranted. A fault of the quota
            # service keeps its reason: otherwise users would request quota that they already have.
            # PendingQuota only points to the QuotaGranted condition, which has the cause.
            on_deployment={
                Reason.QUOTA_EXCEEDED: Reason.QUOTA_NOT_GRANTED,
                Reason.PENDING_QUOTA: Reason.INSTANCES_PROVISIONING,
            },
        ),
        Gate(
            name=REFERENCED_DATA,  # only later releases of the original create Instances with it
            condition=ConditionType.REFERENCED_DATA_READY,
            rank=Rank.DATA,
            reasons=(
                Reason.AWAITING_PROPAGATION,
                Reason.REFERENCED_DATA_NOT_READY,
                Reason.RESOLVING,
            ),
            waiting="Not every ConfigMap and Secret is in the city yet.",
            opened="by later releases, once every ConfigMap and Secret is in the city",
            replicas_reason=Reason.AWAITING_PROPAGATION,
        ),
    )
)
