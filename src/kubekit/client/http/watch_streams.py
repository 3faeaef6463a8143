"""The lines of a watch, and what they say."""

from collections import deque
from collections.abc import AsyncIterator
from typing import Final, Literal

import msgspec

from kubekit.api import errors
from kubekit.api.errors import ApiError, InternalError
from kubekit.api.status import Status
from kubekit.client.http import failures
from kubekit.client.http.bodies import UNREADABLE
from kubekit.client.http.exchanges import HttpResponse
from kubekit.client.http.failures import AttemptFailure, Lost
from kubekit.client.http.lines import LineSplitter, LineTooLong
from kubekit.client.http.requests import HttpRequest
from kubekit.client.transport import Change, Document, WatchEvent


class EncodedChange(msgspec.Struct, frozen=True):
    """A change whose object is still to be read."""

    type: Change
    object: msgspec.Raw


class _Refusal(msgspec.Struct, frozen=True):
    type: Literal["ERROR"]
    object: Status


class _Change(msgspec.Struct, frozen=True):
    type: Change
    object: Document


_LINES: Final = msgspec.json.Decoder(EncodedChange)
_CHANGES: Final = msgspec.json.Decoder(_Change)
_REFUSALS: Final = msgspec.json.Decoder(_Refusal)


class WatchLines:
    """The lines of one watch, as they come.

    A line that makes no sense would come again in the next watch from the same version. So it is an
    `InternalError`, after which a follower makes a new list, and not one of the troubles that pass.
    """

    def __init__(
        self, request: HttpRequest, server: str, answer: HttpResponse, longest: int
    ) -> None:
        self._request = request
        self._server = server
        self._answer = answer
        self._lines = LineSplitter(longest)
        self._ready: deque[memoryview] = deque()

    def __aiter__(self) -> AsyncIterator[memoryview]:
        return self

    async def __anext__(self) -> memoryview:
        try:
            while not self._ready:
                piece = await self._answer.piece()
                if not piece:
                    self._end()
                self._ready.extend(self._lines.feed(piece))
        except AttemptFailure as failure:
            raise self._told(failure) from failure
        return self._ready.popleft()

    def nonsense(self) -> ApiError:
        """What a line is that says nothing."""
        why = "a line of the watch is no change"
        return InternalError(failures.garbled(self._request, self._server, why).message)

    def _end(self) -> None:
        if self._lines.is_within:
            raise Lost("the watch ended in the middle of a line", heard=True)
        raise StopAsyncIteration

    def _told(self, failure: AttemptFailure) -> ApiError:
        error = failures.told(failure, self._request, self._server)
        return InternalError(error.message) if isinstance(failure, LineTooLong) else error


class DocumentEvents:
    """The changes of a watch as documents."""

    def __init__(self, stream: WatchLines) -> None:
        self._stream = stream

    def __aiter__(self) -> AsyncIterator[WatchEvent]:
        return self

    async def __anext__(self) -> WatchEvent:
        line = await anext(self._stream)
        try:
            change = _CHANGES.decode(line)
        except UNREADABLE:
            raise _refused(line, self._stream) from None
        return WatchEvent(change.type, change.object)


def split(line: memoryview, stream: WatchLines) -> EncodedChange:
    """The line's type and its object, unread. What the server gave up with is raised."""
    try:
        return _LINES.decode(line)
    except UNREADABLE:
        raise _refused(line, stream) from None


def _refused(line: memoryview, stream: WatchLines) -> ApiError:
    """The refusal in an ERROR of a watch, such as `Expired`."""
    try:
        return errors.from_status(_REFUSALS.decode(line).object)
    except UNREADABLE:
        return stream.nonsense()
