"""A client that sends any request to a plane over TLS, and is lenient about the response."""

import socket
import ssl
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import msgspec

from tests.support.generated.schema_fuzz import Request

_MOST = 1 << 16


@dataclass(frozen=True)
class Reply:
    """A response. Of a stream, only the beginning."""

    code: int
    headers: dict[str, str]
    body: bytes

    @property
    def complaint(self) -> str:
        """What is wrong with an answer that should be a refusal, if it is one."""
        if self.code >= 500:
            return "the server failed"
        if self.code < 400:
            return ""
        try:
            status = msgspec.json.decode(self.body)
        except msgspec.DecodeError:
            return "its refusal is no JSON"
        envelope = {name: status.get(name) for name in ("kind", "apiVersion", "status", "code")}
        if envelope != {
            "kind": "Status",
            "apiVersion": "v1",
            "status": "Failure",
            "code": self.code,
        }:
            return "its refusal is no Status"
        return "" if status.get("reason") and status.get("message") else "it says not why"


class RawClient:
    """One connection, opened again whenever the server closes it."""

    def __init__(self, data: Path, url: str) -> None:
        self._address = (urlsplit(url).hostname or "", urlsplit(url).port or 0)
        self._context = ssl.create_default_context(cafile=data / "pki" / "ca.crt")
        token = (data / "token").read_text().strip()
        self._common = f"Host: localhost\r\nAuthorization: Bearer {token}\r\n"
        self._socket: ssl.SSLSocket | None = None
        self._read = bytearray()

    def ask(self, request: Request) -> Reply:
        if self._socket is None:
            self._socket = self._connected()
        self._socket.sendall(self._bytes(request))
        reply = self._reply(request)
        if request.follows or reply.headers.get("connection") == "close":
            self.close()
        return reply

    def close(self) -> None:
        if self._socket is not None:
            self._socket.close()
            self._socket = None
            self._read.clear()

    def _connected(self) -> ssl.SSLSocket:
        plain = socket.create_connection(self._address, timeout=30)
        plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return self._context.wrap_socket(plain, server_hostname=self._address[0])

    def _bytes(self, request: Request) -> bytes:
        lines = [f"{request.method} {request.target} HTTP/1.1\r\n", self._common]
        lines += [f"{name}: {text}\r\n" for name, text in request.headers]
        if request.body is not None:
            lines.append(f"Content-Length: {len(request.body)}\r\n")
        return "".join([*lines, "\r\n"]).encode("latin-1") + (request.body or b"")

    def _reply(self, request: Request) -> Reply:
        head = self._until(b"\r\n\r\n").decode("latin-1")
        first, *lines = head.rstrip("\r\n").split("\r\n")
        code = int(first.split()[1])
        if code == 100:
            return self._reply(request)
        headers = {
            n.lower(): text.strip() for n, _, text in (line.partition(":") for line in lines)
        }
        chunked = headers.get("transfer-encoding") == "chunked"
        if chunked:
            return Reply(code, headers, b"" if request.follows else self._chunks())
        return Reply(code, headers, self._exactly(int(headers.get("content-length", 0))))

    def _chunks(self) -> bytes:
        pieces = []
        while size := int(self._until(b"\r\n"), 16):
            pieces.append(self._exactly(size + 2)[:-2])
        self._until(b"\r\n")
        return b"".join(pieces)

    def _until(self, end: bytes) -> bytes:
        while (found := self._read.find(end)) < 0:
            self._more()
        return self._exactly(found + len(end))

    def _exactly(self, size: int) -> bytes:
        while len(self._read) < size:
            self._more()
        taken = bytes(self._read[:size])
        del self._read[:size]
        return taken

    def _more(self) -> None:
        assert self._socket is not None
        data = self._socket.recv(_MOST)
        if not data:
            raise ConnectionError("the server hung up without an answer")
        self._read += data
