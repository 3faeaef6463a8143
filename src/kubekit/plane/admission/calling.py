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
from functools import cache
from typing import Any, Final

import aiohttp

from kubekit.plane.admission import addresses
from kubekit.plane.admission.destinations import Address
from kubekit.plane.admission.failures import CallFailed

LARGEST_ANSWER: Final = 8 * 1024 * 1024  # fits a patch that replaces the largest object

_CONNECTIONS: Final = 512
_CONNECTIONS_PER_SERVER: Final = 64
_KEPT_OPEN: Final = 15.0  # seconds; servers close theirs later, so few calls meet a closed one
_HEADERS: Final = {
    "User-Agent": "datum-compute-admission",
    "Accept": "application/json",
    "Accept-Encoding": "identity",
    "Content-Type": "application/json",
}
_PIECE: Final = 64 * 1024
_OK: Final = range(200, 207)
_REDIRECTS: Final = range(300, 400)


class WebhookCaller:
    """The connections to the webhooks of one plane. Created at the first call."""

    def __init__(self, guard: Callable[[str], None] = addresses.check) -> None:
        self._guard = guard
        self._session: aiohttp.ClientSession | None = None
        self._trusted: dict[str, ssl.SSLContext] = {}
        self._closed = False

    async def call(self, address: Address, body: bytes) -> bytes:
        """The response body. Raises `CallFailed`. Must run in a task of its own."""
        if not address.url.lower().startswith("https://"):
            raise _failed(address, "webhooks are called by https only")
        trust = self._trust(address.ca_bundle)
        try:
            async with asyncio.timeout(address.seconds):
                return await self._answer(address, trust, body)
        except TimeoutError:
            raise _failed(address, "context deadline exceeded") from None
        except (aiohttp.ClientError, OSError, ValueError) as error:
            raise _failed(address, _described(error)) from error

    def forget(self, bundles: set[str]) -> None:
        """Drop the contexts of other certificates than these."""
        self._trusted = {text: made for text, made in self._trusted.items() if text in bundles}

    async def close(self) -> None:
        self._closed = True
        session, self._session = self._session, None
        if session is not None:
            await session.close()

    async def _answer(self, address: Address, trust: ssl.SSLContext, body: bytes) -> bytes:
        try:
            return await self._exchange(address, trust, body)
        except aiohttp.ClientConnectorError:
            raise
        except (aiohttp.ServerDisconnectedError, aiohttp.ClientOSError, ConnectionResetError):
            # The server closed an idle connection at the moment of its reuse.
            return await self._exchange(address, trust, body)

    async def _exchange(self, address: Address, trust: ssl.SSLContext, body: bytes) -> bytes:
        async with self._opened().post(
            address.shown,
            data=body,
            ssl=trust,
            server_hostname=address.server_name,
            allow_redirects=False,
        ) as response:
            _check_head(response)
            return await _read(response)

    def _opened(self) -> aiohttp.ClientSession:
        if self._closed:
            raise CallFailed("failed to call webhook: the plane is closed")
        if self._session is None:
            connector = aiohttp.TCPConnector(
                limit=_CONNECTIONS,
                limit_per_host=_CONNECTIONS_PER_SERVER,
                keepalive_timeout=_KEPT_OPEN,
                resolver=aiohttp.ThreadedResolver(),
                socket_factory=self._socket,
            )
            self._session = aiohttp.ClientSession(
                connector=connector,
                headers=_HEADERS,
                cookie_jar=aiohttp.DummyCookieJar(),
                auto_decompress=False,
                timeout=aiohttp.ClientTimeout(total=None),  # the deadline is in `call`
                trust_env=False,
            )
        return self._session

    def _socket(self, found: tuple[Any, Any, int, str, tuple[Any, ...]]) -> socket.socket:
        """A socket for a permitted address. Every connection is opened through here."""
        family, kind, protocol, _, place = found
        self._guard(place[0])
        return socket.socket(family=family, type=kind, proto=protocol)

    def _trust(self, bundle: str) -> ssl.SSLContext:
        made = self._trusted.get(bundle)
        if made is None:
            made = self._trusted[bundle] = _context(bundle) if bundle else _system_roots()
        return made


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


def _check_head(response: aiohttp.ClientResponse) -> None:
    status = response.status
    if status in _REDIRECTS:
        raise CallFailed(
            f"failed to call webhook: the server answered {status}; redirects are not followed"
        )
    if status not in _OK:
        raise CallFailed(f"failed to call webhook: the server answered {status}")
    if response.headers.get("Content-Encoding", "identity") != "identity":
        raise CallFailed(
            "failed to call webhook: the answer is compressed, which was not asked for"
        )
    if (response.content_length or 0) > LARGEST_ANSWER:
        raise _too_large()


async def _read(response: aiohttp.ClientResponse) -> bytes:
    pieces = bytearray()
    async for piece in response.content.iter_chunked(_PIECE):
        pieces += piece
        if len(pieces) > LARGEST_ANSWER:
            raise _too_large()
    return bytes(pieces)


def _too_large() -> CallFailed:
    return CallFailed(f"failed to call webhook: the answer has more than {LARGEST_ANSWER} bytes")


def _failed(address: Address, why: str) -> CallFailed:
    return CallFailed(f'failed to call webhook: Post "{address.shown}": {why}')


def _described(error: Exception) -> str:
    """The error, in Go's wording if there is one."""
    match error:
        case aiohttp.ClientConnectorCertificateError():
            inner = error.certificate_error
            why = getattr(inner, "verify_message", "") or str(inner)
            return f"tls: failed to verify certificate: x509: {why}"
        case aiohttp.ClientConnectorDNSError():
            return f"dial tcp: lookup {error.host}: no such host"
        case aiohttp.ClientConnectorError():
            return f"dial tcp {error.host}:{error.port}: {_refused(error.os_error)}"
        case aiohttp.ServerDisconnectedError():
            return "EOF"
        case _:
            return str(error) or type(error).__name__


def _refused(error: OSError) -> str:
    if isinstance(error, ConnectionRefusedError):
        return "connect: connection refused"
    return f"connect: {error.strerror or error}".replace("Connect call failed", "").strip()
