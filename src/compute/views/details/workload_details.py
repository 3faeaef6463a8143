"""All about one Workload: its status, its placements, what it runs, and what the user has set."""

from collections.abc import Sequence
from datetime import datetime

from compute.api.compute import Placement, ScaleSettings, Workload
from compute.decide.deployment.template import restart_stamp
from compute.decide.overrides.city_restarts import stamps_of
from compute.decide.overrides.replaced_instances import requests
from compute.views.details.conditions import ConditionView, condition_views
from compute.views.details.runtimes import RuntimeView, runtime_view
from compute.views.events import EventView
from compute.views.view import View
from compute.views.workloads import WorkloadView


class PlacementView(View, frozen=True, kw_only=True):
    """A placement: its cities, and how many Instances run in each.

    ``max_replicas`` is None without autoscaling: then there are always ``min_replicas``.
    """

    name: str
    cities: tuple[str, ...]
    min_replicas: int
    max_replicas: int | None
    metrics: tuple[str, ...]
    policy: str


class RestartView(View, frozen=True, kw_only=True):
    """The last restart of a city, or of all cities if ``city`` is None."""

    city: str | None
    at: str  # RFC 3339, as the user's command wrote it


class WorkloadDetail(View, frozen=True, kw_only=True):
    """A Workload with everything that is known about it. ``events`` is None where they cannot be read."""

    summary: WorkloadView
    placements: tuple[PlacementView, ...]
    runtime: RuntimeView
    labels: dict[str, str]
    restarts: tuple[RestartView, ...]
    replaced_instances: dict[str, str]
    conditions: tuple[ConditionView, ...]
    events: tuple[EventView, ...] | None
    at: datetime


def workload_detail(
    workload: Workload,
    summary: WorkloadView,
    events: Sequence[EventView] | None,
    now: datetime,
    *,
    show_values: bool = False,
) -> WorkloadDetail:
    """All about a Workload whose status is known."""
    return WorkloadDetail(
        summary=summary,
        placements=tuple(map(_placement, workload.spec.placements)),
        runtime=runtime_view(workload.spec.template.spec, show_values=show_values),
        labels=workload.metadata.labels,
        restarts=_restarts(workload),
        replaced_instances=requests(workload),
        conditions=condition_views(workload.status.conditions),
        events=None if events is None else tuple(events),
        at=now,
    )


def _placement(placement: Placement) -> PlacementView:
    scale = placement.scale_settings
    return PlacementView(
        name=placement.name,
        cities=placement.city_codes,
        min_replicas=scale.min_replicas,
        max_replicas=scale.max_replicas,
        metrics=_metrics(scale),
        policy=scale.instance_management_policy,
    )


def _metrics(scale: ScaleSettings) -> tuple[str, ...]:
    """What the number of Instances follows, as phrases such as ``cpu at 70%``."""
    phrases = []
    for metric in scale.metrics:
        if metric.resource is None:
            continue
        target = metric.resource.target
        share = target.average_utilization
        amount = target.average_value if target.average_value is not None else target.value
        goal = f"{share}%" if share is not None else str(amount)
        phrases.append(f"{metric.resource.name} at {goal}")
    return tuple(phrases)


def _restarts(workload: Workload) -> tuple[RestartView, ...]:
    whole = restart_stamp(workload.spec.template)
    of_cities = sorted(stamps_of(workload).items())
    return (
        *([RestartView(city=None, at=whole)] if whole else []),
        *(RestartView(city=city, at=stamp) for city, stamp in of_cities),
    )
