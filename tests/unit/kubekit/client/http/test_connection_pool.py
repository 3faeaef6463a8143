"""Connections: how many there are, how long they are kept, and how they end."""

import asyncio
import os
import socket
from contextlib import suppress
from pathlib import Path

import pytest

from kubekit.api.errors import Unavailable
from kubekit.client.http.settings import HttpSettings
from kubekit.client.options import EVERYTHING, PLAIN_WATCH, PLAIN_WRITE
from tests.unit.kubekit.client.http.certificates import Authority
from tests.unit.kubekit.client.http.scripted import (
    DOCUMENT,
    MAPS,
    ONE,
    answer,
    opened,
    run,
    saying,
    serving,
    silent,
)

HEAD = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"


class Gate:
    """A step that waits until it is opened; it counts who waits."""

    def __init__(self) -> None:
        self.opened = asyncio.Event()
        self.most = self.waiting = 0

    async def __call__(self, writer: asyncio.StreamWriter) -> None:
        self.waiting += 1
        self.most = max(self.most, self.waiting)
        await self.opened.wait()
        self.waiting -= 1
        writer.write(answer())


def test_connections_are_bounded():
    """However many ask at once, no more connections are made than allowed, and all get an answer."""

    async def asked():
        gate = Gate()
        async with serving(*[gate] * 20) as server:
            async with opened(server, HttpSettings(connections=3)) as transport:
                asking = [asyncio.create_task(transport.get(ONE)) for _ in range(20)]
                await server.asked.wait()
                gate.opened.set()
                documents = await asyncio.gather(*asking)
            return documents, server.connections, gate.most

    documents, connections, most = run(asked())
    assert documents == [DOCUMENT] * 20
    assert connections <= 3
    assert most <= 3


def test_watches_do_not_take_the_connections_of_requests():
    """With any number of watches open, requests go on."""

    async def asked():
        watching = [saying(HEAD)] * 5
        async with serving(*watching) as server:
            async with opened(server, HttpSettings(connections=1)) as transport:
                streams = [transport.watch(MAPS, PLAIN_WATCH) for _ in range(5)]
                for stream in streams:
                    await stream.__aenter__()
                document = await transport.get(ONE)
                for stream in streams:
                    await stream.__aexit__(None, None, None)
            return document, server.connections

    assert run(asked()) == (DOCUMENT, 6)


def test_waiting_for_a_connection_ends():
    """Waiting for a free connection takes no longer than the timeout of the request."""

    async def asked():
        settings = HttpSettings(connections=1, request_timeout=0.05, attempts=1)
        async with serving(silent) as server, opened(server, settings) as transport:
            holding = asyncio.create_task(transport.list(MAPS, EVERYTHING))
            await server.asked.wait()
            with pytest.raises(Unavailable, match="all 1 connections were in use all the time"):
                await transport.create(MAPS, {}, PLAIN_WRITE)
            holding.cancel()
            return len(server.requests)

    assert run(asked()) == 1


def test_an_idle_connection_is_not_kept_for_long():
    """A connection that was idle for too long is not used again."""

    async def asked():
        async with serving() as server, opened(server, HttpSettings(idle_timeout=0.0)) as transport:
            await transport.get(ONE)
            await asyncio.sleep(0.001)
            await transport.get(ONE)
            return server.connections

    assert run(asked()) == 2


def test_closing_ends_what_is_under_way():
    """A closed client has no connection left; requests and watches under way end with an error."""

    async def asked():
        async with serving(saying(HEAD), silent) as server, opened(server) as transport:
            async with transport.watch(MAPS, PLAIN_WATCH) as stream:
                server.asked.clear()
                asking = asyncio.create_task(transport.get(ONE))
                await server.asked.wait()
                await transport.close()
                with pytest.raises(Unavailable, match="was closed"):
                    await asking
                with pytest.raises(Unavailable):
                    await anext(aiter(stream))
            with pytest.raises(Unavailable, match="the client was closed"):
                await transport.get(ONE)
            return server.lines

    assert len(run(asked())) == 2


def test_closing_while_a_connection_is_made():
    """A connection that comes about after the end is closed, and nothing is sent over it."""

    async def asked():
        async with serving() as server, opened(server, HttpSettings(attempts=1)) as transport:
            asking = asyncio.create_task(transport.create(MAPS, {}, PLAIN_WRITE))
            await asyncio.sleep(0)
            await transport.close()
            with pytest.raises(Unavailable, match="nothing was sent"):
                await asking
            return server.requests

    assert run(asked()) == []


@pytest.mark.slow
def test_closing_does_not_wait_indefinitely(tmp_path):
    """A server that does not say goodbye does not keep a client from closing."""

    async def deaf(writer):
        writer.write(answer())
        await writer.drain()
        writer.transport.pause_reading()
        await silent(writer)

    async def asked():
        authority = Authority("ours")
        tls = authority.server(tmp_path)
        async with (
            serving(deaf, tls=tls) as server,
            opened(server, authority=authority.pem) as transport,
        ):
            await transport.get(ONE)
            async with asyncio.timeout(10):
                await transport.close()
                await transport.close()

    run(asked())


def test_a_peer_that_is_gone_is_found_by_tcp():
    """Connections ask after silence and give up, so that a watch finds a server that vanished."""

    async def asked():
        settings = HttpSettings(keepalive_idle=11, keepalive_timeout=31)
        async with (
            serving(saying(HEAD)) as server,
            opened(server, settings) as transport,
            transport.watch(MAPS, PLAIN_WATCH),
        ):
            return _keep_alive_to(server.port)

    assert run(asked()) == (1, 11, 5, 4, 31_000)


def _keep_alive_to(port: int) -> tuple[int, ...]:
    """The TCP options of the connection of this process to a port."""
    for number in Path("/proc/self/fd").iterdir():
        try:
            found = socket.socket(fileno=os.dup(int(number.name)))
        except OSError:
            continue
        with found, suppress(OSError, IndexError):
            if found.getpeername()[1] == port:
                level = socket.IPPROTO_TCP
                return (
                    found.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE),
                    found.getsockopt(level, socket.TCP_KEEPIDLE),
                    found.getsockopt(level, socket.TCP_KEEPINTVL),
                    found.getsockopt(level, socket.TCP_KEEPCNT),
                    found.getsockopt(level, socket.TCP_USER_TIMEOUT),
                )
    raise AssertionError("there is no connection")
