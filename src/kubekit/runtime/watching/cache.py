"""The cache of one kind in one cluster.

Objects are kept as JSON, which takes a fraction of the memory and is not traversed by the garbage
collector. If a plane of this process has the same bytes, the cache shares them. Otherwise they are the
encoding of the fields that the class reads.

A decoded object takes twice the memory of its bytes, so only some are kept: the objects that are read
together with many others, as the Instances of a deployment are, and a few recently read ones, for all
caches together. All readers share them, so their maps must not be changed. None has managedFields.
"""

import logging
from collections.abc import Callable, Hashable, Iterable, Iterator
from typing import Any, Final, Generic, TypeVar

import msgspec

from kubekit.api import scheme
from kubekit.api.meta import Object, ObjectMeta, with_metadata
from kubekit.api.wire import Wire
from kubekit.runtime.interning import interned, with_interned_strings
from kubekit.runtime.watching.index import Index, Key

H = TypeVar("H", bound=Hashable)
K = TypeVar("K", bound=Object)
Of = Callable[[K], Iterable[str]]
_Objects = list[K]  # in the class below, ``list`` is a method
_Keys = list[Key]

_LARGEST_KEPT: Final = 16 * 1024  # bytes; larger objects are not kept decoded
# Decoded objects of one cache: enough for ten deployments of a thousand Instances each.
_READ_TOGETHER: Final = 10_240
_log: Final = logging.getLogger(__name__)


class LRUCache(Generic[H, K]):
    """The most recently used objects by their key: at least ``capacity``, and at most twice as many.

    There are two generations. An object that is put or read joins the younger one. When that is full,
    it replaces the older one, which is forgotten. So a read moves no entry of a list.
    """

    __slots__ = ("_capacity", "_older", "_younger")

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._younger: dict[H, K] = {}
        self._older: dict[H, K] = {}

    def get(self, key: H) -> K | None:
        known = self._younger.get(key)
        if known is None and (known := self._older.get(key)) is not None:
            self.put(key, known)
        return known

    def put(self, key: H, obj: K) -> None:
        """Keep an object in place of any other one of this key."""
        if len(self._younger) >= self._capacity:
            self._older, self._younger = self._younger, {}
        self._younger[key] = obj

    def drop(self, key: H) -> None:
        self._younger.pop(key, None)
        self._older.pop(key, None)


_RECENTLY_READ: Final[LRUCache[tuple[type[Object], bytes], Any]] = LRUCache(256)  # of all caches


class ObjectVersion(Wire, frozen=True, kw_only=True):
    """The uid and version of an object."""

    uid: str = ""
    resource_version: str = ""


