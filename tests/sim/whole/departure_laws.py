"""Laws of deletions: S2, S15. An Instance is deleted for a cause, which decides what is allowed.

    deletion    its deployment is to go, or has gone
    scale       its number is beyond what is wanted
    stray       its name is not one that its deployment gives
    repair      it is of another template, or was to be replaced, and was not Ready
    request     the user asked to replace it, and it was Ready: counted as one that is rolled
    roll        it is of another template, and was Ready: no more than one may be missing at a time

Nothing else is a cause, neither an unreachable plane nor a failed machine.
"""

from enum import StrEnum
from typing import Final

from compute.api import names
from compute.api.compute import Instance, WorkloadDeployment
from compute.api.karmada_work import Work
from compute.app.planes import PlaneRef
from compute.decide.deployment.slots import is_ready
from compute.decide.deployment.template import recorded_hash
from kubekit.api.kinds.core import Namespace
from tests.sim.whole.commits import Commit, Key, Lately, Laws, Notes
from tests.sim.whole.observed_state import ObservedState, recently
from tests.sim.whole.shapes import Shape, Shapes, ordinal, owner_uid


class Cause(StrEnum):
    """Why an Instance is deleted."""

    DELETION = "deletion"
    SCALE = "scale"
    STRAY = "stray"
    REPAIR = "repair"
    REQUEST = "request"
    ROLL = "roll"
    HELD = "held"  # it would be a roll, but the deployment is paused
    NONE = "none"


_COUNTED: Final = (Cause.ROLL, Cause.REQUEST)


