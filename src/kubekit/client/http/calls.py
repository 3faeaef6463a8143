"""Requests to one server, retried while that is safe, until there is a response or an `ApiError`."""

import asyncio
import logging
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Final

from kubekit.api.errors import ApiError
from kubekit.client.connection import ClientCertificate, Connection, NoCredentials, tls_context
from kubekit.client.http import failures, responses
from kubekit.client.http.connection_pool import Pool
from kubekit.client.http.connections import REFUSALS, HttpConnection
from kubekit.client.http.dialing import dial
from kubekit.client.http.exchanges import HttpResponse, ResponseLimits
from kubekit.client.http.failures import AttemptFailure, Lost
from kubekit.client.http.requests import JSON, HttpRequest, header_lines
from kubekit.client.http.responses import Warnings
from kubekit.client.http.retries import Retries
from kubekit.client.http.routes import route
from kubekit.client.http.settings import HttpSettings
from kubekit.environment import ExecutionEnvironment

_UNAUTHORIZED: Final = 401

_log = logging.getLogger(__name__)


class RequestSender:
    """Sends requests over the connections to one server."""

    def __init__(
        self, connection: Connection, environment: ExecutionEnvironment, settings: HttpSettings
    ) -> None:
        self._connection = connection
        self._environment = environment
        self._settings = settings
        self._route = route(connection)
        self.server = self._route.server.shown
        self._pool = Pool(self._dial, settings.connections, settings.idle_timeout)
        self._streams = Pool(self._dial, settings.watches, settings.idle_timeout)
        self._warn = settings.warn or Warnings(self.server)
        self._fixed = self._fixed_lines()
        self._credential_headers: Mapping[str, str] = {}
        self._credential_lines = ""
        self._client: ClientCertificate | None = None
        self._context: ssl.SSLContext | None = None

    async def whole(self, request: HttpRequest, seconds: float, silence: float = 0.0) -> bytes:
        """The whole body of the response."""

        async def attempt() -> HttpResponse:
            return await self._attempt_whole(request, seconds, silence)

        return (await self._with_retries(request, attempt)).body

    @asynccontextmanager
    async def stream(self, request: HttpRequest) -> AsyncIterator[HttpResponse]:
        """A response that is read while it arrives. It is open once the context is entered."""
        open_connections: list[HttpConnection] = []

        async def attempt() -> HttpResponse:
            return await self._attempt_stream(request, open_connections)

        try:
            yield await self._with_retries(request, attempt)
        finally:
            for connection in open_connections:
                self._streams.give(connection)

    async def close(self) -> None:
        await self._pool.close()
        await self._streams.close()

    def refusal(self, response: HttpResponse, request: HttpRequest) -> ApiError:
        """The error that a caller gets for an error response."""
        return responses.refusal(response, request, self.server)

    async def _with_retries(
        self, request: HttpRequest, attempt: Callable[[], Awaitable[HttpResponse]]
    ) -> HttpResponse:
        """The first response after which there is no retry."""
        retries = Retries(self._settings, self._environment)
        while True:
            try:
                response = await attempt()
            except AttemptFailure as failure:
                wait = self._after_failure(failure, request, retries)
            else:
                self._observe(request, response.status)
                if response.status < REFUSALS:
                    self._pass_warnings(response)
                    return response
                wait = await self._after_refusal(response, request, retries)
            await asyncio.sleep(wait)

    def _after_failure(
        self, failure: AttemptFailure, request: HttpRequest, retries: Retries
    ) -> float:
        self._observe(request, 0)
        wait = retries.after_failure(failure, request)
        if isinstance(failure, Lost):
            # If one connection was lost, the others are often lost too.
            self._pool.drop_idle()
            self._streams.drop_idle()
        if wait is None:
            raise failures.api_error(failure, request, self.server) from failure
        self._log_retry(request, failure.why, wait)
        return wait

    async def _after_refusal(
        self, response: HttpResponse, request: HttpRequest, retries: Retries
    ) -> float:
        if response.status == _UNAUTHORIZED and retries.may_renew() and await self._renew():
            return 0.0
        after = response.header(b"retry-after").decode("latin-1")
        wait = retries.after_refusal(response.status, after, request)
        if wait is None:
            raise self.refusal(response, request)
        self._log_retry(request, f"it answered {response.status}", wait)
        return wait

    def _log_retry(self, request: HttpRequest, why: str, wait: float) -> None:
        about = {"server": self.server, "request": str(request), "why": why, "wait": round(wait, 3)}
        _log.debug("retrying request", extra=about)

    async def _renew(self) -> bool:
        return await self._connection.credentials.renew()

    async def _attempt_whole(
        self, request: HttpRequest, seconds: float, silence: float
    ) -> HttpResponse:
        data = await self._encoded(request, self._compression)
        limits = self._limits(seconds, silence)
        connection = await self._pool.take(limits.until)
        try:
            return await connection.ask(data, limits, whole=True)
        finally:
            self._pool.give(connection)

    async def _attempt_stream(
        self, request: HttpRequest, open_connections: list[HttpConnection]
    ) -> HttpResponse:
        """A response whose head has arrived. Its connection stays in use, unless it is an error."""
        data = await self._encoded(request)
        limits = self._limits(self._settings.request_timeout)
        connection = await self._streams.take(limits.until)
        is_open = False
        try:
            response = await connection.ask(data, limits, whole=False)
            is_open = response.status < REFUSALS
        finally:
            open_connections.append(connection) if is_open else self._streams.give(connection)
        return response

    async def _encoded(self, request: HttpRequest, more: str = "") -> bytes:
        """The request with its credentials. New credentials get new connections."""
        credentials = self._connection.credentials
        headers = await credentials.headers()
        if headers != self._credential_headers:
            self._credential_lines, self._credential_headers = self._lines(headers), dict(headers)
        self._update_tls(credentials.certificate())
        return request.encoded(self._route.prefix, f"{self._fixed}{self._credential_lines}{more}")

    def _update_tls(self, client: ClientCertificate | None) -> None:
        if not self._route.server.secure:
            return
        if self._context is not None and _stamp(client) == _stamp(self._client):
            return
        self._context, self._client = tls_context(self._connection), client
        self._pool.renew()
        self._streams.renew()

    async def _dial(self) -> HttpConnection:
        return await dial(self._route, self._context, self._connection.server_name, self._settings)

    def _limits(self, seconds: float, silence: float = 0.0) -> ResponseLimits:
        now = asyncio.get_running_loop().time()
        return ResponseLimits(now + seconds, seconds, self._settings.largest_answer, silence)

    def _fixed_lines(self) -> str:
        proxy = self._route.proxy_header
        return header_lines(
            (
                ("Host", self._route.netloc),
                ("User-Agent", self._settings.user_agent),
                ("Accept", JSON),
                *((("Proxy-Authorization", proxy),) if proxy else ()),
                *self._connection.impersonation.headers(),
            )
        )

    def _lines(self, headers: Mapping[str, str]) -> str:
        try:
            return header_lines(headers.items())
        except ValueError as error:
            raise NoCredentials(f"{self._connection.origin}: {error}") from None

    @property
    def _compression(self) -> str:
        # A watch must not be compressed: compression delays events.
        return "Accept-Encoding: gzip\r\n" if self._connection.compression else ""

    def _pass_warnings(self, response: HttpResponse) -> None:
        for text in responses.warnings(response.headers):
            self._warn(text)

    def _observe(self, request: HttpRequest, status: int) -> None:
        if self._settings.observe:
            self._settings.observe(request.method, status, self._route.netloc)


def _stamp(client: ClientCertificate | None) -> str:
    return client.stamp if client else ""
