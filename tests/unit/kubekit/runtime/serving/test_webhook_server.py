"""The server of webhooks: what it answers the API server, counts and reports."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from io import BytesIO
from pathlib import Path

import aiohttp
import msgspec
import pytest
from prometheus_client import CollectorRegistry, generate_latest

from kubekit.runtime.serving.http_server import LOOPBACK, ServingSettings
from kubekit.runtime.serving.tls_files import TlsFiles, TlsPaths
from kubekit.runtime.serving.webhook_server import REVIEW_LIMITS, ReviewHandler, WebhookServer
from tests.support.kubekit.serving_builders import TestAuthority, at_noon, mounted

EXPIRES = datetime(2050, 1, 1, tzinfo=UTC)
JSON = {"Content-Type": "application/json"}


class Caller:
    """A client of the webhooks, by a library of other people."""

    def __init__(self, server: WebhookServer, session: aiohttp.ClientSession) -> None:
        self.server = server
        self.session = session

    async def ask(
        self, path: str, body: bytes = b"{}", method: str = "POST", **headers: str
    ) -> tuple[int, bytes]:
        url = f"https://localhost:{self.server.address.port}{path}"
        more = {name.replace("_", "-"): value for name, value in headers.items()} or JSON
        async with self.session.request(method, url, data=BytesIO(body), headers=more) as response:
            return response.status, await response.read()

    async def refused(self, path: str, *arguments: object, **headers: str) -> tuple[int, str]:
        """The code and the text of a Status."""
        code, body = await self.ask(path, *arguments, **headers)  # type: ignore[arg-type]
        status = msgspec.json.decode(body)
        assert (status["kind"], status["status"], status["code"]) == ("Status", "Failure", code)
        return code, status["message"]


@asynccontextmanager
async def calling(
    directory: Path, handlers: Mapping[str, ReviewHandler], now: datetime | None = None
) -> AsyncIterator[Caller]:
    authority = TestAuthority.new()
    mounted(directory, "1", authority.issue("webhooks", EXPIRES))
    settings = ServingSettings(
        address=LOOPBACK, tls=TlsFiles(TlsPaths.within(directory)), limits=REVIEW_LIMITS
    )
    server = WebhookServer(handlers, settings, at_noon(now or at_noon().now()))
    assert server.problems() == ["the webhook server does not listen"]
    await server.start()
    connector = aiohttp.TCPConnector(ssl=authority.trusting())
    try:
        async with aiohttp.ClientSession(connector=connector) as session:
            yield Caller(server, session)
    finally:
        await server.close(0.1)


async def size(body: bytes) -> bytes:
    return str(len(body)).encode()


async def hang(body: bytes) -> bytes:
    await asyncio.Event().wait()
    return body


async def broken(body: bytes) -> bytes:
    raise ValueError(body)


HANDLERS = {"/size": size, "/hang": hang, "/broken": broken}


def test_a_review_reaches_its_handler_and_the_answer_the_caller(tmp_path):
    """Each path has its handler; the largest reviews fit."""

    async def story() -> None:
        async with calling(tmp_path, HANDLERS) as caller:
            assert await caller.ask("/size?timeout=10s") == (200, b"2")
            largest = b"x" * REVIEW_LIMITS.body
            utf8 = "application/json; charset=utf-8"
            assert await caller.ask("/size", largest, Content_Type=utf8) == (200, b"7340032")
            assert caller.server.problems() == []

    asyncio.run(story())


def test_what_is_no_review_is_refused_with_a_status(tmp_path):
    """The API server shows the text to the user whose write it fails."""

    async def story() -> None:
        async with calling(tmp_path, HANDLERS) as caller:
            refused = caller.refused
            assert await refused("/other") == (404, "there is no webhook at /other")
            assert await refused("/size", b"", "GET") == (405, "a webhook is called by POST")
            wrong_type = (415, "header Content-Type: it must be application/json")
            assert await refused("/size", b"{}", Content_Type="text/plain") == wrong_type
            empty = (400, "the body is empty: an AdmissionReview is required")
            assert await refused("/size", b"") == empty
            for text in ("1", "x", "-1s", "0s", "1" * 400 + "s"):
                code, message = await refused(f"/size?timeout={text}")
                assert (code, message[:8]) == (400, "timeout:")
            code, body = await caller.ask("/size", b"x" * (REVIEW_LIMITS.body + 1))
            assert (code, body) == (413, b"the body is larger than 7340032 bytes\n")

    asyncio.run(story())


def test_a_review_ends_before_its_caller_leaves(tmp_path, caplog):
    """So the caller learns which webhook was slow. An error of a handler has its cause in the log."""

    async def story() -> None:
        async with calling(tmp_path, HANDLERS) as caller:
            late = (504, "the review took longer than 0.09 s")
            assert await caller.refused("/hang?timeout=100ms") == late
            failed = (500, "the review failed; the log of the webhook has why")
            assert await caller.refused("/broken") == failed

    asyncio.run(story())
    assert "a review failed" in caplog.text


def test_an_expired_certificate_is_not_ready(tmp_path):
    """The API server would refuse it, so traffic had better go to another replica."""

    async def story() -> None:
        async with calling(tmp_path, HANDLERS, EXPIRES + timedelta(days=1)) as caller:
            (problem,) = caller.server.problems()
            assert problem.endswith("expired at 2050-01-01T00:00:00Z: renew it")

    asyncio.run(story())


def test_reviews_are_counted_as_controller_runtime_counts_them(tmp_path):
    """By path and code; a path that is not served has no label of its own."""

    async def story() -> str:
        async with calling(tmp_path, HANDLERS) as caller:
            registry = CollectorRegistry()
            registry.register(caller.server.metrics)
            for path in ("/size", "/size", "/broken", "/other", "/hang?timeout=10ms"):
                await caller.ask(path)
            return generate_latest(registry).decode()

    page = asyncio.run(story())
    for line in (
        'controller_runtime_webhook_requests_total{code="200",webhook="/size"} 2.0',
        'controller_runtime_webhook_requests_total{code="200",webhook="/broken"} 0.0',
        'controller_runtime_webhook_requests_total{code="500",webhook="/broken"} 1.0',
        'controller_runtime_webhook_requests_total{code="504",webhook="/hang"} 1.0',
        'controller_runtime_webhook_latency_seconds_count{webhook="/size"} 2.0',
        'controller_runtime_webhook_requests_in_flight{webhook="/hang"} 0.0',
        "compute_webhook_certificate_expiry_timestamp_seconds 2.524608e+09",
    ):
        assert line in page
    assert "/other" not in page


def test_webhooks_are_not_served_without_tls():
    with pytest.raises(ValueError, match="https only"):
        WebhookServer(HANDLERS, ServingSettings(), at_noon())
