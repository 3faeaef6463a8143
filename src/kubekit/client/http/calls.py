"""Requests to one server, each as often as is safe, until there is an answer or an `ApiError`."""

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
    """All connections to one server."""

    def __init__(
        self, connection: Connection, environment: ExecutionEnvironment, settings: HttpSettings
    ) -> None:
        self._connection = connection
        self._environment = environment
        self._settings = settings
        self._route = route(connection)
        self.server = self._route.server.shown
        self._pool = Pool(self._dial, settings.connections, settings.kept)
        self._streams = Pool(self._dial, settings.watches, settings.kept)
        self._warn = settings.warn or Warnings(self.server)
        self._fixed = self._fixed_lines()
        self._shown: Mapping[str, str] = {}
        self._shown_lines = ""
        self._client: ClientCertificate | None = None
        self._context: ssl.SSLContext | None = None

    async def whole(self, request: HttpRequest, seconds: float, silence: float = 0.0) -> bytes:
        """The body of the answer, all of it."""

        async def attempt() -> HttpResponse:
            return await self._whole(request, seconds, silence)

        return (await self._tried(request, attempt)).body

    @asynccontextmanager
    async def stream(self, request: HttpRequest) -> AsyncIterator[HttpResponse]:
        """An answer that is read while it comes. It is open once the context is entered."""
        held: list[HttpConnection] = []

        async def attempt() -> HttpResponse:
            return await self._begun(request, held)

        try:
            yield await self._tried(request, attempt)
        finally:
            for wire in held:
                self._streams.give(wire)

    async def close(self) -> None:
        await self._pool.close()
        await self._streams.close()

    def refusal(self, answer: HttpResponse, request: HttpRequest) -> ApiError:
        """What a caller is told of an answer that refuses."""
        return responses.refusal(answer, request, self.server)

    async def _tried(
        self, request: HttpRequest, attempt: Callable[[], Awaitable[HttpResponse]]
    ) -> HttpResponse:
        """The first answer that is none to ask again after."""
        retries = Retries(self._settings, self._environment)
        while True:
            try:
                answer = await attempt()
            except AttemptFailure as failure:
                wait = self._after_failure(failure, request, retries)
            else:
                self._note(request, answer.status)
                if answer.status < REFUSALS:
                    self._pass_warnings(answer)
                    return answer
                wait = await self._after_refusal(answer, request, retries)
            await asyncio.sleep(wait)

    def _after_failure(
        self, failure: AttemptFailure, request: HttpRequest, retries: Retries
    ) -> float:
        self._note(request, 0)
        wait = retries.after_failure(failure, request)
        if isinstance(failure, Lost):
            # What happened to one connection has often happened to all.
            self._pool.drop_idle()
            self._streams.drop_idle()
        if wait is None:
            raise failures.told(failure, request, self.server) from failure
        self._log_again(request, failure.why, wait)
        return wait

    async def _after_refusal(
        self, answer: HttpResponse, request: HttpRequest, retries: Retries
    ) -> float:
        if answer.status == _UNAUTHORIZED and retries.may_renew() and await self._renew():
            return 0.0
        after = answer.header(b"retry-after").decode("latin-1")
        wait = retries.after_refusal(answer.status, after, request)
        if wait is None:
            raise self.refusal(answer, request)
        self._log_again(request, f"it answered {answer.status}", wait)
        return wait

    def _log_again(self, request: HttpRequest, why: str, wait: float) -> None:
        about = {"server": self.server, "request": str(request), "why": why, "wait": round(wait, 3)}
        _log.debug("request is sent again", extra=about)

    async def _renew(self) -> bool:
        return await self._connection.credentials.renew()

    async def _whole(self, request: HttpRequest, seconds: float, silence: float) -> HttpResponse:
        data = await self._encoded(request, self._compression)
        limits = self._limits(seconds, silence)
        wire = await self._pool.take(limits.until)
        try:
            return await wire.ask(data, limits, whole=True)
        finally:
            self._pool.give(wire)

    async def _begun(self, request: HttpRequest, held: list[HttpConnection]) -> HttpResponse:
        """An answer whose head is there. If it is no refusal, its wire is held."""
        data = await self._encoded(request)
        limits = self._limits(self._settings.request)
        wire = await self._streams.take(limits.until)
        is_open = False
        try:
            answer = await wire.ask(data, limits, whole=False)
            is_open = answer.status < REFUSALS
        finally:
            held.append(wire) if is_open else self._streams.give(wire)
        return answer

    async def _encoded(self, request: HttpRequest, more: str = "") -> bytes:
        """The request with what says who asks. New credentials ask over new connections."""
        credentials = self._connection.credentials
        shown = await credentials.headers()
        if shown != self._shown:
            self._shown_lines, self._shown = self._lines(shown), dict(shown)
        self._keep_up(credentials.certificate())
        return request.encoded(self._route.prefix, f"{self._fixed}{self._shown_lines}{more}")

    def _keep_up(self, client: ClientCertificate | None) -> None:
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
        proxy = self._route.pass_for_requests
        return header_lines(
            (
                ("Host", self._route.netloc),
                ("User-Agent", self._settings.user_agent),
                ("Accept", JSON),
                *((("Proxy-Authorization", proxy),) if proxy else ()),
                *self._connection.impersonation.headers(),
            )
        )

    def _lines(self, shown: Mapping[str, str]) -> str:
        try:
            return header_lines(shown.items())
        except ValueError as error:
            raise NoCredentials(f"{self._connection.origin}: {error}") from None

    @property
    def _compression(self) -> str:
        # A watch must not be compressed: what is packed comes late.
        return "Accept-Encoding: gzip\r\n" if self._connection.compression else ""

    def _pass_warnings(self, answer: HttpResponse) -> None:
        for text in responses.warnings(answer.headers):
            self._warn(text)

    def _note(self, request: HttpRequest, status: int) -> None:
        if self._settings.told:
            self._settings.told(request.method, status, self._route.netloc)


def _stamp(client: ClientCertificate | None) -> str:
    return client.stamp if client else ""
