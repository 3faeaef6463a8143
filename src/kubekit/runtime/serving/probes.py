"""The pages of a process for probes and scrapes: /healthz, /livez, /readyz and /metrics.

It authenticates no client, so it listens on the loopback by default. Its pages show states and
numbers, never the content of objects. Each connection is closed after its response.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Final
from urllib.parse import parse_qs, unquote

from kubekit.runtime.reporting.health import Health
from kubekit.runtime.serving.http_server import LOOPBACK, HttpServer, ServingSettings
from kubekit.runtime.serving.listen_address import ListenAddress
from kubekit.runtime.serving.messages import IncomingRequest, OutgoingResponse, text_response
from kubekit.runtime.serving.read_only_pages import (
    METRICS_PATH,
    READ_METHODS,
    method_not_allowed,
    scrape_page,
)
from kubekit.runtime.serving.request_parser import ServingLimits

PROBE_LIMITS: Final = ServingLimits(connections=64, head=16 * 1024, body=0)


class Probes:
    """The server. ``metrics`` gives the text of a scrape; without it there is no such page."""

    def __init__(
        self,
        health: Health,
        metrics: Callable[[], bytes] | None = None,
        address: ListenAddress = LOOPBACK,
        limits: ServingLimits = PROBE_LIMITS,
    ) -> None:
        self._health = health
        self._metrics = metrics
        settings = ServingSettings(address=address, limits=limits)
        self._server = HttpServer("probes", self._answer, settings)

    @property
    def address(self) -> ListenAddress:
        """The address in use."""
        return self._server.address

    async def start(self) -> None:
        """Listen. It raises `ListenFailed`."""
        await self._server.start()

    async def close(self) -> None:
        """Stop listening, and close all connections."""
        await self._server.close(grace=1.0)

    async def _answer(self, request: IncomingRequest) -> OutgoingResponse:
        if request.method not in READ_METHODS:
            return replace(method_not_allowed(), close=True)
        query = parse_qs(request.query, keep_blank_values=True)
        return replace(self._page(unquote(request.path), query), close=True)

    def _page(self, path: str, query: Mapping[str, Sequence[str]]) -> OutgoingResponse:
        if path == METRICS_PATH and self._metrics is not None:
            return scrape_page(self._metrics)
        page, _, check = path.removeprefix("/").partition("/")
        report = self._health.report(page, check, query.get("exclude", ()))
        if report is None:
            return text_response(404, "there is no such page\n")
        if report.well and "verbose" not in query:
            return text_response(200, "ok")
        return text_response(200 if report.well else 503, str(report))
