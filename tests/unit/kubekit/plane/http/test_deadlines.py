"""Slow, idle and excess connections are closed; a client that waits for us gets an error."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest

from kubekit.plane.http.connection.peers import Peers
from kubekit.plane.http.connection.protocol import HttpServerProtocol
from kubekit.plane.http.limits import Limits
from kubekit.plane.http.messages import Response, ServerRequest
from tests.support.kubekit.http_builders import (
    Peer,
    connected,
    environment,
    handling,
    settled,
    until,
)

HEAD = b"GET / HTTP/1.1\r\nHost: localhost\r\n"
BODY = b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000\r\n\r\n"
PATIENT = Limits(tick=0.01)


def answer(_request: ServerRequest) -> Response:
    return Response(200, b"{}")


def never(_request: ServerRequest) -> asyncio.Future[Response]:
    return asyncio.get_running_loop().create_future()


class Flood:
    """A stream with more data than the client reads, endless or at its end."""

    def __init__(self, *, ending: bool) -> None:
        self.ending = ending
        self.ended = False
        self.closed = False

    def start(self, ready: Callable[[], None]) -> None:
        return

    def take(self) -> Sequence[bytes]:
        self.ended = self.ending
        return [b"x" * 99_999 + b"\n"] * 300

    def close(self) -> None:
        self.closed = True


class Quiet(Flood):
    """A stream with nothing to say."""

    def take(self) -> Sequence[bytes]:
        return ()


@pytest.mark.parametrize(
    ("sent", "limits"),
    [
        (b"GET / HT", replace(PATIENT, header_time=0.05)),
        (HEAD + b"X: y\r\n", replace(PATIENT, header_time=0.05)),
        (BODY + b"abc", replace(PATIENT, body_time=0.05)),
        (BODY, replace(PATIENT, body_time=0.05)),
    ],
    ids=["line", "headers", "body", "no body"],
)
def test_d5_a_request_that_does_not_come_to_its_end_is_refused(sent, limits):
    """A slow writer gets 408 and is closed, before its request is handled."""

    async def story():
        async with handling(answer, limits) as port, connected(port) as peer:
            reply = await peer.ask(sent)
            return reply, await peer.rest()

    reply, rest = asyncio.run(story())
    assert (reply.code, reply.document["reason"], rest) == (408, "Timeout", b"")


def test_d5_a_trickle_of_headers_does_not_prolong_the_time():
    """The clock runs from the first byte of a request, not from the last one that came."""

    async def story():
        limits = replace(PATIENT, header_time=0.1)
        async with handling(answer, limits) as port, connected(port) as peer:
            trickle = asyncio.ensure_future(_trickle(peer, HEAD + b"X: " + b"y" * 10_000))
            reply = await peer.reply()
            trickle.cancel()
            return reply.code

    assert asyncio.run(story()) == 408


def test_a_body_that_keeps_its_rate_may_take_its_time():
    """After its time is used up, a body must only have come as fast as the rate."""

    async def story():
        limits = replace(PATIENT, body_time=0.02, body_rate=10)
        async with handling(answer, limits) as port, connected(port) as peer:
            await peer.send(BODY + b"x" * 99_999)
            await _ticks(limits, 5)
            return (await peer.ask(b"x")).code

    assert asyncio.run(story()) == 200


def test_d5_an_idle_connection_is_closed():
    """Without a word: no request is under way that could be refused."""

    async def story():
        limits = replace(PATIENT, idle_time=0.05)
        async with handling(answer, limits) as port, connected(port) as peer:
            first = await peer.ask(HEAD + b"\r\n")
            return first.code, await peer.rest()

    assert asyncio.run(story()) == (200, b"")


def test_d5_a_request_without_a_response_in_time_gets_an_error():
    """The caller learns that the outcome is not known, and the connection ends."""

    async def story():
        limits = replace(PATIENT, request_time=0.05)
        async with handling(never, limits) as port, connected(port) as peer:
            reply = await peer.ask(HEAD + b"\r\n")
            return reply, await peer.rest()

    reply, rest = asyncio.run(story())
    assert (reply.code, reply.document["reason"], rest) == (504, "Timeout", b"")


@pytest.mark.parametrize(
    ("ending", "limits"),
    [
        (False, replace(PATIENT, stall_time=0.05)),
        (True, replace(PATIENT, stall_time=60.0, drain_time=0.05)),
    ],
    ids=["endless", "its last bytes"],
)
def test_d5_a_watcher_that_does_not_read_is_cut_off(ending, limits):
    """Its buffer is full and stays full: the connection is dropped and the watch released."""
    flood = Flood(ending=ending)

    async def story():
        async with (
            handling(lambda _: Response(200, flood), limits) as port,
            connected(port) as peer,
        ):
            peer.transport.pause_reading()
            await peer.send(HEAD + b"\r\n")
            await _eventually(lambda: flood.closed)

    asyncio.run(story())
    assert flood.closed


def test_a_watch_with_too_many_pipelined_requests_is_closed():
    """Nothing is read from it any more, so that it has left would never be found out."""
    quiet = Quiet(ending=False)

    async def story():
        stream_for = {"GET": Response(200, quiet)}
        limits = replace(PATIENT, stall_time=60.0)
        async with handling(lambda r: stream_for.get(r.method, answer(r)), limits) as port:
            async with connected(port) as peer:
                await peer.send(HEAD + b"\r\n" + BODY + b"x" * 100_000)
                await peer.reader.readuntil(b"\r\n\r\n")
            await _eventually(lambda: quiet.closed)

    asyncio.run(story())


def test_d5_a_reader_that_does_not_read_its_answer_is_cut_off():
    """A response that is not read does not live longer than a request may."""
    limits = replace(PATIENT, request_time=0.05)
    gone = []

    async def story():
        def handler(_request: ServerRequest) -> Response:
            return Response(200, b"x" * 50_000_000)

        async with handling(handler, limits) as port, connected(port) as peer:
            peer.transport.pause_reading()
            await peer.send(HEAD + b"\r\n")
            await settled(lambda: 0)
            await _ticks(limits, 10)
            peer.transport.resume_reading()
            try:
                gone.append(len(await peer.rest()) < 50_000_000)
            except ConnectionError:
                gone.append(True)

    asyncio.run(story())
    assert gone == [True]


def test_a_peer_that_never_reads_the_last_response_is_closed():
    """A close waits for what is still to be written, but not indefinitely."""
    limits = replace(PATIENT, slice=1 << 25, idle_time=0.02, drain_time=0.02)

    def last(_request: ServerRequest) -> Response:
        return Response(200, b"x" * (1 << 24), close=True)

    async def story():
        loop, peers = asyncio.get_running_loop(), Peers(limits, environment())
        peers.open(loop)
        server = await loop.create_server(
            lambda: HttpServerProtocol(last, limits, peers), "127.0.0.1", 0
        )
        async with connected(server.sockets[0].getsockname()[1]) as peer:
            peer.transport.pause_reading()
            await peer.send(HEAD + b"\r\n")
            await until(lambda: len(peers) == 1)
            await _eventually(lambda: len(peers) == 0)
        server.close()

    asyncio.run(story())


def test_d5_one_connection_too_many_is_refused():
    """It hears 429 and when to try again; the others are not disturbed, and room comes back."""

    async def story():
        limits = replace(PATIENT, connections=1)
        async with handling(answer, limits) as port, connected(port) as first:
            await first.ask(HEAD + b"\r\n")
            async with connected(port) as second:
                refused, rest = await second.reply(), await second.rest()
            served = await first.ask(HEAD + b"\r\n")
        return refused, rest, served.code

    refused, rest, served = asyncio.run(story())
    assert (refused.code, refused.headers["retry-after"], rest) == (429, "1", b"")
    assert served == 200


def test_what_comes_after_a_refusal_is_thrown_away():
    """The peer may finish its sentence, within bounds, and reads the refusal in peace."""

    async def story():
        async with handling(answer, PATIENT) as port, connected(port) as peer:
            await peer.send(BODY.replace(b"100000", b"99999999"))
            reply = await peer.reply()
            try:
                await peer.send(b"x" * 20_000_000)
                rest = await peer.rest()
            except ConnectionError:
                rest = b""
            return reply.code, rest

    assert asyncio.run(story()) == (413, b"")


def test_d5_hundreds_of_slow_writers_do_not_slow_a_normal_client():
    """Half a request each: they cost a little memory, and no time of others."""

    async def story():
        limits = replace(PATIENT, header_time=30.0)
        async with handling(answer, limits) as port:
            slow = [await asyncio.open_connection("127.0.0.1", port) for _ in range(300)]
            for _, writer in slow:
                writer.write(b"GET / HTTP/1.1\r\nX: ")
            async with connected(port) as peer:
                codes = [(await peer.ask(HEAD + b"\r\n")).code for _ in range(200)]
            for _, writer in slow:
                writer.transport.abort()
            return codes

    assert asyncio.run(story()) == [200] * 200


# Sockets cannot run on a virtual clock, so these wait in earnest, on limits shortened to match.


async def _trickle(peer: Peer, data: bytes) -> None:
    for byte in data:
        await peer.send(bytes([byte]))
        await asyncio.sleep(0.002)


async def _ticks(limits: Limits, count: int) -> None:
    await asyncio.sleep(limits.tick * count)


async def _eventually(condition: Callable[[], bool]) -> None:
    for _ in range(500):
        if condition():
            return
        await asyncio.sleep(0.01)
    await until(condition)
