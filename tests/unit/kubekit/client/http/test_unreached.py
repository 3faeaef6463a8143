"""Servers that are not reached: nothing is sent, and the error says what to check."""

import asyncio
import socket

import pytest

from kubekit.api.errors import Unavailable
from kubekit.client.http.connections import HttpConnection
from kubekit.client.http.exchanges import ResponseLimits
from kubekit.client.http.failures import NotSent
from kubekit.client.http.settings import HttpSettings
from kubekit.client.options import PLAIN_WRITE
from tests.unit.kubekit.client.http.scripted import (
    DOCUMENT,
    MAPS,
    ONE,
    answer,
    opened,
    run,
    serving,
)


def test_a_server_that_is_not_there():
    """Where no server listens nothing was sent, and the error says what to check."""

    async def asked():
        async with serving() as server:
            url = server.url
        async with opened(url, HttpSettings(attempts=2)) as transport:
            with pytest.raises(Unavailable) as caught:
                await transport.create(MAPS, DOCUMENT, PLAIN_WRITE)
            return caught.value.message, url

    message, url = run(asked())
    assert message == (
        f'POST configmaps in namespace "room": the server {url} was not reached, so nothing was '
        f"sent: no connection to {url}: connection refused; is it running, and are its address, "
        "the VPN and the proxy settings right?"
    )


@pytest.mark.parametrize("host", ["nowhere.invalid", "ä.invalid", "ä" * 70])
def test_a_host_that_does_not_exist(host):
    """The message contains an unknown host name."""

    async def asked():
        async with opened(f"http://{host}", HttpSettings(attempts=1)) as transport:
            await transport.get(ONE)

    with pytest.raises(Unavailable, match=r"there is no host .*; check the address, the DNS"):
        run(asked())


def test_a_host_of_several_addresses():
    """An address that does not answer takes no more than its share; the next one is tried."""

    class Loop(asyncio.SelectorEventLoop):
        async def getaddrinfo(self, host, port, **_said):
            assert host == "both.example.com"
            return [(None, None, None, "", (to, port)) for to in ("127.0.0.2", "127.0.0.1")]

    async def asked():
        async with serving() as server:
            with socket.socket() as deaf, socket.socket() as waiting:
                deaf.bind(("127.0.0.2", server.port))
                deaf.listen(0)
                waiting.connect(deaf.getsockname())  # all that fit in
                settings = HttpSettings(connect_timeout=0.5)
                url = f"http://both.example.com:{server.port}"
                async with opened(url, settings) as transport:
                    return await transport.get(ONE)

    with asyncio.Runner(loop_factory=Loop) as runner:
        assert runner.run(asked()) == DOCUMENT


def test_a_connection_that_was_never_made_sends_nothing():
    """A wire without a connection says that nothing was sent."""

    async def asked():
        wire = HttpConnection()
        wire.close()
        wire.abort()
        wire.ask(b"", ResponseLimits(0.0, 0.0, 0), whole=True)

    with pytest.raises(NotSent, match="closed before it was used"):
        run(asked())


def test_a_server_that_comes_back_is_reached():
    """What could not be sent is sent once the server is there, once."""

    async def asked():
        async with serving() as server:
            port = server.port
        requests: list[bytes] = []

        async def serve(reader, writer):
            requests.append(await reader.readuntil(b"\r\n\r\n"))
            writer.write(answer())
            writer.close()

        async def start():
            return await asyncio.start_server(serve, "127.0.0.1", port)

        async with opened(f"http://127.0.0.1:{port}") as transport:
            asking = asyncio.create_task(transport.create(MAPS, {}, PLAIN_WRITE))
            await asyncio.sleep(0)
            listening = await start()
            document = await asking
            listening.close()
        return document, len(requests)

    assert run(asked()) == (DOCUMENT, 1)
