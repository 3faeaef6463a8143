"""How many Instances a Workload runs in each city, before and after a scaling."""

from collections.abc import Iterable, Mapping

from compute.api.compute import ScaleSettings, Workload
from compute.api.quota import AllowanceBucket
from compute.decide import joins
from compute.decide.workload.preview import Need
from compute.decide.workload.shortfall import remaining, shortfall
from compute.decide.workload_edits.city_effects import CityEffect, effects, total
from compute.views.view import View


class CityScaleView(View, frozen=True, kw_only=True):
    """The number of Instances in one city. Without a maximum it does not follow the load."""

    minimum: int
    maximum: int | None
    cpu_percent: int | None


class CityScalingView(View, frozen=True, kw_only=True):
    """One placement in one city, before and after; the amounts of quota are what is needed besides."""

    placement: str
    city: str
    before: CityScaleView
    after: CityScaleView
    added_instances: int
    added_vcpu_millicores: int
    added_memory_mebibytes: int

    @property
    def changes(self) -> bool:
        return self.before != self.after


class ScalingView(View, frozen=True, kw_only=True):
    """A scaling of a Workload."""

    name: str
    namespace: str
    cities: tuple[CityScalingView, ...]
    shortage: str  # why the quota is too small, and what fits; empty if it is enough
    written: bool  # False for a plan

    @property
    def changes(self) -> bool:
        return any(city.changes for city in self.cities)


def scaling_view(
    before: Workload, after: Workload, buckets: Iterable[AllowanceBucket] = (), *, written: bool
) -> ScalingView:
    """The scaling. Without buckets, quota is not enforced, or not known."""
    found = effects(before, after)
    old, new = joins.expected(before), joins.expected(after)
    lacks = shortfall([e.need for e in found], remaining(buckets), total(e.held for e in found))
    return ScalingView(
        name=after.metadata.name,
        namespace=after.metadata.namespace,
        cities=tuple(_city(effect, old, new) for effect in found),
        shortage=lacks.sentence if lacks else "",
        written=written,
    )


def _city(
    effect: CityEffect,
    old: Mapping[joins.PlacementCity, ScaleSettings],
    new: Mapping[joins.PlacementCity, ScaleSettings],
) -> CityScalingView:
    key = effect.placement, effect.city
    added = _beyond(effect.need, effect.held)
    return CityScalingView(
        placement=effect.placement,
        city=effect.city,
        before=_scale(old[key]),
        after=_scale(new[key]),
        added_instances=added.instances,
        added_vcpu_millicores=added.millicores,
        added_memory_mebibytes=added.mebibytes,
    )


def _scale(scale: ScaleSettings) -> CityScaleView:
    percents = (m.resource.target.average_utilization for m in scale.metrics if m.resource)
    return CityScaleView(
        minimum=scale.min_replicas,
        maximum=scale.max_replicas,
        cpu_percent=next((percent for percent in percents if percent), None),
    )


def _beyond(need: Need, held: Need) -> Need:
    return Need(
        max(need.instances - held.instances, 0),
        max(need.millicores - held.millicores, 0),
        max(need.mebibytes - held.mebibytes, 0),
    )
