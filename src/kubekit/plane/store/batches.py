"""The way of a change: waiting, on its way to the disk, published.

Drafts gather while a batch is with the disk and are the next batch. Nobody sees a change, and no
writer hears of success, before the disk has it. A batch is published in one go, so between two
callbacks of the loop the state is always that of one revision.
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
from kubekit.plane.store.records import ChangeEvent, Draft, LogRow, Record
from kubekit.plane.store.ring import undisturbed
from kubekit.plane.store.sqlite_errors import closed
from kubekit.plane.store.state import StoreState
from kubekit.plane.store.times import milliseconds
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
    follows: int
    record: Record
    future: asyncio.Future[Record]


class Batches:
    """Takes drafts and gives futures. Whoever listens hears every change, in order.

    ``busy`` while a draft waits or is with the disk.
    """

    def __init__(
        self, log: Log, state: StoreState, writer: Writer, now: Callable[[], datetime]
    ) -> None:
        self.figures = CommitStats()
        self._listeners: dict[object, tuple[Listener, frozenset[str]]] = {}
        self._hearing: dict[str, tuple[Listener, ...]] = {}  # those who want to hear of a resource
        self.published: Callable[[], None] = _nothing
        self.busy = False
        self._told_failure = ""
        self._closed: WritesStopped | None = None
        self._log = log
        self._state = state
        self._writer = writer
        self._now = now
        self._loop = asyncio.get_running_loop()
        self._waiting: list[tuple[Draft, asyncio.Future[Record]]] = []

    @property
    def stopped(self) -> WritesStopped | None:
        """Why no draft is taken any more."""
        return self._closed or self._log.stopped

    def close(self) -> None:
        """Take no more drafts. Those that were taken are still written."""
        self._closed = closed(self._log.path)

    def listen(self, heard: Listener, resources: frozenset[str]) -> Callable[[], None]:
        """Tell of every change of these resources, or of all, until the answer is called."""
        place = object()
        self._listeners[place] = (heard, resources)
        self._hearing.clear()

        def leave() -> None:
            self._listeners.pop(place, None)
            self._hearing.clear()

        return leave

    def write(self, draft: Draft) -> asyncio.Future[Record]:
        future: asyncio.Future[Record] = self._loop.create_future()
        if (stopped := self.stopped) is not None:
            future.set_exception(stopped.again())
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

    def _append(self, rows: list[LogRow]) -> tuple[set[int], bool]:
        return self._log.append(rows), self._log.unfolded

    def _committed(
        self, batch: list[_Write], begun: float, outcome: tuple[set[int], bool] | BaseException
    ) -> None:
        if isinstance(outcome, BaseException):
            self._fail(batch, outcome)
            return
        if self._told_failure:
            self._told_failure = ""
            _log.warning("writing goes on")
        refused, unfolded = outcome
        self._count(len(batch) - len(refused), self._loop.time() - begun)
        kept = [write for write in batch if write.record.revision not in refused]
        events = [self._state.publish(write.draft, write.record) for write in kept]
        if unfolded:
            self._writer.submit(self._log.fold, _heed_not)
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

    def _tell(self, kept: list[_Write], events: list[ChangeEvent]) -> None:
        now = self._loop.time()
        for resource in dict.fromkeys(write.draft.resource for write in kept):
            self._state.ring(resource).wake(now)
        for write, event in zip(kept, events, strict=True):
            resource = write.draft.resource
            for heard in self._hearing.get(resource) or self._who_hears(resource):
                undisturbed(heard, resource, event)
        self.published()

    def _who_hears(self, resource: str) -> tuple[Listener, ...]:
        hearing = tuple(
            heard
            for heard, resources in self._listeners.values()
            if not resources or resource in resources
        )
        self._hearing[resource] = hearing
        return hearing

    def _fail(self, batch: list[_Write], error: BaseException) -> None:
        if str(error) != self._told_failure:  # once, not for each batch
            self._told_failure = str(error)
            _log.error("nothing can be written", extra={"why": str(error)})
        for write in batch:
            if not write.future.done():
                again = error.again() if isinstance(error, WritesStopped) else error
                write.future.set_exception(again)
        self._dispatch()

    def _count(self, writes: int, seconds: float) -> None:
        figures = self.figures
        figures.commits += 1
        figures.writes += writes
        figures.seconds += seconds
        figures.largest = max(figures.largest, writes)


def _row(write: _Write, at: int) -> LogRow:
    draft, follows, record, _ = write
    return LogRow(
        record.revision, draft.resource, draft.key, follows, draft.change, at, record.data
    )


def _moved(draft: Draft) -> RevisionConflict:
    return RevisionConflict(
        f"{draft.resource} {draft.key} has changed since revision {draft.previous}"
    )


def _heed_not(_outcome: object) -> None:
    """If folding failed for good, the log itself refuses the next write."""


def _nothing() -> None:
    """Until somebody wants to know."""
