"""Serves the metrics of a process: to clients whose token allows it, or to everyone.

As controller-runtime's secure serving: TLS, then a review of the token, then one of its access to the
path /metrics. Without `TokenAccess` every client that reaches the address can read.
"""

from collections.abc import Callable

from kubekit.api.errors import ApiError, Unauthorized
from kubekit.runtime.serving.http_server import HttpServer, ServingSettings
from kubekit.runtime.serving.listen_address import ListenAddress
from kubekit.runtime.serving.messages import IncomingRequest, OutgoingResponse, text_response
from kubekit.runtime.serving.read_only_pages import (
    METRICS_PATH,
    READ_METHODS,
    method_not_allowed,
    scrape_page,
)
from kubekit.runtime.serving.token_access import TokenAccess


class MetricsServer:
    """Serves the text of a scrape at /metrics."""

    def __init__(
        self,
        scrape: Callable[[], bytes],
        settings: ServingSettings,
        access: TokenAccess | None = None,
    ) -> None:
        if access is not None and settings.tls is None:
            raise ValueError("tokens are sent over TLS only: pass a certificate")
        self._scrape = scrape
        self._access = access
        self._server = HttpServer("metrics", self._answer, settings)

    @property
    def address(self) -> ListenAddress:
        """The address in use."""
        return self._server.address

    async def start(self) -> None:
        await self._server.start()

    async def close(self, grace: float = 1.0) -> None:
        await self._server.close(grace)

    async def _answer(self, request: IncomingRequest) -> OutgoingResponse:
        if self._access is not None:
            try:
                await self._access.check(request.fields, METRICS_PATH, "get")
            except ApiError as refusal:
                return _refused(refusal)
        if request.path != METRICS_PATH:
            return text_response(404, f"the metrics are at {METRICS_PATH}\n")
        if request.method not in READ_METHODS:
            return method_not_allowed()
        return scrape_page(self._scrape)


def _refused(refusal: ApiError) -> OutgoingResponse:
    challenge = {"WWW-Authenticate": "Bearer"} if isinstance(refusal, Unauthorized) else {}
    return text_response(refusal.code, f"{refusal.message}\n", challenge)
