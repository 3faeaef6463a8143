"""One kind in one cluster, kept in memory, and whoever wants to hear of it.

A kind that the server does not serve is waited for. It is known to be absent then, which is as good
as a cache that is filled: nobody has to wait for it, and when it comes its objects come by
themselves.
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
from kubekit.client.options import EVERYTHING, ListOptions
from kubekit.client.reading import TypedEvent, UnreadableObject
from kubekit.environment import ExecutionEnvironment
from kubekit.runtime.interning import interned
from kubekit.runtime.reporting.counters import InformerCounters
from kubekit.runtime.requests import ClusterName
from kubekit.runtime.watching.cache import Cache
from kubekit.runtime.watching.changes import CacheChange
from kubekit.runtime.watching.index import Key

K = TypeVar("K", bound=Object)
Handler = Callable[[CacheChange[K]], None]

_BURST: Final = 500  # removals told before others get their turn
_log: Final = logging.getLogger(__name__)


class Informer(Generic[K]):
    """Keeps a cache in step with a cluster, and tells its listeners what changes.

    ``served`` is None until the server has said whether it has the kind; ``trouble`` says why the
    cache may be behind, and is empty while all is well. ``unreadable`` says of objects that the
    class cannot read why; what was known of them before is kept. ``relists`` counts the lists
    after the first. ``part`` says which objects of the kind are looked at.
    """

    def __init__(
        self,
        cluster: ClusterName,
        client: Client,
        kind: type[K],
        environment: ExecutionEnvironment,
        part: ListOptions = EVERYTHING,
    ) -> None:
        self.cluster = cluster
        self.kind = kind
        self.cache = Cache(kind)
        self.served: bool | None = None
        self.trouble = ""
        self.unreadable: dict[Key, str] = {}
        self.relists = 0
        self._client = client
        self._environment = environment
        self._part = part
        self._listeners: dict[int, Handler[K]] = {}  # in the order of their coming
        self._numbered = 0
        self._present: dict[Key, None] = {}  # what the list that is under way has shown so far
        self._last_trouble: Exception | None = None
        self._synced = asyncio.Event()
        self._known = asyncio.Event()

    @property
    def synced(self) -> bool:
        """Whether a whole list has been taken in, be it long ago."""
        return self._synced.is_set()

    @property
    def ready(self) -> bool:
        """Whether there is nothing to wait for: all is here, or the kind is not served."""
        return self.synced or self.served is False

    async def wait_synced(self) -> None:
        """Wait for the first whole list; for a kind that never comes, for ever."""
        await self._synced.wait()

    async def wait_ready(self) -> None:
        """Wait until there is nothing to wait for, or has been once."""
        await self._known.wait()

    def listen(self, handler: Handler[K]) -> Callable[[], None]:
        """Tell somebody of all that is here, at once, and of each change from then on.

        What is returned ends it. What a listener raises is logged, and stops nobody.
        """
        number = self._numbered = self._numbered + 1
        self._listeners[number] = handler
        for (namespace, name), data in self.cache.kept():
            new = self.cache.known(namespace, name) or data
            self._call(handler, CacheChange(self.cluster, namespace, name, self.kind, new=new))
        return lambda: self._listeners.pop(number, None) and None

    async def run(self) -> None:
        """Follow the cluster. It ends only by being cancelled."""
        steps = follow(
            self._client, self.kind, "", self._part, self._environment, self._report_trouble
        )
        async with aclosing(steps):
            async for step in steps:
                if isinstance(step, ListPage):
                    await self._take_page(step)
                else:
                    self._take_change(step)
                del step  # a page is large, and the next change may be long in coming

    def counters(self) -> InformerCounters:
        """How it does at this moment."""
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
        if page.begins:
            self._present = {}
            # Its first object may already be older than what was here: the cache is set back now,
            # or a pass between two pages would take its own writes for seen.
            self.cache.fall_back(page.resource_version)
        # Whoever leaves items out on the way leaves their bytes behind: then there are none.
        known = len(page.sources) == len(page.items)
        sources = page.sources if known else (None,) * len(page.items)
        for item, source in zip(page.items, sources, strict=True):
            self._present[item.metadata.namespace, item.metadata.name] = None
            self._put(item, source)
        for bad in page.unreadable:
            self._present[bad.namespace, bad.name] = None
            self._skip(bad)
        if page.ends:
            await self._end_list(page.resource_version)

    async def _end_list(self, version: str) -> None:
        """Drop what the list has not shown. A stretch at a time, for it may be everything."""
        present, self._present = self._present, {}
        gone = [key for key, _ in self.cache.kept() if key not in present]
        for count, key in enumerate(gone, 1):
            self._remove(*key)
            if count % _BURST == 0:
                await asyncio.sleep(0)
        self.unreadable = {key: why for key, why in self.unreadable.items() if key in present}
        self.cache.reach(version)
        self.relists += self.synced
        self._synced.set()
        self._known.set()

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
        # Who hears of it remembers it by its name, for a minute or longer: in the same words.
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
        """Name an object that cannot be read. What was known of it stays, unless that has gone."""
        key = bad.namespace, bad.name
        if bad.uid and self.cache.uid_of(*key) != bad.uid:
            self._remove(*key)
        if self.unreadable.get(key) != bad.why:
            self.unreadable[key] = bad.why
            extra = self._place(*key) | {"why": bad.why}
            _log.warning("object not readable", extra=extra)

    def _notify(self, change: CacheChange[K]) -> None:
        for number, handler in tuple(self._listeners.items()):
            if number in self._listeners:  # one that was told before may have ended this one
                self._call(handler, change)

    def _call(self, handler: Handler[K], change: CacheChange[K]) -> None:
        try:
            handler(change)
        except Exception:  # noqa: BLE001 -- whatever a listener does, others must hear too
            _log.exception("listener failed", extra=self._place(change.namespace, change.name))

    def _report_trouble(self, trouble: Exception | None) -> None:
        if isinstance(trouble, NotServed):
            self.served = False
            self._known.set()
        self.trouble = "" if trouble is None else str(trouble) or repr(trouble)
        extra = {"cluster": self.cluster, "kind": self.kind.RESOURCE.kind}
        logged_already = isinstance(trouble or self._last_trouble, Unreachable)
        self._last_trouble = trouble
        if trouble is None:
            _log.log(
                logging.DEBUG if logged_already else logging.INFO, "informer well", extra=extra
            )
        else:
            level = logging.DEBUG if logged_already else logging.WARNING
            _log.log(level, "informer in trouble", extra=extra | {"trouble": self.trouble})

    def _place(self, namespace: str, name: str) -> dict[str, str]:
        return {
            "cluster": self.cluster,
            "kind": self.kind.RESOURCE.kind,
            "object": "/".join(filter(None, (namespace, name))),
        }
