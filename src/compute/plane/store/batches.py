"""The way of a change: waiting, on its way to the disk, published.

Drafts gather while a batch is with the disk and are the next batch. Nobody sees a change, and no
writer hears of success, before the disk has it. A batch is published in one go, so between two
callbacks of the loop the state is always that of one revision.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import NamedTuple

from compute.plane.store.failures import Moved, WritesStopped
from compute.plane.store.log import Log, Row
from compute.plane.store.records import Draft, Event, Record
from compute.plane.store.state import State
from compute.plane.store.times import milliseconds
from compute.plane.store.writer import Writer

Heard = Callable[[str, Event], None]

_DRAFTS = 512
_BYTES = 16 * 1024 * 1024


@dataclass(slots=True)
class Figures:
    """What has been committed since the store was opened."""

    commits: int = 0
    writes: int = 0
    seconds: float = 0.0
    largest: int = 0


class _Write(NamedTuple):
    draft: Draft
    follows: int
    record: Record
    future: asyncio.Future[Record]


class Batches:
    """Takes drafts and gives futures. ``listeners`` hear every change, in order."""

    def __init__(
        self,
        log: Log,
        state: State,
        writer: Writer,
        wal_bytes: int,
        now: Callable[[], datetime],
    ) -> None:
        self.figures = Figures()
        self.listeners: list[Heard] = []
        self.published: Callable[[], None] = _nothing
        self.busy = False
        self.closing = False
        self.stopped: WritesStopped | None = None
        self._log = log
        self._state = state
        self._writer = writer
        self._wal_bytes = wal_bytes
        self._now = now
        self._loop = asyncio.get_running_loop()
        self._waiting: list[tuple[Draft, asyncio.Future[Record]]] = []

    def write(self, draft: Draft) -> asyncio.Future[Record]:
        future: asyncio.Future[Record] = self._loop.create_future()
        if self.stopped is not None:
            future.set_exception(_again(self.stopped))
            return future
        self._waiting.append((draft, future))
        if not self.busy:
            self.busy = True
            self._loop.call_soon(self._dispatch)
        return future

    def _dispatch(self) -> None:
        """Hand the next batch to the disk, if anything waits."""
        batch: list[_Write] = []
        while self._waiting and not batch:
            batch = self._batch()
        self.busy = bool(batch)
        if batch:
            at = milliseconds(self._now())
            rows = [_row(write, at) for write in batch]
            answer = partial(self._committed, batch, self._loop.time())
            self._writer.submit(partial(self._append, rows), answer)

    def _batch(self) -> list[_Write]:
        """The drafts that wait, as far as they can still succeed, each with its record."""
        batch: list[_Write] = []
        revision, size, taken = self._state.revision, 0, 0
        for draft, future in self._waiting:
            if size > _BYTES or taken >= _DRAFTS:
                break
            taken += 1
            if future.done():
                continue
            follows = self._state.predecessor(draft)
            if follows is None:
                future.set_exception(_moved(draft))
                continue
            revision += 1
            data = b'%b"resourceVersion":"%d",%b' % (draft.head, revision, draft.tail)
            size += len(data)
            batch.append(_Write(draft, follows, Record(draft.key, revision, data), future))
        del self._waiting[:taken]
        return batch

    def _append(self, rows: list[Row]) -> tuple[set[int], int]:
        return self._log.append(rows), self._log.unfolded_bytes()

    def _committed(
        self, batch: list[_Write], begun: float, outcome: tuple[set[int], int] | BaseException
    ) -> None:
        if isinstance(outcome, BaseException):
            self._fail(batch, outcome)
            return
        refused, unfolded = outcome
        self._count(len(batch) - len(refused), self._loop.time() - begun)
        kept = [write for write in batch if write.record.revision not in refused]
        events = [self._state.publish(write.draft, write.record) for write in kept]
        if unfolded > self._wal_bytes:
            self._writer.submit(self._fold, self._folded)
        # The disk gets its next work first: it needs no interpreter while we tell the others.
        self._dispatch()
        self._settle(batch, refused)
        self._tell(kept, events)

    def _settle(self, batch: list[_Write], refused: set[int]) -> None:
        for draft, _, record, future in batch:
            if future.done():
                continue
            if record.revision in refused:
                future.set_exception(_moved(draft))
            else:
                future.set_result(record)

    def _tell(self, kept: list[_Write], events: list[Event]) -> None:
        for resource in dict.fromkeys(write.draft.resource for write in kept):
            self._state.ring(resource).wake()
        for write, event in zip(kept, events, strict=True):
            for heard in tuple(self.listeners):
                heard(write.draft.resource, event)
        self.published()

    def _fail(self, batch: list[_Write], error: BaseException) -> None:
        if isinstance(error, WritesStopped) and error.final:
            self.stop(error)
        for write in batch:
            if not write.future.done():
                write.future.set_exception(_again(error))
        self._dispatch()

    def stop(self, reason: WritesStopped) -> None:
        """Take nothing more, and refuse what has not been handed to the disk."""
        self.stopped = reason
        waiting, self._waiting = self._waiting, []
        for _, future in waiting:
            if not future.done():
                future.set_exception(_again(reason))

    def _fold(self) -> None:
        # A full disk is no reason to refuse changes before the write-ahead log is at its limit.
        try:
            self._log.fold()
        except WritesStopped as stopped:
            if stopped.final:
                raise

    def _folded(self, outcome: object) -> None:
        if isinstance(outcome, WritesStopped):
            self.stop(outcome)

    def _count(self, writes: int, seconds: float) -> None:
        figures = self.figures
        figures.commits += 1
        figures.writes += writes
        figures.seconds += seconds
        figures.largest = max(figures.largest, writes)


def _row(write: _Write, at: int) -> Row:
    draft, follows, record, _ = write
    return Row(record.revision, draft.resource, draft.key, follows, draft.change, at, record.data)


def _moved(draft: Draft) -> Moved:
    return Moved(f"{draft.resource} {draft.key} has changed since revision {draft.previous}")


def _again(error: BaseException) -> BaseException:
    """A fresh exception for each writer: a shared one would gather their tracebacks."""
    if isinstance(error, WritesStopped):
        return WritesStopped(str(error), final=error.final)
    return error


def _nothing() -> None:
    """Until somebody wants to know."""
