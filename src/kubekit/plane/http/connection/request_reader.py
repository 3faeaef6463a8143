"""Parses requests with llhttp in its strict mode, and enforces the limits."""

from collections.abc import Callable, Mapping
from enum import Enum, auto
from typing import Final

import httptools

from kubekit.api import errors
from kubekit.plane.http import http_errors
from kubekit.plane.http.connection.peers import Peers
from kubekit.plane.http.connection.request_heads import (
    KNOWN_NAMES,
    check,
    check_trailer,
    header_name,
    target,
)
from kubekit.plane.http.limits import Limits
from kubekit.plane.http.messages import NO_CALLER, Caller, ServerRequest

_SMALL: Final = 64 * 1024  # bytes of a body that are read without authentication


class ReadStage(Enum):
    """How much of the next request has arrived."""

    NOTHING = auto()
    HEAD = auto()
    BODY = auto()


class PipelinedRequest:
    """A request to be answered, and how the response may be written."""

    __slots__ = ("modern", "persistent", "request")

    def __init__(self, request: ServerRequest | None, *, persistent: bool, modern: bool) -> None:
        self.request = request
        self.persistent = persistent
        self.modern = modern  # HTTP/1.1: accepts chunks


class RequestReader:
    """The reading half of one connection.

    ``on_stage`` is called at each new stage, ``on_request`` with each complete request, and
    ``on_expect`` if a client waits for 100 Continue.
    """

    def __init__(
        self,
        limits: Limits,
        peers: Peers,
        on_stage: Callable[[], None],
        on_request: Callable[[PipelinedRequest], None],
        on_expect: Callable[[], None],
    ) -> None:
        self._limits = limits
        self._bodies = peers.bodies
        self._is_authenticated = peers.is_authenticated
        self._on_stage = on_stage
        self._on_request = on_request
        self._on_expect = on_expect
        self._parser = httptools.HttpRequestParser(self)
        self._unfinished = 0
        self._another = False  # whether a request ended in the current data
        self.caller: Caller = NO_CALLER
        self.unauthenticated: ServerRequest | None = None
        """An unauthenticated request, whose body is not read."""
        self._url: bytes
        self._headers: dict[str, str]
        self._repeated: dict[str, list[str]] | None
        self._body: bytes | bytearray
        self._headers_left: int
        self._bytes_left: int
        self._body_bytes = 0
        self._reset()

    def feed(self, data: memoryview) -> None:
        """Parse more data. After an error nothing more may be fed."""
        self._another = False
        try:
            self._parser.feed_data(data)
        except (httptools.HttpParserError, httptools.HttpParserUpgrade) as problem:
            raise _understood(problem) from problem
        if self.stage is ReadStage.HEAD:
            # The parser buffers a header line until it is complete.
            # If another request ended in this data, the bytes of this one are few and are not counted.
            self._unfinished = 0 if self._another else self._unfinished + len(data)
            if self._unfinished > self._limits.header_bytes + self._limits.url:
                raise self._too_long()
        else:
            self._unfinished = 0

    def too_slow(self, waited: float) -> bool:
        """Whether an incomplete request has taken too long to arrive."""
        limits = self._limits
        if self.stage is ReadStage.HEAD:
            return waited > limits.header_time
        return waited > limits.body_time and self._body_bytes < limits.body_rate * waited

    # Called by the parser

    def on_message_begin(self) -> None:
        self.stage = ReadStage.HEAD
        self._on_stage()

    def on_url(self, url: bytes) -> None:
        self._url = self._url + url if self._url else url
        if len(self._url) > self._limits.url:
            raise http_errors.UriTooLong(f"the URL is longer than {self._limits.url} bytes")

    def on_header(self, name: bytes, value: bytes) -> None:
        self._headers_left -= 1
        self._bytes_left -= len(name) + len(value) + 4
        if self._headers_left < 0 or self._bytes_left < 0:
            raise self._too_long()
        if self.stage is ReadStage.BODY:
            check_trailer(name)  # counted, and otherwise ignored
            return
        headers, key = self._headers, KNOWN_NAMES.get(name) or header_name(name)
        text = value.decode("latin-1")
        if key in headers:
            self._repeat(key, text)
        else:
            headers[key] = text

    def on_headers_complete(self) -> None:
        parser, headers = self._parser, self._headers
        self._version = parser.get_http_version()
        check(self._version, headers, self._limits)
        if parser.should_upgrade():
            raise errors.BadRequest("no other protocol than HTTP/1.1 is supported")
        self.stage = ReadStage.BODY
        if "content-length" in headers or "transfer-encoding" in headers:
            if _is_large(headers) and not self._is_authenticated(headers, self.caller):
                raise self._unauthorized()
            self._on_stage()
            if "expect" in headers and self._version == "1.1":
                self._on_expect()

    def on_body(self, data: bytes) -> None:
        self._body_bytes += len(data)
        within_budget = self._bodies.reserve(len(data))
        if self._body_bytes > self._limits.body:
            raise http_errors.body_too_large(self._limits.body)
        if not within_budget:
            raise http_errors.too_many_bodies(self._limits.bodies)
        body = self._body
        if not body:
            self._body = data
        elif isinstance(body, bytearray):
            body += data
        else:  # small pieces in a list would cost more memory than their content
            self._body = bytearray(body) + data

    def on_message_complete(self) -> None:
        self._another = True
        parser = self._parser
        request = self._request()
        persistent, modern = parser.should_keep_alive(), self._version == "1.1"
        self._reset()
        self._on_request(PipelinedRequest(request, persistent=persistent, modern=modern))

    def drop(self) -> None:
        """Drop a request that will never be complete. Nothing more may be fed."""
        self._reset()
        del self._parser  # it refers to us

    def _unauthorized(self) -> errors.ApiError:
        """401 without reading the body. The credential is dropped: it could become valid meanwhile."""
        self._headers.pop("authorization", None)
        self.caller = Caller(self.caller.address)
        self.unauthenticated = self._request()
        return http_errors.unauthorized()

    def _request(self) -> ServerRequest:
        path, query = target(self._url)
        return ServerRequest(
            self._parser.get_method().decode("latin-1"),
            path,
            query,
            self._headers,
            bytes(self._body),
            caller=self.caller,
            repeated=self._repeated,
        )

    def _reset(self) -> None:
        self._bodies.release(self._body_bytes)
        self.stage = ReadStage.NOTHING
        self._version = ""
        self._url = b""
        self._headers = {}
        self._repeated = None
        self._headers_left = self._limits.headers
        self._bytes_left = self._limits.header_bytes
        self._body_bytes = 0
        self._body = b""

    def _repeat(self, key: str, text: str) -> None:
        """Keep one more value of a header. A value may hold commas, so the joined text is ambiguous."""
        joined = self._headers[key]
        if self._repeated is None:
            self._repeated = {}
        self._repeated.setdefault(key, [joined]).append(text)
        self._headers[key] = f"{joined}, {text}"

    def _too_long(self) -> errors.ApiError:
        most = f"{self._limits.headers} headers or {self._limits.header_bytes} bytes"
        return http_errors.HeadersTooLarge(f"the headers of the request are more than {most}")


def _is_large(headers: Mapping[str, str]) -> bool:
    """Whether the body may be too large to be read without authentication."""
    length = headers.get("content-length")
    return length is None or int(length) > _SMALL


def _understood(problem: Exception) -> errors.ApiError:
    """The error that stopped the parser: one raised by a callback, or the parser's own."""
    if isinstance(problem.__context__, errors.ApiError):
        return problem.__context__
    return errors.BadRequest(f"the request is not valid HTTP/1.1: {problem}")
