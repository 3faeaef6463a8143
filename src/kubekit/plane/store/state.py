"""The state in memory: the current objects, the latest changes, and the tombstones of the window."""

from collections.abc import Iterable
from itertools import takewhile

from kubekit.plane.store.collection import Collection
from kubekit.plane.store.log import Newest
from kubekit.plane.store.records import ChangeEvent, ChangeType, Draft, Record
from kubekit.plane.store.ring import Ring
from kubekit.plane.store.settings import StoreSettings


class StoreState:
    """The state that readers see. A change is published to it once the change is on disk."""

    def __init__(self, settings: StoreSettings, revision: int, compacted: int) -> None:
        self.revision = revision
        self.compacted = compacted
        self._settings = settings
        self._collections: dict[str, Collection] = {}
        self._rings: dict[str, Ring] = {}
        # In the order of the deletions, so that compaction takes them from the front.
        self._tombstones: dict[tuple[str, str], int] = {}

    def load(self, newest: Iterable[Newest]) -> None:
        """Fill an empty state. Rows come in the order of their revisions."""
        records: dict[str, list[Record]] = {}
        floors: dict[str, int] = {}
        for revision, resource, key, change, document in newest:
            floors[resource] = revision
            if change == ChangeType.DELETED:
                self._tombstones[resource, key] = revision
            else:
                records.setdefault(resource, []).append(Record(key, revision, document))
        self._collections = {name: Collection(stored) for name, stored in records.items()}
        self._rings = {name: self._ring(floor) for name, floor in floors.items()}

    def collection(self, resource: str) -> Collection:
        collection = self._collections.get(resource)
        if collection is None:
            collection = self._collections[resource] = Collection()
        return collection

    def ring(self, resource: str) -> Ring:
        ring = self._rings.get(resource)
        if ring is None:
            ring = self._rings[resource] = self._ring(floor=0)
        return ring

    def predecessor(self, draft: Draft) -> int | None:
        """The row that the draft's row will follow, or None if the object has changed since.

        The log alone cannot decide: compaction removes old rows, and with them their successions.
        """
        record = self.collection(draft.resource).find(draft.key)
        if record is not None:
            return record.revision if record.revision == draft.previous else None
        if draft.previous or draft.change is ChangeType.DELETED:
            return None
        return self._tombstones.get((draft.resource, draft.key), 0)

    def publish(self, draft: Draft, record: Record) -> ChangeEvent:
        """Make a change visible to readers."""
        collection = self.collection(draft.resource)
        previous = collection.find(draft.key)
        event = ChangeEvent(draft.change, record, previous, keeps_links=draft.keeps_links)
        if draft.change is ChangeType.DELETED:
            collection.remove(draft.key)
            self._tombstones.pop((draft.resource, draft.key), None)
            self._tombstones[draft.resource, draft.key] = record.revision
        else:
            collection.put(record)
        self.ring(draft.resource).append(event)
        self.revision = record.revision
        return event

    def compact(self, revision: int) -> None:
        """Drop the history up to and including that revision."""
        self.compacted = max(self.compacted, revision)
        for ring in self._rings.values():
            ring.compact(revision)
        old = takewhile(lambda tombstone: tombstone[1] <= revision, self._tombstones.items())
        for location, _ in list(old):
            del self._tombstones[location]

    def _ring(self, floor: int) -> Ring:
        return Ring(floor, self._settings.ring_events, self._settings.ring_bytes)
