"""Commits written by hand, as a plane would write them, for a judge."""

from typing import Any, Final, TypeVar

import msgspec
from msgspec.structs import replace

from compute.app.planes import PlaneRef
from kubekit.api.meta import Object
from kubekit.plane.store.records import ChangeEvent, ChangeType, Record
from tests.sim.trace import Trace
from tests.sim.whole.judge import Judge
from tests.support.compute import builders

K = TypeVar("K", bound=Object)
LAG: Final = 10.0  # seconds


class CommitBuilder:
    """The judge, and what was committed before."""

    def __init__(self) -> None:
        self.judge = Judge(Trace(), LAG)
        self._revisions: dict[PlaneRef, int] = {}
        self._records: dict[tuple[PlaneRef, str, str], Record] = {}
        self._objects: dict[tuple[PlaneRef, str, str], Any] = {}
        self._born = 0

    def get(self, ref: PlaneRef, kind: type[K], name: str) -> K:
        found: K = self._objects[ref, kind.RESOURCE.kind, name]
        return found

    def put(self, ref: PlaneRef, obj: K) -> K:
        """Make an object, or change it, with the metadata that a plane gives it."""
        old = self._objects.get((ref, obj.kind, obj.metadata.name))
        if old is None:
            self._born += 1
            uid = obj.metadata.uid or f"uid-{self._born}"
            meta = replace(obj.metadata, uid=uid, generation=1)
            return self.commit(ref, ChangeType.ADDED, replace(obj, metadata=meta))
        changed = _spec(old) != _spec(obj) or obj.deleting != old.deleting
        generation = old.metadata.generation + changed
        meta = replace(obj.metadata, uid=old.metadata.uid, generation=generation)
        return self.commit(ref, ChangeType.MODIFIED, replace(obj, metadata=meta))

    def meta(self, ref: PlaneRef, kind: type[K], name: str, **changes: Any) -> K:
        """Change the metadata of an object."""
        found = self.get(ref, kind, name)
        return self.put(ref, replace(found, metadata=replace(found.metadata, **changes)))

    def ask(self, ref: PlaneRef, kind: type[K], name: str) -> K:
        """Delete an object that has a finalizer."""
        return self.meta(ref, kind, name, deletion_timestamp=builders.NOW)

    def remove(self, ref: PlaneRef, kind: type[Object], name: str) -> None:
        self.commit(ref, ChangeType.DELETED, self.get(ref, kind, name))

    def commit(
        self,
        ref: PlaneRef,
        change: ChangeType,
        obj: K,
        *,
        revision: int = 0,
        previous: Record | None = None,
        resource_version: str = "",
    ) -> K:
        """Pass a commit to the judge, lawful or not."""
        place = ref, obj.kind, obj.metadata.name
        number = revision or self._revisions.get(ref, 0) + 1
        version = resource_version or str(number)
        written = replace(obj, metadata=replace(obj.metadata, resource_version=version))
        record = Record(obj.metadata.name, number, msgspec.json.encode(written))
        before = previous or self._records.get(place)
        self.judge.committed(ref, ChangeEvent(change, record, before))
        self._revisions[ref] = number
        self._records[place], self._objects[place] = record, written
        if change is ChangeType.DELETED:
            del self._records[place], self._objects[place]
        return written

    def record(self, ref: PlaneRef, kind: type[Object], name: str) -> Record:
        return self._records[ref, kind.RESOURCE.kind, name]

    def slip(self, ref: PlaneRef, obj: K) -> K:
        """Add an object without a judgement."""
        uid = obj.metadata.uid or f"uid-slipped-{self._born}"
        self.judge.forgive(uid, "it is not what the story is about")
        slipped = self.put(ref, replace(obj, metadata=replace(obj.metadata, uid=uid)))
        del self.judge._observed.forgiven[uid]
        return slipped

    def twin(self, ref: PlaneRef, kind: type[K], name: str, other: str) -> K:
        """The same object once more, under another name."""
        found = self.get(ref, kind, name)
        meta = replace(found.metadata, name=other, uid="", generation=0)
        return self.put(ref, replace(found, metadata=meta))

    def forget(self, ref: PlaneRef) -> None:
        """Remove a plane."""
        self._revisions.pop(ref, None)
        for place in [place for place in self._objects if place[0] == ref]:
            del self._objects[place], self._records[place]


def _spec(obj: Any) -> bytes:
    return msgspec.json.encode(getattr(obj, "spec", None))
