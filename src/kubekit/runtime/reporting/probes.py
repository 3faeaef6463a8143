"""A small HTTP server for probes and scrapes of a process: /healthz, /livez, /readyz and /metrics.

It serves GET and HEAD, limits what it reads and for how long, and closes each connection after the
response. It authenticates no client, so it listens on the loopback by default. Its pages show states
and numbers, never the content of objects.
"""

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import Final
from urllib.parse import parse_qs, unquote, urlsplit

from kubekit.runtime.reporting.health import Health

_LONGEST_HEAD: Final = 16 * 1024  # bytes
_LONGEST_LINE: Final = 4096
_MOST_FIELDS: Final = 64
_MOST_CONNECTIONS: Final = 64
_METHODS: Final = ("GET", "HEAD")
_TEXT: Final = "text/plain; charset=utf-8"
_EXPOSITION: Final = "text/plain; version=0.0.4; charset=utf-8"
_END: Final = b"\r\n\r\n"
_NOTHING: Final[Mapping[str, str]] = {}
_INVALID: Final = "this is not a valid request\n"

_log: Final = logging.getLogger(__name__)


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
        self._connections: dict[asyncio.Task[None] | None, None] = {}

    async def start(self) -> tuple[str, int]:
        """Listen. Returns the host and the port."""
        host, port = self._settings.host, self._settings.port
        self._listener = await asyncio.start_server(self._serve, host, port, limit=_LONGEST_HEAD)
        address: tuple[str, int] = self._listener.sockets[0].getsockname()[:2]
        return address

    async def close(self) -> None:
        """Stop listening, and close all connections."""
        if self._listener is None:
            return
        self._listener.close()
        tasks = [task for task in self._connections if task is not None]
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)
        await self._listener.wait_closed()
        self._listener = None

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection: one response, within a time, up to a number of connections."""
        task = asyncio.current_task()
        try:
            if len(self._connections) < _MOST_CONNECTIONS:
                self._connections[task] = None
                async with asyncio.timeout(self._settings.patience):
                    writer.write(self._answer(await _head(reader)))
                    await writer.drain()
        except (TimeoutError, EOFError, ConnectionError):
            writer.transport.abort()
        finally:
            self._connections.pop(task, None)
            writer.close()

    def _answer(self, head: bytes) -> bytes:
        """The response to the head of a request."""
        try:
            method, target = _request_line(head)
        except ValueError:
            return _response(400, _INVALID)
        if method not in _METHODS:
            allowed = {"Allow": ", ".join(_METHODS)}
            return _response(405, "only GET and HEAD are served here\n", more=allowed)
        try:
            parts = urlsplit(target)
        except ValueError:
            return _response(400, _INVALID)
        response = self._page(unquote(parts.path), parse_qs(parts.query, keep_blank_values=True))
        return response if method == "GET" else response[: response.index(_END) + len(_END)]

    def _page(self, path: str, query: Mapping[str, Sequence[str]]) -> bytes:
        if path == "/metrics" and self._metrics is not None:
            return _scrape(self._metrics)
        page, _, check = path.removeprefix("/").partition("/")
        report = self._health.report(page, check, query.get("exclude", ()))
        if report is None:
            return _response(404, "there is no such page\n")
        if report.well and "verbose" not in query:
            return _response(200, "ok")
        return _response(200 if report.well else 503, str(report))


def _scrape(metrics: Callable[[], bytes]) -> bytes:
    try:
        return _response(200, metrics().decode(), _EXPOSITION)
    except Exception:  # noqa: BLE001 - whatever it is, the scraper gets a response
        _log.exception("metrics not collected")
        return _response(500, "the metrics cannot be collected; the log has the cause\n")


async def _head(reader: asyncio.StreamReader) -> bytes:
    """The head of a request; empty if it is too long."""
    try:
        return (await reader.readuntil(_END)).removesuffix(_END)
    except asyncio.LimitOverrunError:
        return b""


def _request_line(head: bytes) -> tuple[str, str]:
    """The method and the target of a request. It raises `ValueError`."""
    first, *fields = head.decode("latin-1").split("\r\n")
    method, target, version = first.split(" ")
    if not version.startswith("HTTP/1.") or len(fields) > _MOST_FIELDS:
        raise ValueError
    if any(len(line) > _LONGEST_LINE for line in (first, *fields)):
        raise ValueError
    return method, target


def _response(
    status: int, text: str, content_type: str = _TEXT, more: Mapping[str, str] = _NOTHING
) -> bytes:
    body = text.encode()
    fields = {
        "Content-Type": content_type,
        "Content-Length": str(len(body)),
        "X-Content-Type-Options": "nosniff",
        "Connection": "close",
        **more,
    }
    lines = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
    return f"HTTP/1.1 {status} {HTTPStatus(status).phrase}\r\n{lines}\r\n".encode() + body
