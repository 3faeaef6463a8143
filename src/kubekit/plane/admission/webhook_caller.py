"""Sends one review to one webhook, and reads the response.

The webhook is not trusted: its server is verified with the given certificates only, the exchange has
one deadline, the response has a size limit, a redirect is a failure, and neither proxies nor cookies
nor credentials of this process are used. The text of a response that is not a review is not shown:
it might be another server's secret.
"""

import asyncio
import base64
import socket
import ssl
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Final
from urllib.parse import quote, urlsplit

from kubekit.client.connection import Connection
from kubekit.client.http.connection_pool import Pool
from kubekit.client.http.connections import HttpConnection
from kubekit.client.http.dialing import dial, reason_of
from kubekit.client.http.exchanges import HttpResponse, ResponseLimits
from kubekit.client.http.failures import AttemptFailure, Late, Lost, NotSent
from kubekit.client.http.requests import HttpRequest, header_lines
from kubekit.client.http.routes import ServerRoute, route
from kubekit.client.http.settings import HttpSettings
from kubekit.plane.admission import address_guard
from kubekit.plane.admission.webhook_addresses import WebhookAddress
from kubekit.plane.admission.webhook_errors import CallFailed

LARGEST_ANSWER: Final = 8 * 1024 * 1024  # fits a patch that replaces the largest object

_CONNECTIONS: Final = 512
_CONNECTIONS_PER_SERVER: Final = 64
_KEPT_OPEN: Final = 15.0  # seconds; servers close theirs later, so few calls meet a closed one
_SETTINGS: Final = HttpSettings(connect_timeout=120.0)  # the deadline of the call is shorter
_HEADERS: Final = header_lines(
    (
        ("User-Agent", "datum-compute-admission"),
        ("Accept", "application/json"),
        ("Accept-Encoding", "identity"),
    )
)
_IN_PATHS: Final = "/%:@!$&'()*+,;=~"
_OK: Final = range(200, 207)
_REDIRECTS: Final = range(300, 400)


@dataclass(frozen=True, slots=True)
class _Server:
    """The server of a webhook. Calls with equal keys share connections."""

    route: ServerRoute
    server_name: str
    ca_bundle: str


class WebhookCaller:
    """The connections to the webhooks of one plane."""

    def __init__(self, guard: Callable[[str], None] = address_guard.check) -> None:
        self._guard = guard
        self._pools: dict[_Server, Pool] = {}
        self._calls = asyncio.Semaphore(_CONNECTIONS)
        self._trusted: dict[str, ssl.SSLContext] = {}
        self._closed = False

    async def call(self, address: WebhookAddress, body: bytes) -> bytes:
        """The response body. Raises `CallFailed`. Must run in a task of its own."""
        if not address.url.lower().startswith("https://"):
            raise _failed(address, "webhooks are called by https only")
        self._trust(address.ca_bundle)
        try:
            async with asyncio.timeout(address.seconds):
                return await self._post(address, body)
        except (TimeoutError, Late):
            raise _failed(address, "context deadline exceeded") from None
        except ValueError as error:
            raise _failed(address, str(error)) from error

    def forget(self, bundles: set[str]) -> None:
        """Drop the contexts of other certificates than these, and their connections."""
        self._trusted = {
            bundle: context for bundle, context in self._trusted.items() if bundle in bundles
        }
        for server, pool in self._pools.items():
            if server.ca_bundle not in bundles:
                pool.renew()

    async def close(self) -> None:
        self._closed = True
        await asyncio.gather(*(pool.close() for pool in self._pools.values()))

    async def _post(self, address: WebhookAddress, body: bytes) -> bytes:
        parts = urlsplit(address.shown)
        origin = Connection(server=f"{parts.scheme}://{parts.netloc}")
        server = _Server(route(origin), address.server_name or "", address.ca_bundle)
        target = f"{quote(parts.path or '/', safe=_IN_PATHS)}?{quote(parts.query, safe='/?=&%')}"
        request = HttpRequest("POST", target, address.shown, body)
        data = request.encoded("", f"Host: {server.route.netloc}\r\n{_HEADERS}")
        async with self._calls:
            try:
                return await self._with_retry(server, data, address.seconds)
            except AttemptFailure as failure:
                if self._closed:
                    raise _plane_closed() from None
                raise _failed(address, _described(failure, server.route)) from failure

    async def _with_retry(self, server: _Server, data: bytes, seconds: float) -> bytes:
        try:
            return await self._exchange(server, data, seconds)
        except Lost as failure:
            if failure.response_started:
                raise
            # The server closed an idle connection at the moment of its reuse.
            return await self._exchange(server, data, seconds)

    async def _exchange(self, server: _Server, data: bytes, seconds: float) -> bytes:
        pool = self._pool(server)
        until = asyncio.get_running_loop().time() + seconds + 1  # `call` has the deadline
        connection = await pool.take(until)
        try:
            limits = ResponseLimits(until, seconds, LARGEST_ANSWER)
            response = await connection.ask(data, limits, whole=False)
            _check_head(response)
            return await _read(response)
        finally:
            pool.give(connection)

    def _pool(self, server: _Server) -> Pool:
        if self._closed:
            raise _plane_closed()
        pool = self._pools.get(server)
        if pool is None:
            self._pools = {key: other for key, other in self._pools.items() if not other.is_unused}

            async def connected() -> HttpConnection:
                context = self._trust(server.ca_bundle)
                return await dial(server.route, context, server.server_name, _SETTINGS, self._guard)

            pool = self._pools[server] = Pool(connected, _CONNECTIONS_PER_SERVER, _KEPT_OPEN)
        return pool

    def _trust(self, bundle: str) -> ssl.SSLContext:
        context = self._trusted.get(bundle)
        if context is None:
            context = self._trusted[bundle] = _context(bundle) if bundle else _system_roots()
        return context


