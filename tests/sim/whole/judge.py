"""The judge of whole worlds: it checks the safety laws with every commit of every plane.

S1 to S15 are the laws of the specification. Each is a function of its own, which returns what is wrong
with a commit, or nothing. Only the first violation counts; it names its law.
"""

import asyncio
from collections import deque
from collections.abc import Iterable
from typing import Any, Final, cast

from compute.app.planes import PlaneRef
from kubekit.plane.store.records import ChangeEvent
from kubekit.runtime.requests import Request
from tests.sim.trace import Trace
from tests.sim.whole import status_laws
from tests.sim.whole.budget_laws import Budgets
from tests.sim.whole.commits import Commit, Head, Laws, Notes, Place, head_of, whole
from tests.sim.whole.departure_laws import DepartureLaws
from tests.sim.whole.identity_laws import Identity
from tests.sim.whole.lineage_laws import Lineage
from tests.sim.whole.machine_laws import Machines
from tests.sim.whole.observed_state import ObservedState
from tests.sim.whole.removal_laws import RemovalLaws
from tests.sim.whole.shapes import Shapes

MOST_PASSES: Final = 400  # of one key by one controller within a minute
LAG: Final = 180.0  # seconds for which a decision may be on its way: pauses and slow lines
_UNCOUNTED: Final = ("Lease", "Event")


class Violation(AssertionError):
    """Something happened that must not."""


class Judge:
    """Receives every commit, and keeps the state that laws need."""

    def __init__(self, trace: Trace, lag: float = LAG) -> None:
        self.writes = 0  # of what is to be at rest
        self.passes = 0
        self.violation = ""
        self.violated = asyncio.Event()
        self._trace = trace
        self._heads: dict[tuple[PlaneRef, str], tuple[Head, Any]] = {}
        self._recent: dict[tuple[str, str, Request], deque[float]] = {}
        self._observed = ObservedState(lag)
        self._shapes = Shapes(self._observed)
        self._identity = Identity(self._observed)
        self._budgets = Budgets(self._observed, self._shapes)
        removals = RemovalLaws(self._observed)
        groups = (
            Machines(self._observed),
            self._budgets,
            DepartureLaws(self._observed, self._shapes),
            removals,
            Lineage(self._observed, self._shapes, removals),
        )
        tables = (self._identity.laws, *(group.laws for group in groups), status_laws.LAWS)
        self._laws = _merged(tables)
        self._notes: list[Notes] = [
            {("cell", "WorkloadDeployment"): self._shapes.note},
            *(group.notes for group in groups),
            {("core", "Project"): self._forget},
        ]

    def accuse(self, why: str) -> None:
        """Record a violation, with the lines of the trace up to here."""
        if not self.violation:
            self.violation = why
            self._trace.say("JUDGE", "VIOLATED", "", why)
            self.violated.set()

    @property
    def laws(self) -> list[str]:
        """The names of all laws."""
        tables = (self._identity.everywhere, *self._laws.values())
        return list(dict.fromkeys(law.__name__ for table in tables for law in table))

    # What the judge observes

    def committed(self, ref: PlaneRef, event: ChangeEvent) -> None:
        """One change of a plane, in the order of its revisions."""
        commit = self._read(ref, event)
        if commit.head.kind not in _UNCOUNTED:
            self.writes += 1
        place = ref.role, commit.head.kind
        if commit.uid not in self._observed.forgiven:
            self._judge(commit, place)
        self._observed.take(commit)
        self._identity.note(commit)
        for notes in self._notes:
            if place in notes:
                notes[place](commit)

    def forgive(self, uid: str, why: str) -> None:
        """Exempt an object that a vandal changes."""
        self._observed.forgiven[uid] = why
        self._trace.say("JUDGE", "forgives", uid, why)

    def cut(self, cell: str) -> None:
        """Note that a cell is cut off from now on, in both directions."""
        self._observed.cut(cell, _now())

    def healed(self, cell: str) -> None:
        self._observed.healed(cell, _now())

    def removed(self, ref: PlaneRef) -> None:
        """A plane is gone with all that it had. The project may still be there, and get another."""
        self._identity.drop(ref)
        self._budgets.drop(ref)

    def acknowledged(self, ref: PlaneRef, uid: str, version: str) -> None:
        """S8: a version that a plane has acknowledged must have been committed."""
        if fault := self._identity.acknowledged(ref, uid, int(version)):
            self.accuse(f"s8_nothing_acknowledged_is_lost: {fault}")

    def reconciled(self, process: str, controller: str, request: Request) -> None:
        """A reconcile pass has started."""
        self.passes += 1
        now = _now()
        passes = self._recent.setdefault((process, controller, request), deque())
        passes.append(now)
        while passes[0] <= now - 60.0:
            passes.popleft()
        if len(passes) > MOST_PASSES:
            self.accuse(f"{controller} reconciled {request} {len(passes)} times within a minute")

    # How it judges

    def _read(self, ref: PlaneRef, event: ChangeEvent) -> Commit[Any]:
        """The commit. The old object is remembered, or comes from the event if it is older than the judge."""
        record, before = event.record, event.previous
        head = head_of(record.data)
        obj = whole(head, record.data)
        place = ref, head.metadata.uid
        known = self._heads.pop(place, None)
        if known is None and before is not None:
            old_head = head_of(before.data)
            known = old_head, whole(old_head, before.data)
        commit = Commit(
            ref=ref,
            change=event.change,
            head=head,
            old_head=known[0] if known else None,
            obj=cast("Any", obj),
            old=known[1] if known else None,
            at=_now(),
            revision=record.revision,
            previous=0 if before is None else before.revision,
        )
        if not commit.gone:
            self._heads[place] = head, obj
        return commit

    def _judge(self, commit: Commit[Any], place: Place) -> None:
        for law in (*self._identity.everywhere, *self._laws.get(place, ())):
            if why := law(commit):
                self.accuse(f"{law.__name__}: {commit.where}: {why}")
                return

    def _forget(self, commit: Commit[Any]) -> None:
        """A project that is gone takes its plane along; the next of its name has another."""
        if commit.gone:
            self.removed(PlaneRef("project", commit.key[1]))


def _merged(tables: Iterable[Laws]) -> Laws:
    merged: Laws = {}
    for table in tables:
        for place, laws in table.items():
            merged[place] = (*merged.get(place, ()), *laws)
    return merged


def _now() -> float:
    return asyncio.get_running_loop().time()
