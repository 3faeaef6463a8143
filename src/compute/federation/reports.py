"""The status of bindings and Works, as pure functions. Equal states give equal messages.

The status of the object itself is aggregated in `interpreter`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

import msgspec

from compute.api.conditions import ConditionType, NeighbourCondition
from compute.api.karmada import MemberCluster as Member
from compute.api.karmada_work import (
    AggregatedStatusItem,
    ManifestStatus,
    ResourceBinding,
    ResourceBindingStatus,
    ResourceIdentifier,
    Work,
    WorkStatus,
)
from compute.api.neighbour_reasons import NeighbourReason
from compute.decide.conditions import find, put
from compute.decide.federation.scheduling import NoFit, Placed
from compute.federation import interpreter
from kubekit.api.meta import EPOCH, Condition, ConditionStatus, Object, with_status

_SCHEDULED: Final = "the clusters are chosen"
_FULLY_APPLIED: Final = "every cluster has its copy"
_APPLIED: Final = "the cell has the manifests of this Work"
_DISPATCHING: Final = "the hub sends the manifests to the cell"
_SUSPENDED: Final = "the policy has suspended dispatching to the cell; instances there keep running"


@dataclass(frozen=True, slots=True)
class ManifestOutcome:
    """The result of applying one manifest in a cell: the copy, or why this Work has none."""

    copy: Object | None
    error: str = ""


def binding_status(
    binding: ResourceBinding,
    verdict: Placed | NoFit | None,
    works: Mapping[str, Work],
    now: datetime,
) -> ResourceBindingStatus:
    """The status of a binding whose clusters have these Works. A cluster may have none yet.

    Without a verdict the condition Scheduled stays: scheduling is suspended, or another scheduler
    decides.
    """
    status, generation = binding.status, binding.metadata.generation
    items = tuple(
        _item(cluster.name, works[cluster.name])
        for cluster in binding.spec.clusters
        if cluster.name in works and _applied(works[cluster.name])
    )
    updates = [_scheduled(verdict)] if verdict else []
    if binding.spec.clusters and len(items) == len(binding.spec.clusters):
        updates.append(_fully_applied(items))
    status = msgspec.structs.replace(
        status, conditions=put(status.conditions, updates, now), aggregated_status=items
    )
    if verdict is None or status.scheduler_observed_generation == generation:
        return status
    return msgspec.structs.replace(
        status,
        scheduler_observed_generation=generation,
        last_scheduled_time=now.replace(microsecond=0),
    )


def work_status(work: Work, outcomes: Sequence[ManifestOutcome], now: datetime) -> WorkStatus:
    """The status of a Work with an outcome for each of its manifests."""
    error = "; ".join(outcome.error for outcome in outcomes if outcome.error)
    applied = _condition(
        NeighbourCondition.APPLIED,
        "False" if error else "True",
        NeighbourReason.APPLIED_FAILED if error else NeighbourReason.APPLIED_SUCCESSFUL,
        error or _APPLIED,
    )
    updates = msgspec.structs.replace(applied, observed_generation=work.metadata.generation)
    statuses = tuple(
        _manifest_status(ordinal, outcome.copy)
        for ordinal, outcome in enumerate(outcomes)
        if outcome.copy is not None
    )
    return msgspec.structs.replace(
        work.status,
        conditions=put(work.status.conditions, [_dispatching(held=False), updates], now),
        manifest_statuses=statuses,
    )


def held_status(work: Work, copies: Sequence[Object | None], now: datetime) -> WorkStatus:
    """The status of a suspended Work: the state of the existing copies.

    The condition Applied stays as it was, and so does the last status of a copy that is gone.
    """
    known = {each.identifier.ordinal: each for each in work.status.manifest_statuses}
    known |= {
        ordinal: _manifest_status(ordinal, copy)
        for ordinal, copy in enumerate(copies)
        if copy is not None
    }
    return msgspec.structs.replace(
        work.status,
        conditions=put(work.status.conditions, [_dispatching(held=True)], now),
        manifest_statuses=tuple(known[ordinal] for ordinal in sorted(known)),
    )


def with_ready(
    member: Member, ready: ConditionStatus, reason: NeighbourReason, message: str, now: datetime
) -> Member:
    """The cluster with its condition Ready."""
    updates = _condition(ConditionType.READY, ready, reason, message)
    conditions = put(member.status.conditions, [updates], now)
    return with_status(member, conditions=conditions)


def _dispatching(*, held: bool) -> Condition:
    kind = NeighbourCondition.DISPATCHING
    if held:
        return _condition(kind, "False", NeighbourReason.SUSPEND_DISPATCHING, _SUSPENDED)
    return _condition(kind, "True", NeighbourReason.DISPATCHING, _DISPATCHING)


def _scheduled(verdict: Placed | NoFit) -> Condition:
    kind = NeighbourCondition.SCHEDULED
    if isinstance(verdict, NoFit):
        return _condition(kind, "False", NeighbourReason.NO_CLUSTER_FIT, verdict.why)
    return _condition(kind, "True", NeighbourReason.SUCCESS, _SCHEDULED)


def _fully_applied(items: Sequence[AggregatedStatusItem]) -> Condition:
    failed = [item.cluster_name for item in items if not item.applied]
    kind = NeighbourCondition.FULLY_APPLIED
    if failed:
        message = f"not in {', '.join(failed)}"
        return _condition(kind, "False", NeighbourReason.FULLY_APPLIED_FAILED, message)
    return _condition(kind, "True", NeighbourReason.FULLY_APPLIED_SUCCESS, _FULLY_APPLIED)


def _item(cluster: str, work: Work) -> AggregatedStatusItem:
    condition = _applied(work)
    assert condition is not None
    applied = condition.status == "True"
    collected = next(iter(work.status.manifest_statuses), None)
    return AggregatedStatusItem(
        cluster_name=cluster,
        status=collected.status if collected else None,
        applied=applied,
        applied_message="" if applied else condition.message,
        health=collected.health if collected else "Unknown",
    )


def _applied(work: Work) -> Condition | None:
    return find(work.status.conditions, NeighbourCondition.APPLIED)


def _manifest_status(ordinal: int, copy: Object) -> ManifestStatus:
    resource = copy.RESOURCE
    identifier = ResourceIdentifier(
        ordinal=ordinal,
        group=resource.group,
        version=resource.version,
        kind=resource.kind,
        resource=resource.plural,
        namespace=copy.metadata.namespace,
        name=copy.metadata.name,
    )
    return ManifestStatus(
        identifier=identifier,
        status=interpreter.reflected(copy),
        health=interpreter.health(copy),
    )


def _condition(
    kind: str, status: ConditionStatus, reason: NeighbourReason, message: str
) -> Condition:
    """A condition for `put`, which sets its transition time."""
    return Condition(
        type=str(kind),
        status=status,
        reason=str(reason),
        message=message,
        last_transition_time=EPOCH,
    )
