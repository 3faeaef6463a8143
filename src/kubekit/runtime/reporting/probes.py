"""A small HTTP server for probes and scrapes of a process: /healthz, /livez, /readyz and /metrics.

It serves GET and HEAD, limits what it reads and for how long, and closes each connection after the
response. It authenticates no client, so it listens on the loopback by default. Its pages show states
and numbers, never the content of objects.
"""

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Final

from kubekit.runtime.reporting.health import Health

if TYPE_CHECKING:  # it takes longer to load than everything else of the runtime together
    from aiohttp import web

_log: Final = logging.getLogger(__name__)

_LONGEST_LINE: Final = 4096
_LONGEST_FIELD: Final = 4096
_MOST_FIELDS: Final = 64
_MOST_CONNECTIONS: Final = 64
_METHODS: Final = ("GET", "HEAD")
_TEXT: Final = "text/plain; charset=utf-8"
_EXPOSITION: Final = "text/plain; version=0.0.4; charset=utf-8"


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeSettings:
    """Where to listen; port 0 takes any that is free. ``patience`` is for a whole connection."""

    host: str = "127.0.0.1"
    port: int = 0
    patience: float = 10.0


class Probes:
    """The server. ``metrics`` gives the text of a scrape; without it there is no such page."""

    def __init__(
        self,
        health: Health,
        metrics: Callable[[], bytes] | None = None,
        settings: ProbeSettings | None = None,
    ) -> None:
        self._health = health
        self._metrics = metrics
        self._settings = settings or ProbeSettings()
        self._listener: asyncio.Server | None = None
        self._web: web.Server | None = None

    async def start(self) -> tuple[str, int]:
        """Listen. Returns the host and the port."""
        from aiohttp import web  # noqa: PLC0415 - see above

        self._web = web.Server(
            self._answer,
            access_log=None,
            logger=_log,
            max_line_size=_LONGEST_LINE,
            max_field_size=_LONGEST_FIELD,
            max_headers=_MOST_FIELDS,
            lingering_time=0.0,
        )
        loop = asyncio.get_running_loop()
        host, port = self._settings.host, self._settings.port
        self._listener = await loop.create_server(partial(self._connection, self._web), host, port)
        address: tuple[str, int] = self._listener.sockets[0].getsockname()[:2]
        return address

    async def close(self) -> None:
        """Stop listening, finish the running responses, and end."""
        if self._listener is None or self._web is None:
            return
        self._listener.close()
        self._web.pre_shutdown()
        await self._web.shutdown(self._settings.patience)
        await self._listener.wait_closed()
        self._listener = self._web = None

    def _connection(self, server: "web.Server") -> asyncio.Protocol:
        """The protocol of a new connection: one response, within a time, up to a number of connections."""
        if len(server.connections) >= _MOST_CONNECTIONS:
            return _Refused()
        handler = server()
        asyncio.get_running_loop().call_later(self._settings.patience, _abort, handler)
        return handler

    async def _answer(self, request: "web.BaseRequest") -> "web.Response":
        response = self._response(request)
        response.headers["X-Content-Type-Options"] = "nosniff"
        response.force_close()
        return response

    def _response(self, request: "web.BaseRequest") -> "web.Response":
        if request.method not in _METHODS:
            refusal = _text(405, "only GET and HEAD are served here\n")
            refusal.headers["Allow"] = ", ".join(_METHODS)
            return refusal
        if request.path == "/metrics" and self._metrics is not None:
            return _response(200, self._metrics(), _EXPOSITION)
        page, _, check = request.path.removeprefix("/").partition("/")
        report = self._health.report(page, check, request.query.getall("exclude", ()))
        if report is None:
            return _text(404, "there is no such page\n")
        if report.well and "verbose" not in request.query:
            return _text(200, "ok")
        return _text(200 if report.well else 503, str(report))


class _Refused(asyncio.Protocol):
    """A connection beyond the limit."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        transport.close()


def _abort(handler: "web.RequestHandler") -> None:
    if handler.transport is not None:
        handler.transport.abort()


def _text(status: int, text: str) -> "web.Response":
    return _response(status, text.encode(), _TEXT)


def _response(status: int, body: bytes, content_type: str) -> "web.Response":
    from aiohttp import web  # noqa: PLC0415 - see above

    return web.Response(status=status, body=body, headers={"Content-Type": content_type})
