"""The route to a server: its host and port, and those of a proxy."""

import base64
from dataclasses import dataclass, field
from urllib.parse import SplitResult, unquote, urlsplit

import msgspec

from kubekit.client.connection import Connection, Misconfigured


class HostAddress(msgspec.Struct, frozen=True):
    """A host to connect to. ``shown`` is its address without any password in it."""

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
    """``prefix`` precedes every path; ``netloc`` is the name of the server in the Host header.

    ``proxy_credentials`` is the value of the Proxy-Authorization header.
    """

    server: HostAddress
    proxy: HostAddress | None
    prefix: str
    netloc: str
    proxy_credentials: str = field(default="", repr=False)

    @property
    def has_tunnel(self) -> bool:
        """Whether the proxy only forwards bytes, as it does for a server with TLS."""
        return self.proxy is not None and self.server.secure

    @property
    def proxy_header(self) -> str:
        """The credentials for the proxy in each request; through a tunnel there are none."""
        return "" if self.has_tunnel else self.proxy_credentials


def route(connection: Connection) -> ServerRoute:
    """The route of a connection. It raises `Misconfigured`."""
    parts = _split(connection.server, "the cluster's server", str(connection.origin))
    server = _host(parts)
    netloc = server.address if parts.port else server.address.rpartition(":")[0]
    prefix = parts.path.rstrip("/")
    if not connection.proxy:
        return ServerRoute(server, None, prefix, netloc)
    proxy = _split(connection.proxy, "proxy-url", str(connection.origin))
    if not server.secure:
        prefix = f"http://{netloc}{prefix}"
    return ServerRoute(server, _host(proxy), prefix, netloc, _basic_credentials(proxy))


def _split(url: str, what: str, origin: str) -> SplitResult:
    prefix = f"{origin}: " if origin else ""
    try:
        parts = urlsplit(url)
        valid = bool(parts.hostname) and parts.port != 0
    except ValueError:
        # The text of the error may hold a password.
        raise Misconfigured(f"{prefix}{what} is not a valid address") from None
    if parts.scheme not in {"http", "https"} or not valid:
        raise Misconfigured(
            f"{prefix}{what} must be an address that starts with https:// or http://"
        )
    return parts


def _host(parts: SplitResult) -> HostAddress:
    name = _ascii(parts.hostname or "")
    secure = parts.scheme == "https"
    port = parts.port or (443 if secure else 80)
    host = HostAddress(name, port, secure, "")
    address = host.address if parts.port else host.address.rpartition(":")[0]
    return HostAddress(name, port, secure, f"{parts.scheme}://{address}{parts.path.rstrip('/')}")


def _ascii(name: str) -> str:
    """The name of a host as DNS knows it."""
    try:
        return name.encode("idna").decode("ascii") if not name.isascii() else name
    except UnicodeError:
        return name


def _basic_credentials(proxy: SplitResult) -> str:
    """The header value with the user and the password for the proxy."""
    if proxy.username is None:
        return ""
    pair = f"{unquote(proxy.username)}:{unquote(proxy.password or '')}"
    return f"Basic {base64.b64encode(pair.encode()).decode()}"
