"""Asking a proxy to forward bytes to a server: the CONNECT of HTTP/1.1."""

import asyncio
import re
from typing import Final

from kubekit.client.http.failures import NotSent

_LONGEST: Final = 64 * 1024  # bytes of the proxy's answer
_STATUS: Final = re.compile(rb"HTTP/1\.[01] (\d{3})(?: ([^\r\n]{0,100}))?\r\n")
_AUTHENTICATION_REQUIRED: Final = b"407"


class Tunnel(asyncio.Protocol):
    """A connection to a proxy, until it is connected to the server."""

    def __init__(self) -> None:
        self._received = bytearray()
        self._answered: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()

    async def open(
        self, transport: asyncio.Transport, to: str, credentials: str, proxy: str
    ) -> None:
        """Ask the proxy to connect to the server. It raises `NotSent`."""
        header = f"Proxy-Authorization: {credentials}\r\n" if credentials else ""
        transport.write(f"CONNECT {to} HTTP/1.1\r\nHost: {to}\r\n{header}\r\n".encode())
        try:
            head = await self._answered
        except BaseException:
            transport.abort()
            raise
        match = _STATUS.match(head)
        if match and match[1].startswith(b"2"):
            return
        transport.abort()
        raise _refusal(proxy, *match.groups()) if match else _not_http(proxy)

    def data_received(self, data: bytes) -> None:
        self._received += data
        if b"\r\n\r\n" in self._received or len(self._received) > _LONGEST:
            self._answer(bytes(self._received))

    def connection_lost(self, error: Exception | None) -> None:
        self._answer(b"")

    def _answer(self, head: bytes) -> None:
        if not self._answered.done():
            self._answered.set_result(head)


def _refusal(proxy: str, code: bytes, reason: bytes | None) -> NotSent:
    answer = " ".join(part.decode("latin-1") for part in (code, reason) if part)
    why = f"the proxy {proxy} refused with {answer}"
    if code == _AUTHENTICATION_REQUIRED:
        advice = "put user and password for the proxy into proxy-url or HTTPS_PROXY"
        return NotSent(why, advice, hopeless=True)
    return NotSent(why, "may the proxy reach this server? If no proxy is needed, set NO_PROXY")


def _not_http(proxy: str) -> NotSent:
    return NotSent(f"the proxy {proxy} did not answer in HTTP", "is it really an HTTP proxy?")
