"""Read-your-writes: a pass waits until the caches show what earlier passes of its request wrote.

A cache is always a little behind. A pass that reads it too early would make the same decision, and
the same write, a second time.
"""

import logging
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final, NamedTuple, Protocol

from kubekit.api.meta import Object
from kubekit.runtime.reconciling.object_keys import ObjectKey
from kubekit.runtime.requests import ClusterName, Request

_log: Final = logging.getLogger(__name__)

_FIRST: Final = 0.01  # seconds between two checks, doubled each time
_LONGEST: Final = 1.0
_DOUBLINGS: Final = 10  # enough to reach the longest; a higher power may overflow
_PATIENCE: Final = 1200.0  # seconds; a server restored from a backup may never reach the version


class CacheView(Protocol):
    """The part of a cache that says which versions it includes."""

    @property
    def revision(self) -> int: ...

    def seen(self, version: str) -> bool: ...

    def uid_of(self, namespace: str, name: str) -> str | None: ...


class FollowedInformer(Protocol):
    """An informer. Passes do not wait for a kind that is not served."""

    @property
    def kind(self) -> type[Object]: ...

    @property
    def served(self) -> bool | None: ...

    @property
    def cache(self) -> CacheView: ...


class _Expected(NamedTuple):
    """The state that a cache must reach: this version or a later one, and no object of this uid."""

    transport: object
    target: ObjectKey
    version: str = ""
    gone: str = ""


@dataclass(slots=True)
class _Waiting:
    """Writes of the passes of one request that the caches do not show yet."""

    expected: dict[ObjectKey, _Expected] = field(default_factory=dict)
    checks: int = 0
    since: float = 0.0


_Kind = tuple[object, str, str]  # the transport, the group and the plural
_Reached = dict[_Kind, tuple[CacheView, int]]


class Freshness:
    """The writes of the passes of one controller, by request.

    Passes wait only for clusters that are followed, and only for kinds with an informer there:
    objects that are read live need no waiting.
    """

    def __init__(self, patience: float = _PATIENCE) -> None:
        self._patience = patience
        self._followed: dict[object, Iterable[FollowedInformer]] = {}
        self._informers: dict[_Kind, FollowedInformer] = {}  # by kind; see `_find`
        self._waiting: dict[Request, _Waiting] = {}
        self._sweep_at = 1024
        # The versions that caches had reached when requests of each cluster saw them. A list from a
        # lagging server sets a cache back, and delays those requests, but none of another cluster.
        self._reached: dict[ClusterName, _Reached] = {}

    def __len__(self) -> int:
        """How many requests have writes that caches may not show yet."""
        return len(self._waiting)

    def follow(self, transport: object, informers: Iterable[FollowedInformer]) -> None:
        """Wait for what is written through this transport from now on."""
        self._followed[transport] = informers

    def unfollow(self, transport: object) -> None:
        """Stop waiting for a disengaged cluster: its caches will show nothing more."""
        self._followed.pop(transport, None)
        self._informers = {
            kind: informer for kind, informer in self._informers.items() if kind[0] is not transport
        }
        for reached in self._reached.values():
            for key in [key for key in reached if key[0] is transport]:
                del reached[key]

    def drop(self, cluster: ClusterName) -> None:
        """Forget the writes of the requests of a cluster."""
        self._reached.pop(cluster, None)
        for request in [waiting for waiting in self._waiting if waiting.cluster == cluster]:
            del self._waiting[request]

    def wrote(self, request: Request, transport: object, target: ObjectKey, version: str) -> None:
        """Note that a pass wrote the object in this version."""
        expected = _Expected(transport, target, version)
        if self._is_behind(expected):
            self._wait(request).expected[target] = expected
        else:
            self._note_reached(request, expected)  # the watch event was faster than the response

    def removed(self, request: Request, transport: object, target: ObjectKey, uid: str) -> None:
        """Note that a pass removed the object with this uid.

        If the cache does not show its creation yet, its absence does not prove the removal.
        """
        waiting = self._waiting.get(request)
        before = waiting.expected.get(target) if waiting else None
        gone = _Expected(transport, target, gone=uid)
        expected = before._replace(gone=uid) if before else gone
        if self._is_behind(expected):
            self._wait(request).expected[target] = expected

    def lacks(self, transport: object, target: ObjectKey, version: str) -> bool:
        """Whether a cache has not reached this version yet."""
        return self._is_behind(_Expected(transport, target, version))

    def expects(self, request: Request) -> bool:
        """Whether the passes of a request wrote something that the caches do not show."""
        return request in self._waiting

    def behind(self, request: Request, now: float) -> float:
        """Seconds until the next check; 0 once the caches show all writes of the request."""
        waiting = self._waiting.get(request)
        set_back = self._set_back(request)
        if waiting is None:
            if not set_back:
                return 0.0
            waiting = self._wait(request)
        self._drop_seen(request, waiting)
        if not (waiting.expected or set_back) or self._timed_out(request, waiting, now):
            del self._waiting[request]
            return 0.0
        waiting.checks += 1
        doubled = min(waiting.checks - 1, _DOUBLINGS)
        return float(min(_FIRST * 2**doubled, _LONGEST))

    def _timed_out(self, request: Request, waiting: _Waiting, now: float) -> bool:
        if not waiting.checks:
            waiting.since = now
        if now - waiting.since < self._patience:
            return False
        missing = ", ".join(map(str, waiting.expected))
        self._reached.pop(request.cluster, None)
        _log.warning(
            "the caches do not show own writes in time, so the pass runs without them",
            extra={"request": str(request), "missing": missing},
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
        """Forget writes that the caches show by now: there may never be another pass that checks."""
        for request, waiting in list(self._waiting.items()):
            self._drop_seen(request, waiting)
            if not waiting.expected:
                del self._waiting[request]
        self._sweep_at = max(1024, 2 * len(self._waiting))

    def _set_back(self, request: Request) -> bool:
        """Whether a cache was set back to an earlier version."""
        reached = self._reached.get(request.cluster)
        if reached:
            for cache, revision in reached.values():  # runs for each pass: a generator costs more
                if cache.revision < revision:
                    return True
        return False

    def _drop_seen(self, request: Request, waiting: _Waiting) -> None:
        """Drop the expectations that the caches meet."""
        unseen = {
            target: expected
            for target, expected in waiting.expected.items()
            if self._is_behind(expected)
        }
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
        informer = self._informers.get(kind) or self._find(kind)
        return None if informer is None or informer.served is False else informer.cache

    def _find(self, kind: _Kind) -> FollowedInformer | None:
        """The informer of a kind. It exists for as long as its cluster is followed."""
        transport, group, plural = kind
        for informer in self._followed.get(transport, ()):
            resource = informer.kind.RESOURCE
            if resource.plural == plural and resource.group == group:
                self._informers[kind] = informer
                return informer
        return None
