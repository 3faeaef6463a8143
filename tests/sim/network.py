"""The network between a simulated process and a plane, with every kind of fault.

A request in flight, and the work of the plane, belong to the world and not to the process that sent
the request: they continue when the process is cancelled, stopped or dead, as on a real network.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from random import Random
from typing import Any, Final, Literal, Protocol, TypeVar, cast

from msgspec.structs import replace

from kubekit.api.errors import ApiError, Expired, NotFound, Timeout, TooManyRequests, Unavailable
from kubekit.client.options import DeleteOptions, ListOptions, PatchType, WatchOptions, WriteOptions
from kubekit.client.transport import Document, ResourceLocation, WatchEvent
from kubekit.plane.local import LocalTransport
from kubekit.plane.plane import Plane
from kubekit.runtime.reconciling import passes
from tests.sim.loop import outside
from tests.sim.streams import Stream
from tests.sim.trace import Trace
from tests.sim.weather import FAIR, Weather

PATIENCE: Final = 5.0  # seconds that a caller waits for an answer
_OUTLIERS: Final = (20.0, 50.0)  # times the usual latency
_OLDER: Final = 25  # revisions that a stale answer may be behind
_LAG: Final = 20.0  # seconds that its watch may stay behind

T = TypeVar("T")
Serve = Callable[[], Awaitable[T]]


@dataclass(frozen=True, slots=True)
class Sent:
    """A request with its link, its controller and the time it was sent."""

    link: str
    controller: str
    verb: str
    place: ResourceLocation
    version: str
    at: float


class Observer(Protocol):
    """Judges requests and responses."""

    def served(self, sent: Sent, outcome: object) -> None: ...

    def delivered(self, sent: Sent, outcome: object) -> None: ...


class Gap(Protocol):
    """Decides which events a watch misses."""

    def lasts(self, link: str, place: ResourceLocation, event: WatchEvent) -> float:
        """The seconds for which a watch delivers nothing from this event on, before it expires."""
        ...


class Wires:
    """All requests and responses in flight between the processes and the planes of one world."""

    def __init__(self, trace: Trace, observer: Observer | None = None) -> None:
        self.trace = trace
        self.observer = observer
        self.gap: Gap | None = None
        self._context = outside()
        self._tasks: dict[asyncio.Task[None], None] = {}

    def carry(self, work: Coroutine[Any, Any, None], name: str) -> None:
        loop = asyncio.get_running_loop()
        task = loop.create_task(work, name=name, context=self._context.copy())
        self._tasks[task] = None
        task.add_done_callback(self._tasks.pop, context=self._context)

    async def close(self) -> None:
        """Cancel everything in flight, in the order it was started."""
        while self._tasks:
            task = next(iter(self._tasks))
            task.cancel()
            await asyncio.wait([task])


class Link:
    """A transport from one process to one plane."""

    def __init__(
        self, name: str, plane: Plane, wires: Wires, chance: Random, manager: str = "compute"
    ) -> None:
        self.name = name
        self.weather: Weather = FAIR
        self.cut = False  # a partition: nothing gets through in either direction
        self.page = 500  # objects that the plane puts into one page of a list
        self.dead = False  # its process is gone: nothing more is sent, not even from a finally
        self._plane = plane
        self._door = LocalTransport(plane, manager=manager)
        self._wires = wires
        self.chance = chance
        self._streams: dict[Stream, None] = {}
        self._behind: dict[str, tuple[str, float]] = {}

    async def get(self, place: ResourceLocation, resource_version: str = "") -> Document:
        return await self._ask("get", place, partial(self._door.get, place, resource_version))

    async def list(self, place: ResourceLocation, options: ListOptions) -> Document:
        live = bool(_controller())  # what a pass asks for is answered with what is so
        return await self._ask("list", place, partial(self._list, place, options, live=live))

    @asynccontextmanager
    async def watch(
        self, place: ResourceLocation, options: WatchOptions
    ) -> AsyncIterator[AsyncIterator[WatchEvent]]:
        stream = await self._ask("watch", place, partial(self._open, place, options))
        try:
            yield stream.events()
        finally:
            stream.leave()

    async def create(
        self, place: ResourceLocation, document: Document, options: WriteOptions
    ) -> Document:
        named = replace(place, name=document["metadata"].get("name", ""))
        return await self._ask(
            "create", named, partial(self._door.create, place, document, options)
        )

    async def update(
        self, place: ResourceLocation, document: Document, options: WriteOptions
    ) -> Document:
        return await self._ask(
            "update", place, partial(self._door.update, place, document, options)
        )

    async def patch(
        self, place: ResourceLocation, kind: PatchType, patch: object, options: WriteOptions
    ) -> Document:
        serve = partial(self._door.patch, place, kind, patch, options)
        return await self._ask("patch", place, serve, _version_in(patch))

    async def delete(self, place: ResourceLocation, options: DeleteOptions) -> Document:
        return await self._ask("delete", place, partial(self._door.delete, place, options))

    async def delete_collection(
        self, place: ResourceLocation, which: ListOptions, options: DeleteOptions
    ) -> Document:
        serve = partial(self._door.delete_collection, place, which, options)
        return await self._ask("delete*", place, serve)

    async def close(self) -> None:
        """Close every stream."""
        for stream in list(self._streams):
            stream.leave()

    def die(self) -> None:
        """Close all connections: the process has died."""
        self.dead = True
        for stream in list(self._streams):
            stream.leave()

    def part(self) -> None:
        """Start a partition."""
        self.cut = True

    def heal(self) -> None:
        """End a partition. Each stream continues, breaks, or stays silent."""
        self.cut = False
        for stream in list(self._streams):
            stream.heal(self.chance.choice(("goes on", "breaks", "dies")))

    # The sender's half

    async def _ask(
        self, verb: str, place: ResourceLocation, serve: Serve[T], version: str = ""
    ) -> T:
        if self.dead:
            raise Unavailable(f"{self.name}: the process is dead")
        loop = asyncio.get_running_loop()
        sent = Sent(self.name, _controller(), verb, place, version, loop.time())
        answer: asyncio.Future[object] = loop.create_future()
        self._wires.carry(self._carried(sent, serve, answer), f"{self.name} {verb}")
        try:
            async with asyncio.timeout(PATIENCE):
                outcome = await answer
        except TimeoutError:
            raise Timeout(f"{self.name}: no answer within {PATIENCE:g} s") from None
        if isinstance(outcome, ApiError):
            raise outcome
        return cast("T", outcome)

    # The world's half

    async def _carried(
        self, sent: Sent, serve: Serve[object], answer: asyncio.Future[object]
    ) -> None:
        """Send a request to the plane, and return its response."""
        if self.cut and self.happens(0.5):
            if not answer.done():
                answer.set_result(Unavailable(f"{self.name}: connection refused"))
            return
        outcome: object = None
        try:
            outcome = await self._arrived(sent, serve)
            if outcome is not None and await self._returned(sent) and not answer.done():
                answer.set_result(outcome)
                self._observed("delivered", sent, outcome)
                outcome = None
        finally:
            if isinstance(outcome, Stream):  # it has no reader
                outcome.leave()

    async def _arrived(self, sent: Sent, serve: Serve[object]) -> object:
        """The response of the plane; None if the request did not arrive."""
        await asyncio.sleep(self._latency())
        if self.cut or self.happens(self.weather.lost_request):
            self._say(sent.verb, sent.place, "request lost")
            return None
        if self.happens(self.weather.refused):
            outcome: object = self.chance.choice(
                (TooManyRequests("too many requests"), Unavailable("not now"))
            )
        else:
            try:
                outcome = await serve()
            except ApiError as refusal:
                outcome = refusal
            self._observed("served", sent, outcome)
        self._say(sent.verb, sent.place, _text_of(outcome))
        return outcome

    async def _returned(self, sent: Sent) -> bool:
        """Whether the response arrives."""
        await asyncio.sleep(self._latency())
        if self.cut or self.happens(self.weather.lost_response):
            self._say(sent.verb, sent.place, "response lost")
            return False
        return True

    def _observed(self, what: Literal["served", "delivered"], sent: Sent, outcome: object) -> None:
        if self._wires.observer is not None:
            getattr(self._wires.observer, what)(sent, outcome)

    async def _list(self, place: ResourceLocation, options: ListOptions, *, live: bool) -> Document:
        if options.limit > self.page:
            options = replace(options, limit=self.page)
        fresh = not options.continue_ and options.resource_version in {"", "0"}
        if fresh and not live and self.happens(self.weather.stale_list):
            older = self._older(self._plane.store.revision)
            past = replace(options, resource_version=older, resource_version_match="Exact")
            until = asyncio.get_running_loop().time() + self.chance.uniform(0.0, _LAG)
            self._behind[_subject(place)] = (older, until)
            self._say("list", place, f"stale: {older} of {self._plane.store.revision}")
            return await self._door.list(place, past)
        return await self._door.list(place, options)

    async def _open(self, place: ResourceLocation, options: WatchOptions) -> Stream:
        if self.happens(self.weather.expired):
            raise Expired("too old resource version")
        since = options.resource_version
        if since not in {"", "0"} and self.happens(self.weather.repeated):
            options = replace(options, resource_version=self._older(int(since)))
        version, until = self._behind.pop(_subject(place), ("", 0.0))
        kind = self._plane.kinds.find(*_coordinates(place))
        if kind is None:
            raise NotFound("the server could not find the requested resource")
        watch = await self._plane.registry.watch(kind, place.namespace, options, place.name)
        said = partial(self._say, "saw", place)
        missed = partial(self._missed, place)
        stream = Stream(self, watch, until if version == since else 0.0, said, missed)
        self._streams[stream] = None
        stream.gone = self._forget
        return stream

    def _missed(self, place: ResourceLocation, event: WatchEvent) -> float:
        gap = self._wires.gap
        return 0.0 if gap is None else gap.lasts(self.name, place, event)

    def _forget(self, stream: Stream) -> None:
        self._streams.pop(stream, None)

    def _older(self, revision: int) -> str:
        """An older version that the plane has not compacted."""
        oldest = max(self._plane.store.compacted, 1)
        return str(min(revision, max(oldest, revision - self.chance.randint(1, _OLDER))))

    def _latency(self) -> float:
        latency = self.chance.choice(self.weather.latencies) * self.chance.uniform(0.5, 1.5)
        if self.happens(self.weather.slow):
            latency *= self.chance.uniform(*_OUTLIERS)
        return latency

    def happens(self, probability: float) -> bool:
        return probability > 0.0 and self.chance.random() < probability

    def _say(self, verb: str, place: ResourceLocation, outcome: str) -> None:
        self._wires.trace.say(self.name, verb, _subject(place), outcome)


def _coordinates(place: ResourceLocation) -> tuple[str, str, str]:
    return place.resource.group, place.resource.version, place.resource.plural


def _controller() -> str:
    """The controller whose reconcile pass sends the request; empty if there is none."""
    made = passes.current.get()
    return "" if made is None else made.context.writer


def _version_in(patch: object) -> str:
    """The version that a patch is bound to."""
    match patch:
        case {"metadata": {"resourceVersion": str() as version}}:
            return version
        case _:
            return ""


def _subject(place: ResourceLocation) -> str:
    where = "/".join(filter(None, (place.namespace, place.name)))
    kind = "/".join(filter(None, (place.resource.plural, place.subresource)))
    return f"{kind} {where}".rstrip()


def _text_of(outcome: object) -> str:
    match outcome:
        case ApiError():
            return f"{type(outcome).__name__}: {outcome.message}"
        case {"metadata": {"resourceVersion": version}}:
            return f"@{version}"
        case _:
            return "ok"
