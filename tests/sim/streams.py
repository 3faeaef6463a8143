"""A watch over a faulty network: events are late, repeated, cut off, or missing."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable
from random import Random
from typing import Final, Literal, Protocol

import msgspec

from kubekit.api import errors, scheme
from kubekit.api.errors import ApiError, Expired, Unavailable
from kubekit.api.status import Status
from kubekit.client.transport import WatchEvent
from kubekit.plane.registry.verbs.watches import EncodedWatchEvent, Watch
from tests.sim.weather import Weather

Fate = Literal["goes on", "breaks", "dies"]
Missed = Callable[[WatchEvent], float]
_GAP: Final = 1e-6  # seconds between two events of a stream, so that they keep their order


class Line(Protocol):
    """The part of a link that a stream uses."""

    weather: Weather
    cut: bool
    chance: Random

    def happens(self, probability: float) -> bool: ...


class Stream:
    """The events of one watch, between the plane and the process that reads them.

    ``said`` hears what the reader gets and what becomes of the stream. Nothing arrives before
    ``not_before``: the replica that answers is that far behind. ``missed`` says of an event for how
    many seconds nothing arrives from there on; then the version is too old, and whatever was in
    between is never delivered.
    """

    def __init__(
        self,
        line: Line,
        watch: Watch,
        not_before: float,
        said: Callable[[str], None],
        missed: Missed | None = None,
    ) -> None:
        self.gone: Callable[[Stream], None] = _uncounted
        self._line = line
        self._watch = watch
        self._said = said
        self._missed = missed or _never
        self._missing = False
        self._last = not_before
        self._coming: deque[WatchEvent | ApiError | None] = deque()
        self._held: list[WatchEvent | ApiError | None] = []  # by a partition
        self._dead = False  # half open: nothing comes, and nothing reports it
        self._wake = asyncio.Event()
        watch.ready = self._draw
        self._draw()

    async def events(self) -> AsyncIterator[WatchEvent]:
        """The next event. None is the end of the stream; errors are raised."""
        while True:
            while self._coming:
                arrived = self._coming.popleft()
                if arrived is None:
                    return
                if isinstance(arrived, ApiError):
                    raise arrived
                yield arrived
            self._wake.clear()
            await self._wake.wait()

    def leave(self) -> None:
        """Close the stream at the plane: the reader has gone."""
        self._dead = True
        self._watch.ready = _nothing
        self._watch.close()
        self.gone(self)

    def heal(self, fate: Fate) -> None:
        """Let the stream continue, break or stay silent after a partition."""
        held, self._held = self._held, []
        if fate == "goes on":
            for arriving in held:
                self._arrive(arriving)
        elif fate == "breaks":
            self._arrive(Unavailable("connection reset by peer"))
        else:
            self._die()

    def _draw(self) -> None:
        """Read the events from the plane, and send them."""
        while notices := self._watch.take():
            for notice in notices:
                self._send(_read(notice))
        if self._watch.ended:
            self._post(None)

    def _send(self, sent: WatchEvent | ApiError) -> None:
        if self._missing:
            return
        if isinstance(sent, WatchEvent) and (seconds := self._missed(sent)):
            self._missing = True
            self._post(Expired("too old resource version"), seconds)
            return
        weather, line = self._line.weather, self._line
        if line.happens(weather.silent):
            self._die()
        if line.happens(weather.expired / 5):
            self._post(Expired("too old resource version"))
        if line.happens(weather.cut):
            self._post(line.chance.choice((None, Unavailable("connection reset by peer"))))
        delay = line.chance.uniform(0.0, weather.delay) if line.happens(weather.delayed) else 0.0
        self._post(sent, delay)

    def _post(self, sent: WatchEvent | ApiError | None, delay: float = 0.0) -> None:
        loop = asyncio.get_running_loop()
        latency = self._line.chance.choice(self._line.weather.latencies)
        self._last = max(self._last + _GAP, loop.time() + latency + delay)
        loop.call_at(self._last, self._arrive, sent)

    def _arrive(self, arriving: WatchEvent | ApiError | None) -> None:
        if self._dead:
            return
        if self._line.cut:
            self._held.append(arriving)
            return
        self._said(_text_of(arriving))
        self._coming.append(arriving)
        self._wake.set()
        if not isinstance(arriving, WatchEvent):
            self._dead = True

    def _die(self) -> None:
        self._dead = True
        self._said("goes silent")


def _read(notice: EncodedWatchEvent) -> WatchEvent | ApiError:
    if notice.type == "ERROR":
        return errors.from_status(scheme.decode_as(Status, notice.data))
    return WatchEvent(notice.type, msgspec.json.decode(notice.data))


def _text_of(arrived: WatchEvent | ApiError | None) -> str:
    if arrived is None:
        return "ended"
    if isinstance(arrived, ApiError):
        return type(arrived).__name__
    metadata = arrived.object["metadata"]
    return f"{arrived.type} {metadata.get('name', '')} @{metadata['resourceVersion']}"


def _uncounted(_: Stream) -> None:
    """No count is kept."""


def _nothing() -> None:
    """Nothing is drawn any more."""


def _never(_: WatchEvent) -> float:
    """Every event arrives."""
    return 0.0
