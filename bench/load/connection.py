"""A keep-alive HTTPS client that costs little, so that the server is what is measured.

Plain non-blocking sockets: no event loop, no streams, one request under way on each connection.
"""

import re
import select
import socket
import ssl
from typing import Final
from urllib.parse import urlsplit

import msgspec

_LENGTH: Final = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)
_CHUNKED: Final = re.compile(rb"\r\ntransfer-encoding: *chunked", re.IGNORECASE)
_LAST_CHUNK: Final = b"0\r\n\r\n"
_MOST: Final = 1 << 18
_UNTOLD: Final = 1 << 62  # the length of an answer in chunks
_GOOD: Final = (b"200", b"201")


class Target(msgspec.Struct, frozen=True):
    """Where a server is and how to be let in. An empty ``ca`` means that it is not checked."""

    url: str
    token: str
    ca: str = ""


class Refused(Exception):
    """An answer that no run should see."""


class Connection:
    """One connection to a server."""

    def __init__(self, target: Target, context: ssl.SSLContext) -> None:
        self._requests = Requests(target)
        parts = urlsplit(target.url)
        plain = socket.create_connection((parts.hostname, parts.port or 443))
        plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._socket = context.wrap_socket(plain, server_hostname=parts.hostname)
        self._socket.settimeout(0)
        self._parts: list[bytes] = []
        self._missing = -1  # bytes of the answer still to come; -1 while that is not known

    def fileno(self) -> int:
        return self._socket.fileno()

    def send(self, request: bytes) -> None:
        """Send a whole request; those of a benchmark fit into the socket's buffer."""
        rest = memoryview(request)
        while rest:
            try:
                rest = rest[self._socket.send(rest) :]
            except (ssl.SSLWantWriteError, ssl.SSLWantReadError):
                select.select((), (self._socket,), ())

    def read(self) -> bytes:
        """What has come in, b"" if nothing has."""
        try:
            data = self._socket.recv(_MOST)
        except (ssl.SSLWantReadError, ssl.SSLWantWriteError):
            return b""
        if not data:
            raise Refused("the server closed the connection")
        return data

    def answer(self) -> list[bytes] | None:
        """The parts of a whole answer, or None while some of it is still to come."""
        while data := self.read():
            self._parts.append(data)
            if self._missing < 0:
                self._missing = _missing(b"".join(self._parts))
            elif self._missing < _UNTOLD:
                self._missing -= len(data)
            if not self._missing or (self._missing == _UNTOLD and _ended(self._parts)):
                parts, self._parts, self._missing = self._parts, [], -1
                return _checked(parts)
        return None

    def ask(self, request: bytes) -> bytes:
        """The body of the answer to one request."""
        self.send(request)
        while (parts := self.answer()) is None:
            select.select((self._socket,), (), ())
        return body(parts)

    def get(self, path: str, **headers: str) -> bytes:
        return self.ask(self._requests.bare("GET", path, **headers))

    def delete(self, path: str) -> bytes:
        return self.ask(self._requests.bare("DELETE", path))

    def post(self, path: str, document: bytes) -> bytes:
        return self.ask(self._requests.head("POST", path) + with_length(document))

    def close(self) -> None:
        self._socket.close()


class Requests:
    """The bytes of requests to one server."""

    def __init__(self, target: Target) -> None:
        parts = urlsplit(target.url)
        self._prefix = parts.path.rstrip("/")
        self._lines = (
            f"Host: {parts.netloc}\r\nAuthorization: Bearer {target.token}\r\n"
            "User-Agent: bench\r\nAccept: application/json\r\n"
        )

    def bare(self, method: str, path: str, **headers: str) -> bytes:
        more = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in headers.items())
        return f"{method} {self._prefix}{path} HTTP/1.1\r\n{self._lines}{more}\r\n".encode()

    def head(self, method: str, path: str) -> bytes:
        """The head of a request with a body, but for the length: see `with_length`."""
        return (
            f"{method} {self._prefix}{path} HTTP/1.1\r\n{self._lines}"
            "Content-Type: application/json\r\nContent-Length: "
        ).encode()


def with_length(document: bytes) -> bytes:
    return b"%d\r\n\r\n%b" % (len(document), document)


def trusting(target: Target) -> ssl.SSLContext:
    """One context for all connections to a server."""
    context = ssl.create_default_context(cafile=target.ca or None)
    if not target.ca:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return context


def body(parts: list[bytes]) -> bytes:
    """The body of a response, put together."""
    head, _, rest = b"".join(parts).partition(b"\r\n\r\n")
    return _joined(rest) if _CHUNKED.search(head) else rest


def _missing(data: bytes) -> int:
    """How much of an answer is still to come; -1 if its head is not whole."""
    end = data.find(b"\r\n\r\n")
    if end < 0:
        return -1
    length = _LENGTH.search(data, 0, end)
    return end + 4 + int(length[1]) - len(data) if length else _UNTOLD


def _ended(parts: list[bytes]) -> bool:
    return b"".join(parts[-2:]).endswith(_LAST_CHUNK)


def _checked(parts: list[bytes]) -> list[bytes]:
    if parts[0][9:12] not in _GOOD:
        raise Refused(b"".join(parts).decode(errors="replace")[:2000])
    return parts


def _joined(rest: bytes) -> bytes:
    pieces, at = [], 0
    while size := int(rest[at : (line := rest.index(b"\r\n", at))], 16):
        pieces.append(rest[line + 2 : line + 2 + size])
        at = line + 2 + size + 2
    return b"".join(pieces)
