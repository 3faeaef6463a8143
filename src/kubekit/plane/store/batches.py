"""Group commit: drafts wait, are written to disk in one batch, and are then published.

The drafts that arrive while a batch is being written form the next batch. A change becomes visible,
and its writer gets a result, only once it is on disk. A batch is published in one callback of the
loop, so every other callback sees the state of one revision.
"""

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import NamedTuple

from kubekit.plane.store.errors import RevisionConflict, WritesStopped
from kubekit.plane.store.log import Log
from kubekit.plane.store.records import ChangeEvent, Draft, LogRow, Record, milliseconds
from kubekit.plane.store.ring import call_safely
from kubekit.plane.store.sqlite_errors import closed
from kubekit.plane.store.state import StoreState
from kubekit.plane.store.writer import Writer

_log = logging.getLogger(__name__)

Listener = Callable[[str, ChangeEvent], None]

_DRAFTS = 512
_BYTES = 2 * 1024 * 1024  # several batches fit into the ring, or quick readers would miss some


@dataclass(slots=True)
class CommitStats:
    """What has been committed since the store was opened."""

    commits: int = 0
    writes: int = 0
    seconds: float = 0.0
    largest: int = 0


class _Write(NamedTuple):
    draft: Draft
    predecessor: int
    record: Record
    future: asyncio.Future[Record]


class Batches:
    """Takes drafts and returns futures. Listeners receive every change, in order.

    ``busy`` while a draft waits or is being written.
    """

    def __init__(
        self, log: Log, state: StoreState, writer: Writer, now: Callable[[], datetime]
    ) -> None:
        self.stats = CommitStats()
        self._listeners: dict[object, tuple[Listener, frozenset[str]]] = {}
        self._by_resource: dict[str, tuple[Listener, ...]] = {}  # the listeners of a resource
        self.published: Callable[[], None] = _nothing
        self.busy = False
        self._last_failure = ""
        self._closed: WritesStopped | None = None
        self._log = log
        self._state = state
        self._writer = writer
        self._now = now
        self._loop = asyncio.get_running_loop()
        self._waiting: list[tuple[Draft, asyncio.Future[Record]]] = []

    @property
    def stopped(self) -> WritesStopped | None:
        """Why drafts are no longer accepted."""
        return self._closed or self._log.stopped

    def close(self) -> None:
        """Accept no more drafts. Those already accepted are still written."""
        self._closed = closed(self._log.path)

    def listen(self, listener: Listener, resources: frozenset[str]) -> Callable[[], None]:
        """Pass every change of these resources, or of all. Call the result to stop."""
        token = object()
        self._listeners[token] = (listener, resources)
        self._by_resource.clear()

        def stop() -> None:
            self._listeners.pop(token, None)
            self._by_resource.clear()

        return stop

    def write(self, draft: Draft) -> asyncio.Future[Record]:
        future: asyncio.Future[Record] = self._loop.create_future()
        if (stopped := self.stopped) is not None:
            future.set_exception(stopped.copy())
            return future
        self._waiting.append((draft, future))
        if not self.busy:
            self.busy = True
            self._loop.call_soon(self._dispatch)
        return future

    def _dispatch(self) -> None:
        """Hand the next batch to the writer, if any draft waits."""
        batch: list[_Write] = []
        while self._waiting and not batch:
            batch = self._batch()
        self.busy = bool(batch)
        if batch:
            at = milliseconds(self._now())
            rows = [_row(write, at) for write in batch]
            callback = partial(self._committed, batch, self._loop.time())
            self._writer.submit(partial(self._append, rows), callback)

    def _batch(self) -> list[_Write]:
        """The waiting drafts that can still succeed, each with its record."""
        batch: list[_Write] = []
        revision, size, taken = self._state.revision, 0, 0
        for draft, future in self._waiting:
            if size > _BYTES or taken >= _DRAFTS:
                break
            taken += 1
            if future.done():
                continue
            predecessor = self._state.predecessor(draft)
            if predecessor is None:
                future.set_exception(_conflict(draft))
                continue
            revision += 1
            data = b'%b"resourceVersion":"%d",%b' % (draft.head, revision, draft.tail)
            size += len(data)
            batch.append(_Write(draft, predecessor, Record(draft.key, revision, data), future))
        del self._waiting[:taken]
        return batch

    def _append(self, rows: list[LogRow]) -> tuple[set[int], bool]:
        return self._log.append(rows), self._log.needs_checkpoint

    def _committed(
        self, batch: list[_Write], started: float, outcome: tuple[set[int], bool] | BaseException
    ) -> None:
        if isinstance(outcome, BaseException):
            self._fail(batch, outcome)
            return
        if self._last_failure:
            self._last_failure = ""
            _log.warning("writes succeed again")
        refused, needs_checkpoint = outcome
        self._count(len(batch) - len(refused), self._loop.time() - started)
        committed = [write for write in batch if write.record.revision not in refused]
        events = [self._state.publish(write.draft, write.record) for write in committed]
        if needs_checkpoint:
            self._writer.submit(self._log.checkpoint, _ignore)
        # Start the next write first: the disk works while the listeners are called.
        self._dispatch()
        self._settle(batch, refused)
        self._notify(committed, events)

    def _settle(self, batch: list[_Write], refused: set[int]) -> None:
        for draft, _, record, future in batch:
            if future.done():
                continue
            if record.revision in refused:
                future.set_exception(_conflict(draft))
            else:
                future.set_result(record)

    def _notify(self, committed: list[_Write], events: list[ChangeEvent]) -> None:
        now = self._loop.time()
        for resource in dict.fromkeys(write.draft.resource for write in committed):
            self._state.ring(resource).wake(now)
        for write, event in zip(committed, events, strict=True):
            resource = write.draft.resource
            for listener in self._by_resource.get(resource) or self._listeners_of(resource):
                call_safely(listener, resource, event)
        self.published()

    def _listeners_of(self, resource: str) -> tuple[Listener, ...]:
        listeners = tuple(
            listener
            for listener, resources in self._listeners.values()
            if not resources or resource in resources
        )
        self._by_resource[resource] = listeners
        return listeners

    def _fail(self, batch: list[_Write], error: BaseException) -> None:
        if str(error) != self._last_failure:  # log it once, not for each batch
            self._last_failure = str(error)
            _log.error("nothing can be written", extra={"why": str(error)})
        for write in batch:
            if not write.future.done():
                exception = error.copy() if isinstance(error, WritesStopped) else error
                write.future.set_exception(exception)
        self._dispatch()

    def _count(self, writes: int, seconds: float) -> None:
        stats = self.stats
        stats.commits += 1
        stats.writes += writes
        stats.seconds += seconds
        stats.largest = max(stats.largest, writes)


def _row(write: _Write, at: int) -> LogRow:
    draft, predecessor, record, _ = write
    return LogRow(
        record.revision, draft.resource, draft.key, predecessor, draft.change, at, record.data
    )


def _conflict(draft: Draft) -> RevisionConflict:
    return RevisionConflict(
        f"{draft.resource} {draft.key} has changed since revision {draft.previous}"
    )


def _ignore(_outcome: object) -> None:
    """Ignore the result of a checkpoint: after a permanent failure the log refuses the next write."""


def _nothing() -> None:
    """The default of `Batches.published`."""
