"""Bytes to requests. llhttp does the parsing, in its strict mode; the limits are kept here."""

from collections.abc import Callable, Mapping
from enum import Enum, auto
from typing import Final

import httptools

from kubekit.api import errors
from kubekit.plane.http import refusals
from kubekit.plane.http.connection.peers import Peers
from kubekit.plane.http.connection.request_heads import (
    KNOWN_NAMES,
    check,
    check_trailer,
    header_name,
    target,
)
from kubekit.plane.http.limits import Limits
from kubekit.plane.http.messages import NOBODY, Caller, ServerRequest

_SMALL: Final = 64 * 1024  # bytes of a body that are read before anybody asks from whom


class Stage(Enum):
    """How much of the next request is there."""

    NOTHING = auto()
    HEAD = auto()
    BODY = auto()


class Turn:
    """A request to be answered, and how the answer may be written."""

    __slots__ = ("modern", "persistent", "request")

    def __init__(self, request: ServerRequest | None, *, persistent: bool, modern: bool) -> None:
        self.request = request
        self.persistent = persistent
        self.modern = modern  # HTTP/1.1: takes chunks


class Reader:
    """The reading half of one connection.

    ``began`` is called at each new stage, ``arrived`` with each whole request, ``invite`` where a
    client wants to be told to send its body.
    """

    def __init__(
        self,
        limits: Limits,
        peers: Peers,
        began: Callable[[], None],
        arrived: Callable[[Turn], None],
        invite: Callable[[], None],
    ) -> None:
        self._limits = limits
        self._bodies = peers.bodies
        self._knows = peers.knows
        self._began = began
        self._arrived = arrived
        self._invite = invite
        self._parser = httptools.HttpRequestParser(self)
        self._unfinished = 0
        self._another = False  # whether a request ended in the data at hand
        self.caller: Caller = NOBODY
        self.stranger: ServerRequest | None = None
        """A request whose body is not read, because nobody knows who sends it."""
        self._url: bytes
        self._headers: dict[str, str]
        self._repeated: dict[str, list[str]] | None
        self._body: bytes | bytearray
        self._headers_left: int
        self._bytes_left: int
        self._body_bytes = 0
        self._reset()

    def feed(self, data: memoryview) -> None:
        """Read on. Raises a refusal, after which nothing more may be fed."""
        self._another = False
        try:
            self._parser.feed_data(data)
        except (httptools.HttpParserError, httptools.HttpParserUpgrade) as problem:
            raise _understood(problem) from problem
        if self.stage is Stage.HEAD:
            # The parser keeps the beginning of a header line to itself until it is whole.
            # How much of data that ends another request is of this one is not known, nor is it much.
            self._unfinished = 0 if self._another else self._unfinished + len(data)
            if self._unfinished > self._limits.header_bytes + self._limits.url:
                raise self._too_long()
        else:
            self._unfinished = 0

    def too_slow(self, waited: float) -> bool:
        """Whether what is there of a request has taken too long to come."""
        limits = self._limits
        if self.stage is Stage.HEAD:
            return waited > limits.header_time
        return waited > limits.body_time and self._body_bytes < limits.body_rate * waited

    # What the parser calls

    def on_message_begin(self) -> None:
        self.stage = Stage.HEAD
        self._began()

    def on_url(self, url: bytes) -> None:
        self._url = self._url + url if self._url else url
        if len(self._url) > self._limits.url:
            raise refusals.UriTooLong(f"the URL is longer than {self._limits.url} bytes")

    def on_header(self, name: bytes, value: bytes) -> None:
        self._headers_left -= 1
        self._bytes_left -= len(name) + len(value) + 4
        if self._headers_left < 0 or self._bytes_left < 0:
            raise self._too_long()
        if self.stage is Stage.BODY:
            check_trailer(name)  # counted, and else of no meaning to us
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
            raise errors.BadRequest("no other protocol than HTTP/1.1 is spoken here")
        self.stage = Stage.BODY
        if "content-length" in headers or "transfer-encoding" in headers:
            if _is_large(headers) and not self._knows(headers, self.caller):
                raise self._turned_away()
            self._began()
            if "expect" in headers and self._version == "1.1":
                self._invite()

    def on_body(self, data: bytes) -> None:
        self._body_bytes += len(data)
        has_room = self._bodies.take(len(data))
        if self._body_bytes > self._limits.body:
            raise refusals.body_too_large(self._limits.body)
        if not has_room:
            raise refusals.too_many_bodies(self._limits.bodies)
        body = self._body
        if not body:
            self._body = data
        elif isinstance(body, bytearray):
            body += data
        else:  # pieces kept one by one would cost more than they hold, if they are crumbs
            self._body = bytearray(body) + data

    def on_message_complete(self) -> None:
        self._another = True
        parser = self._parser
        request = self._request()
        persistent, modern = parser.should_keep_alive(), self._version == "1.1"
        self._reset()
        self._arrived(Turn(request, persistent=persistent, modern=modern))

    def drop(self) -> None:
        """Forget what is there of a request that will never be whole. Nothing more may be fed."""
        self._reset()
        del self._parser  # it refers to us

    def _turned_away(self) -> errors.ApiError:
        """The refusal of a stranger. His credential is dropped: it may be known a moment later."""
        self._headers.pop("authorization", None)
        self.caller = Caller(self.caller.address)
        self.stranger = self._request()
        return refusals.unauthorized()

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
        self._bodies.give_back(self._body_bytes)
        self.stage = Stage.NOTHING
        self._version = ""
        self._url = b""
        self._headers = {}
        self._repeated = None
        self._headers_left = self._limits.headers
        self._bytes_left = self._limits.header_bytes
        self._body_bytes = 0
        self._body = b""

    def _repeat(self, key: str, text: str) -> None:
        """Keep one more value of a header. A value may hold commas, so joined they are not told apart."""
        joined = self._headers[key]
        if self._repeated is None:
            self._repeated = {}
        self._repeated.setdefault(key, [joined]).append(text)
        self._headers[key] = f"{joined}, {text}"

    def _too_long(self) -> errors.ApiError:
        most = f"{self._limits.headers} headers or {self._limits.header_bytes} bytes"
        return refusals.HeadersTooLarge(f"the headers of the request are more than {most}")


def _is_large(headers: Mapping[str, str]) -> bool:
    """Whether a body may come that is not read for somebody who is not known."""
    length = headers.get("content-length")
    return length is None or int(length) > _SMALL


def _understood(problem: Exception) -> errors.ApiError:
    """Why the parser stopped: a refusal of ours, or what it found itself."""
    if isinstance(problem.__context__, errors.ApiError):
        return problem.__context__
    return errors.BadRequest(f"the request is not valid HTTP/1.1: {problem}")
