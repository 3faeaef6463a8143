"""Which clusters of a hub an object is propagated to.

A chosen cluster is kept while it exists and fits. An unreachable cluster still runs its objects, and
the same object in another cluster would be a second one.
"""

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from compute.api.conditions import ConditionType
from compute.api.karmada import (
    ClusterFieldSelector,
    ClusterPlacement,
    FieldSelectorRequirement,
    MemberCluster,
    SpreadConstraint,
    Taint,
    Toleration,
)
from compute.api.karmada_work import TemplateRef
from compute.decide.conditions import is_true
from kubekit.api.selectors import label_selectors
from kubekit.api.selectors.label_selectors import Selector, SelectorError

_NO_SCHEDULE: Final = "NoSchedule"
_NO_EXECUTE: Final = "NoExecute"
_BY_CLUSTER: Final = "cluster"
# The taints of Karmada on an unreachable cluster. Nothing is moved because of them.
_UNREACHABLE_TAINTS: Final = frozenset(
    {"cluster.karmada.io/not-ready", "cluster.karmada.io/unreachable"}
)


@dataclass(frozen=True, slots=True)
class Placed:
    """The clusters of the object: those that have it, in their order, then the new ones."""

    clusters: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class NoFit:
    """No cluster fits the object. ``why`` completes a sentence after a colon."""

    why: str


@dataclass(frozen=True, slots=True)
class _Requirements:
    """A parsed placement."""

    resource: TemplateRef
    placement: ClusterPlacement
    selector: Selector
    least: int
    most: int | None


def schedule(
    resource: TemplateRef,
    placement: ClusterPlacement,
    current: Sequence[str],
    clusters: Iterable[MemberCluster],
    load: Mapping[str, int],
) -> Placed | NoFit:
    """The clusters for one object. ``current`` are the clusters that have it already.

    New ones are those that fit, are ready and have the least ``load``. With equal load a hash of the
    object decides: otherwise a burst of objects, which the load does not include yet, would all go to
    one cluster.
    """
    requirements = _requirements(resource, placement)
    if isinstance(requirements, NoFit):
        return requirements
    known = {cluster.metadata.name: cluster for cluster in clusters}
    fitting = [
        n for n in dict.fromkeys(current) if n in known and not _misfit(known[n], requirements)
    ]
    kept = fitting[: requirements.most]
    objections = {name: _objection(known[name], requirements) for name in known if name not in kept}
    free = [name for name, objection in objections.items() if not objection]
    free.sort(key=lambda name: (load.get(name, 0), _tie_breaker(resource, name)))
    chosen = (*kept, *free)[: requirements.most]
    if not kept and len(chosen) < requirements.least:
        return NoFit(_explained(objections.values(), requirements.least))
    return Placed(chosen)


def keepers(
    resource: TemplateRef, placement: ClusterPlacement, clusters: Iterable[MemberCluster]
) -> tuple[str, ...]:
    """The clusters that keep an object if they have it."""
    requirements = _requirements(resource, placement)
    if isinstance(requirements, NoFit):
        return ()
    return tuple(
        cluster.metadata.name for cluster in clusters if not _misfit(cluster, requirements)
    )


def is_ready(cluster: MemberCluster) -> bool:
    """Whether the cluster is reachable."""
    return is_true(cluster.status.conditions, ConditionType.READY)


def _requirements(resource: TemplateRef, placement: ClusterPlacement) -> _Requirements | NoFit:
    affinity = placement.cluster_affinity
    labelled = affinity.label_selector if affinity else None
    spread = placement.spread_constraints
    unknown = [by for by in map(_spread_by, spread) if by != _BY_CLUSTER]
    if unknown:
        return NoFit(f"it asks to be spread by {unknown[0]}, and can only be spread by cluster")
    try:
        selector = label_selectors.from_typed(labelled) if labelled else label_selectors.EVERYTHING
    except SelectorError as error:
        return NoFit(f"the cluster affinity of its policy cannot be read, {error}")
    least = max([1, *(constraint.min_groups for constraint in spread)])
    limits = [constraint.max_groups for constraint in spread if constraint.max_groups > 0]
    return _Requirements(resource, placement, selector, least, min(limits, default=None))


