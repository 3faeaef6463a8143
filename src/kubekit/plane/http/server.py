"""The listener: one address, many planes.

server = Server(("127.0.0.1", 0), Certificates(...), Tokens(...), environment)
server.mount("/", plane)
await server.start()
... server.url ...
await server.close()
"""

import asyncio
import errno
from ipaddress import ip_address
from typing import Final

from kubekit.environment import ExecutionEnvironment
from kubekit.plane.errors import PlaneError
from kubekit.plane.http.application import Application
from kubekit.plane.http.authentication import identity_reviews
from kubekit.plane.http.authentication.authenticator import Authenticator
from kubekit.plane.http.authentication.bearer_tokens import Tokens
from kubekit.plane.http.certificates.authority import Certificates, Renewals
from kubekit.plane.http.connection.peers import Peers
from kubekit.plane.http.connection.protocol import HttpServerProtocol
from kubekit.plane.http.interfaces import PLAIN, PlaneBackend, ServerOptions
from kubekit.plane.identity.service_accounts import issuer_of

_BACKLOG: Final = 1024


class CannotListen(PlaneError):
    """The server cannot listen on the address. The message says which, and what to do."""


class Server:
    """Serves every mounted plane until it is closed."""

    def __init__(
        self,
        address: tuple[str, int],
        tls: Certificates | None,
        tokens: Tokens,
        environment: ExecutionEnvironment,
        options: ServerOptions = PLAIN,
    ) -> None:
        if not address[0]:
            raise CannotListen("no listen address is set: 127.0.0.1 serves this machine only")
        if tls is None and not is_loopback(address[0]):
            raise CannotListen(
                f"{address[0]} is not a loopback address, so it needs TLS: pass certificates"
            )
        self._address = address
        self._tls = tls
        self._limits = options.limits
        self._environment = environment
        self._authenticator = Authenticator(
            tokens, environment, tls, options.signing, anonymous_health=options.anonymous_health
        )
        self._application = Application(self._authenticator, environment, options)
        self._peers = Peers(options.limits, environment, self._authenticator.is_authenticated)
        self._listener: asyncio.Server | None = None
        self._renewals = None if tls is None else Renewals(tls, environment.now)

    @property
    def port(self) -> int:
        """The port in use, which differs from the configured one if that was 0."""
        return next((port for _, port in self.addresses), self._address[1])

    @property
    def addresses(self) -> list[tuple[str, int]]:
        """Every address that the server listens on."""
        sockets = () if self._listener is None else self._listener.sockets
        return [socket.getsockname()[:2] for socket in sockets]

    @property
    def url(self) -> str:
        host = self._address[0]
        shown = f"[{host}]" if ":" in host else host
        return f"{'http' if self._tls is None else 'https'}://{shown}:{self.port}"

    @property
    def connections(self) -> int:
        return len(self._peers)

    @property
    def watches(self) -> int:
        """How many watches are open."""
        return self._application.watches

    def mount(self, prefix: str, plane: PlaneBackend) -> None:
        """Serve a plane below a path, such as ``/`` or ``/clusters/<name>``."""
        self._application.mount(prefix, plane)
        identity_reviews.answer(self._authenticator, prefix, plane.registry, self._environment)

    def unmount(self, prefix: str) -> None:
        """Stop serving a plane. Its watches end; requests in flight are answered."""
        self._application.unmount(prefix)
        self._authenticator.remove(issuer_of(prefix))

    def mounted(self, prefix: str) -> PlaneBackend:
        """The plane below a path."""
        return self._application.mounted(prefix)

    async def start(self) -> None:
        loop = asyncio.get_running_loop()
        self._peers.open(loop)
        host, port = self._address
        try:
            self._listener = await loop.create_server(
                lambda: HttpServerProtocol(self._application.handle, self._limits, self._peers),
                host,
                port,
                backlog=_BACKLOG,
                ssl=None if self._tls is None else self._tls.context,
                ssl_handshake_timeout=None if self._tls is None else self._limits.header_time,
                ssl_shutdown_timeout=None if self._tls is None else self._limits.drain_time,
            )
        except UnicodeError as problem:
            raise CannotListen(f"cannot listen on {host}: it is not an address") from problem
        except OSError as problem:
            raise CannotListen(_advice(problem, host, port)) from problem
        if self._renewals is not None:
            self._renewals.start(loop)

    async def close(self) -> None:
        """Stop listening, end the watches, finish the requests in flight, and close all connections."""
        if self._listener is None:
            return
        self._listener.close()
        if self._renewals is not None:
            self._renewals.stop()
        self._application.close()
        await self._peers.close()
        self._listener = None


def is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def _advice(problem: OSError, host: str, port: int) -> str:
    match problem.errno:
        case errno.EADDRINUSE:
            return f"port {port} of {host} is in use: choose another port, or 0 for any free port"
        case errno.EACCES:
            return f"port {port} of {host} needs more privileges: choose a port above 1023"
        case _:
            return f"cannot listen on {host}, port {port}: {problem.strerror}"
