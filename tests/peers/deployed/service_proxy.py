"""A Service on loopback: connections to one port go to whichever of its Pods accepts them.

python -m tests.peers.deployed.service_proxy PORT TARGET...
"""

import asyncio
import sys
from collections.abc import Sequence

_HOST = "127.0.0.1"
_CHUNK = 1 << 16


async def serve(port: int, targets: Sequence[int]) -> None:
    """Forward connections until the process is ended."""

    async def forward(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        pod = await _connection(targets)
        if pod is None:
            writer.close()
            return
        pod_reader, pod_writer = pod
        await asyncio.gather(_copy(reader, pod_writer), _copy(pod_reader, writer))

    server = await asyncio.start_server(forward, _HOST, port)
    await server.serve_forever()


async def _connection(
    targets: Sequence[int],
) -> tuple[asyncio.StreamReader, asyncio.StreamWriter] | None:
    for target in targets:
        try:
            return await asyncio.open_connection(_HOST, target)
        except OSError:
            continue
    return None


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while data := await reader.read(_CHUNK):
            writer.write(data)
            await writer.drain()
    except OSError:
        pass
    finally:
        writer.close()


if __name__ == "__main__":
    first, *others = map(int, sys.argv[1:])
    asyncio.run(serve(first, others))
