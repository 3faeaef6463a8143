"""What an undo writes: one ordinary change of the template, or pins of single cities.

The history is never rewritten. In single cities the spec stays as it is, and each of them is pinned
to the template of an earlier revision until the next change.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from msgspec.structs import replace

from compute.api.compute import Workload, WorkloadSpec
from compute.api.instance_spec import InstanceTemplate
from compute.decide.deployment.template import restamped
from compute.decide.overrides import CityTemplates, paused_cities, pinned, pruned, resumed
from compute.decide.overrides.annotated import cities_of
from compute.decide.workload import history, spec_diff
from compute.decide.workload.history import Refusal, Revision
from kubekit.api.kinds.core import ConfigMap


@dataclass(frozen=True, slots=True)
class UndoChoice:
    """What the user asks for: a revision, or with 0 the newest healthy one that differs."""

    to: int = 0
    whole: bool = False  # placements and scale too
    cities: tuple[str, ...] = ()  # all of them if none is named
    resumes: tuple[str, ...] = ()  # cities that the undo of the whole Workload resumes besides


@dataclass(frozen=True, slots=True)
class UndoStep:
    """The revision that some cities go back to, and what changes there."""

    cities: tuple[str, ...]
    revision: Revision
    changes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class UndoPlan:
    """The Workload that an undo writes, and what that does in which cities."""

    workload: Workload
    steps: tuple[UndoStep, ...]
    unchanged: tuple[str, ...]  # cities that were named, and have nothing to undo
    paused: tuple[str, ...]  # cities where the undo waits until they are resumed


@dataclass(frozen=True, slots=True)
class _CityUndo:
    """The undo in one city, and the template that it restores there."""

    step: UndoStep
    template: InstanceTemplate


def plan_undo(
    workload: Workload, revisions: ConfigMap | None, choice: UndoChoice
) -> UndoPlan | Refusal:
    """The undo of a Workload, or why there is none."""
    if choice.cities:
        return _in_cities(workload, revisions, choice)
    undo = history.undo(revisions, workload.spec, to=choice.to, whole=choice.whole)
    if isinstance(undo, Refusal):
        return undo
    written = pruned(replace(workload, spec=undo.spec))
    if choice.resumes:
        written = resumed(written, choice.resumes)
    step = UndoStep(cities_of(written), undo.revision, undo.changes)
    return UndoPlan(written, (step,), (), paused_cities(written))


def _in_cities(
    workload: Workload, revisions: ConfigMap | None, choice: UndoChoice
) -> UndoPlan | Refusal:
    templates = CityTemplates(workload)
    found = {
        city: _in_city(workload.spec, templates, revisions, (city, choice.to))
        for city in choice.cities
    }
    undos = {city: undo for city, undo in found.items() if isinstance(undo, _CityUndo)}
    if not undos:
        return next(refusal for refusal in found.values() if isinstance(refusal, Refusal))
    pins = {city: (undo.step.revision.rev, undo.template) for city, undo in undos.items()}
    written = pruned(pinned(workload, pins))
    paused = tuple(city for city in paused_cities(written) if city in undos)
    unchanged = tuple(city for city in found if city not in undos)
    return UndoPlan(written, _grouped([u.step for u in undos.values()]), unchanged, paused)


def _in_city(
    spec: WorkloadSpec,
    templates: CityTemplates,
    revisions: ConfigMap | None,
    target: tuple[str, int],
) -> _CityUndo | Refusal:
    """The undo in one city. Its restarts are kept, so they are no difference."""
    city, to = target
    pin = templates.pin(city)
    present = replace(spec, template=restamped(templates.of(city), None))
    undo = history.undo(revisions, present, to=to, before=(pin.revision or None) if pin else None)
    if isinstance(undo, Refusal):
        return undo
    bare = replace(undo.spec, template=restamped(undo.spec.template, None))
    changes = spec_diff.describe(present, bare)
    if not changes:
        return Refusal(f"the workload is at revision {undo.revision.rev} already")
    return _CityUndo(UndoStep((city,), undo.revision, changes), undo.spec.template)


def _grouped(steps: Sequence[UndoStep]) -> tuple[UndoStep, ...]:
    """One step for all cities that go back to the same revision by the same changes."""
    groups: dict[tuple[int, tuple[str, ...]], UndoStep] = {}
    for step in steps:
        key = step.revision.rev, step.changes
        known = groups.get(key)
        groups[key] = _also_in(known, step.cities) if known else step
    return tuple(groups.values())


def _also_in(step: UndoStep, more: tuple[str, ...]) -> UndoStep:
    """The step in more cities."""
    return UndoStep((*step.cities, *more), step.revision, step.changes)
