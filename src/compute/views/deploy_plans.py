"""What a deploy would do: the change of each object, the effect in each city, and the quota needed."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

import msgspec

from compute.api.compute import Workload
from compute.decide.workload.preview import Need
from compute.decide.workload.shortfall import shortfall
from compute.decide.workload_edits.change_phrases import phrases
from compute.decide.workload_edits.city_effects import CityEffect, effects, total
from compute.views.view import View
from kubekit.api.meta import Object

Action = Literal["create", "update", "keep"]


class NeedView(View, frozen=True, kw_only=True):
    """An amount of quota."""

    instances: int
    vcpu_millicores: int
    memory: int = msgspec.field(name="memoryMiB")


class CityPlanView(View, frozen=True, kw_only=True):
    """What happens in one city, and the quota of its Instances then."""

    placement: str
    city: str
    effect: str  # create, replace, scale, keep or remove
    instances_before: int
    instances_after: int
    paused: bool  # the change waits there until the rollout is resumed
    need: NeedView


class WorkloadPlanView(View, frozen=True, kw_only=True):
    """The change of one Workload."""

    name: str
    namespace: str
    action: Action
    changes: tuple[str, ...]  # for a new one, what it runs
    cities: tuple[CityPlanView, ...]
    need: NeedView  # of all its cities after the change
    held: NeedView  # what it has already


class ObjectPlanView(View, frozen=True, kw_only=True):
    """The change of an object of another kind. Its content is not shown: it may be secret."""

    kind: str
    name: str
    namespace: str
    action: Action


class DeployPlanView(View, frozen=True, kw_only=True):
    """Everything that a deploy would do."""

    objects: tuple[ObjectPlanView, ...]
    workloads: tuple[WorkloadPlanView, ...]
    missing_networks: tuple[str, ...]
    shortage: str  # why the quota is too small, and what fits; empty if it is enough

    @property
    def differs(self) -> bool:
        """Whether anything would be written."""
        actions = (*(o.action for o in self.objects), *(w.action for w in self.workloads))
        return any(action != "keep" for action in actions)


ObjectPair = tuple[Object | None, Object]
"""An object as it is, and as it is wanted. Both are the same object if nothing changes."""


def deploy_plan_view(
    pairs: Iterable[ObjectPair], left: Mapping[str, int], missing_networks: Sequence[str] = ()
) -> DeployPlanView:
    """The plan for these objects. ``left`` is the quota that is left, empty where it is not known."""
    objects: list[ObjectPlanView] = []
    workloads: list[WorkloadPlanView] = []
    found: list[CityEffect] = []
    for existing, wanted in pairs:
        if isinstance(wanted, Workload):
            before = existing if isinstance(existing, Workload) else None
            in_cities = effects(before, wanted)
            found += in_cities
            workloads.append(_workload_view(before, wanted, in_cities))
        else:
            objects.append(_object_view(existing, wanted))
    lacks = shortfall([e.need for e in found if e.after], left, total(e.held for e in found))
    return DeployPlanView(
        objects=tuple(objects),
        workloads=tuple(workloads),
        missing_networks=tuple(missing_networks),
        shortage=lacks.sentence if lacks else "",
    )


def _workload_view(
    existing: Workload | None, wanted: Workload, found: Sequence[CityEffect]
) -> WorkloadPlanView:
    return WorkloadPlanView(
        name=wanted.metadata.name,
        namespace=wanted.metadata.namespace,
        action=action_of(existing, wanted),
        changes=phrases(existing, wanted),
        cities=tuple(map(_city_view, found)),
        need=_need_view(total(e.need for e in found)),
        held=_need_view(total(e.held for e in found)),
    )


def _object_view(existing: Object | None, wanted: Object) -> ObjectPlanView:
    return ObjectPlanView(
        kind=wanted.kind,
        name=wanted.metadata.name,
        namespace=wanted.metadata.namespace,
        action=action_of(existing, wanted),
    )


def _city_view(effect: CityEffect) -> CityPlanView:
    return CityPlanView(
        placement=effect.placement,
        city=effect.city,
        effect=effect.effect.value,
        instances_before=effect.before,
        instances_after=effect.after,
        paused=effect.paused,
        need=_need_view(effect.need),
    )


def action_of(existing: Object | None, wanted: Object) -> Action:
    """What happens to an object."""
    if existing is None:
        return "create"
    return "keep" if existing is wanted else "update"


def _need_view(need: Need) -> NeedView:
    return NeedView(
        instances=need.instances, vcpu_millicores=need.millicores, memory=need.mebibytes
    )
