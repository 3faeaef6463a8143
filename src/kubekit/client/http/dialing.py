"""Opening a connection: the addresses of a host one after the other, the proxy, and TLS.

Every failure here is `NotSent`: the server has received nothing of a request.
"""

import asyncio
import ipaddress
import os
import socket
import ssl
from collections.abc import Callable
from typing import Any, Final

from kubekit.client.http import tls_errors
from kubekit.client.http.connections import HttpConnection
from kubekit.client.http.failures import NotSent
from kubekit.client.http.routes import HostAddress, ServerRoute
from kubekit.client.http.settings import HttpSettings
from kubekit.client.http.tunnels import Tunnel

Guard = Callable[[str], None]

_TLS_CLOSE_SECONDS: Final = 2.0  # that a peer has to close TLS properly
_REACH: Final = "is it running, and are its address, the VPN and the proxy settings right?"
_REACH_PROXY: Final = "check proxy-url, HTTPS_PROXY and NO_PROXY"


async def dial(
    route: ServerRoute,
    context: ssl.SSLContext | None,
    server_name: str,
    settings: HttpSettings,
    guard: Guard | None = None,
) -> HttpConnection:
    """A new connection to the server, ready for requests.

    ``guard`` is called with each address before it is connected to, and refuses it by an `OSError`.
    """
    dialling = _Dialling(route, context, server_name or route.server.name, guard)
    until = asyncio.get_running_loop().time() + settings.connect_timeout
    try:
        async with asyncio.timeout_at(until):
            return await dialling.connection(until, settings)
    except TimeoutError:
        advice = _REACH_PROXY if route.proxy else _REACH
        why = f"{dialling.stage} within {settings.connect_timeout:g} s"
        raise NotSent(why, advice, hopeless=True) from None


class _Dialling:
    """One attempt. ``stage`` is the step that is not done yet, for messages."""

    def __init__(
        self, route: ServerRoute, context: ssl.SSLContext | None, name: str, guard: Guard | None
    ) -> None:
        self._route = route
        self._context = context
        self._name = name
        self._guard = guard
        self.stage = f"no connection to {(route.proxy or route.server).shown}"

    async def connection(self, until: float, settings: HttpSettings) -> HttpConnection:
        route = self._route
        first: type[Tunnel | HttpConnection] = Tunnel if route.proxy else HttpConnection
        transport, protocol = await _connected(
            route.proxy or route.server, first, until, self._guard
        )
        connection = protocol if isinstance(protocol, HttpConnection) else HttpConnection()
        try:
            _keep_alive(transport, settings)
            if route.proxy:
                self.stage = f"the proxy {route.proxy.shown} did not connect"
                transport = await _through_proxy(route, route.proxy, transport, connection)
            if self._context is not None:
                self.stage = "no TLS"
                await _secured(transport, connection, self._context, self._name)
        except BaseException:
            transport.abort()
            raise
        return connection


async def _connected(
    host: HostAddress,
    protocol: type[Tunnel | HttpConnection],
    until: float,
    guard: Guard | None,
) -> tuple[asyncio.Transport, Tunnel | HttpConnection]:
    """A connection to the first address that accepts one. Each has its share of the time."""
    loop = asyncio.get_running_loop()
    addresses = await _addresses(host)
    last: OSError = OSError("it has no address")
    for left, address in zip(range(len(addresses), 0, -1), addresses, strict=True):
        share = loop.time() + (until - loop.time()) / left
        try:
            if guard is not None:
                guard(address)
            async with asyncio.timeout_at(share):
                return await loop.create_connection(protocol, address, host.port)
        except TimeoutError:
            last = TimeoutError("it does not answer")
        except OSError as error:
            last = error
    raise NotSent(f"no connection to {host.shown}: {reason_of(last)}", _REACH) from last


async def _addresses(host: HostAddress) -> list[str]:
    try:
        ipaddress.ip_address(host.name.partition("%")[0])
    except ValueError:
        pass
    else:
        return [host.name]
    loop = asyncio.get_running_loop()
    try:
        resolved = await loop.getaddrinfo(host.name, host.port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        why = f'there is no host "{host.name}"'
        raise NotSent(why, "check the address, the DNS and the VPN") from error
    return list(dict.fromkeys(str(location[0]) for *_, location in resolved))


async def _through_proxy(
    route: ServerRoute, proxy: HostAddress, transport: asyncio.Transport, connection: HttpConnection
) -> asyncio.Transport:
    """The connection, once the proxy forwards what is sent."""
    tunnel: Any = transport.get_protocol()
    if proxy.secure:
        context = ssl.create_default_context()
        transport = await _secured(transport, tunnel, context, proxy.name)
    if route.has_tunnel:
        await tunnel.open(transport, route.server.address, route.proxy_credentials, proxy.shown)
    if transport.is_closing():
        raise NotSent(f"the proxy {proxy.shown} closed the connection", _REACH_PROXY)
    transport.set_protocol(connection)
    connection.connection_made(transport)
    return transport


async def _secured(
    transport: asyncio.Transport, protocol: asyncio.Protocol, context: ssl.SSLContext, name: str
) -> asyncio.Transport:
    loop = asyncio.get_running_loop()
    try:
        secured = await loop.start_tls(
            transport,
            protocol,
            context,
            server_hostname=name,
            ssl_shutdown_timeout=_TLS_CLOSE_SECONDS,
        )
    except ssl.SSLError as error:
        why, advice = tls_errors.problem(error)
        raise NotSent(why, advice, hopeless=not isinstance(error, ssl.SSLEOFError)) from error
    except OSError as error:
        raise NotSent(f"TLS broke off: {reason_of(error)}", _REACH) from error
    if secured is None or secured.is_closing():
        raise NotSent("it closed TLS right after the handshake", _REACH)
    protocol.connection_made(secured)
    return secured


def _keep_alive(transport: asyncio.Transport, settings: HttpSettings) -> None:
    """Let TCP detect a dead peer while nothing is sent."""
    sock = transport.get_extra_info("socket")
    every = max(1, (settings.keepalive_timeout - settings.keepalive_idle) // 4)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, value in (
        ("TCP_KEEPIDLE", settings.keepalive_idle),
        ("TCP_KEEPALIVE", settings.keepalive_idle),  # what macOS calls it
        ("TCP_KEEPINTVL", every),
        ("TCP_KEEPCNT", 4),
        ("TCP_USER_TIMEOUT", settings.keepalive_timeout * 1000),
    ):
        if hasattr(socket, name):
            sock.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)


def reason_of(error: OSError) -> str:
    """The reason, without the text that asyncio puts around it."""
    return os.strerror(error.errno).lower() if error.errno else str(error)
