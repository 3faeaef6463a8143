"""The small server: what it answers, and what it does not put up with, plain and over TLS."""

import asyncio
import ssl
from collections.abc import Awaitable, Callable
from dataclasses import replace

import pytest

from kubekit.runtime.serving.http_server import HttpServer, ListenFailed, ServingSettings
from kubekit.runtime.serving.messages import IncomingRequest, OutgoingResponse, text_response
from kubekit.runtime.serving.request_parser import ServingLimits
from kubekit.runtime.serving.tls import PemFiles, load_certificate
from tests.support.kubekit.http_builders import Peer, until
from tests.support.kubekit.serving_builders import (
    LOOPS,
    TestAuthority,
    http_server,
    peer_of,
    run_on,
)

LIMITS = ServingLimits(body=64 * 1024, bodies=256 * 1024, connections=8)
QUICK = replace(
    LIMITS, handshake_time=0.2, head_time=0.2, body_time=0.2, idle_time=0.2, linger_time=0.2
)
GET = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"
HOST = b"Host: x\r\n"
POST = b"POST / HTTP/1.1\r\nHost: x\r\n"

Connect = Callable[[], Awaitable[Peer]]


async def echo(request: IncomingRequest) -> OutgoingResponse:
    shown = f"{request.method} {request.path}?{request.query} {len(request.body)}"
    return text_response(200, shown)


class FixedTls:
    """A certificate that never changes."""

    def __init__(self, authority: TestAuthority) -> None:
        self.certificate = load_certificate(PemFiles(*authority.issue("server")), "test")

    def context(self) -> ssl.SSLContext:
        return self.certificate.context


@pytest.fixture(scope="module")
def authority() -> TestAuthority:
    return TestAuthority.new()


@pytest.mark.parametrize("loop", LOOPS)
@pytest.mark.parametrize("secure", [False, True], ids=["plain", "TLS"])
def test_requests_of_one_connection_are_answered_in_order(loop, secure, authority):
    """Kept open, pipelined, in pieces, chunked, with a large body: each gets its response."""

    async def story() -> None:
        tls = FixedTls(authority) if secure else None
        async with (
            http_server(echo, LIMITS, tls) as server,
            peer_of(server, authority.trusting() if secure else None) as peer,
        ):
            assert (await peer.ask(GET)).body == b"GET /? 0"
            await peer.send(GET + b"GET /a?b=c HTTP/1.1\r\nHost: x\r\n\r\n")
            assert [(await peer.reply()).body for _ in range(2)] == [b"GET /? 0", b"GET /a?b=c 0"]
            for byte in GET:
                await peer.send(bytes((byte,)))
            assert (await peer.reply()).body == b"GET /? 0"
            large = b"x" * LIMITS.body
            reply = await peer.ask(POST + b"Content-Length: %d\r\n\r\n" % len(large) + large)
            assert reply.body == b"POST /? 65536"
            chunked = b"Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n1\r\nd\r\n0\r\n\r\n"
            assert (await peer.ask(POST + chunked)).body == b"POST /? 4"
            assert server.connections == 1
            reply = await peer.ask(
                b"GET http://x/a HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
            )
            assert (reply.body, reply.headers["connection"]) == (b"GET /a? 0", "close")
            assert await peer.rest() == b""
            await until(lambda: server.connections == 0)

    run_on(loop, story())


def test_a_head_has_no_body_and_a_large_body_is_invited():
    """A client may ask before it sends much."""

    async def story() -> None:
        async with http_server(echo, LIMITS) as server, peer_of(server) as peer:
            await peer.send(b"HEAD / HTTP/1.1\r\nHost: x\r\n\r\n")
            reply = await peer.reply(bodiless=True)
            assert (reply.code, reply.headers["content-length"]) == (200, "9")
            await peer.send(POST + b"Expect: 100-continue\r\nContent-Length: 2\r\n\r\n")
            assert (await peer.reply()).code == 100
            assert (await peer.ask(b"ab")).body == b"POST /? 2"

    asyncio.run(story())


