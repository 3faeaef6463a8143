"""Following a collection: its objects first, then each change, until the caller closes the stream.

A paged list gives the state, and a watch from its version keeps it up to date. A watch that ends is
resumed from the last change or bookmark. Only an expired version causes a new list, which is yielded
like the first: the caller finds out what differs. Every error is reported and retried after a pause,
so a follower never ends by itself.

The time is that of the loop, and the jitter comes from the environment: the pauses of many followers
do not coincide, and a run can be repeated.
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, aclosing, closing
from dataclasses import dataclass
from random import Random
from typing import Final, Generic

from kubekit.api.errors import (
    ApiError,
    Expired,
    InternalError,
    MethodNotAllowed,
    NotFound,
    TooManyRequests,
    Unavailable,
)
from kubekit.api.resource import Resource
from kubekit.client.client import Client, next_page
from kubekit.client.options import ListOptions, WatchOptions
from kubekit.client.reading import K, Listing, TypedEvent, UnreadableObject
from kubekit.client.retry_timing import JitteredBackoff, StreamDeadline, in_time
from kubekit.environment import ExecutionEnvironment

Report = Callable[[Exception | None], None]

_PAGE: Final = 500  # objects
_LIST_PATIENCE: Final = 90.0  # seconds for a page; a server gives up after 60
_WATCH_SECONDS: Final = (300, 600)  # how long a watch is asked to last, drawn anew for each
_GRACE: Final = 30.0  # seconds after its time when a watch must have ended
_HEALTHY_AFTER: Final = 1.0  # seconds; a watch that ends before that counts as failed
_BURST: Final = 100  # changes yielded before other tasks run
_PAUSES: Final = (0.8, 30.0)  # seconds after an error: the first, and the most
_LONGEST_RETRY_AFTER: Final = 300.0  # seconds that a Retry-After is honoured for
_ABSENCE_PAUSES: Final = (1.0, 10.0)  # the same for a kind that is not served
# Errors that do not affect the version: the watch is resumed.
_PASSING: Final = (TooManyRequests, Unavailable)


class NotServed(Exception):
    """The server has no such kind. A definition may be added at any time."""

    def __init__(self, resource: Resource) -> None:
        super().__init__(f"the server does not serve {resource.kind} of {resource.api_version}")


@dataclass(frozen=True, slots=True)
class ListPage(Generic[K]):
    """One page of a list; ``is_first`` and ``is_last`` mark its bounds.

    A first page after one that was not the last starts over: the previous list is abandoned. Only
    after the last page is it known which objects do not exist. ``sources`` are as in the `Listing`.
    """

    items: tuple[K, ...]
    resource_version: str
    unreadable: tuple[UnreadableObject, ...] = ()
    is_first: bool = True
    is_last: bool = True
    sources: tuple[bytes, ...] = ()


def follow(  # noqa: PLR0913, PLR0917 -- three parameters name what is followed
    client: Client,
    kind: type[K],
    namespace: str,
    options: ListOptions,
    environment: ExecutionEnvironment,
    report: Report,
) -> AsyncGenerator[ListPage[K] | TypedEvent[K], None]:
    """The pages of a list, then the changes and bookmarks. Close it with `aclosing`.

    Of the options only the selectors count, and the limit as the size of a page. ``report`` is called
    with an error when it first occurs or changes, and with None when it is over.
    """
    collection = _Collection(client, kind, namespace, options)
    return _Follower(collection, environment.chance, report).steps()


@dataclass(frozen=True, slots=True)
class _Collection(Generic[K]):
    """What is followed, and the requests for it."""

    client: Client
    kind: type[K]
    namespace: str
    options: ListOptions

    def first_page(self, *, whole: bool) -> ListOptions:
        return ListOptions(
            label_selector=self.options.label_selector,
            field_selector=self.options.field_selector,
            limit=0 if whole else self.options.limit or _PAGE,
        )

    async def page(self, wanted: ListOptions) -> Listing[K]:
        deadline = asyncio.get_running_loop().time() + _LIST_PATIENCE
        try:
            return await in_time(self.client.list(self.kind, self.namespace, wanted), deadline)
        except (NotFound, MethodNotAllowed) as refusal:
            raise NotServed(self.kind.RESOURCE) from refusal

    def watch(
        self, version: str, seconds: int
    ) -> AbstractAsyncContextManager[AsyncIterator[TypedEvent[K]]]:
        options = WatchOptions(
            label_selector=self.options.label_selector,
            field_selector=self.options.field_selector,
            resource_version=version,
            allow_bookmarks=True,
            timeout_seconds=seconds,
        )
        return self.client.watch(self.kind, self.namespace, options)


class _Follower(Generic[K]):
    def __init__(self, collection: _Collection[K], chance: Random, report: Report) -> None:
        self._collection = collection
        self._chance = chance
        self._report = report
        self._version = ""  # everything up to it is yielded; empty when a list is due
        self._number: int | None = None  # the same as a number, where it is one
        self._whole = False  # the next list is not paged: the version of the pages expired
        self._reported = ""
        self._settled = False
        self._pace = JitteredBackoff(chance, *_PAUSES)
        self._absence = JitteredBackoff(chance, *_ABSENCE_PAUSES)

    async def steps(self) -> AsyncGenerator[ListPage[K] | TypedEvent[K], None]:
        while True:
            pause = 0.0
            try:
                async with aclosing(self._watched() if self._version else self._listed()) as steps:
                    async for step in steps:
                        yield step
                        del step  # a page is large, and the next change may be long in coming
            except Exception as error:  # noqa: BLE001 -- a follower survives every error
                pause = self._pause_after(error)
            await asyncio.sleep(pause)

    async def _listed(self) -> AsyncGenerator[ListPage[K] | TypedEvent[K], None]:
        wanted = first = self._collection.first_page(whole=self._whole)
        while True:
            page = await self._collection.page(wanted)
            more, version = page.continue_, page.resource_version
            if not version:
                raise InternalError("the server's list has no resourceVersion to watch from")
            if not more:
                self._advance(version)
                self._whole = False
            yield ListPage(
                page.items, version, page.unreadable, wanted is first, not more, page.sources
            )
            if not more:
                return
            wanted = next_page(first, more)
            await asyncio.sleep(0)

    async def _watched(self) -> AsyncGenerator[ListPage[K] | TypedEvent[K], None]:
        loop = asyncio.get_running_loop()
        seconds = self._chance.randrange(*_WATCH_SECONDS)
        deadline = loop.time() + seconds + _GRACE
        self._settled = False
        async with AsyncExitStack() as stack:
            watch = self._collection.watch(self._version, seconds)
            changes = await in_time(stack.enter_async_context(watch), deadline)
            opened = loop.time()
            stack.callback(loop.call_later(_HEALTHY_AFTER, self._settle).cancel)
            deadline_guard = stack.enter_context(closing(StreamDeadline(deadline)))
            received = 0
            while (event := await deadline_guard.next(changes)) is not None:
                if self._is_new(event):
                    self._settle()
                    yield event
                received += 1
                if received % _BURST == 0:
                    await asyncio.sleep(0)
        if loop.time() - opened < _HEALTHY_AFTER:
            raise Unavailable("the server ended the watch right after its start")

    def _is_new(self, event: TypedEvent[K]) -> bool:
        """Whether a change was not yielded yet; a duplicated stream repeats some."""
        version = event.resource_version
        if not version:
            return True
        number = _number(version)
        if number is not None and self._number is not None and number <= self._number:
            return False
        self._advance(version)
        return True

    def _advance(self, version: str) -> None:
        self._version, self._number = version, _number(version)

    def _settle(self) -> None:
        """The watch works: the errors before it are over."""
        if self._settled:
            return
        self._settled = True
        self._pace.reset()
        self._absence.reset()
        self._report_change(None)

    def _pause_after(self, error: Exception) -> float:
        if isinstance(error, NotServed):
            self._report_change(error)
            return self._absence.wait()
        if isinstance(error, Expired):
            self._whole = not self._version
        if isinstance(error, ApiError) and not isinstance(error, _PASSING):
            self._version = ""
        # An expired version is normal; it is reported only if it happens again.
        if not (isinstance(error, Expired) and self._pace.at_first_wait):
            self._report_change(error)
        return max(self._pace.wait(), _retry_after(error))

    def _report_change(self, error: Exception | None) -> None:
        text = "" if error is None else repr(error)
        if text != self._reported:
            self._reported = text
            self._report(error)


def _retry_after(error: Exception) -> float:
    """The seconds that the server asks to wait, up to a limit."""
    details = error.details if isinstance(error, ApiError) else None
    return min(details.retry_after_seconds, _LONGEST_RETRY_AFTER) if details is not None else 0


def _number(version: str) -> int | None:
    return int(version) if version.isdecimal() else None
