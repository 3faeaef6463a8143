"""What is known of one kind in one cluster.

Objects are kept as the JSON of what our class reads, without their managedFields: a fraction of the
memory that objects take, and nothing that a garbage collector has to walk through. Each read makes
an object of its own, so nobody can change what others read.
"""

import logging
from collections.abc import Callable, Iterable, Iterator
from sys import intern
from typing import Final, Generic, TypeVar

import msgspec

from compute.api import scheme
from compute.api.meta import Object
from compute.api.wire import Wire
from compute.runtime.index import Index, Key

K = TypeVar("K", bound=Object)
Of = Callable[[K], Iterable[str]]
_Objects = list[K]  # in the class below, ``list`` is a verb
_Keys = list[Key]

_log: Final = logging.getLogger(__name__)


class Identity(Wire, frozen=True, kw_only=True):
    """Which version of which object something is."""

    uid: str = ""
    resource_version: str = ""


class Cache(Generic[K]):
    """The objects of one kind, by namespace and name, and by indexes.

    ``revision`` is the newest version that everything here goes up to; 0 before the first list. A
    list from a server that is behind sets it back.
    """

    def __init__(self, kind: type[K]) -> None:
        self.kind = kind
        self.revision = 0
        self._kept: dict[str, dict[str, bytes]] = {}  # by namespace, then name; none is empty
        self._count = 0
        self._indexes: dict[str, tuple[Of[K], Index]] = {}

    def __len__(self) -> int:
        return self._count

    def __contains__(self, key: Key) -> bool:
        return self.data(*key) is not None

    def get(self, namespace: str, name: str) -> K | None:
        data = self.data(namespace, name)
        return None if data is None else scheme.decode_as(self.kind, data)

    def list(self, namespace: str = "") -> _Objects[K]:
        """The objects of a namespace, or all of them, in order of namespace and name."""
        return [scheme.decode_as(self.kind, data) for _, data in self.kept(namespace)]

    def by(self, index: str, value: str) -> _Objects[K]:
        """The objects of which the index says this value, in order of namespace and name."""
        found = (self.get(*key) for key in self._indexes[index][1][value])
        return [obj for obj in found if obj is not None]

    def count(self, index: str, value: str) -> int:
        """How many objects the index says this value of. None of them is read."""
        return self._indexes[index][1].count(value)

    def keys(self, namespace: str = "") -> _Keys:
        return [key for key, _ in self.kept(namespace)]

    def uid_of(self, namespace: str, name: str) -> str | None:
        """The identity of what has this name now; a later object of the same name has another."""
        data = self.data(namespace, name)
        return None if data is None else identity(data).uid

    def seen(self, version: str) -> bool:
        """Whether a write that made this version is in here, or what came after it.

        A version that is no number cannot be compared; it is taken as seen, for nobody may wait
        for ever.
        """
        return not version.isdecimal() or int(version) <= self.revision

    def add_index(self, name: str, of: Of[K]) -> None:
        """Have objects found by what ``of`` says of them. An index that is there stays as it is."""
        if name in self._indexes:
            return
        index = Index()
        self._indexes[name] = of, index
        for key, data in self.kept():
            index.put(key, self._values(of, key, scheme.decode_as(self.kind, data)))

    # For the informer, which alone writes here

    def data(self, namespace: str, name: str) -> bytes | None:
        """The object as it is kept."""
        return self._kept.get(namespace, {}).get(name)

    def kept(self, namespace: str = "") -> Iterator[tuple[Key, bytes]]:
        """The objects as they are kept, in order of namespace and name."""
        for place in (namespace,) if namespace else sorted(self._kept):
            there = self._kept.get(place, {})
            for name in sorted(there):
                yield (place, name), there[name]

    def put(self, obj: K) -> K:
        """Keep an object. What is returned is what others will read."""
        meta = msgspec.structs.replace(obj.metadata, managed_fields=())
        kept = msgspec.structs.replace(obj, metadata=meta)
        there = self._kept.get(meta.namespace)
        if there is None:
            there = self._kept[intern(meta.namespace)] = {}
        self._count += meta.name not in there
        # A copy: what an encoder returns holds the spare room of its buffer for as long as it lives.
        there[meta.name] = memoryview(scheme.encode(kept)).tobytes()
        for of, index in self._indexes.values():
            key = meta.namespace, meta.name
            index.put(key, self._values(of, key, kept))
        return kept

    def drop(self, namespace: str, name: str) -> None:
        """Forget an object."""
        there = self._kept.get(namespace, {})
        if there.pop(name, None) is None:
            return
        self._count -= 1
        if not there:
            del self._kept[namespace]
        for _, index in self._indexes.values():
            index.put((namespace, name), ())

    def reach(self, version: str) -> None:
        """Everything up to this version is here now."""
        if version.isdecimal():
            self.revision = int(version)

    def fall_back(self, version: str) -> None:
        """From here on there may be objects here that are only as new as this version."""
        if version.isdecimal():
            self.revision = min(self.revision, int(version))

    def _values(self, of: Of[K], key: Key, obj: K) -> Iterable[str]:
        """What an index says of an object: nothing when it fails, for others must be found."""
        try:
            return tuple(of(obj))
        except Exception:  # noqa: BLE001 -- whatever the function does, it is about one object
            extra = {"kind": self.kind.RESOURCE.kind, "object": "/".join(filter(None, key))}
            _log.exception("index failed", extra=extra)
            return ()


class _Head(Wire, frozen=True, kw_only=True):
    metadata: Identity = msgspec.field(default_factory=Identity)


_HEADS: Final = msgspec.json.Decoder(_Head)


def identity(data: bytes) -> Identity:
    """Which version of which object is kept here, without reading all of it."""
    return _HEADS.decode(data).metadata
