"""A transport with planned faults, and the results of a follower on it."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any, Generic

import msgspec

from kubekit.api.kinds.core import ConfigMap
from kubekit.api.meta import Object, ObjectMeta
from kubekit.client.client import Client
from kubekit.client.list_watch import ListPage, follow
from kubekit.client.options import EVERYTHING, ListOptions, WatchOptions
from kubekit.client.reading import K, TypedEvent
from kubekit.client.transport import Document, ResourceLocation, WatchEvent
from kubekit.plane.local import LocalClient, LocalTransport
from kubekit.plane.plane import Plane
from tests.support.compute import served_kinds
from tests.support.kubekit import virtual_time
from tests.support.kubekit.plane_worlds import environment

Key = tuple[str, str]


def config(name: str = "one", **data: str) -> ConfigMap:
    return ConfigMap(metadata=ObjectMeta(name=name, namespace="default"), data=data)


@dataclass(frozen=True)
class Plan:
    """The fault of one watch: refused, mute, doubled, garbled, or ended after some changes."""

    refusal: Exception | None = None
    silent: bool = False
    doubled: bool = False
    garbled: bool = False  # after the first change comes something that is no object
    cut_after: int | None = None
    error: Exception | None = None  # how it is cut; without one the stream just ends


@dataclass(frozen=True)
class Answer:
    """The fault of one list: refused, never answered, or changed in a part."""

    refusal: Exception | None = None
    hangs: bool = False
    instead: Document = field(default_factory=dict)


GOOD = Plan()
PLAIN = Answer()


class FaultyTransport(LocalTransport):
    """A transport to a plane. Plans and answers are used in turn; after the last there are no faults."""

    def __init__(self, plane: Plane) -> None:
        super().__init__(plane)
        self.watches: deque[Plan] = deque()
        self.lists: deque[Answer] = deque()
        self.always: Plan = GOOD
        self.listed: list[tuple[float, ListOptions]] = []
        self.watched: list[tuple[float, WatchOptions]] = []
        self.refusals: dict[str, Exception] = {}  # of reads of single objects, by kind

    async def get(self, place: ResourceLocation, resource_version: str = "") -> Document:
        if refusal := self.refusals.get(place.resource.kind):
            raise refusal
        return await super().get(place, resource_version)

    async def list(self, place: ResourceLocation, options: ListOptions) -> Document:
        self.listed.append((_now(), options))
        answer = self.lists.popleft() if self.lists else PLAIN
        if answer.hangs:
            await asyncio.Event().wait()
        if answer.refusal is not None:
            raise answer.refusal
        return await super().list(place, options) | answer.instead

    @asynccontextmanager
    async def watch(
        self, place: ResourceLocation, options: WatchOptions
    ) -> AsyncIterator[AsyncIterator[WatchEvent]]:
        self.watched.append((_now(), options))
        plan = self.watches.popleft() if self.watches else self.always
        if plan.refusal is not None:
            raise plan.refusal
        async with super().watch(place, options) as events:
            yield _spoilt(events, plan)


async def _spoilt(events: AsyncIterator[WatchEvent], plan: Plan) -> AsyncIterator[WatchEvent]:
    if plan.silent:
        await asyncio.Event().wait()
    sent: list[WatchEvent] = []
    while plan.cut_after is None or len(sent) < plan.cut_after:
        event = await anext(events, None)
        if event is None:
            return
        sent.append(event)
        for again in sent if plan.doubled else (event,):
            yield again
        if plan.garbled:
            yield WatchEvent("ADDED", {"metadata": {"name": 7}})
    if plan.error is not None:
        raise plan.error


def faulty(plane: Plane) -> tuple[Client, FaultyTransport]:
    """A client, and the transport below it that fails on demand."""
    transport = FaultyTransport(plane)
    return Client(transport), transport


def _now() -> float:
    return asyncio.get_running_loop().time()


@dataclass
class Picture(Generic[K]):
    """The state that a listener builds from the steps, and the changes that led to it."""

    objects: dict[Key, K] = field(default_factory=dict)
    steps: list[Any] = field(default_factory=list)
    versions: dict[str, list[int]] = field(default_factory=dict)  # of each uid, as they came
    _fresh: dict[Key, K] = field(default_factory=dict)

    def take(self, step: ListPage[K] | TypedEvent[K]) -> None:
        self.steps.append(step)
        if isinstance(step, ListPage):
            self._take_page(step)
        elif step.type == "DELETED":
            self.objects.pop((step.namespace, step.name), None)
        elif step.object is not None:
            self.objects[step.namespace, step.name] = self._noted(step.object)

    def _take_page(self, page: ListPage[K]) -> None:
        if page.is_first:
            self._fresh = {}
        for item in page.items:
            self._fresh[item.metadata.namespace, item.metadata.name] = self._noted(item)
        if page.is_last:
            self.objects = self._fresh

    def _noted(self, obj: K) -> K:
        self.versions.setdefault(obj.metadata.uid, []).append(int(obj.metadata.resource_version))
        return obj

    @property
    def words(self) -> list[str]:
        """The steps as short strings: ``list a b``, ``ADDED c``; bookmarks are left out."""
        return [_words(step) for step in self.steps if getattr(step, "type", "") != "BOOKMARK"]


def _words(step: Any) -> str:
    if isinstance(step, ListPage):
        return " ".join(("list", *(item.metadata.name for item in step.items)))
    return f"{step.type} {step.name}"


@dataclass
class World:
    """A plane, a client with a faulty transport, and another client without faults."""

    plane: Plane
    client: Client
    transport: FaultyTransport
    writer: LocalClient
    troubles: list[Exception | None] = field(default_factory=list)

    @asynccontextmanager
    async def following(
        self, options: ListOptions = EVERYTHING, kind: type[Object] = ConfigMap
    ) -> AsyncIterator[Picture[Any]]:
        """A `Picture` that is updated in the background."""
        picture: Picture[Any] = Picture()
        task = asyncio.ensure_future(self._follow(picture, options, kind))
        await asyncio.sleep(0.1)
        try:
            yield picture
        finally:
            task.cancel()
            await asyncio.wait([task])

    async def _follow(
        self, picture: Picture[Any], options: ListOptions, kind: type[Object]
    ) -> None:
        steps = follow(self.client, kind, "default", options, environment(), self.troubles.append)
        async with aclosing(steps):
            async for step in steps:
                picture.take(step)

    async def change(self, obj: ConfigMap, **data: str) -> ConfigMap:
        return await self.writer.patch(obj, msgspec.structs.replace(obj, data=data))

    async def forget(self) -> None:
        """Compact the log, so that no watch can start from an older version."""
        await self.plane.store.compact(self.plane.store.revision)


Story = Callable[[World], Awaitable[None]]


def run_in_world(directory: Path, story: Story) -> None:
    """Run a story on a fresh plane, in virtual time."""

    async def run() -> None:
        plane = await Plane.open(
            directory, served_kinds.everything(), environment(), threaded=False
        )
        try:
            await story(World(plane, *faulty(plane), LocalClient(plane)))
        finally:
            await plane.close()

    virtual_time.run(run())


def gaps(asked: Sequence[tuple[float, object]]) -> list[float]:
    """The seconds between one request and the next."""
    return [after - before for (before, _), (after, _) in pairwise(asked)]
