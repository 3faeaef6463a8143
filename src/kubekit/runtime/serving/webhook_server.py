"""Serves admission webhooks over HTTPS: a review in the body of a POST, a review in the response.

It runs on every replica, whether or not it leads: a request of the API server may reach any of them.
The API server takes any code but 200 as a failure of the webhook, so an error has its cause in the body.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Final
from urllib.parse import parse_qs

from kubekit.api import times
from kubekit.api.errors import (
    ApiError,
    BadRequest,
    InternalError,
    MethodNotAllowed,
    NotFound,
    Timeout,
    UnsupportedMediaType,
)
from kubekit.environment import ExecutionEnvironment
from kubekit.runtime.serving.http_server import HttpServer, ServingSettings
from kubekit.runtime.serving.listen_address import ListenAddress
from kubekit.runtime.serving.messages import (
    JSON,
    IncomingRequest,
    OutgoingResponse,
    status_response,
)
from kubekit.runtime.serving.request_parser import MIB, ServingLimits
from kubekit.runtime.serving.webhook_metrics import WebhookMetrics

ReviewHandler = Callable[[bytes], Awaitable[bytes]]
"""From the body of a request to the body of its response."""

# A review has the object before and after the change, each of 3 MiB at most in etcd's limits.
REVIEW_LIMITS: Final = ServingLimits(body=7 * MIB)
_LONGEST: Final = timedelta(seconds=30)  # the most that a webhook configuration can ask for
_DEFAULT: Final = timedelta(seconds=10)
_SHARE: Final = (
    0.9  # of the caller's timeout, so that the response arrives before the caller leaves
)
_OK: Final = 200

_log: Final = logging.getLogger(__name__)


class WebhookServer:
    """Serves the handler of each path. ``metrics`` is for the registry of the process."""

    def __init__(
        self,
        handlers: Mapping[str, ReviewHandler],
        settings: ServingSettings,
        environment: ExecutionEnvironment,
    ) -> None:
        if settings.tls is None:
            raise ValueError("webhooks are called by https only: pass a certificate")
        self._tls = settings.tls
        self.metrics = WebhookMetrics(handlers, lambda: self._tls.certificate.not_after)
        self._handlers = dict(handlers)
        self._environment = environment
        self._server = HttpServer("webhooks", self._answer, settings)

    @property
    def address(self) -> ListenAddress:
        """The address in use."""
        return self._server.address

    async def start(self) -> None:
        await self._server.start()

    async def close(self, grace: float = 10.0) -> None:
        """Stop listening, and finish the reviews that are being answered."""
        await self._server.close(grace)

    def problems(self) -> list[str]:
        """Why no review can be answered now; the check ``webhooks`` of readiness."""
        if not self._server.listening:
            return ["the webhook server does not listen"]
        return self._tls.certificate.problems(self._environment.now())

    async def _answer(self, request: IncomingRequest) -> OutgoingResponse:
        handler = self._handlers.get(request.path)
        if handler is None:
            return status_response(NotFound(f"there is no webhook at {_shown(request.path)}"))
        loop = asyncio.get_running_loop()
        started = loop.time()
        with self.metrics.in_flight(request.path):
            response = await _reviewed(request, handler)
        self.metrics.answered(request.path, response.status, loop.time() - started)
        return response


async def _reviewed(request: IncomingRequest, handler: ReviewHandler) -> OutgoingResponse:
    try:
        _check(request)
        seconds = _seconds(request.query)
        try:
            async with asyncio.timeout(seconds):
                return OutgoingResponse(_OK, await handler(request.body), JSON)
        except TimeoutError:
            message = f"the review took longer than {seconds:g} s"
            return status_response(Timeout(message))
    except MethodNotAllowed as refusal:
        return replace(status_response(refusal), fields={"Allow": "POST"})
    except ApiError as refusal:
        return status_response(refusal)
    except Exception:  # noqa: BLE001 - whatever it is, the API server gets a response
        _log.exception("a review failed", extra={"path": request.path})
        return status_response(InternalError("the review failed; the log of the webhook has why"))


def _check(request: IncomingRequest) -> None:
    """Refuse what is not a review."""
    if request.method != "POST":
        raise MethodNotAllowed("a webhook is called by POST")
    content_type = request.fields.get("content-type", "").partition(";")[0].strip().lower()
    if content_type != JSON:
        raise UnsupportedMediaType(f"header Content-Type: it must be {JSON}")
    if not request.body:
        raise BadRequest("the body is empty: an AdmissionReview is required")


def _seconds(query: str) -> float:
    """How long the handler may take. The API server sends its own limit with each review."""
    texts = parse_qs(query).get("timeout", ())
    try:
        asked = times.parse_duration(texts[-1]) if texts else _DEFAULT
    except times.TimeError as problem:
        raise BadRequest(f"timeout: {problem}") from problem
    if asked <= timedelta(0):
        raise BadRequest("timeout: it must be more than 0")
    return _SHARE * min(asked, _LONGEST).total_seconds()


def _shown(path: str) -> str:
    return path if len(path) <= 200 else f"{path[:200]}..."  # noqa: PLR2004 - enough to recognize it
