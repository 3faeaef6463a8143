"""A Service on loopback."""

import asyncio

from tests.peers.deployed import service_proxy
from tests.peers.ports import free_ports


async def echo(reader, writer):
    writer.write(b"pod: " + await reader.readline())
    await writer.drain()
    writer.close()


async def answer(port):
    """What comes back of a line; nothing where no Pod accepts the connection."""
    while True:
        try:
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
        except ConnectionRefusedError:
            await asyncio.sleep(0.01)
            continue
        writer.write(b"hello\n")
        text = await reader.read()
        writer.close()
        return text


def test_a_connection_goes_to_a_pod_that_is_there():
    """Also where the first one is away; where all are, the connection is closed."""
    service, away, pod = free_ports(3)

    async def story():
        proxy = asyncio.create_task(service_proxy.serve(service, [away, pod]))
        assert await answer(service) == b""
        async with await asyncio.start_server(echo, "127.0.0.1", pod):
            assert await answer(service) == b"pod: hello\n"
        proxy.cancel()

    asyncio.run(story())
