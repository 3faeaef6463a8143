"""The way to a server: its host and port, and the proxy on the way, if any."""

import base64
from dataclasses import dataclass, field
from urllib.parse import SplitResult, unquote, urlsplit

from kubekit.client.connection import Connection, Misconfigured


@dataclass(frozen=True, slots=True)
class HostAddress:
    """Somebody to connect to. ``shown`` is his address without any password in it."""

    name: str
    port: int
    secure: bool
    shown: str

    @property
    def address(self) -> str:
        """Name and port, as in a request to a proxy."""
        return f"[{self.name}]:{self.port}" if ":" in self.name else f"{self.name}:{self.port}"


@dataclass(frozen=True, slots=True)
class ServerRoute:
    """``prefix`` is what every path begins with; ``netloc`` is what the server is called by others.

    ``pass_`` is what to show to the proxy.
    """

    server: HostAddress
    proxy: HostAddress | None
    prefix: str
    netloc: str
    pass_: str = field(default="", repr=False)

    @property
    def has_tunnel(self) -> bool:
        """Whether the proxy only passes bytes on, which is so for a server with TLS."""
        return self.proxy is not None and self.server.secure

    @property
    def pass_for_requests(self) -> str:
        """What goes to the proxy with each request, as nothing does through a tunnel."""
        return "" if self.has_tunnel else self.pass_


def route(connection: Connection) -> ServerRoute:
    """The way that the settings name. It raises `Misconfigured`."""
    parts = _split(connection.server, "the cluster's server", str(connection.origin))
    server = _host(parts)
    netloc = server.address if parts.port else server.address.rpartition(":")[0]
    prefix = parts.path.rstrip("/")
    if not connection.proxy:
        return ServerRoute(server, None, prefix, netloc)
    via = _split(connection.proxy, "proxy-url", str(connection.origin))
    if not server.secure:
        prefix = f"http://{netloc}{prefix}"
    return ServerRoute(server, _host(via), prefix, netloc, _pass(via))


def _split(url: str, what: str, origin: str) -> SplitResult:
    where = f"{origin}: " if origin else ""
    try:
        parts = urlsplit(url)
        valid = bool(parts.hostname) and parts.port != 0
    except ValueError:
        # The text of the error may hold a password.
        raise Misconfigured(f"{where}{what} is not a valid address") from None
    if parts.scheme not in {"http", "https"} or not valid:
        raise Misconfigured(
            f"{where}{what} must be an address that begins with https:// or http://"
        )
    return parts


def _host(parts: SplitResult) -> HostAddress:
    name = _ascii(parts.hostname or "")
    secure = parts.scheme == "https"
    port = parts.port or (443 if secure else 80)
    host = HostAddress(name, port, secure, "")
    given = host.address if parts.port else host.address.rpartition(":")[0]
    return HostAddress(name, port, secure, f"{parts.scheme}://{given}{parts.path.rstrip('/')}")


def _ascii(name: str) -> str:
    """A host's name as it is looked up."""
    try:
        return name.encode("idna").decode("ascii") if not name.isascii() else name
    except UnicodeError:
        return name


def _pass(via: SplitResult) -> str:
    """The header that names a user and a password to the proxy."""
    if via.username is None:
        return ""
    pair = f"{unquote(via.username)}:{unquote(via.password or '')}"
    return f"Basic {base64.b64encode(pair.encode()).decode()}"
