"""Servers that misbehave: the errors that the caller gets, and that no write is ever sent twice."""

import asyncio
import logging
import traceback
from contextlib import suppress

import pytest
from hypothesis import given, settings as examples, strategies as st

from kubekit.api.errors import (
    ApiError,
    Expired,
    InternalError,
    NotFound,
    Timeout,
    TooManyRequests,
    Unavailable,
)
from kubekit.client.http.settings import HttpSettings
from kubekit.client.options import EVERYTHING, PLAIN_DELETE, PLAIN_WRITE, PatchType
from tests.support.generated import depth
from tests.support.kubekit.http_builders import until
from tests.unit.kubekit.client.http.scripted import (
    DOCUMENT,
    MAPS,
    ONE,
    SECRET,
    answer,
    hanging_up,
    opened,
    refused,
    reply,
    resetting,
    run,
    saying,
    serving,
    silent,
)

SHORT = HttpSettings(request_timeout=0.05, list_timeout=0.05, connect_timeout=2)
WRITES = {
    "create": lambda t: t.create(MAPS, DOCUMENT, PLAIN_WRITE),
    "update": lambda t: t.update(ONE, DOCUMENT, PLAIN_WRITE),
    "patch": lambda t: t.patch(ONE, PatchType.MERGE, {}, PLAIN_WRITE),
    "delete": lambda t: t.delete(ONE, PLAIN_DELETE),
    "clear": lambda t: t.delete_collection(MAPS, EVERYTHING, PLAIN_DELETE),
}
HALF = answer()[:-5]
# Each breaks off an answer in its own way.
BREAKS = {
    "closes before answering": hanging_up(),
    "resets": resetting,
    "closes within the head": hanging_up(b"HTTP/1.1 200 OK\r\nContent-"),
    "closes after half an answer": hanging_up(HALF),
    "says garbage": hanging_up(b"\x00\x01\x02 what?\r\n\r\n"),
    "says half a chunk": hanging_up(
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n20\r\n{"
    ),
    "answers with a page": reply(body=b"<html>log in</html>", media="text/html"),
    "answers with half of a document": reply(body=b'{"a": {}'),
    "answers with nonsense": reply(body=b'{"a": x}'),
    "answers with nothing": reply(body=b""),
}
BEFORE = ("closes before answering", "resets")  # no response started, so a read is sent again


async def failure(step, ask, settings=None) -> tuple[ApiError, list[str]]:
    async with serving(step) as server, opened(server, settings) as transport:
        with pytest.raises(ApiError) as caught:
            await ask(transport)
        return caught.value, server.lines


@pytest.mark.parametrize("write", WRITES)
@pytest.mark.parametrize("how", BREAKS)
def test_a_write_is_sent_once(how, write):
    """Whatever happens to the response, a write is sent once, and the error says to check."""
    error, lines = run(failure(BREAKS[how], WRITES[write]))
    assert type(error) is Timeout
    assert "it may or may not have happened" in error.message
    assert "http://127.0.0.1:" in error.message
    assert len(lines) == 1


@pytest.mark.parametrize("write", WRITES)
def test_a_write_without_an_answer_in_time_is_sent_once(write):
    """A server that never answers gets a write once; the error names the time and the object."""
    error, lines = run(failure(silent, WRITES[write], SHORT))
    assert type(error) is Timeout
    assert "nothing came within 0.05 s; it may or may not have happened" in error.message
    assert 'configmaps "one" in namespace "room"' in error.message or write in {"create", "clear"}
    assert len(lines) == 1


@pytest.mark.parametrize("how", [how for how in BREAKS if how not in BEFORE])
def test_a_read_that_breaks_off(how):
    """A read has no effect, so its end is that the server is not available."""
    error, lines = run(failure(BREAKS[how], lambda t: t.get(ONE)))
    assert type(error) is Unavailable
    assert error.message.startswith('GET configmaps "one" in namespace "room": the server http://')
    assert len(lines) == 1


def test_a_read_whose_connection_closed_before_an_answer_is_repeated_once():
    """The first time a read is sent again, over a new connection; the second time it is an error."""

    async def asked():
        async with serving(hanging_up()) as server, opened(server) as transport:
            first = await transport.get(ONE)
            server.then(hanging_up(), hanging_up())
            with pytest.raises(Unavailable, match="closed the connection before it answered"):
                await transport.get(ONE)
            return first, len(server.requests)

    assert run(asked()) == (DOCUMENT, 4)


def test_a_read_does_not_go_through_all_stale_connections():
    """After a restart of the server all idle connections are given up with the first."""

    async def asked():
        async with serving() as server, opened(server) as transport:
            await asyncio.gather(*(transport.get(ONE) for _ in range(8)))
            made = server.connections
            server.then(hanging_up())
            await transport.get(ONE)
            return server.connections - made

    assert run(asked()) == 1


@pytest.mark.parametrize("write", WRITES)
def test_a_connection_that_the_server_closed_is_not_used(write):
    """A write over a kept connection that is closed by now goes over a new one, unharmed."""

    async def asked():
        had, closed = asyncio.Event(), asyncio.Event()

        async def close_after(writer):
            writer.write(answer())
            await had.wait()
            writer.close()
            await writer.wait_closed()
            closed.set()

        async with serving(close_after) as server, opened(server) as transport:
            await transport.get(ONE)
            had.set()
            await closed.wait()
            await WRITES[write](transport)
            return len(server.requests), server.connections

    assert run(asked()) == (2, 2)


def test_what_a_server_says_unasked_ends_the_connection():
    """Unsolicited bytes are never taken for a response to the next request."""

    async def asked():
        twice = saying(answer() + answer(body=b'{"not":"yours"}'))
        async with serving(twice) as server, opened(server) as transport:
            return [await transport.get(ONE), await transport.get(ONE)], server.connections

    documents, connections = run(asked())
    assert documents == [DOCUMENT, DOCUMENT]
    assert connections == 2


def test_what_a_server_says_later_unasked_ends_the_connection_too():
    """Bytes on an idle connection close it; some servers say goodbye that way."""

    async def asked():
        had = asyncio.Event()

        async def talking(writer):
            writer.write(answer())
            await had.wait()
            writer.write(answer(408, b""))

        async with serving(talking) as server, opened(server) as transport:
            await transport.get(ONE)
            had.set()
            await until(lambda: server.open == 0)
            return await transport.get(ONE), server.connections

    assert run(asked()) == (DOCUMENT, 2)


@pytest.mark.parametrize("write", WRITES)
@pytest.mark.parametrize(("code", "reason"), [(429, "TooManyRequests"), (503, "x")])
def test_a_write_is_sent_again_when_the_server_says_so(code, reason, write):
    """With Retry-After the server has done nothing, so the write is sent until it is taken."""

    async def asked():
        step = refused(code, reason, Retry_After="0")
        async with serving(step, step) as server, opened(server) as transport:
            await WRITES[write](transport)
            return len(server.requests), server.connections

    assert run(asked()) == (3, 1)


@pytest.mark.parametrize("write", WRITES)
@pytest.mark.parametrize(("code", "kind"), [(429, TooManyRequests), (503, Unavailable)])
def test_a_write_is_not_sent_again_without_that(code, kind, write):
    """Without Retry-After a refused write stays refused."""
    error, lines = run(failure(refused(code, "x"), WRITES[write]))
    assert (type(error), len(lines)) == (kind, 1)


@pytest.mark.parametrize("code", [500, 502, 504, 408, 409, 410])
def test_no_other_refusal_is_repeated(code):
    """Even a read is sent once where the server refuses for another reason."""
    error, lines = run(failure(refused(code, "x", Retry_After="0"), lambda t: t.get(ONE)))
    assert len(lines) == 1
    assert isinstance(error, ApiError)


def test_attempts_end():
    """A server that always says later is asked so many times and no more."""

    async def asked():
        steps = [refused(429, "TooManyRequests", Retry_After="0")] * 10
        async with serving(*steps) as server, opened(server, HttpSettings(attempts=3)) as transport:
            with pytest.raises(TooManyRequests):
                await transport.create(MAPS, DOCUMENT, PLAIN_WRITE)
            return len(server.requests)

    assert run(asked()) == 3


def test_a_list_may_not_fall_silent():
    """A list that stops in the middle is given up long before its whole time is over."""
    settings = HttpSettings(list_timeout=100, read_timeout=0.05)
    error, lines = run(failure(_half_then_silent, lambda t: t.list(MAPS, EVERYTHING), settings))
    assert type(error) is Timeout
    assert "silent for 0.05 s in the middle of its answer" in error.message
    assert len(lines) == 1


def test_a_list_that_goes_on_may_take_longer_than_a_silence():
    """What counts is the silence between two pieces, not the whole."""

    async def slow(writer):
        text = answer()
        piece = len(text) // 15
        for at in range(0, len(text), piece):
            writer.write(text[at : at + piece])
            await asyncio.sleep(0.1)

    async def asked():
        settings = HttpSettings(read_timeout=1)
        async with serving(slow) as server, opened(server, settings) as transport:
            return await transport.list(MAPS, EVERYTHING)

    assert run(asked()) == DOCUMENT


def test_an_answer_that_takes_too_long():
    """A response that has started but does not end in time is given up."""
    error, _ = run(failure(_half_then_silent, lambda t: t.get(ONE), SHORT))
    assert type(error) is Timeout
    assert "not all of it came within 0.05 s" in error.message


async def _half_then_silent(writer):
    writer.write(HALF)
    await silent(writer)


@pytest.mark.parametrize(
    ("code", "body", "kind", "message"),
    [
        (404, b"404 page not found\n", NotFound, "answered 404: '404 page not found'; does the"),
        (502, b"<html>Bad Gateway</html>", Unavailable, "a proxy in between answered"),
        (504, b"", Timeout, "answered 504; a proxy in between answered"),
        (410, b"gone", Expired, "answered 410: 'gone'"),
        (403, b'{"error": "no"}', ApiError, 'answered 403: \'{"error": "no"}\''),
        (500, b"\xff\xfe" + b"x" * 5000, InternalError, "answered 500"),
        (400, b"Client sent an HTTP request to an HTTPS server.", ApiError, "to an HTTPS server"),
    ],
    ids=str,
)
def test_refusals_that_are_no_status(code, body, kind, message):
    """The body of a server that is not Kubernetes is quoted shortly, and its code decides the error."""
    step = reply(code, body, "text/plain")
    error, lines = run(failure(step, lambda t: t.update(ONE, DOCUMENT, PLAIN_WRITE)))
    assert isinstance(error, kind)
    assert message in error.message
    assert len(error.message) < 500
    assert len(lines) == 1


def test_redirects_are_not_followed():
    """A redirect is an error that says where it points, so that nothing is sent elsewhere."""
    step = reply(302, b"", headers=(("Location", "https://elsewhere/login"),))
    error, lines = run(failure(step, lambda t: t.get(ONE)))
    assert "points to 'https://elsewhere/login'; redirects are not followed" in error.message
    assert len(lines) == 1


def test_a_caller_who_gives_up_leaves_nothing_behind():
    """A cancelled request closes its connection, and the next one gets its own answer."""

    async def asked():
        async with serving(silent) as server, opened(server) as transport:
            asking = asyncio.create_task(transport.get(ONE))
            await server.asked.wait()
            asking.cancel()
            with pytest.raises(asyncio.CancelledError):
                await asking
            return await transport.get(ONE), server.connections

    assert run(asked()) == (DOCUMENT, 2)


def test_no_secret_is_in_any_error_or_log(caplog):
    """K2: whatever goes wrong, no message contains the token or a password for a proxy."""
    steps = {**BREAKS, "401": refused(401, "Unauthorized"), "silent": silent}
    messages = []
    with caplog.at_level(logging.DEBUG):
        for step in steps.values():
            for ask in (lambda t: t.get(ONE), WRITES["create"]):
                messages += run(_messages(step, ask))
    assert messages
    assert not [text for text in (*messages, caplog.text) if SECRET in text]


async def _messages(step, ask) -> list[str]:
    proxied = {"proxy": f"http://me:{SECRET}@127.0.0.1:1"}
    settings = HttpSettings(request_timeout=0.02, attempts=1)
    found = []
    async with serving(step, step) as server:
        for more in ({}, proxied):
            async with opened(server, settings, **more) as transport:
                with pytest.raises(ApiError) as caught:
                    await ask(transport)
            found += ["".join(traceback.format_exception(caught.value)), repr(caught.value)]
    return found


@examples(max_examples=depth.examples(25), deadline=None)
@given(
    st.lists(st.sampled_from([*BREAKS, "429", "503", "503 later"]), max_size=4),
    st.lists(st.sampled_from(["get", *WRITES]), min_size=1, max_size=4),
)
def test_every_write_is_taken_at_most_once(faults, calls):
    """Whatever servers do in whatever order, no write is sent again that may have been taken."""
    steps = BREAKS | {
        "429": refused(429, "TooManyRequests", Retry_After="0"),
        "503": refused(503, "x"),
        "503 later": refused(503, "x", Retry_After="0"),
    }
    refusing = {"429", "503 later"}
    run(_at_most_once([(name, steps[name], name in refusing) for name in faults], calls))


async def _at_most_once(faults, calls) -> None:
    taken: list[str] = []

    def noting(step, *, refuses):
        async def noted(writer):
            if not refuses:
                taken.append(server.lines[-1])
            await step(writer)

        return noted

    async with serving() as server, opened(server) as transport:
        server.then(*(noting(step, refuses=refuses) for _, step, refuses in faults))
        for call in calls:
            before = len(taken)
            with suppress(ApiError):
                await WRITES.get(call, lambda t: t.get(ONE))(transport)
            assert call == "get" or len(taken) - before <= 1
