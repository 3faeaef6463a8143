"""What must never happen, checked at every write of every plane and at every answer to a process."""

import asyncio
from collections import deque
from dataclasses import dataclass, field
from typing import Any, Final

import msgspec

from kubekit.api import scheme
from kubekit.api.errors import ApiError, Conflict, NotFound
from kubekit.api.meta import Object
from kubekit.plane.store.records import ChangeEvent
from kubekit.runtime.requests import Request, cluster_name
from tests.sim.controllers import FINALIZER, mirror_name
from tests.sim.kinds import Child, Mirror, Parent
from tests.sim.network import Sent
from tests.sim.trace import Trace

MOST_PASSES: Final = 400  # of one key by one controller within a minute
_JUSTIFIES: Final = 180.0  # seconds for which a decision may be on its way: pauses and slow lines
_UNCOUNTED: Final = ("Lease", "Event")
_KINDS: Final[dict[str, type[Object]]] = {"Parent": Parent, "Child": Child, "Mirror": Mirror}


class Violation(AssertionError):
    """Something happened that must not."""


@dataclass(slots=True)
class ParentLife:
    """What became of one very parent; times are of the loop."""

    states: list[tuple[float, int]] = field(default_factory=list)  # when, and copies wanted
    held: bool = False
    deleting: float | None = None


