"""What a command has changed in a running Workload, or would change: an undo, a restart, a pause."""

from collections.abc import Collection

from compute.api.compute import Workload
from compute.decide.overrides import paused_cities
from compute.decide.overrides.annotated import cities_of
from compute.decide.workload.undo_plan import UndoPlan
from compute.views.view import View


class UndoStepView(View, frozen=True, kw_only=True):
    """What an undo restores in some cities."""

    cities: tuple[str, ...]
    revision: int
    timestamp: str  # of the revision, RFC 3339
    actor: str
    image: str
    changes: tuple[str, ...]


class UndoView(View, frozen=True, kw_only=True):
    """An undo of a Workload. It waits in the paused cities, and leaves the unchanged ones as they are."""

    name: str
    namespace: str
    steps: tuple[UndoStepView, ...]
    unchanged_cities: tuple[str, ...]
    paused_cities: tuple[str, ...]
    written: bool  # False for a plan


class RestartedView(View, frozen=True, kw_only=True):
    """A restart of cities, or a replacement of single Instances. It waits in the paused cities."""

    name: str
    namespace: str
    cities: tuple[str, ...]
    instances: tuple[str, ...]
    paused_cities: tuple[str, ...]


class PauseView(View, frozen=True, kw_only=True):
    """The cities whose template changes are held back, after a command that pauses or resumes some."""

    name: str
    namespace: str
    paused_cities: tuple[str, ...]
    changed_cities: tuple[str, ...]  # by the command; empty if all were as asked for already


def undo_view(plan: UndoPlan, *, written: bool) -> UndoView:
    """An undo, planned or written."""
    meta = plan.workload.metadata
    return UndoView(
        name=meta.name,
        namespace=meta.namespace,
        steps=tuple(
            UndoStepView(
                cities=step.cities,
                revision=step.revision.rev,
                timestamp=step.revision.timestamp,
                actor=step.revision.actor,
                image=step.revision.image,
                changes=step.changes,
            )
            for step in plan.steps
        ),
        unchanged_cities=plan.unchanged,
        paused_cities=plan.paused,
        written=written,
    )


def restart_view(
    workload: Workload, cities: Collection[str] = (), instances: Collection[str] = ()
) -> RestartedView:
    """A restart of these cities, of all if none is named, or a replacement of these Instances."""
    chosen = () if instances else tuple(cities) or cities_of(workload)
    return RestartedView(
        name=workload.metadata.name,
        namespace=workload.metadata.namespace,
        cities=chosen,
        instances=tuple(instances),
        paused_cities=tuple(city for city in paused_cities(workload) if city in chosen),
    )


def pause_view(before: Workload, after: Workload) -> PauseView:
    """The pauses of a Workload after a change of them."""
    old, new = set(paused_cities(before)), set(paused_cities(after))
    return PauseView(
        name=after.metadata.name,
        namespace=after.metadata.namespace,
        paused_cities=paused_cities(after),
        changed_cities=tuple(city for city in cities_of(after) if city in old ^ new),
    )