def _context(bundle: str) -> ssl.SSLContext:
    """A context that trusts these certificates and no others."""
    try:
        text = base64.b64decode(bundle).decode("ascii")
        context = ssl.create_default_context(cadata=text)
    except (ValueError, ssl.SSLError) as error:
        why = "unable to load root certificates: unable to parse bytes as PEM block"
        raise CallFailed(f"could not get REST client: {why}") from error
    return _strict(context)


@cache
def _system_roots() -> ssl.SSLContext:
    return _strict(ssl.create_default_context())


def _strict(context: ssl.SSLContext) -> ssl.SSLContext:
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    return context


def _check_head(response: HttpResponse) -> None:
    status = response.status
    if status in _REDIRECTS:
        raise CallFailed(
            f"failed to call webhook: the server answered {status}; redirects are not followed"
        )
    if status not in _OK:
        raise CallFailed(f"failed to call webhook: the server answered {status}")
    if response.header(b"content-encoding") not in {b"", b"identity"}:
        raise CallFailed(
            "failed to call webhook: the response is compressed, although no compression was requested"
        )
    length = response.header(b"content-length")
    if length.isdigit() and int(length) > LARGEST_ANSWER:
        raise _too_large()


async def _read(response: HttpResponse) -> bytes:
    body = bytearray()
    while piece := await response.piece():
        body += piece
        if len(body) > LARGEST_ANSWER:
            raise _too_large()
    return bytes(body)


def _too_large() -> CallFailed:
    return CallFailed(f"failed to call webhook: the answer has more than {LARGEST_ANSWER} bytes")


def _plane_closed() -> CallFailed:
    return CallFailed("failed to call webhook: the plane is closed")


def _failed(address: WebhookAddress, why: str) -> CallFailed:
    return CallFailed(f'failed to call webhook: Post "{address.shown}": {why}')


def _described(failure: AttemptFailure, to: ServerRoute) -> str:
    """The failure, in Go's wording if there is one."""
    match failure.__cause__:
        case ssl.SSLCertVerificationError() as error:
            return f"tls: failed to verify certificate: x509: {error.verify_message}"
        case socket.gaierror() | UnicodeError():
            return f"dial tcp: lookup {to.server.name}: no such host"
        case OSError() as error if isinstance(failure, NotSent):
            return f"dial tcp {to.server.address}: connect: {reason_of(error)}"
        case _:
            is_silent = isinstance(failure, Lost) and not failure.response_started
            return "EOF" if is_silent else failure.why
