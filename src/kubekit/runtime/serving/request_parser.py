"""Parses requests with llhttp in its strict mode, and enforces the limits while bytes arrive.

An ambiguous request is refused, since a proxy in front might understand it otherwise: two lengths,
a length beside a transfer coding, folded lines, other line ends.
"""

from collections import deque
from dataclasses import dataclass
from enum import Enum, auto
from typing import Final

import httptools

from kubekit.runtime.serving.messages import HttpRefusal, IncomingRequest

MIB: Final = 1 << 20
_VERSIONS: Final = ("1.1", "1.0")


@dataclass(frozen=True, slots=True, kw_only=True)
class ServingLimits:
    """Sizes in bytes, times in seconds."""

    connections: int = 512
    head: int = 32 * 1024
    fields: int = 100
    url: int = 8 * 1024
    body: int = MIB
    bodies: int = 64 * MIB  # of all requests together that are read or being answered

    handshake_time: float = 10.0
    head_time: float = 10.0  # for a whole head, and for the first byte of a new connection
    body_time: float = 30.0
    idle_time: float = 120.0  # longer than clients in Go keep theirs, which is 90 s
    write_time: float = 30.0  # for a response to be taken by the peer
    linger_time: float = 2.0  # for the peer to read a refusal while it still sends


class ArrivalStage(Enum):
    """How much of the next request has arrived."""

    IDLE = auto()
    HEAD = auto()
    BODY = auto()


class BodyAllowance:
    """The bytes that the bodies of all connections together may still take."""

    def __init__(self, left: int) -> None:
        self.left = left


class RequestParser:
    """The requests of one connection: bytes in, whole requests out."""

    def __init__(self, limits: ServingLimits, allowance: BodyAllowance) -> None:
        self.requests: deque[IncomingRequest] = deque()
        self.stage = ArrivalStage.IDLE
        self.expects_continue = False
        """Whether the client waits for 100 Continue before it sends the body."""
        self._limits = limits
        self._allowance = allowance
        self._reserved = 0
        self._parser = httptools.HttpRequestParser(self)
        self._unparsed = 0  # bytes of a head that is incomplete
        self._url = b""
        self._fields: dict[str, str] = {}
        self._field_count = 0
        self._field_bytes = 0
        self._body = bytearray()

    def feed(self, data: bytes) -> None:
        """Parse more bytes. It raises `HttpRefusal`, and then nothing more may be fed."""
        complete = len(self.requests)
        try:
            self._parser.feed_data(data)
        except (httptools.HttpParserError, httptools.HttpParserUpgrade) as problem:
            raise _understood(problem) from problem
        if self.stage is ArrivalStage.BODY or len(self.requests) > complete:
            self._unparsed = 0
            return
        self._unparsed += len(data)
        if self._unparsed > self._limits.head + self._limits.url:
            raise self._head_too_large()

    def release(self, size: int) -> None:
        """Give back the bytes of a body that is no longer held."""
        self._reserved -= size
        self._allowance.left += size

    def close(self) -> None:
        """Give back all bytes."""
        self.release(self._reserved)
        self.requests.clear()
        del self._parser  # it refers to this object

    # Called by llhttp

    def on_message_begin(self) -> None:
        self.stage = ArrivalStage.HEAD
        self._url = b""
        self._fields = {}
        self._field_count = self._field_bytes = 0
        self._body = bytearray()

    def on_url(self, url: bytes) -> None:
        self._url += url
        if len(self._url) > self._limits.url:
            raise HttpRefusal(414, f"the URL is longer than {self._limits.url} bytes")

    def on_header(self, name: bytes, value: bytes) -> None:
        self._field_count += 1
        self._field_bytes += len(name) + len(value) + 4
        if self._field_count > self._limits.fields or self._field_bytes > self._limits.head:
            raise self._head_too_large()
        if self.stage is ArrivalStage.BODY:
            return  # trailers count, and are ignored
        key, text = name.decode("latin-1").lower(), value.decode("latin-1")
        self._fields[key] = f"{self._fields[key]}, {text}" if key in self._fields else text

    def on_headers_complete(self) -> None:
        version, fields = self._parser.get_http_version(), self._fields
        if self._parser.should_upgrade():
            raise HttpRefusal(400, "no other protocol than HTTP/1.1 is supported")
        _check(version, fields)
        length = fields.get("content-length", "0")
        if int(length) > self._limits.body:
            raise self._body_too_large()
        self.stage = ArrivalStage.BODY
        self.expects_continue = version == "1.1" and "expect" in fields

    def on_body(self, data: bytes) -> None:
        self._reserved += len(data)
        self._allowance.left -= len(data)
        self._body += data
        if len(self._body) > self._limits.body:
            raise self._body_too_large()
        if self._allowance.left < 0:
            raise HttpRefusal(503, "too many large requests at once: try again in a second")

    def on_message_complete(self) -> None:
        path, _, query = _target(self._url).partition("?")
        method = self._parser.get_method().decode("latin-1")
        keep_alive = self._parser.should_keep_alive()
        request = IncomingRequest(
            method, path, query, self._fields, bytes(self._body), keep_alive=keep_alive
        )
        self._body = bytearray()
        self.expects_continue = False
        self.stage = ArrivalStage.IDLE
        self.requests.append(request)

    def _head_too_large(self) -> HttpRefusal:
        most = f"{self._limits.fields} headers or {self._limits.head} bytes"
        return HttpRefusal(431, f"the headers of the request are more than {most}")

    def _body_too_large(self) -> HttpRefusal:
        return HttpRefusal(413, f"the body is larger than {self._limits.body} bytes")


def _check(version: str, fields: dict[str, str]) -> None:
    """Refuse a head that is ambiguous or asks for what is not supported."""
    if version not in _VERSIONS:
        raise HttpRefusal(400, f"HTTP/{version} is not supported: use HTTP/1.1")
    coding = fields.get("transfer-encoding")
    if coding is not None and (version == "1.0" or coding.lower() != "chunked"):
        raise HttpRefusal(400, "header Transfer-Encoding: only chunked is supported, in HTTP/1.1")
    if ", " in fields.get("host", ""):
        raise HttpRefusal(400, "header Host must name one host")
    if fields.get("expect", "100-continue").lower() != "100-continue":
        raise HttpRefusal(417, "header Expect: only 100-continue is supported")


def _target(url: bytes) -> str:
    """The path and the query of the request line; a proxy may send the absolute URL."""
    text = url.decode("latin-1")
    if text.startswith("/"):
        return text
    scheme, found, rest = text.partition("://")
    if found and scheme.lower() in ("http", "https"):
        _, slash, path = rest.partition("/")
        return slash + path or "/"
    raise HttpRefusal(400, "the request line must name a path that starts with /")


def _understood(problem: Exception) -> HttpRefusal:
    """The refusal that stopped the parser, or one for the parser's own error."""
    if isinstance(problem.__context__, HttpRefusal):
        return problem.__context__
    return HttpRefusal(400, f"the request is not valid HTTP/1.1: {problem}")
