"""Changes of workloads that reach some cities first, and what users read about the cities that wait."""

from collections.abc import Iterator
from dataclasses import dataclass

from compute.api.compute import Workload
from compute.cli.change.planned_changes import PlannedChange
from compute.cli.exits import Exit, Failure
from compute.cli.invocation import typed
from compute.decide.overrides import paused_cities
from compute.decide.workload_edits import FlagError
from compute.decide.workload_edits.staging import (
    PAUSE_AFTER,
    Staging,
    StagingFlags,
    staged,
)
from kubekit.api.meta import Object


@dataclass(frozen=True, slots=True)
class StagedChange(PlannedChange):
    """A change of a Workload that the same write pauses in some cities."""

    staging: Staging


def staged_change(change: PlannedChange, flags: StagingFlags | None) -> PlannedChange:
    """The change in stages, if it is asked for and the object is a Workload."""
    if flags is None or not isinstance(change.wanted, Workload):
        return change

    def make(existing: Object | None) -> Object:
        return _staging(existing, change.make(existing), flags).workload

    staging = _staging(change.existing, change.wanted, flags)
    return StagedChange(change.existing, staging.workload, make, staging)


def first_cities(change: PlannedChange) -> tuple[str, ...]:
    """The cities whose rollout is followed; none means all of them."""
    staging = _in_stages(change)
    return staging.first if staging else ()


def newly_paused(change: PlannedChange) -> tuple[str, ...]:
    """The cities that the change pauses, without those that were paused before."""
    staging = _in_stages(change)
    if staging is None or not isinstance(change.existing, Workload):
        return ()
    before = paused_cities(change.existing)
    return tuple(city for city in staging.waiting if city not in before)


def stages_note(change: PlannedChange) -> str:
    """Why nothing waits although it was asked for; an empty text otherwise."""
    if not isinstance(change, StagedChange) or change.staging.waiting:
        return ""
    name, reached = change.wanted.metadata.name, change.staging.first
    why = (
        f"the change reaches all cities of {name}: {', '.join(reached)}"
        if reached
        else f"the template of {name} does not change"
    )
    return f"{PAUSE_AFTER} pauses nothing: {why}."


def waiting_line(change: PlannedChange) -> str:
    """Where the change waits; an empty text if it waits nowhere."""
    staging = _in_stages(change)
    if staging is None:
        return ""
    keep = "which keeps" if len(staging.waiting) == 1 else "which keep"
    return f"Paused in {', '.join(staging.waiting)}, {keep} the version that runs there."


def ways_on(change: PlannedChange) -> Iterator[str]:
    """How to continue once the first cities are done, and how to go back."""
    staging = _in_stages(change)
    if staging is None:
        return
    name, (following, *others) = change.wanted.metadata.name, staging.waiting
    resume = f"compute rollout resume {name}"
    if others:
        yield f"Continue in {following} with: {typed(f'{resume} --city {following} --wait')}"
        yield f"Continue in all cities with: {typed(f'{resume} --wait')}"
    else:
        yield f"Continue there with: {typed(f'{resume} --wait')}"
    yield f"Go back with: {typed(f'compute rollout undo {name}')}"


def _in_stages(change: PlannedChange) -> Staging | None:
    """The stages of a change that waits somewhere."""
    if isinstance(change, StagedChange) and change.staging.waiting:
        return change.staging
    return None


def _staging(existing: Object | None, wanted: Object, flags: StagingFlags) -> Staging:
    assert isinstance(wanted, Workload)
    before = existing if isinstance(existing, Workload) else None
    try:
        return staged(before, wanted, flags)
    except FlagError as error:
        step = f"compute status {wanted.metadata.name}" if before else ""
        raise Failure(str(error), Exit.USAGE, next_step=step) from error
