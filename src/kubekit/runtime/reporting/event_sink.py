"""The events of one plane that wait to be written.

Each plane has a sink of its own, so that a plane that does not answer delays no other. Everything in
a sink is bounded: events beyond the limits are counted and dropped, because events must never fill a
process or a plane.
"""

import asyncio
import logging
from datetime import datetime
from random import Random
from typing import Any, Final, TypeVar

from msgspec.structs import replace

from kubekit.api.errors import (
    NAMESPACE_TERMINATING,
    AlreadyExists,
    BadRequest,
    Conflict,
    Forbidden,
    Invalid,
    MethodNotAllowed,
    NotFound,
    TooLarge,
)
from kubekit.api.kinds.events import CoreEvent
from kubekit.client.client import Client
from kubekit.runtime.reporting.event_limits import SimilarEvents, TokenBucket
from kubekit.runtime.reporting.event_series import EventMessage, OngoingSeries

_log: Final = logging.getLogger(__name__)

MOST_WAITING: Final = 1000
MOST_SERIES: Final = 4096
MOST_OBJECTS: Final = 4096
MOST_KINDS: Final = 4096
WRITES: Final = 50  # to one plane at once
WRITE_REFILL: Final = 0.1  # seconds for each further one

_PATIENCE: Final = 10.0  # seconds for one write
_PAUSES: Final = (1.0, 2.0, 4.0, 8.0)  # seconds between attempts, more or less
# A retry does not help: the namespace is gone, or we may not write to it.
_REFUSALS: Final = (BadRequest, Forbidden, Invalid, MethodNotAllowed, NotFound, TooLarge)

T = TypeVar("T")
Key = tuple[str, EventMessage]
SimilarKey = tuple[str, str, str, str]