class DepartureLaws:
    """Records which Instances were Ready, and which ones rollouts have deleted."""

    def __init__(self, observed: ObservedState, shapes: Shapes) -> None:
        self._observed = observed
        self._shapes = shapes
        self._ready: dict[str, Lately[bool]] = {}  # by uid of the Instance
        self._members: dict[str, dict[str, Instance]] = {}  # by uid, by that of the deployment
        self._down: dict[str, dict[int, str]] = {}  # rolled slots of a deployment, and who was in
        self._works: dict[Key, Lately[bool]] = {}  # whether each is to go
        self.laws: Laws = {
            ("cell", "Instance"): (
                self.s2_nothing_goes_without_a_cause,
                self.s2_a_pause_holds_rolls,
                self.s2_a_roll_takes_down_no_more_than_allowed,
                self.s2_a_roll_goes_from_the_highest,
                self.s15_a_cut_cell_lets_everything_run,
            ),
            ("cell", "WorkloadDeployment"): (self.s15_a_deployment_goes_only_with_its_work,),
        }
        self.notes: Notes = {
            ("cell", "Instance"): self.note,
            ("cell", "WorkloadDeployment"): self.note_deployment,
            ("hub", "Work"): self.note_work,
        }

    def note(self, commit: Commit[Instance]) -> None:
        owner, number = owner_uid(commit.obj), ordinal(commit.obj)
        rolled = commit.leaves and self._cause(commit) in _COUNTED
        if rolled and number is not None and commit.uid not in self._observed.forgiven:
            self._down.setdefault(owner, {})[number] = commit.uid
        members = self._members.setdefault(owner, {})
        if commit.gone:
            members.pop(commit.uid, None)
            self._ready.pop(commit.uid, None)
            return
        members[commit.uid] = commit.obj
        ready = is_ready(commit.obj)
        self._ready.setdefault(commit.uid, Lately(self._observed.lag)).note(commit.at, ready)
        down = self._down.get(owner, {})
        if ready and number is not None and down.get(number, commit.uid) != commit.uid:
            del down[number]

    def note_work(self, commit: Commit[Work]) -> None:
        kept = self._works.setdefault(commit.key, Lately(self._observed.lag))
        kept.note(commit.at, commit.obj.deleting or commit.gone)

    def note_deployment(self, commit: Commit[WorkloadDeployment]) -> None:
        if commit.gone:
            self._members.pop(commit.uid, None)
            self._down.pop(commit.uid, None)

    def s2_nothing_goes_without_a_cause(self, commit: Commit[Instance]) -> str:
        """An Instance is deleted because its slot or its template is not wanted, for no other reason."""
        if not commit.leaves or self._observed.is_cut(commit.ref.name):
            return ""
        return "it goes, and it was wanted as it is" if self._cause(commit) is Cause.NONE else ""

    def s2_a_pause_holds_rolls(self, commit: Commit[Instance]) -> str:
        """A paused deployment replaces only what the user asked to replace."""
        held = commit.leaves and self._cause(commit) is Cause.HELD
        return "it was replaced while its deployment is paused" if held else ""

    def s2_a_roll_takes_down_no_more_than_allowed(self, commit: Commit[Instance]) -> str:
        """A roll goes on only when those it took down are Ready again: one, unless more may go."""
        number = ordinal(commit.obj)
        if not commit.leaves or self._cause(commit) not in _COUNTED or number is None:
            return ""
        shapes = self._stale(commit) or self._requesting(commit)
        wanted = shapes[-1].desired
        down = self._down.get(owner_uid(commit.obj), {})
        others = [each for each in down if each != number and each < wanted]
        most = max(shape.most for shape in shapes)
        if len(others) < most:
            return ""
        return f"it was rolled while {sorted(others)} are not Ready again; {most} may be down"

    def s2_a_roll_goes_from_the_highest(self, commit: Commit[Instance]) -> str:
        """A roll takes the highest number first."""
        number = ordinal(commit.obj)
        if not commit.leaves or self._cause(commit) is not Cause.ROLL or number is None:
            return ""
        templates = {shape.template: None for shape in self._stale(commit)}
        wanted = min(shape.desired for shape in self._stale(commit))
        for other in self._members.get(owner_uid(commit.obj), {}).values():
            higher = ordinal(other)
            if higher is None or not number < higher < wanted or not self._was_ready(other, commit):
                continue
            if not other.deleting and recorded_hash(other) not in templates:
                return f"it was rolled before {other.metadata.name}, whose turn it was"
        return ""

    def s15_a_cut_cell_lets_everything_run(self, commit: Commit[Instance]) -> str:
        """A cell that is cut off deletes only Instances that were to be deleted before."""
        if not commit.leaves or not self._observed.is_cut(commit.ref.name):
            return ""
        none = self._cause(commit) is Cause.NONE
        return "it goes while its cell is cut off, and it was wanted as it is" if none else ""

    def s15_a_deployment_goes_only_with_its_work(self, commit: Commit[WorkloadDeployment]) -> str:
        """A deployment is deleted in a cell because its Work is being deleted, not because it is not found."""
        if not commit.leaves or self._namespace_goes(commit.ref, commit.key[0]):
            return ""
        cell = names.execution_namespace(commit.ref.name)
        work = cell, names.work(*commit.key, commit.head.kind)
        if any(recently(self._works, work, commit.at)):
            return ""
        return f"it goes, and its Work {work[1]} is not to go"

    def _cause(self, commit: Commit[Instance]) -> Cause:
        shapes, number = self._shapes.of(commit), ordinal(commit.obj)
        if self._is_left(commit, shapes):
            return Cause.DELETION
        if number is None:
            return Cause.STRAY
        if any(number >= shape.desired for shape in shapes):
            return Cause.SCALE
        return self._replaced(commit)

    def _replaced(self, commit: Commit[Instance]) -> Cause:
        """Why an Instance in a wanted slot is replaced."""
        stale, requested = self._stale(commit), bool(self._requesting(commit))
        if not stale and not requested:
            return Cause.NONE
        if not requested and all(shape.paused for shape in stale):
            return Cause.HELD
        if not self._was_ready(commit.obj, commit):
            return Cause.REPAIR
        return Cause.REQUEST if requested else Cause.ROLL

    def _is_left(self, commit: Commit[Instance], shapes: list[Shape]) -> bool:
        """Whether the deployment or the namespace of an Instance is gone."""
        alone = not shapes or any(shape.leaving for shape in shapes)
        return alone or self._namespace_goes(commit.ref, commit.key[0])

    def _stale(self, commit: Commit[Instance]) -> list[Shape]:
        """The recent shapes of its deployment that an Instance was not made from."""
        made_from = recorded_hash(commit.obj)
        return [shape for shape in self._shapes.of(commit) if shape.template != made_from]

    def _requesting(self, commit: Commit[Instance]) -> list[Shape]:
        """The recent shapes of its deployment by which the user asked to replace an Instance."""
        return [shape for shape in self._shapes.of(commit) if shape.asks_to_replace(commit.obj)]

    def _was_ready(self, instance: Instance, commit: Commit[Instance]) -> bool:
        known: list[bool] = recently(self._ready, instance.metadata.uid, commit.at)
        return bool(known) and all(known)

    def _namespace_goes(self, ref: PlaneRef, hub_namespace: str) -> bool:
        namespace = self._observed.find(ref, Namespace, ("", hub_namespace))
        return namespace is None or namespace.deleting