class Cache(Generic[K]):
    """The objects of one kind, by namespace and name, and by indexes.

    ``revision`` is the version up to which the cache is complete; 0 before the first list. A list
    from a server that lags sets it back.
    """

    def __init__(self, kind: type[K], recent: int = _READ_TOGETHER) -> None:
        self.kind = kind
        self.revision = 0
        self._data: dict[str, dict[str, bytes]] = {}  # by namespace, then name; none is empty
        self._together: LRUCache[Key, K] = LRUCache(recent)  # decoded objects, never outdated ones
        self._count = 0
        self._indexes: dict[str, tuple[Of[K], Index]] = {}

    def __len__(self) -> int:
        return self._count

    def __contains__(self, key: Key) -> bool:
        return self.data(*key) is not None

    def get(self, namespace: str, name: str) -> K | None:
        key = namespace, name
        return self._read(key) if key in self else None

    def list(self, namespace: str = "") -> _Objects[K]:
        """The objects of a namespace, or all of them, in order of namespace and name."""
        return self._read_together(self.keys(namespace))

    def by(self, index: str, value: str) -> _Objects[K]:
        """The objects with this value in the index, in order of namespace and name."""
        return self._read_together(self.keys_by(index, value))

    def keys_by(self, index: str, value: str) -> _Keys:
        """The keys of the objects with this value in the index. No object is decoded."""
        return self._indexes[index][1][value]

    def count(self, index: str, value: str) -> int:
        """How many objects have this value in the index. No object is decoded."""
        return self._indexes[index][1].count(value)

    def counts(self, index: str) -> dict[str, int]:
        """How many objects have each value of the index. No object is decoded."""
        return self._indexes[index][1].counts()

    def keys(self, namespace: str = "") -> _Keys:
        return [key for key, _ in self.entries(namespace)]

    def uid_of(self, namespace: str, name: str) -> str | None:
        """The uid of the object with this name; a later object of the same name has another uid."""
        known = self.identity(namespace, name)
        return None if known is None else known.uid

    def seen(self, version: str) -> bool:
        """Whether the cache includes the write that made this version, or a later one.

        A version that is not a number cannot be compared. It counts as seen, because no pass may
        wait indefinitely.
        """
        return not version.isdecimal() or int(version) <= self.revision

    def add_index(self, name: str, of: Of[K]) -> None:
        """Add an index of the values that ``of`` returns. An existing index stays as it is."""
        if name in self._indexes:
            return
        index = Index()
        self._indexes[name] = of, index
        for key, data in self.entries():
            index.put(key, self._values(of, key, read(self.kind, data)))

    # For the informer, the only writer

    def data(self, namespace: str, name: str) -> bytes | None:
        """The bytes of the object."""
        return self._data.get(namespace, {}).get(name)

    def entries(self, namespace: str = "") -> Iterator[tuple[Key, bytes]]:
        """The bytes of the objects, in order of namespace and name."""
        for selected in (namespace,) if namespace else sorted(self._data):
            by_name = self._data.get(selected, {})
            for name in sorted(by_name):
                yield (selected, name), by_name[name]

    def known(self, namespace: str, name: str) -> K | bytes | None:
        """The object, or only its bytes if it was not read recently."""
        return self._recent(namespace, name) or self.data(namespace, name)

    def identity(self, namespace: str, name: str) -> "ObjectVersion | ObjectMeta | None":
        """The uid and version of the object with this name."""
        recent = self._recent(namespace, name)
        if recent is not None:
            return recent.metadata
        data = self.data(namespace, name)
        return None if data is None else _HEADS.decode(data).metadata

    def put(self, obj: K, source: bytes | None = None) -> K:
        """Store an object. Returns the object that readers will share.

        ``source`` are its bytes, if a plane of this process keeps them anyway.
        """
        stored = _without_managed_fields(obj) if source is None else _shared(obj, source)
        # Many caches and indexes keep the name of an object: they share one string.
        key = namespace, name = interned(stored.metadata.namespace), interned(stored.metadata.name)
        by_name = self._data.setdefault(namespace, {})
        self._count += name not in by_name
        # A copy: the bytes of an encoder keep the spare capacity of its buffer allocated.
        data = source or memoryview(scheme.encode(stored)).tobytes()
        by_name[name] = data
        if self._together.get(key) is not None:
            stored = self._keep_together(key, stored, data)
        for of, index in self._indexes.values():
            index.put(key, self._values(of, key, stored))
        return stored

    def drop(self, namespace: str, name: str) -> None:
        """Remove an object."""
        by_name = self._data.get(namespace, {})
        if by_name.pop(name, None) is None:
            return
        self._count -= 1
        self._together.drop((namespace, name))
        if not by_name:
            del self._data[namespace]
        for _, index in self._indexes.values():
            index.put((namespace, name), ())

    def reach(self, version: str) -> None:
        """Note that the cache is complete up to this version."""
        if version.isdecimal():
            self.revision = int(version)

    def fall_back(self, version: str) -> None:
        """Note that the cache may have objects that are only as new as this version."""
        if version.isdecimal():
            self.revision = min(self.revision, int(version))

    def _read_together(self, keys: _Keys) -> _Objects[K]:
        """The objects of these keys. Objects that are read together will be read together again."""
        if len(keys) == 1:
            return [self._read(keys[0])]
        together, objects = self._together.get, []
        for key in keys:
            obj = together(key)
            if obj is None:
                data = self._data[key[0]][key[1]]
                obj = self._keep_together(key, read(self.kind, data), data)
            objects.append(obj)
        return objects

    def _read(self, key: Key) -> K:
        return self._together.get(key) or read(self.kind, self._data[key[0]][key[1]])

    def _keep_together(self, key: Key, obj: K, data: bytes) -> K:
        if len(data) > _LARGEST_KEPT:
            self._together.drop(key)
            return obj
        shared = with_interned_strings(obj)
        self._together.put(key, shared)
        return shared

    def _recent(self, namespace: str, name: str) -> K | None:
        """The object, if it need not be decoded."""
        known: K | None = self._together.get((namespace, name))
        if known is None and (data := self.data(namespace, name)) is not None:
            known = _RECENTLY_READ.get((self.kind, data))
        return known

    def _values(self, of: Of[K], key: Key, obj: K) -> Iterable[str]:
        """The values of an object in an index: none if the function fails, which affects one object."""
        try:
            return tuple(of(obj))
        except Exception:  # noqa: BLE001 -- whatever the function raises, it concerns one object
            extra = {"kind": self.kind.RESOURCE.kind, "object": "/".join(filter(None, key))}
            _log.exception("index failed", extra=extra)
            return ()


class _Head(Wire, frozen=True, kw_only=True):
    metadata: ObjectVersion = msgspec.field(default_factory=ObjectVersion)


_HEADS: Final = msgspec.json.Decoder(_Head)


def read(kind: type[K], data: bytes) -> K:
    """The object of these bytes; readers share it while it is among the recently read ones."""
    known: K | None = _RECENTLY_READ.get((kind, data))
    return known or _keep_recent(scheme.decode_as(kind, data), data)


def _shared(obj: K, source: bytes) -> K:
    """The recently decoded object of these bytes, or this object for later readers."""
    known: K | None = _RECENTLY_READ.get((type(obj), source))
    return known or _keep_recent(obj, source)


def _keep_recent(obj: K, data: bytes) -> K:
    shared = _without_managed_fields(obj)
    if len(data) <= _LARGEST_KEPT:
        _RECENTLY_READ.put((type(obj), data), shared)
    return shared


def _without_managed_fields(obj: K) -> K:
    """The object without managedFields: they are larger than it, and no cache reader needs them."""
    if not obj.metadata.managed_fields:
        return obj
    return with_metadata(obj, managed_fields=())