class EventSink:
    """The events of one plane: the series that continue, and the writes that wait."""

    def __init__(self, client: Client, chance: Random) -> None:
        self.dropped = 0
        self._client = client
        self._chance = chance
        self._series: dict[Key, OngoingSeries] = {}  # the most recently counted one is at the end
        self._budgets: dict[str, TokenBucket] = {}
        self._similar: dict[SimilarKey, SimilarEvents] = {}
        self._write_budget = TokenBucket(0.0, WRITES, WRITE_REFILL)
        self._waiting: dict[OngoingSeries, None] = {}
        self._writing = False

    @property
    def is_busy(self) -> bool:
        """Whether any event is still to be written."""
        return self._writing or bool(self._waiting)

    @property
    def is_clear(self) -> bool:
        """Whether the sink has no state left."""
        return not (self._series or self._budgets or self._similar or self.is_busy)

    @property
    def wants_writer(self) -> bool:
        return bool(self._waiting)

    def combined(self, subject: str, message: EventMessage, now: float) -> EventMessage:
        """The message to write: the given one, or the one that combines too many similar ones."""
        if (subject, message) in self._series:
            return message
        key = (subject, message.type, message.reason, message.action)
        similar = self._similar.pop(key, None)
        if similar is None or similar.is_over(now):
            similar = SimilarEvents(now)
        self._similar[key] = similar
        _bound(self._similar, MOST_KINDS)
        return similar.take(message, now)

    def repeat(self, key: Key, when: datetime, now: float) -> bool:
        """Count one more of a series. False when no series of this key continues."""
        series = self._series.pop(key, None)
        if series is None:
            return False
        if series.is_over(now):
            self._close(series)
            return False
        self._series[key] = series
        series.again(when, now)
        if series.is_due(now):
            self._wait(series)
        return True

    def admits(self, uid: str, now: float) -> bool:
        """Whether a new series about an object may start now."""
        budget = self._budgets.pop(uid, None) or TokenBucket(now)
        self._budgets[uid] = budget
        _bound(self._budgets, MOST_OBJECTS)
        if len(self._waiting) < MOST_WAITING and budget.take(now):
            return True
        self.dropped += 1
        return False

    def start(self, key: Key, event: CoreEvent, now: float) -> None:
        series = self._series[key] = OngoingSeries(event, now)
        _bound(self._series, MOST_SERIES)
        self._wait(series)

    def sweep(self, now: float) -> None:
        """Forget series that are over, and write counts that are not reported yet."""
        for key, series in list(self._series.items()):
            if series.is_over(now):
                del self._series[key]
                self._close(series)
            elif series.is_due(now):
                self._wait(series)
        self._budgets = {
            uid: budget for uid, budget in self._budgets.items() if not budget.is_whole(now)
        }
        self._similar = {
            k: similar for k, similar in self._similar.items() if not similar.is_over(now)
        }

    def finish(self) -> None:
        """Queue all counts that are not reported yet."""
        for series in self._series.values():
            self._close(series)

    def clear(self) -> None:
        """Drop everything: the plane is gone."""
        self._waiting.clear()
        self._series.clear()
        self._similar.clear()

    async def write(self) -> None:
        """Write until no event waits."""
        self._writing = True
        try:
            while self._waiting:
                if wait := self._write_budget.reserve(asyncio.get_running_loop().time()):
                    await asyncio.sleep(wait)
                series = next(iter(self._waiting), None)
                if series is not None:  # the plane may have been disengaged during the wait
                    del self._waiting[series]
                    await self._report(series)
        finally:
            self._writing = False

    def _close(self, series: OngoingSeries) -> None:
        """Queue the last count of a series."""
        if series.reported < series.count:
            self._wait(series)

    def _wait(self, series: OngoingSeries) -> None:
        self._waiting[series] = None

    async def _report(self, series: OngoingSeries) -> None:
        """Write a series, or give up: later occurrences are tried when it is due again."""
        pauses = iter(_PAUSES)
        reported, error = series.count, await self._try_write(series)
        while _is_transient(error) and (pause := next(pauses, None)) is not None:
            await asyncio.sleep(pause * self._chance.uniform(0.5, 1.5))
            reported, error = series.count, await self._try_write(series)
        series.reported = reported
        series.reported_at = asyncio.get_running_loop().time()
        if error is not None:
            self._give_up(series, error)

    async def _try_write(self, series: OngoingSeries) -> Exception | None:
        """Write a series. Returns the error, if any."""
        try:
            async with asyncio.timeout(_PATIENCE):
                await self._write(series)
        except Exception as error:  # noqa: BLE001 - whatever it is, the other events must be written
            return error
        return None

    async def _write(self, series: OngoingSeries) -> None:
        event = series.event()
        if series.stored is None:
            series.stored = await self._create(event)
        try:
            series.stored = await self._update(series.stored, event)
        except (Conflict, NotFound):  # another client wrote it, or it has expired
            series.stored = await self._update(await self._create(event), event)

    async def _create(self, event: CoreEvent) -> CoreEvent:
        """The created Event. One that exists already is ours: the response to its create was lost."""
        try:
            return await self._client.create(event)
        except AlreadyExists:
            return await self._client.get(CoreEvent, event.metadata.name, event.metadata.namespace)

    async def _update(self, stored: CoreEvent, event: CoreEvent) -> CoreEvent:
        counted = replace(
            stored,
            count=event.count,
            last_timestamp=event.last_timestamp,
            series=event.series,
        )
        return await self._client.patch(stored, counted)

    def _give_up(self, series: OngoingSeries, error: Exception) -> None:
        """Log an event that is not written. Those of a namespace that is being deleted are no loss."""
        terminating = _is_terminating(error)
        self.dropped += not terminating
        event = series.first
        _log.log(
            logging.DEBUG if terminating or isinstance(error, NotFound) else logging.WARNING,
            "event not written",
            extra={
                "event": f"{event.metadata.namespace}/{event.metadata.name}",
                "reason": event.reason,
                "error": f"{type(error).__name__}: {error}",
            },
        )


def _is_terminating(error: Exception) -> bool:
    """Whether the namespace is being deleted, and accepts no new objects."""
    return isinstance(error, Forbidden) and error.has_cause(NAMESPACE_TERMINATING)


def _is_transient(error: Exception | None) -> bool:
    return error is not None and not isinstance(error, _REFUSALS)


def _bound(entries: dict[T, Any], most: int) -> None:
    """Forget the least recently used entry when there are too many."""
    if len(entries) > most:
        del entries[next(iter(entries))]
