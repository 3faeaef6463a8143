"""What is asked again, and when. Time is virtual here."""

from datetime import UTC, datetime
from random import Random
from typing import Any

import pytest
from hypothesis import given, strategies as st

from kubekit.client.http.failures import Late, Lost, NotSent
from kubekit.client.http.requests import HttpRequest
from kubekit.client.http.retries import Retries
from kubekit.client.http.settings import HttpSettings
from kubekit.environment import ExecutionEnvironment
from tests.support.kubekit.virtual_time import run

NOW = datetime(2026, 1, 1, tzinfo=UTC)
READ = HttpRequest("GET", "/x", "x")
WRITES = [HttpRequest(method, "/x", "x", b"{}") for method in ("POST", "PUT", "PATCH", "DELETE")]


def retries(seed: int = 1, **settings: Any) -> Retries:
    around = ExecutionEnvironment(lambda: NOW, Random(seed))
    return Retries(HttpSettings(**settings), around)


def refusal(request: HttpRequest, status: int, after: str = "", **settings: Any) -> float | None:
    async def ask() -> float | None:
        return retries(**settings).after_refusal(status, after, request)

    return run(ask())


@pytest.mark.parametrize("request_", [READ, *WRITES], ids=str)
@pytest.mark.parametrize("status", [429, 503])
def test_a_server_that_says_when_is_asked_again_then(request_, status):
    """With Retry-After the server did nothing, so anything may be asked again, a little later."""
    wait = refusal(request_, status, "3")
    assert wait is not None
    assert 3 <= wait <= 3.6


@pytest.mark.parametrize("request_", WRITES, ids=str)
@pytest.mark.parametrize("status", [429, 503])
def test_a_write_is_not_asked_again_without_a_word_of_the_server(request_, status):
    """Without Retry-After it is unknown whether a write took effect."""
    assert refusal(request_, status) is None


def test_a_read_is_asked_again_after_a_plain_503():
    """A read does no harm, so a server that is not ready is asked again soon."""
    wait = refusal(READ, 503)
    assert wait is not None
    assert 0.05 <= wait <= 0.15
    assert refusal(READ, 429) is None


@pytest.mark.parametrize("status", [400, 401, 403, 404, 409, 410, 422, 500, 502, 504])
def test_nothing_else_is_asked_again(status):
    """No other refusal is repeated, not even of a read, whatever else the server says."""
    assert refusal(READ, status, "1") is None


@pytest.mark.parametrize(
    ("after", "least"),
    [
        ("0", 0.05),
        ("Thu, 01 Jan 2026 00:00:04 GMT", 4),
        ("Wed, 31 Dec 2025 00:00:00 GMT", 0.05),
    ],
)
def test_forms_of_retry_after(after, least):
    """It may be a date; one that has passed, or zero, still leaves a moment."""
    wait = refusal(WRITES[0], 503, after)
    assert wait is not None
    assert least <= wait <= least * 3


@pytest.mark.parametrize("after", ["soon", "-1", "1.5", "9" * 400, "Thu, 01 Jan 2026 00:00:04"])
def test_a_retry_after_that_makes_no_sense_is_none(after):
    """What cannot be read, or lies too far off, is not waited for."""
    assert refusal(WRITES[0], 429, after) is None


def test_attempts_are_bounded():
    """After so many attempts it ends, whatever happens."""

    async def ask() -> list[bool]:
        some = retries(attempts=3)
        failure = NotSent("x")
        return [some.after_failure(failure, READ) is not None for _ in range(4)]

    assert run(ask()) == [True, True, False, False]


def test_time_is_bounded():
    """No attempt starts after the retry window."""
    assert refusal(READ, 429, "50", retry_window=60) is not None
    assert refusal(READ, 429, "61", retry_window=60) is None


@given(st.integers(), st.integers(1, 6))
def test_waits_grow_and_are_spread(seed, made):
    """Each wait is about twice the one before, and differs between clients."""

    async def ask() -> float | None:
        some = retries(seed, attempts=100, retry_window=1000)
        return [some.after_failure(NotSent("x"), READ) for _ in range(made)][-1]

    wait = run(ask())
    assert wait is not None
    assert 0.5 <= wait / (0.1 * 2 ** (made - 1)) <= 1.5


@pytest.mark.parametrize("request_", [READ, *WRITES], ids=str)
def test_what_was_not_sent_is_sent_again(request_):
    """Where nothing reached the server, anything may be sent again, unless it is hopeless."""

    async def ask() -> tuple[bool, bool]:
        again = retries().after_failure(NotSent("x"), request_)
        hopeless = retries().after_failure(NotSent("x", hopeless=True), request_)
        return again is not None, hopeless is not None

    assert run(ask()) == (True, False)


def test_a_read_whose_connection_was_lost_is_repeated_once():
    """A read is repeated at once, once, and only if no response had started."""

    async def ask() -> list[float | None]:
        some = retries()
        lost = Lost("x", response_started=False)
        started = retries().after_failure(Lost("x", response_started=True), READ)
        return [some.after_failure(lost, READ), some.after_failure(lost, READ), started]

    assert run(ask()) == [0.0, None, None]


@pytest.mark.parametrize("request_", WRITES, ids=str)
@pytest.mark.parametrize(
    "failure", [Lost("x", response_started=False), Late("x")], ids=["lost", "late"]
)
def test_a_write_that_may_have_happened_is_never_repeated(request_, failure):
    """What was sent and not answered may have happened."""

    async def ask() -> float | None:
        return retries().after_failure(failure, request_)

    assert run(ask()) is None
