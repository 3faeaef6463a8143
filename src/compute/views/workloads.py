"""Workloads as people read them: health, a row for each city with its cause, and what to type next."""

from collections.abc import Iterable, Sequence
from datetime import datetime

from compute.api.compute import Instance, Workload, WorkloadDeployment
from compute.api.reasons import Owner, Reason, describe
from compute.decide import health, joins
from compute.decide.explain import next_steps
from compute.decide.explain.titles import fill_in
from compute.decide.health import CityHealth, CityState, HealthStatus
from compute.decide.overrides import CityPin, CityTemplates, paused_cities
from compute.decide.progress import Rollout, RolloutSnapshot, observe
from compute.decide.workload import history, spec_diff
from compute.views.view import View
from kubekit.api.kinds.core import ConfigMap


class CityView(View, frozen=True, kw_only=True):
    """One placement in one city.

    ``since`` is the time from which ``why`` holds. ``reported_at`` is the age of all of it where the
    cell is unreachable; None where the cell reports.
    """

    placement: str
    city: str
    state: CityState
    desired: int
    ready: int
    updated: int
    old: int
    why: str
    reason: str
    owner: Owner | None
    next_step: str  # a sentence
    next: str  # one command
    since: datetime | None
    reported_at: datetime | None
    paused: bool
    pinned_revision: int | None


class RevisionSummary(View, frozen=True, kw_only=True):
    """The active revision."""

    number: int
    changes: str
    actor: str
    note: str
    at: str  # RFC 3339, as the history has it
    healthy: bool


class WorkloadView(View, frozen=True, kw_only=True):
    """A Workload, with its cities in the order of its spec."""

    name: str
    namespace: str
    health: HealthStatus
    message: str
    desired: int
    ready: int
    updated: int
    placements: int
    cities: tuple[CityView, ...]
    paused_cities: tuple[str, ...]
    images: str
    instance_type: str
    runtime: str  # sandbox or virtual machine
    created_at: datetime | None
    deleting_since: datetime | None
    revision: RevisionSummary | None = None

    @property
    def codes(self) -> tuple[str, ...]:
        """The cities, each once."""
        return tuple(dict.fromkeys(city.city for city in self.cities))

    @property
    def worst(self) -> tuple[CityView, ...]:
        """The cities with a cause, the worst first."""
        return worst_cities_first(c for c in self.cities if c.why)


class WorkloadChange(View, frozen=True, kw_only=True):
    """What happened to a Workload: added, changed or gone."""

    change: str
    workload: WorkloadView


def workload_view(
    workload: Workload,
    deployments: Iterable[WorkloadDeployment],
    instances: Sequence[Instance],
    now: datetime,
    revisions: ConfigMap | None = None,
) -> WorkloadView:
    """A Workload as it is now. Without its history the revision is left out."""
    snapshot = RolloutSnapshot(workload, tuple(deployments), tuple(instances), now)
    return view_of_rollout(snapshot, observe(snapshot), revisions)


def view_of_rollout(
    snapshot: RolloutSnapshot, rollout: Rollout, revisions: ConfigMap | None = None
) -> WorkloadView:
    """The Workload of a snapshot, with the rows of its rollout."""
    workload, spec = snapshot.workload, snapshot.workload.spec
    cities = health.city_healths(rollout, snapshot.deployments, snapshot.instances)
    judged = health.workload_health(workload, cities)
    return WorkloadView(
        name=workload.metadata.name,
        namespace=workload.metadata.namespace,
        health=judged.health,
        message=judged.message,
        desired=sum(row.desired for row in rollout.rows),
        ready=sum(row.ready for row in rollout.rows),
        updated=sum(row.updated for row in rollout.rows),
        placements=len(spec.placements),
        cities=city_views(workload, cities, revisions),
        paused_cities=paused_cities(workload),
        images=spec_diff.image(spec),
        instance_type=spec.template.spec.runtime.resources.instance_type,
        runtime="sandbox" if spec.template.spec.runtime.sandbox else "virtual-machine",
        created_at=workload.metadata.creation_timestamp,
        deleting_since=workload.metadata.deletion_timestamp,
        revision=_revision(revisions),
    )


def city_views(
    workload: Workload, cities: Iterable[CityHealth], revisions: ConfigMap | None = None
) -> tuple[CityView, ...]:
    """A row for each city, with the next command to type."""
    templates, paused = CityTemplates(workload), paused_cities(workload)
    undo = can_undo(workload, revisions)
    return tuple(
        _city(
            city,
            workload,
            paused=city.row.city in paused,
            pin=templates.pin(city.row.city) if templates.is_pinned(city.row.city) else None,
            can_undo=undo,
        )
        for city in cities
    )


def workload_views(
    workloads: Iterable[Workload],
    deployments: Iterable[WorkloadDeployment],
    instances: Iterable[Instance],
    now: datetime,
) -> tuple[WorkloadView, ...]:
    """Every Workload, by name."""
    by_workload: dict[str, list[WorkloadDeployment]] = {}
    owner_of: dict[str, str] = {}
    for deployment in deployments:
        uid = deployment.spec.workload_ref.uid
        by_workload.setdefault(uid, []).append(deployment)
        owner_of[deployment.metadata.name] = uid
    running: dict[str, list[Instance]] = {}
    for instance in instances:
        uid = owner_of.get(joins.deployment_name(instance), "")
        running.setdefault(uid, []).append(instance)
    return tuple(
        workload_view(w, by_workload.get(uid, ()), running.get(uid, ()), now)
        for w in sorted(workloads, key=lambda w: w.metadata.name)
        for uid in (w.metadata.uid,)
    )


def worst_first(views: Iterable[WorkloadView]) -> tuple[WorkloadView, ...]:
    """The Workloads, the worst health first, and by name."""
    return tuple(sorted(views, key=lambda view: (health.severity(view.health), view.name)))


def worst_cities_first(cities: Iterable[CityView]) -> tuple[CityView, ...]:
    """The cities, the worst state first; equal ones in their order."""
    order = list(CityState)
    return tuple(sorted(cities, key=lambda city: order.index(city.state)))


def can_undo(workload: Workload, revisions: ConfigMap | None) -> bool:
    """Whether there is an earlier healthy revision; True if the history is not known."""
    if revisions is None:
        return True
    return isinstance(history.undo(revisions, workload.spec), history.Undo)


def _city(
    city: CityHealth, workload: Workload, *, paused: bool, pin: CityPin | None, can_undo: bool
) -> CityView:
    row = city.row
    known = describe(row.reason) if row.why else None
    step = fill_in(known.next_step, NAME=workload.metadata.name, CITY=row.city) if known else ""
    step = step if can_undo else next_steps.without_undo(step)
    return CityView(
        placement=row.placement,
        city=row.city,
        state=city.state,
        desired=row.desired,
        ready=row.ready,
        updated=row.updated,
        old=row.old,
        why=row.why,
        reason=row.reason,
        owner=known.owner if known else None,
        next_step=step,
        next=next_steps.best_command(step, cities=(row.city,)),
        since=row.since,
        reported_at=row.since if row.reason == Reason.CELL_UNREACHABLE else None,
        paused=paused,
        pinned_revision=pin.revision if pin else None,
    )


def _revision(revisions: ConfigMap | None) -> RevisionSummary | None:
    active = history.current(revisions)
    if active is None:
        return None
    return RevisionSummary(
        number=active.rev,
        changes=active.changes,
        actor=active.actor,
        note=getattr(active, "note", ""),
        at=active.timestamp,
        healthy=bool(active.healthy_at),
    )