def _spread_by(constraint: SpreadConstraint) -> str:
    if constraint.spread_by_label:
        return f"the label {constraint.spread_by_label}"
    return constraint.spread_by_field or _BY_CLUSTER


def _objection(cluster: MemberCluster, requirements: _Requirements) -> str:
    """Why a cluster does not accept a new object; empty if it does."""
    misfit = _misfit(cluster, requirements)
    if misfit:
        return misfit
    if not _tolerates(cluster, requirements.placement, (_NO_SCHEDULE, _NO_EXECUTE)):
        return "tainted"
    if not _serves(cluster, requirements.resource):
        return "without the kind"
    return "" if is_ready(cluster) else "not ready"


def _misfit(cluster: MemberCluster, requirements: _Requirements) -> str:
    """Why a cluster cannot keep an object that it has; empty if it can."""
    if cluster.deleting:
        return "being removed"
    affinity, name = requirements.placement.cluster_affinity, cluster.metadata.name
    if affinity is not None:
        named = not affinity.cluster_names or name in affinity.cluster_names
        if (
            not named
            or name in affinity.exclude
            or not requirements.selector.matches(cluster.metadata.labels)
            or not _has_fields(cluster, affinity.field_selector)
        ):
            return "elsewhere"
    return "" if _tolerates(cluster, requirements.placement, (_NO_EXECUTE,)) else "tainted"


def _has_fields(cluster: MemberCluster, selector: ClusterFieldSelector | None) -> bool:
    return selector is None or all(_has(cluster, each) for each in selector.match_expressions)


def _has(cluster: MemberCluster, requirement: FieldSelectorRequirement) -> bool:
    """Whether the fields match. For In, every zone of the cluster has to be among the values."""
    spec, values = cluster.spec, requirement.values
    fields = {"provider": (spec.provider,), "region": (spec.region,), "zone": spec.zones}
    present = [field for field in fields[requirement.key] if field]
    if requirement.operator == "In":
        return bool(present) and all(field in values for field in present)
    return not any(field in values for field in present)


def _tolerates(cluster: MemberCluster, placement: ClusterPlacement, effects: Sequence[str]) -> bool:
    return all(
        any(_covers(toleration, taint) for toleration in placement.cluster_tolerations)
        for taint in cluster.spec.taints
        if taint.effect in effects and taint.key not in _UNREACHABLE_TAINTS
    )


def _covers(toleration: Toleration, taint: Taint) -> bool:
    if toleration.effect not in ("", taint.effect):
        return False
    if toleration.operator == "Exists":
        return toleration.key in ("", taint.key)
    return toleration.key == taint.key and toleration.value == taint.value


def _serves(cluster: MemberCluster, resource: TemplateRef) -> bool:
    """Whether the cluster has the kind. A cluster that has not reported its kinds is assumed to."""
    enablements = cluster.status.api_enablements
    return not enablements or any(
        served.kind == resource.kind
        for enabled in enablements
        if enabled.group_version == resource.api_version
        for served in enabled.resources
    )


def _tie_breaker(resource: TemplateRef, cluster: str) -> str:
    text = "\0".join((resource.kind, resource.namespace, resource.name, cluster))
    return hashlib.sha256(text.encode()).hexdigest()


def _explained(objections: Iterable[str], least: int) -> str:
    counted = Counter(objections)
    total = counted.total()
    if not total:
        return "the hub knows no cluster at all"
    counts = ", ".join(f"{counted[word]} {word}" for word in sorted(counted) if word)
    wanted = f"; {least} are needed" if least > 1 else ""
    return f"of {total} known, {counts or 'too few fit'}{wanted}"
