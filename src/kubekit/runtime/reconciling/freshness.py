"""Seeing one's own writes: a pass waits until the cache has what the passes before it wrote.

A cache is always a little behind. A pass that reads it too early decides again what was decided
already, and does it a second time.
"""

import logging
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final, NamedTuple, Protocol

from kubekit.api.meta import Object
from kubekit.runtime.reconciling.object_keys import ObjectKey
from kubekit.runtime.requests import ClusterName, Request

_log: Final = logging.getLogger(__name__)

_FIRST: Final = 0.01  # seconds between two looks, twice as many each time
_LONGEST: Final = 1.0
_DOUBLINGS: Final = 10  # enough to reach the longest; a power of many looks is no number any more
_PATIENCE: Final = 1200.0  # seconds; a server restored from a backup may never come so far again


class CacheView(Protocol):
    """As much of a cache as tells how far it is."""

    @property
    def revision(self) -> int: ...

    def seen(self, version: str) -> bool: ...

    def uid_of(self, namespace: str, name: str) -> str | None: ...


class FollowedInformer(Protocol):
    """An informer. A kind that is not served is not waited for."""

    @property
    def kind(self) -> type[Object]: ...

    @property
    def served(self) -> bool | None: ...

    @property
    def cache(self) -> CacheView: ...


class _Expected(NamedTuple):
    """What a cache must show: this version or a later one, and no object of this uid."""

    transport: object
    target: ObjectKey
    version: str = ""
    gone: str = ""


@dataclass(slots=True)
class _Waiting:
    """What the passes of one request wrote and the caches have not shown yet."""

    expected: dict[ObjectKey, _Expected] = field(default_factory=dict)
    checks: int = 0
    since: float = 0.0


_Kind = tuple[object, str, str]  # the door, the group and the plural
_Reached = dict[_Kind, tuple[CacheView, int]]


