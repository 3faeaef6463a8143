"""A server that does what its script says, and a transport to it: one step for each request."""

import asyncio
import socket
import ssl
import struct
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from random import Random
from typing import Any, TypeVar

import msgspec

from kubekit.api.kinds.core import ConfigMap
from kubekit.client.connection import ClientCertificate, Connection
from kubekit.client.http.settings import HttpSettings
from kubekit.client.http.transport import HttpTransport
from kubekit.client.transport import ResourceLocation
from kubekit.environment import ExecutionEnvironment

T = TypeVar("T")
Step = Callable[[asyncio.StreamWriter], Awaitable[None]]
Handle = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]

MAPS = ResourceLocation(ConfigMap.RESOURCE, "room")
ONE = ResourceLocation(ConfigMap.RESOURCE, "room", "one")
DOCUMENT = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "one"}}
BODY = msgspec.json.encode(DOCUMENT)
SECRET = "s3cr3t-t0ken"


@dataclass
class ReceivedRequest:
    """One request, as it came."""

    method: str
    target: str
    headers: dict[str, str]
    body: bytes

    @property
    def line(self) -> str:
        return f"{self.method} {self.target}"


@dataclass
class Scripted:
    """The server. When its script is over it answers with a document."""

    script: deque[Step] = field(default_factory=deque)
    requests: list[ReceivedRequest] = field(default_factory=list)
    asked: asyncio.Event = field(default_factory=asyncio.Event)
    connections: int = 0
    open: int = 0
    url: str = ""
    port: int = 0
    _tasks: set["asyncio.Task[None]"] = field(default_factory=set)

    @property
    def lines(self) -> list[str]:
        return [request.line for request in self.requests]

    def then(self, *steps: Step) -> None:
        self.script.extend(steps)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        self.open += 1
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            while not writer.is_closing() and (request := await _request(reader)):
                self.requests.append(request)
                self.asked.set()
                step = self.script.popleft() if self.script else reply()
                await step(writer)
        except (ConnectionError, ssl.SSLError, asyncio.IncompleteReadError):
            pass
        except asyncio.CancelledError:
            return  # by `stop`; what streams make of it is an error in the log
        finally:
            self.open -= 1
            self._tasks.discard(task)
            writer.transport.abort()

    async def stop(self) -> None:
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)


@asynccontextmanager
async def serving(*script: Step, tls: ssl.SSLContext | None = None) -> AsyncIterator[Scripted]:
    """A server on a free port of loopback."""
    server = Scripted(deque(script))
    listening = await asyncio.start_server(server.serve, "127.0.0.1", 0, ssl=tls)
    server.port = listening.sockets[0].getsockname()[1]
    server.url = f"{'https' if tls else 'http'}://127.0.0.1:{server.port}"
    try:
        yield server
    finally:
        listening.close()
        await server.stop()


@asynccontextmanager
async def listening(handle: Handle) -> AsyncIterator[int]:
    """The port of a server that handles each connection so, and then closes it."""
    tasks: list[asyncio.Task[None]] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        tasks.append(task)
        try:
            await handle(reader, writer)
        except (ConnectionError, asyncio.CancelledError):
            return
        finally:
            writer.transport.abort()

    made = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        yield made.sockets[0].getsockname()[1]
    finally:
        made.close()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def reply(
    status: int = 200,
    body: bytes = BODY,
    media: str = "application/json",
    headers: tuple[tuple[str, str], ...] = (),
) -> Step:
    """A whole answer."""

    async def step(writer: asyncio.StreamWriter) -> None:
        writer.write(answer(status, body, media, headers))
        await writer.drain()

    return step


def answer(
    status: int = 200,
    body: bytes = BODY,
    media: str = "application/json",
    headers: tuple[tuple[str, str], ...] = (),
) -> bytes:
    lines = [
        f"HTTP/1.1 {status} Whatever",
        f"Content-Type: {media}",
        f"Content-Length: {len(body)}",
        *(f"{name}: {value}" for name, value in headers),
    ]
    return "\r\n".join((*lines, "", "")).encode() + body


def saying(*pieces: bytes, close: bool = False) -> Step:
    """These bytes, whatever they mean, each written by itself; then perhaps the end."""

    async def step(writer: asyncio.StreamWriter) -> None:
        for piece in pieces:
            writer.write(piece)
            await writer.drain()
            await asyncio.sleep(0)
        if close:
            writer.close()

    return step


def hanging_up(*pieces: bytes) -> Step:
    return saying(*pieces, close=True)


async def resetting(writer: asyncio.StreamWriter) -> None:
    """End the connection as a machine does that has forgotten it."""
    found = writer.get_extra_info("socket")
    found.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()


async def silent(_writer: asyncio.StreamWriter) -> None:
    """Never answer."""
    await asyncio.Event().wait()


def events(*pieces: bytes, close: bool = False) -> Step:
    """A watch whose body comes in these chunks, and ends properly unless it is closed before."""
    head = (
        b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
    )
    chunks = [b"%x\r\n%s\r\n" % (len(piece), piece) for piece in pieces]
    return saying(head, *chunks, *(() if close else (b"0\r\n\r\n",)), close=close)


def status(code: int, reason: str, message: str = "no", **details: Any) -> bytes:
    """A refusal as Kubernetes writes it."""
    head = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure"}
    rest = {"message": message, "reason": reason, "code": code}
    return msgspec.json.encode(head | rest | ({"details": details} if details else {}))


def refused(code: int, reason: str, **headers: str) -> Step:
    named = tuple((name.replace("_", "-"), value) for name, value in headers.items())
    return reply(code, status(code, reason), headers=named)


@dataclass
class Shown:
    """Credentials that a test can change, and that count how often they were renewed."""

    token: str = SECRET
    next_token: str = ""
    client: ClientCertificate | None = None
    renewals: int = 0

    async def headers(self) -> Mapping[str, str]:
        return {"Authorization": f"Bearer {self.token}"}

    def certificate(self) -> ClientCertificate | None:
        return self.client

    async def renew(self) -> bool:
        self.renewals += 1
        if not self.next_token:
            return False
        self.token, self.next_token = self.next_token, ""
        return True


def environment() -> ExecutionEnvironment:
    return ExecutionEnvironment(lambda: datetime(2026, 1, 1, tzinfo=UTC), Random(7))


@asynccontextmanager
async def opened(
    server: Scripted | str, settings: HttpSettings | None = None, **connection: Any
) -> AsyncIterator[HttpTransport]:
    """A transport to a server."""
    url = server if isinstance(server, str) else server.url
    made = Connection(server=url, **({"credentials": Shown()} | connection))
    async with HttpTransport(made, environment(), settings or HttpSettings()) as transport:
        yield transport


def run(coroutine: Coroutine[Any, Any, T]) -> T:
    return asyncio.run(coroutine)


async def _request(reader: asyncio.StreamReader) -> ReceivedRequest | None:
    try:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
    except asyncio.IncompleteReadError:
        return None
    first, *rest = head.strip().split("\r\n")
    method, target, _ = first.split(" ")
    headers = {}
    for line in rest:
        name, _, value = line.partition(": ")
        headers[name.lower()] = value
    body = await reader.readexactly(int(headers.get("content-length", 0)))
    return ReceivedRequest(method, target, headers, body)
