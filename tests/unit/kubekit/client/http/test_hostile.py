"""Servers that would hurt: memory, a connection that is not clean, a message that is two."""

import asyncio
import gzip
import logging
import ssl
from contextlib import suppress

import pytest

from kubekit.api.errors import ApiError, BadRequest, TooLarge, Unavailable
from kubekit.client.http.connections import HttpConnection
from kubekit.client.http.exchanges import ResponseLimits
from kubekit.client.http.failures import Lost, NotSent
from kubekit.client.http.settings import HttpSettings
from kubekit.client.options import PLAIN_WRITE
from tests.support.kubekit.http_builders import until
from tests.unit.kubekit.client.http.certificates import Authority
from tests.unit.kubekit.client.http.scripted import (
    BODY,
    DOCUMENT,
    ONE,
    Shown,
    answer,
    listening,
    opened,
    refused,
    reply,
    run,
    saying,
    serving,
    silent,
    status,
)

OURS = Authority("ours")
MEBIBYTE = b"x" * 1024 * 1024


async def pouring(writer: asyncio.StreamWriter, head: bytes, most: int = 64) -> None:
    """Go on and on after the head, and give up after so many mebibytes."""
    writer.write(head)
    for _ in range(most):
        writer.write(MEBIBYTE)
        await writer.drain()


@pytest.mark.parametrize(
    "head",
    [
        b"HTTP/1.1 200 OK\r\nX-Long: ",
        b"HTTP/1.1 200 ",
        b"HTTP/1.1 103 Early\r\nX-Long: ",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nX-Trailer: ",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2;x=",
    ],
    ids=["header", "reason", "interim", "trailer", "chunk extension"],
)
def test_what_is_no_body_is_bounded(head):
    """A header, trailer or extension that never ends is given up, long before memory is short."""

    async def asked():
        poured = asyncio.Event()

        async def endless(writer):
            await pouring(writer, head)
            poured.set()

        settings = HttpSettings(request_timeout=5)
        async with serving(endless) as server, opened(server, settings) as transport:
            with pytest.raises(Unavailable, match="more than 262144 bytes outside of the body"):
                await transport.get(ONE)
            return poured.is_set()

    assert run(asked()) is False


def test_what_follows_a_compressed_answer_is_refused():
    """Bytes after the end of the packing are neither lost in silence nor kept without a limit."""

    async def asked():
        packed = gzip.compress(BODY) + gzip.compress(b" ")
        step = reply(body=packed, headers=(("Content-Encoding", "gzip"),))
        async with serving(step) as server, opened(server) as transport:
            await transport.get(ONE)

    with pytest.raises(Unavailable, match="goes on after its end"):
        run(asked())


def test_a_refusal_without_a_body_may_call_itself_compressed():
    """An empty body is not compressed: the error of the server is reported, not the encoding."""

    async def asked():
        step = reply(409, b"", headers=(("Content-Encoding", "gzip"),))
        async with serving(step) as server, opened(server) as transport:
            await transport.update(ONE, DOCUMENT, PLAIN_WRITE)

    with pytest.raises(ApiError, match="answered 409"):
        run(asked())


def test_trailers_are_no_headers():
    """What comes after the body cannot ask for another attempt."""

    async def asked():
        said = status(429, "TooManyRequests")
        step = saying(
            b"HTTP/1.1 429 No\r\nTransfer-Encoding: chunked\r\n\r\n",
            b"%x\r\n%s\r\n0\r\nRetry-After: 0\r\n\r\n" % (len(said), said),
        )
        async with serving(step) as server, opened(server) as transport:
            with suppress(ApiError):
                await transport.update(ONE, DOCUMENT, PLAIN_WRITE)
            return len(server.requests)

    assert run(asked()) == 1


