"""A small HTTP/1.1 server for the pages and webhooks of a process, plain or over TLS.

It is made for few, patient, trusted clients in a network of others: the API server, a scraper, the
kubelet. So it has a limit for everything that a peer can make it hold, and when it is full, the
connection that has waited longest for a request makes room for a new one.
"""

import asyncio
import errno
import logging
import socket
import ssl
from dataclasses import dataclass, field
from typing import Final

from kubekit.runtime.scope import Scope, cancel_and_wait
from kubekit.runtime.serving.http_connection import (
    ConnectionContext,
    ServedConnection,
    serve,
)
from kubekit.runtime.serving.listen_address import ListenAddress
from kubekit.runtime.serving.messages import Handler
from kubekit.runtime.serving.request_parser import BodyAllowance, ServingLimits
from kubekit.runtime.serving.tls import ServerTls

LOOPBACK: Final = ListenAddress("127.0.0.1", 0)
_BACKLOG: Final = 256
_ACCEPT_AGAIN: Final = 0.1  # seconds after a failure
_LOGGED_EVERY: Final = 60.0  # seconds between two log lines of one reason

_log: Final = logging.getLogger(__name__)


class ListenFailed(Exception):
    """The server cannot listen on the address. The message says which, and what to do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServingSettings:
    """Where and how to listen; without ``tls`` it is plain HTTP."""

    address: ListenAddress = LOOPBACK
    tls: ServerTls | None = None
    limits: ServingLimits = field(default_factory=ServingLimits)


class HttpServer:
    """Serves one handler on one address until it is closed. ``name`` is for the log."""

    def __init__(self, name: str, handler: Handler, settings: ServingSettings) -> None:
        self.name = name
        self._settings = settings
        self._limits = settings.limits
        self._context = ConnectionContext(
            handler, settings.limits, BodyAllowance(settings.limits.bodies), self._note_waiting
        )
        self._listener: socket.socket | None = None
        self._scope = Scope(name)
        self._accepting: asyncio.Task[None]
        self._connections: dict[ServedConnection, None] = {}
        self._waiting: dict[ServedConnection, None] = {}  # the longest wait first
        self._logged: dict[str, float] = {}

    @property
    def listening(self) -> bool:
        return self._listener is not None

    @property
    def connections(self) -> int:
        return len(self._connections)

    @property
    def busy(self) -> int:
        """How many connections have a request that is being answered."""
        return len(self._connections) - len(self._waiting)

    @property
    def held_bytes(self) -> int:
        """The bytes of all bodies that are held."""
        return self._limits.bodies - self._context.allowance.left

    @property
    def address(self) -> ListenAddress:
        """The address in use: its port differs from the configured one if that was 0."""
        if self._listener is None:
            return self._settings.address
        return self._settings.address.with_port(self._listener.getsockname()[1])

    async def start(self) -> None:
        """Listen. It raises `ListenFailed`."""
        address = self._settings.address
        try:
            bound = address.bind(_BACKLOG)
        except OSError as problem:
            raise ListenFailed(_advice(self.name, address, problem)) from problem
        bound.setblocking(False)  # noqa: FBT003 - the name of the standard library
        self._listener = bound
        self._accepting = self._scope.spawn(self._accept_all(bound), "accept")
        _log.info("listening", extra={"server": self.name, "address": str(self.address)})

    async def close(self, grace: float = 10.0) -> None:
        """Stop listening, close the idle connections, and finish the requests within the grace."""
        if self._listener is None:
            return
        await cancel_and_wait(self._accepting)
        self._listener.close()
        self._listener = None
        tasks = [each.task for each in self._connections if each.task is not None]
        for connection in list(self._connections):
            self._retire(connection)
        if tasks:
            await asyncio.wait(tasks, timeout=grace)
        for connection in list(self._connections):
            self._end(connection)
        await self._scope.close()

    async def _accept_all(self, listener: socket.socket) -> None:
        loop = asyncio.get_running_loop()
        while True:
            try:
                accepted, _ = await loop.sock_accept(listener)
            except OSError as problem:  # such as too many open files
                self._log_once("a connection was not accepted", problem.strerror or str(problem))
                await asyncio.sleep(_ACCEPT_AGAIN)
            else:
                self._accept(accepted)

    def _accept(self, accepted: socket.socket) -> None:
        """Serve a new connection, if there is room."""
        if not self._has_room():
            self._log_once("too many connections", str(self._limits.connections))
            accepted.close()
            return
        connection = ServedConnection(accepted)
        self._connections[connection] = self._waiting[connection] = None
        connection.task = self._scope.spawn(self._serve(connection), "connection")

    def _has_room(self) -> bool:
        """Whether there is room for one more, after the one that waits longest had to go."""
        if len(self._connections) < self._limits.connections:
            return True
        longest = next(iter(self._waiting), None)
        if longest is None:
            return False
        self._end(longest)
        return True

    async def _serve(self, connection: ServedConnection) -> None:
        tls = self._settings.tls
        try:
            await serve(connection, self._context, None if tls is None else tls.context())
        except ssl.SSLError as problem:
            self._log_once("a TLS connection failed", problem.reason or str(problem))
        except (OSError, TimeoutError):
            return  # the peer left, or was too slow
        finally:
            self._forget(connection)

    def _retire(self, connection: ServedConnection) -> None:
        connection.retiring = True
        if connection in self._waiting:
            self._end(connection)

    def _end(self, connection: ServedConnection) -> None:
        self._forget(connection)
        connection.abort()

    def _forget(self, connection: ServedConnection) -> None:
        self._connections.pop(connection, None)
        self._waiting.pop(connection, None)

    def _note_waiting(self, connection: ServedConnection, waits: bool) -> None:  # noqa: FBT001
        if waits and connection in self._connections:
            self._waiting[connection] = None
        else:
            self._waiting.pop(connection, None)

    def _log_once(self, message: str, why: str) -> None:
        """A warning, at most once a minute: a peer must not be able to fill the log."""
        now = asyncio.get_running_loop().time()
        if now >= self._logged.get(message + why, 0.0):
            self._logged[message + why] = now + _LOGGED_EVERY
            _log.warning(message, extra={"server": self.name, "why": why})


def _advice(name: str, address: ListenAddress, problem: OSError) -> str:
    match problem.errno:
        case errno.EADDRINUSE:
            advice = "the port is in use: choose another, or end the process that has it"
        case errno.EACCES:
            advice = "the port needs more privileges: choose one above 1023"
        case _ if isinstance(problem, socket.gaierror):
            advice = "the host is not known: use an address of this machine, or none for all"
        case _:
            advice = problem.strerror or str(problem)
    return f"{name}: cannot listen on {address}: {advice}"
