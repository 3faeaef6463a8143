"""The informer of one kind in one cluster: it fills a cache and calls handlers for each change.

An informer keeps trying to list a kind that the server does not serve. Such an informer counts as
ready, so that no caller waits for it. When the kind is installed, its objects arrive as changes.
"""

import asyncio
import logging
from collections.abc import Callable
from contextlib import aclosing
from typing import Final, Generic, TypeVar

from kubekit.api.errors import Unreachable
from kubekit.api.meta import Object
from kubekit.client.client import Client
from kubekit.client.list_watch import ListPage, NotServed, follow
from kubekit.client.reading import TypedEvent, UnreadableObject
from kubekit.environment import ExecutionEnvironment
from kubekit.runtime.interning import interned
from kubekit.runtime.reporting.counters import InformerCounters
from kubekit.runtime.requests import ClusterName
from kubekit.runtime.watching.cache import Cache
from kubekit.runtime.watching.changes import CacheChange
from kubekit.runtime.watching.index import Key
from kubekit.runtime.watching.watched_part import WHOLE, WatchedPart

K = TypeVar("K", bound=Object)
Handler = Callable[[CacheChange[K]], None]

_BURST: Final = 500  # removals before other tasks get their turn
_log: Final = logging.getLogger(__name__)


class Informer(Generic[K]):
    """Keeps a cache in sync with a cluster, and calls its handlers for each change.

    ``served`` is None until the server has answered whether it serves the kind. ``problem`` says why
    the cache may be behind, and is empty otherwise. ``unreadable`` has the reasons why objects do
    not decode; the cache keeps their earlier state. ``relists`` counts the lists after the first.
    ``part`` selects the objects of the kind that are watched.
    """

    def __init__(
        self,
        cluster: ClusterName,
        client: Client,
        kind: type[K],
        environment: ExecutionEnvironment,
        part: WatchedPart = WHOLE,
    ) -> None:
        self.cluster = cluster
        self.kind = kind
        self.cache = Cache(kind)
        self.served: bool | None = None
        self.problem = ""
        self.unreadable: dict[Key, str] = {}
        self.relists = 0
        self._client = client
        self._environment = environment
        self._part = part
        self._listeners: dict[int, Handler[K]] = {}  # in the order of their registration
        self._last_number = 0
        self._present: dict[Key, None] = {}  # keys of the running list so far
        self._last_problem: Exception | None = None
        self._synced = asyncio.Event()
        self._ready_once = asyncio.Event()

    @property
    def synced(self) -> bool:
        """Whether a whole list has been received, however long ago."""
        return self._synced.is_set()

    @property
    def ready(self) -> bool:
        """Whether there is nothing to wait for: the cache is synced, or the kind is not served."""
        return self.synced or self.served is False

    async def wait_synced(self) -> None:
        """Wait for the first whole list; indefinitely if the kind is never served."""
        await self._synced.wait()

    async def wait_ready(self) -> None:
        """Wait until the informer is ready, or has been ready once."""
        await self._ready_once.wait()

    def listen(self, handler: Handler[K]) -> Callable[[], None]:
        """Call a handler for every object in the cache, at once, and for each change from then on.

        The returned function removes it. An exception of a handler is logged and stops nothing.
        """
        number = self._last_number = self._last_number + 1
        self._listeners[number] = handler
        for (namespace, name), data in self.cache.entries():
            new = self.cache.known(namespace, name) or data
            self._call(handler, CacheChange(self.cluster, namespace, name, self.kind, new=new))
        return lambda: self._listeners.pop(number, None) and None

    async def run(self) -> None:
        """Follow the cluster until cancelled."""
        steps = follow(
            self._client,
            self.kind,
            self._part.namespace,
            self._part.options,
            self._environment,
            self._report_problem,
        )
        async with aclosing(steps):
            async for step in steps:
                if isinstance(step, ListPage):
                    await self._take_page(step)
                else:
                    self._take_change(step)
                del step  # a page is large, and the next change may take long to arrive

    def counters(self) -> InformerCounters:
        """The numbers of this informer at this moment."""
        return InformerCounters(
            cluster=self.cluster,
            kind=self.kind.RESOURCE.kind,
            objects=len(self.cache),
            relists=self.relists,
            unreadable=len(self.unreadable),
            synced=self.synced,
            served=self.served is not False,
        )

    async def _take_page(self, page: ListPage[K]) -> None:
        self.served = True
        if page.is_first:
            self._present = {}
            # Its first object may already be older than the cached one: set the cache back now, or
            # a pass between two pages would assume that the cache shows its own writes.
            self.cache.fall_back(page.resource_version)
        # If items are left out as unreadable, there are more sources than items: they are not used.
        matched = len(page.sources) == len(page.items)
        sources = page.sources if matched else (None,) * len(page.items)
        for item, source in zip(page.items, sources, strict=True):
            self._present[item.metadata.namespace, item.metadata.name] = None
            self._put(item, source)
        for bad in page.unreadable:
            self._present[bad.namespace, bad.name] = None
            self._skip(bad)
        if page.is_last:
            await self._end_list(page.resource_version)

    async def _end_list(self, version: str) -> None:
        """Remove the objects that are not in the list, in bursts, since it may be all of them."""
        present, self._present = self._present, {}
        removed = [key for key, _ in self.cache.entries() if key not in present]
        for count, key in enumerate(removed, 1):
            self._remove(*key)
            if count % _BURST == 0:
                await asyncio.sleep(0)
        self.unreadable = {key: why for key, why in self.unreadable.items() if key in present}
        self.cache.reach(version)
        self.relists += self.synced
        self._synced.set()
        self._ready_once.set()

    def _take_change(self, seen: TypedEvent[K]) -> None:
        if seen.type == "DELETED":
            self.unreadable.pop((seen.namespace, seen.name), None)
            self._remove(seen.namespace, seen.name)
        elif seen.object is not None:
            self._put(seen.object, seen.source)
        elif seen.unreadable is not None:
            self._skip(UnreadableObject(seen.namespace, seen.name, seen.unreadable))
        self.cache.reach(seen.resource_version)

    def _put(self, obj: K, source: bytes | None) -> None:
        meta = obj.metadata
        # Handlers keep the name for a minute or longer, so it is interned.
        namespace, name = interned(meta.namespace), interned(meta.name)
        self.unreadable.pop((namespace, name), None)
        known = self.cache.identity(namespace, name)
        old = None
        if known is not None:
            if known.uid != meta.uid:
                self._remove(namespace, name)
            elif known.resource_version == meta.resource_version:
                return
            else:
                old = self.cache.known(namespace, name)
        new = self.cache.put(obj, source)
        self._notify(CacheChange(self.cluster, namespace, name, self.kind, old=old, new=new))

    def _remove(self, namespace: str, name: str) -> None:
        old = self.cache.known(namespace, name)
        if old is None:
            return
        self.cache.drop(namespace, name)
        self._notify(CacheChange(self.cluster, namespace, name, self.kind, old=old))

    def _skip(self, bad: UnreadableObject) -> None:
        """Note an object that does not decode. Its cached state stays, unless it was replaced."""
        key = bad.namespace, bad.name
        if bad.uid and self.cache.uid_of(*key) != bad.uid:
            self._remove(*key)
        if self.unreadable.get(key) != bad.why:
            self.unreadable[key] = bad.why
            extra = self._location(*key) | {"why": bad.why}
            _log.warning("object not readable", extra=extra)

    def _notify(self, change: CacheChange[K]) -> None:
        for number, handler in tuple(self._listeners.items()):
            if number in self._listeners:  # an earlier handler may have removed this one
                self._call(handler, change)

    def _call(self, handler: Handler[K], change: CacheChange[K]) -> None:
        try:
            handler(change)
        except Exception:  # noqa: BLE001 -- whatever a handler raises, the others must be called
            _log.exception("handler failed", extra=self._location(change.namespace, change.name))

    def _report_problem(self, problem: Exception | None) -> None:
        if isinstance(problem, NotServed):
            self.served = False
            self._ready_once.set()
        self.problem = "" if problem is None else str(problem) or repr(problem)
        extra = {"cluster": self.cluster, "kind": self.kind.RESOURCE.kind}
        logged_already = isinstance(problem or self._last_problem, Unreachable)
        self._last_problem = problem
        if problem is None:
            _log.log(
                logging.DEBUG if logged_already else logging.INFO, "informer recovered", extra=extra
            )
        else:
            level = logging.DEBUG if logged_already else logging.WARNING
            _log.log(
                level, "informer fails to list or watch", extra=extra | {"problem": self.problem}
            )

    def _location(self, namespace: str, name: str) -> dict[str, str]:
        return {
            "cluster": self.cluster,
            "kind": self.kind.RESOURCE.kind,
            "object": "/".join(filter(None, (namespace, name))),
        }
