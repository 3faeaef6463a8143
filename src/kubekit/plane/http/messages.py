"""Requests and responses, independent of sockets, parsing and chunks.

A handler answers synchronously if it can (a read is answered within the callback that delivered
its bytes), and with an awaitable if it must wait for the disk.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Protocol

import msgspec

from kubekit.api import errors
from kubekit.api.status import Status
from kubekit.plane.users import ANONYMOUS, User

JSON: Final = "application/json"
TEXT: Final = "text/plain; charset=utf-8"


@dataclass(frozen=True, slots=True)
class Caller:
    """The client of a connection.

    ``certificate`` is the verified client certificate in DER; empty if there is none.
    """

    address: str = ""
    certificate: bytes = b""


NO_CALLER: Final = Caller()


@dataclass(slots=True)
class ServerRequest:
    """One complete request.

    ``path`` is escaped as it was sent until the plane is known; then it is unescaped, and without
    the plane's ``prefix``. ``query`` stays as it was sent. Header names are lower case; a header
    sent twice is joined with ``", "``, and ``repeated`` has its values one by one. ``subject`` and
    ``dry_run`` are set by the verb, for the audit log: the name of a created object, and whether
    the request was a dry run.
    """

    method: str
    path: str
    query: str = ""
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""
    user: User = ANONYMOUS
    subject: str = ""
    dry_run: bool = False
    caller: Caller = NO_CALLER
    repeated: Mapping[str, Sequence[str]] | None = None
    prefix: str = ""

    def values(self, name: str) -> Sequence[str]:
        """Every value of a header, in the order they came."""
        if self.repeated is not None and name in self.repeated:
            return self.repeated[name]
        return [self.headers[name]] if name in self.headers else []


@dataclass(frozen=True, slots=True)
class SegmentedBody:
    """A large body that is never joined: ``before``, the parts with commas between, ``after``."""

    before: bytes
    parts: Sequence[bytes]
    after: bytes
    _size: int = field(init=False, repr=False)

    def __post_init__(self) -> None:
        commas = max(len(self.parts) - 1, 0)
        size = len(self.before) + sum(map(len, self.parts)) + commas + len(self.after)
        object.__setattr__(self, "_size", size)

    def __len__(self) -> int:
        return self._size


class StreamBody(Protocol):
    """A body of unknown length: a watch.

    The connection pulls: `start` registers a callback for new data, and each `take` returns the
    data there is. Nothing is taken while the peer does not read.
    """

    def start(self, ready: Callable[[], None]) -> None: ...

    def take(self) -> Sequence[bytes]: ...

    @property
    def ended(self) -> bool:
        """Whether no more data will come, once everything is taken."""
        ...

    def close(self) -> None: ...


Body = bytes | SegmentedBody | StreamBody


@dataclass(slots=True)
class Response:
    """A response. ``close`` ends the connection after it."""

    status: int = 200
    body: Body = b""
    content_type: str = JSON
    headers: Sequence[tuple[str, str]] = ()
    close: bool = False


HandlerResult = Response | Awaitable[Response]
Handler = Callable[[ServerRequest], HandlerResult]

_encode = msgspec.json.Encoder().encode


def refusal(error: errors.ApiError) -> Response:
    """The refusal as its Status document."""
    status = error.to_status()
    details = status.details
    headers: tuple[tuple[str, str], ...] = ()
    if details is not None and details.retry_after_seconds:
        headers = (("retry-after", str(details.retry_after_seconds)),)
    return Response(error.code, status_document(status), headers=headers)


def status_document(status: Status) -> bytes:
    return _encode(status)