REFUSED = {
    "two different lengths": (400, POST + b"Content-Length: 2\r\nContent-Length: 3\r\n\r\nab"),
    "two equal lengths": (400, POST + b"Content-Length: 2\r\nContent-Length: 2\r\n\r\nab"),
    "a list of lengths": (400, POST + b"Content-Length: 2, 2\r\n\r\nab"),
    "a negative length": (400, POST + b"Content-Length: -2\r\n\r\nab"),
    "a length with a sign": (400, POST + b"Content-Length: +2\r\n\r\nab"),
    "a length of 5000 digits": (400, POST + b"Content-Length: " + b"9" * 5000 + b"\r\n\r\n"),
    "a length and a coding": (
        400,
        POST + b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    ),
    "a coding and a length": (
        400,
        POST + b"Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n",
    ),
    "two codings": (400, POST + b"Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n"),
    "a coding twice": (
        400,
        POST + b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    ),
    "another coding": (400, POST + b"Transfer-Encoding: identity\r\nContent-Length: 2\r\n\r\nab"),
    "a coding in HTTP/1.0": (
        400,
        b"POST / HTTP/1.0\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    ),
    "a chunk size of garbage": (400, POST + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n"),
    "a chunk size that overflows": (
        400,
        POST + b"Transfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\n",
    ),
    "a blank before the colon": (400, POST + b"Content-Length : 2\r\n\r\nab"),
    "a folded header": (400, b"GET / HTTP/1.1\r\nHost: x\r\nA: b\r\n c\r\n\r\n"),
    "bare line feeds": (400, b"GET / HTTP/1.1\nHost: x\n\n"),
    "a NUL": (400, b"GET / HTTP/1.1\r\nHost: x\r\nA: b\x00c\r\n\r\n"),
    "two hosts": (400, b"GET / HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n"),
    "HTTP/0.9": (400, b"GET /\r\n\r\n"),
    "HTTP/2": (400, b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
    "garbage": (400, b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n"),
    "an unknown method": (400, b"FROB / HTTP/1.1\r\nHost: x\r\n\r\n"),
    "another protocol": (
        400,
        b"GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n",
    ),
    "a tunnel": (400, b"CONNECT a:80 HTTP/1.1\r\nHost: x\r\n\r\n"),
    "a target without a path": (400, b"GET ftp://a/b HTTP/1.1\r\nHost: x\r\n\r\n"),
    "another expectation": (417, POST + b"Expect: 200-ok\r\nContent-Length: 2\r\n\r\nab"),
    "a long URL": (414, b"GET /" + b"x" * 9000 + b" HTTP/1.1\r\nHost: x\r\n\r\n"),
    "a head without an end": (431, b"GET / HTTP/1.1\r\nA: " + b"x" * 90_000),
    "many headers": (431, b"GET / HTTP/1.1\r\n" + b"A: b\r\n" * 101 + b"\r\n"),
    "line ends without a request": (431, b"\r\n" * 40_000 + b"x"),
    "a large body": (413, POST + b"Content-Length: 65537\r\n\r\n"),
    "a large body in chunks": (
        413,
        POST + b"Transfer-Encoding: chunked\r\n\r\n" + b"8000\r\n" + b"x" * 0x8000 + b"\r\n" * 1
        + (b"8000\r\n" + b"x" * 0x8000 + b"\r\n") * 2,
    ),
    "many trailers": (
        431,
        POST + b"Transfer-Encoding: chunked\r\n\r\n0\r\n" + b"A: b\r\n" * 101 + b"\r\n",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("code", "raw"), REFUSED.values(), ids=REFUSED)
def test_what_is_ambiguous_or_too_large_is_refused_and_the_connection_closed(code, raw):
    """The handler sees none of it, nor what comes after it, and other clients are served."""

    async def story() -> None:
        seen: list[IncomingRequest] = []

        async def note(request: IncomingRequest) -> OutgoingResponse:
            seen.append(request)
            return await echo(request)

        async with http_server(note, replace(LIMITS, linger_time=0.5)) as server:
            async with peer_of(server) as peer:
                await peer.send(raw + GET)
                reply = await peer.reply()
                assert (reply.code, reply.headers["connection"]) == (code, "close")
                assert await peer.rest() == b""
                assert not seen
            async with peer_of(server) as peer:
                assert (await peer.ask(GET)).code == 200

    asyncio.run(story())


@pytest.mark.parametrize("secure", [False, True], ids=["plain", "TLS"])
@pytest.mark.parametrize(
    ("part", "code"),
    [
        (b"", b""),
        (b"GET / HT", b"408"),
        (POST + b"Content-Length: 10\r\n\r\n1234", b"408"),
        (GET, b"200"),  # an idle connection is closed without a word
    ],
    ids=["nothing", "half a head", "half a body", "a request and nothing more"],
)
def test_a_slow_peer_is_left(secure, part, code, authority):
    """Each part of a request has its time."""

    async def story() -> None:
        tls = FixedTls(authority) if secure else None
        async with (
            http_server(echo, QUICK, tls) as server,
            peer_of(server, authority.trusting() if secure else None) as peer,
        ):
            await peer.send(part)
            async with asyncio.timeout(10):
                answer = await peer.rest()
            assert answer.partition(b" ")[2][:3] == code
            await until(lambda: server.connections == 0)

    asyncio.run(story())


def test_a_peer_that_sends_a_byte_now_and_then_gains_no_time():
    """The deadline is that of the whole head."""

    async def story() -> None:
        async with http_server(echo, QUICK) as server, peer_of(server) as peer:
            reply = asyncio.ensure_future(peer.rest())
            try:
                for byte in GET * 100:
                    await peer.send(bytes((byte,)))
                    done, _ = await asyncio.wait([reply], timeout=0.05)
                    if done:
                        break
            except OSError:
                pass
            assert (await reply).split()[1] == b"408"

    asyncio.run(story())


def test_a_peer_that_does_not_read_its_response_is_left():
    """It costs one response, for a while."""

    async def story() -> None:
        async def much(request: IncomingRequest) -> OutgoingResponse:
            return OutgoingResponse(200, request.method.encode() * (8 << 20))

        async with (
            http_server(much, replace(LIMITS, write_time=0.2)) as server,
            peer_of(server) as peer,
        ):
            peer.transport.pause_reading()
            await peer.send(GET)
            await until(lambda: server.connections == 1)
            await until(lambda: server.connections == 0)
            peer.transport.abort()

    asyncio.run(story())


@pytest.mark.parametrize("loop", LOOPS)
def test_a_handshake_that_does_not_come_or_is_garbage_ends(loop, authority, caplog):
    """Both are left, and the log has one line for any number of the same kind."""

    async def story() -> None:
        async with http_server(echo, QUICK, FixedTls(authority)) as server:
            for part in (b"", b"\x16\x03\x01", GET, GET, b"\x00" * 1000):
                async with peer_of(server) as peer:
                    await peer.send(part)
                    async with asyncio.timeout(10):
                        assert await _ended(peer)
            async with peer_of(server, authority.trusting()) as peer:
                assert (await peer.ask(GET)).code == 200
            await until(lambda: server.connections == 0)

    run_on(loop, story())
    reasons = [vars(each)["why"] for each in caplog.records if each.levelname == "WARNING"]
    assert len(reasons) == len(set(reasons)) <= 2
    assert "HTTP_REQUEST" in reasons


async def _ended(peer: Peer) -> bool:
    """Whether nothing but an alert of TLS came back."""
    try:
        return b"HTTP/" not in await peer.rest()
    except ConnectionError:
        return True


@pytest.mark.parametrize("secure", [False, True], ids=["plain", "TLS"])
def test_idle_connections_make_room_for_new_ones(secure, authority):
    """The one that waits longest goes first; one whose request is answered stays."""

    async def story() -> None:
        gate = asyncio.Event()

        async def slow(request: IncomingRequest) -> OutgoingResponse:
            await gate.wait()
            return await echo(request)

        tls = FixedTls(authority) if secure else None
        trusting = authority.trusting() if secure else None
        async with http_server(slow, LIMITS, tls) as server, peer_of(server, trusting) as busy:
            await busy.send(GET)
            await until(lambda: server.busy == 1)
            crowd = [
                await asyncio.open_connection("127.0.0.1", server.address.port) for _ in range(40)
            ]
            async with peer_of(server, trusting) as peer:
                gate.set()
                assert (await peer.ask(GET)).code == 200
                assert (await busy.reply()).code == 200
                assert server.connections <= LIMITS.connections
            for _, writer in crowd:
                writer.transport.abort()

    asyncio.run(story())


def test_a_server_full_of_busy_connections_refuses_more(caplog):
    """Requests that are being answered are never dropped for new ones."""

    async def story() -> None:
        gate = asyncio.Event()

        async def slow(request: IncomingRequest) -> OutgoingResponse:
            await gate.wait()
            return await echo(request)

        async with (
            http_server(slow, replace(LIMITS, connections=2)) as server,
            peer_of(server) as first,
            peer_of(server) as second,
        ):
            await first.send(GET)
            await second.send(GET)
            await until(lambda: server.busy == 2)
            for _ in range(3):
                async with peer_of(server) as third:
                    assert await _ended(third)
            gate.set()
            assert [(await each.reply()).code for each in (first, second)] == [200, 200]

    asyncio.run(story())
    warnings = [each for each in caplog.records if each.levelname == "WARNING"]
    assert [each.msg for each in warnings] == ["too many connections"]


def test_bodies_of_all_connections_together_are_limited():
    """Many large requests at once cannot exhaust the memory; the bytes are given back."""

    async def story() -> None:
        body = POST + b"Content-Length: 60000\r\n\r\n" + b"x" * 59_999
        async with http_server(echo, replace(LIMITS, bodies=100_000)) as server:
            async with peer_of(server) as first, peer_of(server) as second:
                await first.send(body)
                await until(lambda: server.held_bytes == 59_999)
                assert (await second.ask(body)).code == 503
                assert (await first.ask(b"x")).body == b"POST /? 60000"
            async with peer_of(server) as third:
                assert (await third.ask(body + b"x")).code == 200
            await until(lambda: server.held_bytes == 0)

    asyncio.run(story())


def test_a_peer_that_closes_its_half_still_gets_its_response():
    """As a client that sends a request and the end in one go."""

    async def story() -> None:
        async with http_server(echo, LIMITS) as server, peer_of(server) as peer:
            await peer.send(GET)
            peer.writer.write_eof()
            assert (await peer.reply()).code == 200
            assert await peer.rest() == b""

    asyncio.run(story())


def test_an_error_of_the_handler_is_a_response(caplog):
    """The connection goes on."""

    async def story() -> None:
        async def broken(request: IncomingRequest) -> OutgoingResponse:
            raise ValueError(request.path)

        async with http_server(broken, LIMITS) as server, peer_of(server) as peer:
            assert [(await peer.ask(GET)).code for _ in range(2)] == [500, 500]

    asyncio.run(story())
    assert "a request was not answered" in caplog.text


@pytest.mark.parametrize("secure", [False, True], ids=["plain", "TLS"])
def test_closing_finishes_requests_and_closes_idle_connections(secure, authority):
    """The request in flight gets its response, which says that the connection ends."""

    async def story() -> None:
        gate = asyncio.Event()

        async def slow(request: IncomingRequest) -> OutgoingResponse:
            await gate.wait()
            return await echo(request)

        tls = FixedTls(authority) if secure else None
        trusting = authority.trusting() if secure else None
        async with (
            http_server(slow, LIMITS, tls) as server,
            peer_of(server, trusting) as idle,
            peer_of(server, trusting) as busy,
        ):
            await busy.send(GET)
            await until(lambda: server.busy == 1)
            closing = asyncio.ensure_future(server.close(30))
            assert await _ended(idle)
            assert not closing.done()
            with pytest.raises(OSError, match=r"refused|Connect"):
                await asyncio.open_connection("127.0.0.1", server.address.port)
            gate.set()
            reply = await busy.reply()
            assert (reply.code, reply.headers["connection"]) == (200, "close")
            await closing

    asyncio.run(story())


def test_closing_does_not_wait_longer_than_the_grace():
    """A handler that hangs is cancelled."""

    async def story() -> None:
        async def hang(request: IncomingRequest) -> OutgoingResponse:
            await asyncio.Event().wait()
            return await echo(request)

        async with http_server(hang, LIMITS) as server, peer_of(server) as peer:
            await peer.send(GET)
            await until(lambda: server.busy == 1)
            await server.close(0.1)
            assert await _ended(peer)
            assert not server.listening

    asyncio.run(story())


def test_an_address_in_use_is_named():
    """The message says what to do."""

    async def story() -> None:
        async with http_server(echo) as server:
            second = HttpServer("second", echo, ServingSettings(address=server.address))
            with pytest.raises(ListenFailed) as failed:
                await second.start()
            assert str(failed.value) == (
                f"second: cannot listen on {server.address}: the port is in use: choose another, "
                "or end the process that has it"
            )
            await second.close()

    asyncio.run(story())