class Witness:
    """Hears of everything, and remembers enough to judge it. The first violation counts."""

    def __init__(self, trace: Trace) -> None:
        self.writes = 0  # of what is to be at rest
        self.passes = 0
        self.remembers = True  # processes remember what they wrote: no cluster leaves them
        self.violation = ""
        self.violated = asyncio.Event()
        self._trace = trace
        self._revisions: dict[str, int] = {}
        self._uids: dict[str, str] = {}
        self._generations: dict[str, int] = {}
        self._parents: dict[str, ParentLife] = {}
        self._copies: dict[tuple[str, str, int], str] = {}  # of a parent and number, the uid
        self._made: dict[str, float] = {}  # when a copy came, by uid
        self._harmed: dict[str, None] = {}  # uids of copies that an intruder may have deleted
        self._absent: dict[str, float] = {}  # when a mirror was last looked for in vain
        self._seen: dict[tuple[str, str, str], tuple[int, float]] = {}  # acknowledged writes
        self._looks: dict[tuple[str, str, Request], deque[float]] = {}

    def accuse(self, why: str) -> None:
        """Note a violation; the lines of the trace up to here tell how it came about."""
        if not self.violation:
            self.violation = why
            self._trace.say("WITNESS", "VIOLATED", "", why)
            self.violated.set()

    def harmed(self, who: str, copy: Child | Mirror) -> None:
        """An intruder changes an object: its removal is then not the controllers' doing."""
        self._harmed[copy.metadata.uid] = None
        self._trace.say(who, "harms", f"{copy.RESOURCE.plural} {copy.metadata.name}")

    # The planes

    def committed(self, plane: str, event: ChangeEvent) -> None:
        """One change of a plane."""
        before = self._revisions.get(plane, 0)
        if event.record.revision <= before:
            self.accuse(f"{plane}: version {event.record.revision} came after {before}")
        self._revisions[plane] = event.record.revision
        head = msgspec.json.decode(event.record.data)
        if head["kind"] not in _UNCOUNTED:
            self.writes += 1
        self._identify(plane, event, head)
        kind = _KINDS.get(head["kind"])
        if kind is None:
            return
        obj = scheme.decode_as(kind, event.record.data)
        old = None if event.previous is None else scheme.decode_as(kind, event.previous.data)
        if isinstance(obj, Parent):
            self._parent(plane, event.change, obj, old)
        elif isinstance(obj, Child | Mirror):
            self._copy(event.change, obj)

    def _identify(self, plane: str, event: ChangeEvent, head: dict[str, Any]) -> None:
        """A uid means one object permanently, and its generation does not fall."""
        metadata = head["metadata"]
        name = f"{plane} {head['kind']} {event.record.key}"
        uid = metadata["uid"]
        if self._uids.setdefault(uid, name) != name:
            self.accuse(f"{name} has the uid of {self._uids[uid]}")
        if event.change == "ADDED" and uid in self._generations:
            self.accuse(f"{name} came back with its old uid")
        generation = metadata.get("generation", 0)
        if generation < self._generations.get(uid, 0):
            self.accuse(f"{name}: its generation fell to {generation}")
        self._generations[uid] = generation

    def _parent(self, plane: str, change: str, parent: Parent, old: Any) -> None:
        life = self._parents.setdefault(parent.metadata.uid, ParentLife())
        life.states.append((_now(), 0 if change == "DELETED" else parent.spec.copies))
        if (parent.deleting or change == "DELETED") and life.deleting is None:
            life.deleting = _now()
        holds = FINALIZER in parent.metadata.finalizers and change != "DELETED"
        held = old is not None and FINALIZER in old.metadata.finalizers
        life.held = life.held or holds
        if held and not holds:
            self._released(plane, parent, life)

    def _released(self, plane: str, parent: Parent, life: ParentLife) -> None:
        """A finalizer goes only off a parent that is being deleted, when its mirror is gone.

        A mirror that came after the one who lets go had looked is another writer's late request.
        """
        uid, name = parent.metadata.uid, parent.metadata.name
        if life.deleting is None:
            self.accuse(f"{name} was let go of while it is not deleting")
            return
        mirror = self._copies.get(("Mirror", uid, 0))
        if mirror is None:
            return
        looked = self._absent.get(mirror_name(cluster_name(plane), name), -1.0)
        if not life.deleting <= looked <= self._made[mirror]:
            self.accuse(f"{name} was let go of while its mirror is there")

    def _copy(self, change: str, copy: Child | Mirror) -> None:
        spec, name = copy.spec, copy.metadata.name
        key = copy.kind, spec.parent_uid, spec.number
        if change == "ADDED":
            self._added(copy, key)
        elif change == "DELETED":
            self._copies.pop(key, None)
            if copy.metadata.uid not in self._harmed and not self._may_go(
                spec.parent_uid, spec.number
            ):
                self.accuse(f"{copy.kind} {name} was deleted although it is wanted")

    def _added(self, copy: Child | Mirror, key: tuple[str, str, int]) -> None:
        name = copy.metadata.name
        parent = self._parents.get(copy.spec.parent_uid)
        if parent is None:
            self.accuse(f"{copy.kind} {name} was made for a parent that never was")
        elif isinstance(copy, Mirror) and not parent.held:
            self.accuse(f"{name} was mirrored before it was held")
        if key in self._copies:
            self.accuse(f"{copy.kind} {name}: there is another one for the same parent")
        self._copies[key] = copy.metadata.uid
        self._made[copy.metadata.uid] = _now()

    def _may_go(self, uid: str, number: int) -> bool:
        """Whether the parent did without this copy at some time, of late."""
        life = self._parents.get(uid)
        if life is None or life.deleting is not None:
            return True
        since = _now() - _JUSTIFIES
        # What it wanted when that time began counts too.
        begin = max((i for i, (at, _) in enumerate(life.states) if at <= since), default=0)
        return any(copies <= number for _, copies in life.states[begin:])

    # The processes

    def served(self, sent: Sent, outcome: object) -> None:
        """What a plane said to a request."""
        if sent.verb == "get" and sent.place.resource.plural == "mirrors":
            if isinstance(outcome, NotFound):
                self._absent[sent.place.name] = _now()
        elif isinstance(outcome, Conflict) and sent.version and self.remembers:
            version, at = self._seen.get(_writer(sent), (0, 0.0))
            if int(sent.version) < version and at < sent.at:
                self.accuse(
                    f"{sent.controller} wrote {sent.place.name} from version {sent.version} after "
                    f"it had written {version} itself"
                )

    def delivered(self, sent: Sent, outcome: object) -> None:
        """What a process received."""
        if sent.verb in {"create", "patch"} and not isinstance(outcome, ApiError):
            assert isinstance(outcome, dict)
            version = int(outcome["metadata"]["resourceVersion"])
            self._seen[_writer(sent)] = version, _now()

    def looked(self, process: str, controller: str, request: Request) -> None:
        """A pass has begun."""
        self.passes += 1
        now = _now()
        looks = self._looks.setdefault((process, controller, request), deque())
        looks.append(now)
        while looks[0] <= now - 60.0:
            looks.popleft()
        if len(looks) > MOST_PASSES:
            self.accuse(f"{controller} looked at {request} {len(looks)} times within a minute")


def _writer(sent: Sent) -> tuple[str, str, str]:
    place = sent.place
    return sent.link, sent.controller, f"{place.resource.plural}/{place.name}"


def _now() -> float:
    return asyncio.get_running_loop().time()
