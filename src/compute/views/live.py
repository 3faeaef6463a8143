"""The objects of a namespace, kept current by list and watch.

    async with live_objects(client, environment, namespace, Workload, Instance) as live:
        while True:
            await live.changed_in_bursts(1.0)
            show(live.all(Workload))

Nothing is polled. A watch that ends is resumed, and after an expired version everything is listed
again. While the server cannot be reached, the objects stay as they were last seen, and `lost_since`
says since when; a refusal, such as of an expired token, is raised by `changed`.
"""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import aclosing, asynccontextmanager, suppress
from datetime import datetime
from functools import partial
from typing import Final

from kubekit.api.errors import ApiError, Forbidden, Unauthorized
from kubekit.api.meta import Object
from kubekit.client.client import Client, K
from kubekit.client.list_watch import ListPage, NotServed, follow
from kubekit.client.options import EVERYTHING, ListOptions
from kubekit.environment import ExecutionEnvironment

_FINAL: Final = (Unauthorized, Forbidden)  # repeating the request does not help
_DELETED: Final = "DELETED"
_BOOKMARK: Final = "BOOKMARK"
_PATIENCE: Final = 60.0  # seconds; then the wait is repeated
_BURST: Final = 0.1  # seconds in which further changes belong to the same burst


class LiveObjects:
    """The objects of some kinds in one namespace, by name."""

    def __init__(self, environment: ExecutionEnvironment, kinds: tuple[type[Object], ...]) -> None:
        self._environment = environment
        self._objects: dict[type[Object], dict[str, Object]] = {kind: {} for kind in kinds}
        self._listed: set[type[Object]] = set()
        self._lost: dict[type[Object], datetime] = {}
        self._refusal: ApiError | None = None
        self._change = asyncio.Event()
        self._started = environment.now()

    def all(self, kind: type[K]) -> tuple[K, ...]:
        """The objects of a kind, by name."""
        known = self._objects[kind]
        return tuple(known[name] for name in sorted(known))  # type: ignore[misc]  # of this kind

    def find(self, kind: type[K], name: str) -> K | None:
        return self._objects[kind].get(name)  # type: ignore[return-value]  # it is of this kind

    @property
    def complete(self) -> bool:
        """Whether every kind has been listed."""
        return len(self._listed) == len(self._objects)

    @property
    def lost_since(self) -> datetime | None:
        """Since when the server cannot be reached; None while it can."""
        return min(self._lost.values(), default=None)

    def seen_at(self) -> datetime:
        """The time that the objects are from: now, or when the server was last reached.

        Until all kinds are listed that is the start: nothing that was seen later is complete.
        """
        return self.lost_since or (self._environment.now() if self.complete else self._started)

    async def changed(self, limit: float) -> bool:
        """Wait for a change, at most ``limit`` seconds. False if there was none."""
        with suppress(TimeoutError):
            async with asyncio.timeout(limit):
                await self._change.wait()
        if self._refusal is not None:
            raise self._refusal
        is_change = self._change.is_set()
        self._change.clear()
        return is_change

    async def changed_in_bursts(self, limit: float) -> bool:
        """The same, and a moment longer: what changes one object often changes many."""
        if not await self.changed(limit):
            return False
        await asyncio.sleep(_BURST)
        self._change.clear()
        return True

    async def listed(self, limit: float | None = None) -> None:
        """Wait until every kind is listed, or the server is lost; at most ``limit`` seconds."""
        with suppress(TimeoutError):
            async with asyncio.timeout(limit):
                while not self.complete and self.lost_since is None:
                    await self.changed(_PATIENCE)

    async def keep(
        self, client: Client, kind: type[K], namespace: str, options: ListOptions
    ) -> None:
        """Follow one kind until cancelled."""
        report = partial(self._report, kind)
        steps = follow(client, kind, namespace, options, self._environment, report)
        found: dict[str, Object] = {}
        async with aclosing(steps):
            async for step in steps:
                if isinstance(step, ListPage):
                    found = {} if step.is_first else found
                    found.update((item.metadata.name, item) for item in step.items)
                    if step.is_last:
                        self._replace(kind, found)
                elif step.type == _DELETED:
                    self._remove(kind, step.name)
                elif step.type != _BOOKMARK and step.object is not None:
                    self._put(kind, step.object)

    def _replace(self, kind: type[Object], objects: Mapping[str, Object]) -> None:
        self._objects[kind] = dict(objects)
        self._listed.add(kind)
        self._lost.pop(kind, None)
        self._change.set()

    def _put(self, kind: type[Object], obj: Object) -> None:
        self._objects[kind][obj.metadata.name] = obj
        self._change.set()

    def _remove(self, kind: type[Object], name: str) -> None:
        self._objects[kind].pop(name, None)
        self._change.set()

    def _report(self, kind: type[Object], error: Exception | None) -> None:
        if error is None:
            self._lost.pop(kind, None)
        elif isinstance(error, NotServed):  # an older server, or a project that is gone
            self._replace(kind, {})
        elif isinstance(error, _FINAL):
            self._refusal = error
        else:
            self._lost.setdefault(kind, self._environment.now())
        self._change.set()


@asynccontextmanager
async def live_objects(
    client: Client,
    environment: ExecutionEnvironment,
    namespace: str,
    *kinds: type[Object],
    selectors: Mapping[type[Object], ListOptions] | None = None,
) -> AsyncIterator[LiveObjects]:
    """Follow these kinds for as long as the context is open."""
    live = LiveObjects(environment, kinds)
    tasks = [
        asyncio.create_task(
            live.keep(client, kind, namespace, (selectors or {}).get(kind, EVERYTHING))
        )
        for kind in kinds
    ]
    try:
        yield live
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