SMUGGLED = {
    "both lengths": b"Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
    "both, turned": b"Transfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
    "two lengths": b"Content-Length: 2\r\nContent-Length: 4\r\n\r\n{}  ",
    "a length of words": b"Content-Length: two\r\n\r\n{}",
    "a length below zero": b"Content-Length: -2\r\n\r\n{}",
    "a length beyond all": b"Content-Length: 99999999999999999999\r\n\r\n{}",
    "space before the colon": b"Content-Length : 2\r\n\r\n{}",
    "a folded header": b"X: a\r\n b\r\nContent-Length: 2\r\n\r\n{}",
    "a bare CR": b"X: a\rContent-Length: 2\r\n\r\n{}",
    "a NUL": b"X: \x00\r\nContent-Length: 2\r\n\r\n{}",
    "a chunk of words": b"Transfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n",
    "a chunk that overflows": b"Transfer-Encoding: chunked\r\n\r\n" + b"f" * 17 + b"\r\n{}",
    "a chunk without its end": b"Transfer-Encoding: chunked\r\n\r\n2\r\n{}X0\r\n\r\n",
}


@pytest.mark.parametrize("how", SMUGGLED)
def test_d8_an_answer_that_can_be_read_in_two_ways_is_none(how):
    """It ends the connection, so that nothing of it can be taken for the next answer."""

    async def asked():
        step = saying(b"HTTP/1.1 200 OK\r\n" + SMUGGLED[how])
        settings = HttpSettings(request_timeout=5)
        async with serving(step) as server, opened(server, settings) as transport:
            with pytest.raises(Unavailable, match="does not answer in HTTP"):
                await transport.get(ONE)
            return await transport.get(ONE), server.connections

    assert run(asked()) == (DOCUMENT, 2)


@pytest.mark.parametrize(
    "said", [b"H", b"\0", answer()[:20], answer(100, b"")], ids=["H", "NUL", "head", "interim"]
)
def test_a_byte_too_many_ends_the_connection(said):
    """However little follows an answer, the connection is not used again."""

    async def asked():
        async with serving(saying(answer() + said)) as server, opened(server) as transport:
            return [await transport.get(ONE), await transport.get(ONE)], server.connections

    assert run(asked()) == ([DOCUMENT, DOCUMENT], 2)


def test_another_protocol_is_not_spoken(caplog):
    """A server that switches protocols unasked has not answered; nothing is logged as our fault."""

    async def asked():
        head = b"HTTP/1.1 101 Switching\r\nConnection: upgrade\r\nUpgrade: h2c\r\n\r\n\0\0"
        async with serving(saying(head)) as server, opened(server) as transport:
            await transport.get(ONE)

    with (
        caplog.at_level(logging.ERROR),
        pytest.raises(Unavailable, match="protocol that was not requested"),
    ):
        run(asked())
    assert not caplog.records


def test_an_answer_before_all_was_sent_ends_the_connection():
    """The rest of an unread body is never taken for the next response."""

    async def asked():
        connections = 0

        async def hasty(reader, writer):
            nonlocal connections
            connections += 1
            await reader.readuntil(b"\r\n\r\n")
            said = status(413, "RequestEntityTooLarge")
            writer.write(answer(413, said) if connections == 1 else answer())
            await asyncio.Event().wait()

        async with listening(hasty) as port, opened(f"http://127.0.0.1:{port}") as transport:
            with pytest.raises(TooLarge):
                await transport.update(ONE, {"data": "x" * 20_000_000}, PLAIN_WRITE)
            return await transport.get(ONE), connections

    assert run(asked()) == (DOCUMENT, 2)


def test_a_request_whose_time_is_over_is_not_sent():
    """What took its whole time to get a connection is not sent only to be given up at once."""

    async def asked():
        loop = asyncio.get_running_loop()
        async with serving() as server:
            transport, wire = await loop.create_connection(HttpConnection, "127.0.0.1", server.port)
            with pytest.raises(NotSent, match="no time was left"):
                await wire.ask(
                    b"PUT / HTTP/1.1\r\n\r\n", ResponseLimits(loop.time(), 1.0, 10), whole=True
                )
            transport.close()
            await wire.gone
            return server.requests

    assert run(asked()) == []


