"""A real server on a loopback socket, and a client that sends any bytes."""

import asyncio
import ssl
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from typing import Any, cast

import msgspec
import yaml

from kubekit.environment import ExecutionEnvironment
from kubekit.plane.http.authentication.bearer_tokens import Tokens
from kubekit.plane.http.certificates.authority import Certificates
from kubekit.plane.http.connection.peers import Peers
from kubekit.plane.http.connection.protocol import HttpServerProtocol
from kubekit.plane.http.interfaces import ServerOptions
from kubekit.plane.http.limits import Limits
from kubekit.plane.http.messages import Handler
from kubekit.plane.http.server import Server
from kubekit.plane.plane import Plane
from kubekit.plane.registry import builtins
from kubekit.plane.registry.definitions.served_kinds import kinds_of
from kubekit.plane.registry.kinds import Kinds
from kubekit.plane.users import User
from tests.support.kubekit.kites import DEFINITION

TOKEN = "a-token-for-tests"
NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
AUTH = f"Authorization: Bearer {TOKEN}\r\n".encode()
CONFIG_MAPS = "/api/v1/namespaces/default/configmaps"
QUICK = Limits(tick=0.01, drain_time=0.5)
QUICKLY = ServerOptions(limits=QUICK)


def environment() -> ExecutionEnvironment:
    return ExecutionEnvironment(now=lambda: NOW, chance=Random(1))


@dataclass
class Reply:
    """A parsed response."""

    code: int
    headers: dict[str, str]
    body: bytes
    names: list[str] = field(default_factory=list)

    @property
    def document(self) -> Any:
        return msgspec.json.decode(self.body)


@dataclass
class Peer:
    """The client's end of a connection."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    @property
    def transport(self) -> asyncio.Transport:
        return cast("asyncio.Transport", self.writer.transport)

    async def send(self, data: bytes) -> None:
        self.writer.write(data)
        await self.writer.drain()

    async def reply(self, *, bodiless: bool = False) -> Reply:
        """The next complete response."""
        head = await self.reader.readuntil(b"\r\n\r\n")
        first, *lines = head.decode().rstrip("\r\n").split("\r\n")
        pairs = [line.split(": ", 1) for line in lines]
        headers = {name.lower(): value for name, value in pairs}
        body = b"" if bodiless else await self._body(headers)
        return Reply(int(first.split()[1]), headers, body, [name for name, _ in pairs])

    async def ask(self, data: bytes) -> Reply:
        await self.send(data)
        return await self.reply()

    async def chunk(self) -> bytes:
        size = int(await self.reader.readuntil(b"\r\n"), 16)
        data = await self.reader.readexactly(size + 2)
        return data[:-2]

    async def rest(self) -> bytes:
        """Everything up to the end of the connection."""
        return await self.reader.read(-1)

    async def close(self) -> None:
        self.writer.close()
        try:
            await self.writer.wait_closed()
        except OSError:
            return

    async def _body(self, headers: dict[str, str]) -> bytes:
        if "content-length" in headers:
            return await self.reader.readexactly(int(headers["content-length"]))
        if headers.get("transfer-encoding") == "chunked":
            pieces = []
            while piece := await self.chunk():
                pieces.append(piece)
            return b"".join(pieces)
        return b""


@asynccontextmanager
async def connected(port: int, context: ssl.SSLContext | None = None) -> AsyncIterator[Peer]:
    name = None if context is None else "localhost"
    peer = Peer(
        *await asyncio.open_connection("127.0.0.1", port, ssl=context, server_hostname=name)
    )
    try:
        yield peer
    finally:
        await peer.close()


@asynccontextmanager
async def handling(handler: Handler, limits: Limits = QUICK) -> AsyncIterator[int]:
    """The port of a bare protocol over a handler."""
    peers, loop = Peers(limits, environment()), asyncio.get_running_loop()
    peers.open(loop)
    server = await loop.create_server(
        lambda: HttpServerProtocol(handler, limits, peers), "127.0.0.1", 0
    )
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()
        await peers.close()


@asynccontextmanager
async def serving(
    directory: Path, seams: ServerOptions = QUICKLY, tls: Certificates | None = None
) -> AsyncIterator[Server]:
    """A server with one plane at its root, which serves native kinds and kites."""
    plane = await open_plane(directory)
    server = Server(("127.0.0.1", 0), tls, known_tokens(), environment(), seams)
    server.mount("/", plane)
    await server.start()
    try:
        yield server
    finally:
        await server.close()
        await plane.close()


async def open_plane(directory: Path) -> Plane:
    kinds = Kinds((*builtins.core(), *kinds_of(yaml.safe_load(DEFINITION))))
    return await Plane.open(directory, kinds, environment(), threaded=False)


def trusted(directory: Path) -> tuple[Certificates, ssl.SSLContext]:
    """Certificates that are valid now by the real clock, and a client that trusts them."""
    now = datetime.fromtimestamp(directory.stat().st_mtime, UTC)
    certificates = Certificates(directory / "tls", now)
    return certificates, ssl.create_default_context(cafile=certificates.authority)


def known_tokens() -> Tokens:
    tokens = Tokens(None, environment())
    tokens.accept(TOKEN, User("tester", ("testers",)))
    return tokens


def request(
    method: str,
    path: str,
    body: bytes | None = None,
    content_type: str = "application/json",
    *more: str,
) -> bytes:
    """A well-formed request with credentials."""
    lines = [f"{method} {path} HTTP/1.1", "Host: localhost", AUTH.decode().strip(), *more]
    if body is not None:
        lines += [f"Content-Type: {content_type}", f"Content-Length: {len(body)}"]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + (body or b"")


def config_map(name: str, **data: str) -> bytes:
    return msgspec.json.encode({"metadata": {"name": name}, "data": data})


async def until(condition: Callable[[], bool]) -> None:
    """Let the loop turn until the predicate is true.

    After many turns the predicate may depend on a thread or a clock, which get real time then.
    """
    for turn in range(40_000):
        if condition():
            return
        await asyncio.sleep(0 if turn < 10_000 else 0.001)
    raise TimeoutError("it never came to hold")


async def settled(count: Callable[[], int]) -> int:
    """A number, once it has not changed for many turns of the loop."""
    seen, calm = count(), 0
    while calm < 300:
        await asyncio.sleep(0)
        calm = calm + 1 if count() == seen else 0
        seen = count()
    return seen
