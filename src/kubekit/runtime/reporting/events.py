"""Events for users about their objects, written beside the reconcilers.

`EventRecorder.event` neither waits nor fails. A message that repeats within a few minutes is counted
in the series of one Event, and the events about one object are limited, so that no storm can fill a
plane.
"""

import asyncio
from contextlib import suppress
from typing import Final

from kubekit.api.meta import Object
from kubekit.client.client import Client
from kubekit.environment import ExecutionEnvironment
from kubekit.runtime.reporting import event_series
from kubekit.runtime.reporting.event_series import EventMessage, EventType, Reporter
from kubekit.runtime.reporting.event_sink import EventSink
from kubekit.runtime.scope import Scope

_SWEEP: Final = 60.0  # seconds


class EventRecorder:
    """The events of one controller in one process, for every plane it works on."""

    def __init__(self, controller: str, instance: str, environment: ExecutionEnvironment) -> None:
        self._reporter = Reporter(controller, instance)
        self._environment = environment
        self._sinks: dict[Client, EventSink] = {}
        self._dropped = 0  # by sinks that are gone
        self._wake = asyncio.Event()
        self._written = asyncio.Event()
        self._swept_at = 0.0

    @property
    def dropped(self) -> int:
        """How many events were dropped: too many at once, or refused by their plane."""
        return self._dropped + sum(sink.dropped for sink in self._sinks.values())

    def event(  # noqa: PLR0913, PLR0917 - an event has that many parts
        self,
        client: Client,
        regarding: Object,
        type: EventType,  # noqa: A002 - the field name of the API
        reason: str,
        note: str,
        action: str,
    ) -> None:
        """Report that something happened to an object. `run` writes the event soon."""
        now = asyncio.get_running_loop().time()
        sink = self._sink(client)
        subject = _subject(regarding)
        message = sink.combined(subject, EventMessage(type, reason, note, action), now)
        when = self._environment.now()
        if sink.repeat((subject, message), when, now) or not sink.admits(subject, now):
            self._wake.set()
            return
        event = event_series.first(regarding, message, self._reporter, self._environment)
        sink.start((subject, message), event, now)
        self._wake.set()

    def forget(self, client: Client) -> None:
        """Drop the waiting events of a plane that was disengaged."""
        sink = self._sinks.pop(client, None)
        if sink is not None:
            sink.clear()
            self._dropped += sink.dropped

    async def run(self) -> None:
        """Write the reported events until cancelled."""
        scope = Scope("events")
        writers: dict[EventSink, None] = {}
        try:
            while True:
                self._wake.clear()
                self._send(scope, writers)
                await self._woken()
                self._sweep()
        finally:
            await scope.close()

    async def drain(self, limit: float) -> None:
        """Wait for at most so many seconds until all reported events are written.

        `run` must still be running: it writes them.
        """
        for sink in self._sinks.values():
            sink.finish()
        self._wake.set()
        with suppress(TimeoutError):
            async with asyncio.timeout(limit):
                while any(sink.is_busy for sink in self._sinks.values()):
                    self._written.clear()
                    await self._written.wait()

    def _sink(self, client: Client) -> EventSink:
        if client not in self._sinks:
            self._sinks[client] = EventSink(client, self._environment.chance)
        return self._sinks[client]

    def _send(self, scope: Scope, writers: dict[EventSink, None]) -> None:
        """Start a writer for each plane with waiting events."""
        for number, sink in enumerate(self._sinks.values()):
            if sink.wants_writer and sink not in writers:
                writers[sink] = None
                scope.spawn(self._write(sink, writers), f"plane {number}")

    async def _write(self, sink: EventSink, writers: dict[EventSink, None]) -> None:
        try:
            await sink.write()
        finally:
            del writers[sink]
            self._written.set()
            self._wake.set()

    async def _woken(self) -> None:
        """Wait until an event is reported, or the next sweep is due."""
        with suppress(TimeoutError):
            async with asyncio.timeout_at(self._swept_at + _SWEEP if self._sinks else None):
                await self._wake.wait()

    def _sweep(self) -> None:
        now = asyncio.get_running_loop().time()
        if now < self._swept_at + _SWEEP:
            return
        self._swept_at = now
        for client, sink in list(self._sinks.items()):
            sink.sweep(now)
            if sink.is_clear:
                self.forget(client)


def _subject(regarding: Object) -> str:
    """The identity of an object on its plane; an object of a dry run has no uid."""
    metadata = regarding.metadata
    return metadata.uid or f"{regarding.kind}/{metadata.namespace}/{metadata.name}"
