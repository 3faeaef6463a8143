"""The lines of a watch, and the events in them."""

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
    """A change whose object is not decoded yet."""

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
    """The lines of one watch, as they arrive.

    An invalid line would come again in the next watch from the same version. So it raises an
    `InternalError`, after which `list_watch` lists again, and not a transient error.
    """

    def __init__(
        self, request: HttpRequest, server: str, response: HttpResponse, longest: int
    ) -> None:
        self._request = request
        self._server = server
        self._response = response
        self._lines = LineSplitter(longest)
        self._ready: deque[memoryview] = deque()

    def __aiter__(self) -> AsyncIterator[memoryview]:
        return self

    async def __anext__(self) -> memoryview:
        try:
            while not self._ready:
                piece = await self._response.piece()
                if not piece:
                    self._check_complete()
                self._ready.extend(self._lines.feed(piece))
        except AttemptFailure as failure:
            raise self._api_error(failure) from failure
        return self._ready.popleft()

    def invalid_line(self) -> ApiError:
        """The error for a line that is not an event."""
        why = "a line of the watch is no change"
        return InternalError(failures.malformed_response(self._request, self._server, why).message)

    def _check_complete(self) -> None:
        if self._lines.has_partial_line:
            raise Lost("the watch ended in the middle of a line", response_started=True)
        raise StopAsyncIteration

    def _api_error(self, failure: AttemptFailure) -> ApiError:
        error = failures.api_error(failure, self._request, self._server)
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
    """The type and the encoded object of the line. An ERROR event is raised."""
    try:
        return _LINES.decode(line)
    except UNREADABLE:
        raise _refused(line, stream) from None


def _refused(line: memoryview, stream: WatchLines) -> ApiError:
    """The error in an ERROR event of a watch, such as `Expired`."""
    try:
        return errors.from_status(_REFUSALS.decode(line).object)
    except UNREADABLE:
        return stream.invalid_line()