class Freshness:
    """What the passes of one controller wrote, by request.

    Only clusters that are followed are waited for, and only kinds that have an informer there:
    what is read live needs no waiting.
    """

    def __init__(self, patience: float = _PATIENCE) -> None:
        self._patience = patience
        self._followed: dict[object, Iterable[FollowedInformer]] = {}
        self._found: dict[_Kind, FollowedInformer] = {}  # of those, what was looked for before
        self._waiting: dict[Request, _Waiting] = {}
        self._sweep_at = 1024
        # How far the requests of each cluster once saw a cache to be. A list from a server that
        # lags sets it back, and holds up those requests, but none of another cluster.
        self._reached: dict[ClusterName, _Reached] = {}

    def __len__(self) -> int:
        """How many requests have writes that may not have been seen."""
        return len(self._waiting)

    def follow(self, transport: object, informers: Iterable[FollowedInformer]) -> None:
        """From here on, wait for what is written through this door."""
        self._followed[transport] = informers

    def unfollow(self, transport: object) -> None:
        """The cluster behind this door has gone: its caches will show nothing more."""
        self._followed.pop(transport, None)
        self._found = {
            kind: found for kind, found in self._found.items() if kind[0] is not transport
        }
        for reached in self._reached.values():
            for key in [key for key in reached if key[0] is transport]:
                del reached[key]

    def drop(self, cluster: ClusterName) -> None:
        """Forget what the requests of a cluster wrote."""
        self._reached.pop(cluster, None)
        for request in [waiting for waiting in self._waiting if waiting.cluster == cluster]:
            del self._waiting[request]

    def wrote(self, request: Request, transport: object, target: ObjectKey, version: str) -> None:
        """A pass left the object in this version."""
        expected = _Expected(transport, target, version)
        if self._is_behind(expected):
            self._wait(request).expected[target] = expected
        else:
            self._note_reached(request, expected)  # the watch was faster than the answer

    def removed(self, request: Request, transport: object, target: ObjectKey, uid: str) -> None:
        """A pass removed the object with this uid.

        If the cache has not even seen it come, it must not be taken for gone already.
        """
        waiting = self._waiting.get(request)
        before = waiting.expected.get(target) if waiting else None
        gone = _Expected(transport, target, gone=uid)
        expected = before._replace(gone=uid) if before else gone
        if self._is_behind(expected):
            self._wait(request).expected[target] = expected

    def lacks(self, transport: object, target: ObjectKey, version: str) -> bool:
        """Whether a cache has not come to this version yet."""
        return self._is_behind(_Expected(transport, target, version))

    def expects(self, request: Request) -> bool:
        """Whether the passes of a request wrote something that the caches have not shown."""
        return request in self._waiting

    def behind(self, request: Request, now: float) -> float:
        """In how many seconds to look again; 0 once everything that was written has been seen."""
        waiting = self._waiting.get(request)
        set_back = self._set_back(request)
        if waiting is None:
            if not set_back:
                return 0.0
            waiting = self._wait(request)
        self._strike_seen(request, waiting)
        if not (waiting.expected or set_back) or self._impatient(request, waiting, now):
            del self._waiting[request]
            return 0.0
        waiting.checks += 1
        doubled = min(waiting.checks - 1, _DOUBLINGS)
        return float(min(_FIRST * 2**doubled, _LONGEST))

    def _impatient(self, request: Request, waiting: _Waiting, now: float) -> bool:
        if not waiting.checks:
            waiting.since = now
        if now - waiting.since < self._patience:
            return False
        missing = ", ".join(map(str, waiting.expected))
        self._reached.pop(request.cluster, None)
        _log.warning(
            "own writes were not seen", extra={"request": str(request), "missing": missing}
        )
        return True

    def _wait(self, request: Request) -> _Waiting:
        waiting = self._waiting.get(request)
        if waiting is None:
            if len(self._waiting) >= self._sweep_at:
                self._sweep()
            waiting = self._waiting[request] = _Waiting()
        waiting.checks = 0
        return waiting

    def _sweep(self) -> None:
        """Forget what has been seen meanwhile: there may never be another pass to ask for it."""
        for request, waiting in list(self._waiting.items()):
            self._strike_seen(request, waiting)
            if not waiting.expected:
                del self._waiting[request]
        self._sweep_at = max(1024, 2 * len(self._waiting))

    def _set_back(self, request: Request) -> bool:
        """Whether a cache shows less than it once did."""
        reached = self._reached.get(request.cluster)
        if reached:
            for cache, revision in reached.values():  # for each pass: a generator costs more
                if cache.revision < revision:
                    return True
        return False

    def _strike_seen(self, request: Request, waiting: _Waiting) -> None:
        """Strike out what the caches have shown."""
        unseen = {target: one for target, one in waiting.expected.items() if self._is_behind(one)}
        for target, expected in waiting.expected.items():
            if target not in unseen:
                self._note_reached(request, expected)
        waiting.expected = unseen

    def _note_reached(self, request: Request, expected: _Expected) -> None:
        cache = self._cache(expected)
        if cache is None or not expected.version.isdecimal():
            return
        key = (expected.transport, expected.target.group, expected.target.plural)
        reached = self._reached.setdefault(request.cluster, {})
        _, before = reached.get(key, (cache, 0))
        revision = int(expected.version)
        if revision > before:
            reached[key] = cache, revision

    def _is_behind(self, expected: _Expected) -> bool:
        cache = self._cache(expected)
        if cache is None:
            return False
        target = expected.target
        return bool(
            (expected.version and not cache.seen(expected.version))
            or (expected.gone and cache.uid_of(target.namespace, target.name) == expected.gone)
        )

    def _cache(self, expected: _Expected) -> CacheView | None:
        kind = (expected.transport, expected.target.group, expected.target.plural)
        informer = self._found.get(kind) or self._find(kind)
        return None if informer is None or informer.served is False else informer.cache

    def _find(self, kind: _Kind) -> FollowedInformer | None:
        """The informer of a kind. It is there for as long as its cluster is followed."""
        transport, group, plural = kind
        for informer in self._followed.get(transport, ()):
            resource = informer.kind.RESOURCE
            if resource.plural == plural and resource.group == group:
                self._found[kind] = informer
                return informer
        return None
