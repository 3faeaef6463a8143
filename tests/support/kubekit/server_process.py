"""A server in a process of its own whose memory can be read, and clients that behave badly.

The clients are plain blocking sockets: the test decides when they read, and how much.
"""

import asyncio
import json
import multiprocessing
import os
import socket
import ssl
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from multiprocessing.connection import Connection
from pathlib import Path
from random import Random
from typing import Any, Final

import uvloop

from kubekit.environment import ExecutionEnvironment
from kubekit.plane.http.authentication.bearer_tokens import Tokens
from kubekit.plane.http.certificates.authority import Certificates
from kubekit.plane.http.interfaces import ServerOptions
from kubekit.plane.http.limits import Limits
from kubekit.plane.http.server import Server
from kubekit.plane.plane import Plane
from kubekit.plane.registry import builtins
from kubekit.plane.registry.kinds import Kinds
from kubekit.plane.store.settings import StoreSettings
from kubekit.plane.users import User

CONFIG_MAPS: Final = "/api/v1/namespaces/default/configmaps"
_TOKEN: Final = "a-token-for-tests-only"
_PATIENCE: Final = 60  # seconds, so that a test of a server that hangs fails and does not hang too
_SMALL_BUFFER: Final = 4096
_processes: Final = multiprocessing.get_context("forkserver")
_processes.set_forkserver_preload([__name__])


@dataclass(frozen=True, kw_only=True)
class ServerSetup:
    """How the server is set up."""

    folder: Path
    limits: Limits = field(default_factory=Limits)
    settings: StoreSettings = field(default_factory=StoreSettings)
    tls: bool = False


@dataclass(frozen=True)
class ServerProcess:
    """A server that runs."""

    setup: ServerSetup
    port: int
    process: int
    clients: ExitStack

    def memory(self) -> int:
        """The memory of the process in bytes."""
        pages = int(Path(f"/proc/{self.process}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE")

    def sockets(self) -> int:
        """The number of open sockets of the process."""
        return sum(_is_socket(file) for file in Path(f"/proc/{self.process}/fd").iterdir())

    def client(self, *, narrow: bool = False) -> "Client":
        """A connected client. A narrow one has a small receive buffer."""
        plain = self.clients.enter_context(socket.socket())
        if narrow:
            plain.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _SMALL_BUFFER)
        plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        plain.settimeout(_PATIENCE)
        plain.connect(("127.0.0.1", self.port))
        if not self.setup.tls:
            return Client(plain)
        context = ssl.create_default_context(cafile=self.setup.folder / "pki" / "ca.crt")
        wrapped = context.wrap_socket(plain, server_hostname="127.0.0.1")
        return Client(self.clients.enter_context(wrapped))


class Client:
    """One connection, closed when the server ends."""

    def __init__(self, connected: socket.socket) -> None:
        self.socket = connected
        self._unread = b""

    def send(self, method: str, path: str, body: bytes = b"", **headers: str) -> None:
        """A request, whole."""
        self.socket.sendall(head(method, path, len(body), **headers) + body)

    def ask(self, method: str, path: str, document: object = None) -> int:
        """The status of the answer, which is read to its end."""
        self.send(method, path, b"" if document is None else json.dumps(document).encode())
        status, headers = self.head()
        self.read(int(headers["content-length"]))
        return status

    def create(self, name: str, text: str = "") -> None:
        """A config map with this text in it."""
        document = {"metadata": {"name": name}, "data": {"text": text}}
        assert self.ask("POST", CONFIG_MAPS, document) == 201

    def watch(self, path: str = CONFIG_MAPS) -> None:
        """Start a watch from now on."""
        self.send("GET", f"{path}?watch=true&resourceVersion=0&sendInitialEvents=false"
                  "&resourceVersionMatch=NotOlderThan")  # fmt: skip
        assert self.head()[0] == 200

    def head(self) -> tuple[int, dict[str, str]]:
        """The status and the headers of an answer."""
        text = self._until(b"\r\n\r\n").decode("latin-1")
        first, *lines = text.splitlines()
        pairs = (line.partition(": ") for line in lines if line)
        return int(first.split()[1]), {name.lower(): value for name, _, value in pairs}

    def read(self, size: int) -> bytes:
        """The next bytes: as many as requested, or fewer if the server closes the connection."""
        while len(self._unread) < size and (data := self.socket.recv(1 << 18)):
            self._unread += data
        taken, self._unread = self._unread[:size], self._unread[size:]
        return taken

    def events(self) -> Iterator[dict[str, Any]]:
        """The events of a watch, until the stream ends."""
        while size := int(self._until(b"\r\n"), 16):
            for line in self.read(size + 2).splitlines():
                if line:
                    yield json.loads(line)

    def rest(self) -> bytes:
        """Everything until the server closes the connection."""
        parts = [self._unread]
        while data := self.socket.recv(1 << 18):
            parts.append(data)
        return b"".join(parts)

    def _until(self, mark: bytes) -> bytes:
        while (end := self._unread.find(mark)) < 0:
            data = self.socket.recv(1 << 18)
            if not data:
                raise ConnectionResetError("the server hung up")
            self._unread += data
        taken, self._unread = self._unread[:end], self._unread[end + len(mark) :]
        return taken


def head(method: str, path: str, length: int = 0, **headers: str) -> bytes:
    """The head of a request that says how long its body is."""
    lines = [f"{method} {path} HTTP/1.1", "Host: test", f"Authorization: Bearer {_TOKEN}"]
    if length:
        lines += ["Content-Type: application/json", f"Content-Length: {length}"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return "\r\n".join([*lines, "", ""]).encode()


@contextmanager
def server_process(setup: ServerSetup) -> Iterator[ServerProcess]:
    """A server for as long as it is needed."""
    ours, theirs = _processes.Pipe(duplex=False)
    process = _processes.Process(target=_serve, args=(setup, theirs))
    process.start()
    theirs.close()
    try:
        with ours:
            port = ours.recv()
        assert process.pid is not None
        with ExitStack() as clients:
            yield ServerProcess(setup, port, process.pid, clients)
    finally:
        process.kill()
        process.join()
        process.close()


def _is_socket(file: Path) -> bool:
    try:
        return str(file.readlink()).startswith("socket:")
    except FileNotFoundError:  # closed since the folder was read
        return False


def _serve(setup: ServerSetup, ready: Connection) -> None:
    uvloop.run(_serving(setup, ready))


async def _serving(setup: ServerSetup, ready: Connection) -> None:
    environment = ExecutionEnvironment(now=lambda: datetime.now(UTC), chance=Random(1))  # noqa: TID251 - a real process has a real clock
    tokens = Tokens(None, environment)
    tokens.accept(_TOKEN, User("tester"))
    tls = Certificates(setup.folder / "pki", environment.now()) if setup.tls else None
    plane = await Plane.open(setup.folder, Kinds(builtins.core()), environment, setup.settings)
    seams = ServerOptions(limits=setup.limits)
    server = Server(("127.0.0.1", 0), tls, tokens, environment, seams)
    server.mount("/", plane)
    await server.start()
    ready.send(server.port)
    ready.close()
    await asyncio.Event().wait()