def test_a_connection_that_ended_while_it_was_made_is_not_used():
    """TLS may have ended by the time its start is reported."""

    async def asked():
        loop = asyncio.get_running_loop()

        async def closing(_reader, writer):
            writer.close()

        async with listening(closing) as port:
            transport, wire = await loop.create_connection(HttpConnection, "127.0.0.1", port)
            await wire.gone
            wire.connection_made(transport)
            assert not wire.is_idle
            with pytest.raises(NotSent):
                await wire.ask(b"", ResponseLimits(loop.time() + 1, 1.0, 10), whole=True)

    run(asked())


@pytest.mark.parametrize(("used", "kind"), [(False, NotSent), (True, Lost)])
def test_an_alert_over_the_certificate_is_only_harmless_at_first(used, kind):
    """A connection that was used has passed TLS, so what was sent over it may have happened."""

    async def asked():
        loop = asyncio.get_running_loop()
        async with serving(silent) as server:
            transport, wire = await loop.create_connection(HttpConnection, "127.0.0.1", server.port)
            wire.idle_since = loop.time() if used else 0.0
            asking = wire.ask(
                b"PUT / HTTP/1.1\r\n\r\n", ResponseLimits(loop.time() + 9, 9, 9), whole=True
            )
            transport.set_protocol(asyncio.Protocol())  # from here on the test is the transport
            alert = ssl.SSLError(1, "alert")
            alert.reason = "TLSV13_ALERT_CERTIFICATE_REQUIRED"
            wire.connection_lost(alert)
            transport.abort()
            await asking

    with pytest.raises(kind):
        run(asked())


def test_connections_of_an_old_certificate_are_not_kept(tmp_path):
    """One that was in use when the certificate was replaced is closed after its answer."""

    async def asked():
        seen: list[str] = []
        go_on = asyncio.Event()

        async def noting(writer):
            seen.append(writer.get_extra_info("peercert")["subject"][0][0][1])
            writer.write(answer())

        async def late(writer):
            await go_on.wait()
            await noting(writer)

        shown = Shown(client=OURS.sign("old"))
        tls = OURS.asking(OURS.server(tmp_path))
        async with (
            serving(late, *[noting] * 3, tls=tls) as server,
            opened(server, authority=OURS.pem, credentials=shown) as transport,
        ):
            first = asyncio.create_task(transport.get(ONE))
            await server.asked.wait()
            shown.client = OURS.sign("new")
            await transport.get(ONE)
            go_on.set()
            await first
            for _ in range(2):
                await transport.get(ONE)
            return seen

    assert run(asked()) == ["new", "old", "new", "new"]


def test_idle_connections_are_closed_in_time():
    """Also when there are no more requests."""

    async def asked():
        settings = HttpSettings(idle_timeout=0.05)
        async with serving() as server, opened(server, settings) as transport:
            await asyncio.gather(*(transport.get(ONE) for _ in range(3)))
            made = server.open
            await until(lambda: server.open == 0)
            return made, await transport.get(ONE)

    made, document = run(asked())
    assert made > 0
    assert document == DOCUMENT


@pytest.mark.parametrize(
    ("method", "path", "media"),
    [
        ("GET", "/version HTTP/1.1\r\nX: y", "application/json"),
        ("GET", "/a b", "application/json"),
        ("GET", "/\u00e4", "application/json"),
        ("GET", "version", "application/json"),
        ("GET /x HTTP/1.1\r\n\r\nPUT", "/version", "application/json"),
        ("HEAD", "/version", "application/json"),
        ("POST", "/version", "a\r\nX: y"),
    ],
    ids=["line", "space", "letter", "relative", "method", "HEAD", "media"],
)
def test_a_request_that_would_be_two_is_refused(method, path, media):
    """Nothing is sent that a server could read in another way than it was meant."""

    async def asked():
        async with serving() as server, opened(server) as transport:
            with pytest.raises(BadRequest):
                await transport.call(method, path, body=b"{}", media=media)
            return server.requests

    assert run(asked()) == []


def test_a_write_refused_with_words_is_sent_once():
    """A 401 without new credentials is no reason to send a write again."""

    async def asked():
        async with serving(refused(401, "Unauthorized")) as server, opened(server) as transport:
            with suppress(ApiError):
                await transport.update(ONE, DOCUMENT, PLAIN_WRITE)
            return len(server.requests)

    assert run(asked()) == 1
