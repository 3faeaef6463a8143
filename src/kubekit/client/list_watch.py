"""Following a collection: its objects first, then each change, until the caller closes the stream.

A paged list gives the state, and a watch from its version keeps it up to date. A watch that ends is
resumed from the last change or bookmark. After an expired version there is a new list, which is
yielded like the first: the caller compares it with its own state. Every error is reported and retried
after a pause, so a follower never ends by itself.

The time is that of the loop, and the jitter comes from the environment. So the pauses of many followers
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
_PAGE_TIMEOUT: Final = 90.0  # seconds for a page; a server gives up after 60
_WATCH_SECONDS: Final = (
    300,
    600,
)  # the range of the timeout that a watch requests, chosen randomly
_GRACE: Final = 30.0  # seconds after its timeout until a watch counts as half open
_HEALTHY_AFTER: Final = 1.0  # seconds; a watch that ends before that counts as failed
_BURST: Final = 100  # changes yielded before other tasks run
_PAUSES: Final = (0.8, 30.0)  # seconds after an error: the first, and the most
_LONGEST_RETRY_AFTER: Final = 300.0  # seconds; a longer Retry-After is cut to this
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

    If a first page follows a page that was not the last, the previous list was abandoned. Which objects
    no longer exist is known only after the last page. ``sources`` are as in the `Listing`.
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

    Only the selectors of the options are used, and the limit, which is the page size. ``report`` is
    called with an error when it first occurs or changes, and with None when it is over.
    """
    collection = _Collection(client, kind, namespace, options)
    return _Follower(collection, environment.chance, report).steps()


@dataclass(frozen=True, slots=True)
class _Collection(Generic[K]):
    """The collection to follow, and the requests for it."""

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

    async def page(self, page_options: ListOptions) -> Listing[K]:
        deadline = asyncio.get_running_loop().time() + _PAGE_TIMEOUT
        try:
            return await in_time(
                self.client.list(self.kind, self.namespace, page_options), deadline
            )
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
        self._unpaged = False  # the next list is not paged: the version of the pages expired
        self._has_expired = False  # a known version, since the last watch that worked
        self._last_reported = ""
        self._is_healthy = False
        self._backoff = JitteredBackoff(chance, *_PAUSES)
        self._not_served_backoff = JitteredBackoff(chance, *_ABSENCE_PAUSES)

    async def steps(self) -> AsyncGenerator[ListPage[K] | TypedEvent[K], None]:
        while True:
            pause = 0.0
            try:
                async with aclosing(
                    self._watch_changes() if self._version else self._list_pages()
                ) as steps:
                    async for step in steps:
                        yield step
                        del step  # a page is large, and the next change may take long to arrive
            except Exception as error:  # noqa: BLE001 -- a follower survives every error
                pause = self._pause_after(error)
            await asyncio.sleep(pause)

    async def _list_pages(self) -> AsyncGenerator[ListPage[K] | TypedEvent[K], None]:
        page_options = first = self._collection.first_page(whole=self._unpaged)
        while True:
            page = await self._collection.page(page_options)
            more, version = page.continue_, page.resource_version
            if not version:
                raise InternalError("the server's list has no resourceVersion to watch from")
            if not more:
                self._advance(version)
                self._unpaged = False
            yield ListPage(
                page.items, version, page.unreadable, page_options is first, not more, page.sources
            )
            if not more:
                return
            page_options = next_page(first, more)
            await asyncio.sleep(0)

    async def _watch_changes(self) -> AsyncGenerator[ListPage[K] | TypedEvent[K], None]:
        loop = asyncio.get_running_loop()
        seconds = self._chance.randrange(*_WATCH_SECONDS)
        deadline = loop.time() + seconds + _GRACE
        self._is_healthy = False
        async with AsyncExitStack() as stack:
            watch = self._collection.watch(self._version, seconds)
            changes = await in_time(stack.enter_async_context(watch), deadline)
            opened = loop.time()
            stack.callback(loop.call_later(_HEALTHY_AFTER, self._note_healthy).cancel)
            deadline_guard = stack.enter_context(closing(StreamDeadline(deadline)))
            received = 0
            while (event := await deadline_guard.next(changes)) is not None:
                if self._is_new(event):
                    self._note_healthy()
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

    def _note_healthy(self) -> None:
        """Reset the backoff and the reported error, because the watch works."""
        if self._is_healthy:
            return
        self._is_healthy = True
        self._has_expired = False
        self._backoff.reset()
        self._not_served_backoff.reset()
        self._report_change(None)

    def _pause_after(self, error: Exception) -> float:
        if isinstance(error, NotServed):
            self._report_change(error)
            return self._not_served_backoff.wait()
        if isinstance(error, Expired):
            self._unpaged = not self._version
            self._reset_pace()
        if isinstance(error, ApiError) and not isinstance(error, _PASSING):
            self._version = ""
        # An expired version is normal; it is reported only if it happens again.
        if not (isinstance(error, Expired) and self._backoff.at_first_wait):
            self._report_change(error)
        return max(self._backoff.wait(), _retry_after(error))

    def _reset_pace(self) -> None:
        """Forget the pauses of an outage at the first expired version: the server answers again.

        A server whose versions expire over and over is asked less and less.
        """
        if self._version and not self._has_expired:
            self._has_expired = True
            self._backoff.reset()

    def _report_change(self, error: Exception | None) -> None:
        text = "" if error is None else repr(error)
        if text != self._last_reported:
            self._last_reported = text
            self._report(error)


def _retry_after(error: Exception) -> float:
    """The seconds that the server asks to wait, up to a limit."""
    details = error.details if isinstance(error, ApiError) else None
    return min(details.retry_after_seconds, _LONGEST_RETRY_AFTER) if details is not None else 0


def _number(version: str) -> int | None:
    return int(version) if version.isdecimal() else None
