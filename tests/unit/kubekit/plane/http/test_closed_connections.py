"""What is left of a connection that is closed: nothing, and without the garbage collector's help."""

import asyncio
import gc
import weakref

import pytest

from kubekit.plane.http.connection.protocol import HttpServerProtocol
from tests.support.kubekit.http_builders import (
    CONFIG_MAPS,
    connected,
    request,
    serving,
    trusted,
    until,
)
from tests.unit.kubekit.plane.http.certificates.test_tls import LOOPS, on

WATCH = request("GET", f"{CONFIG_MAPS}?watch=true")
ENDS = {
    "after an answer": request("GET", "/version"),
    "after a refusal": b"nonsense\r\n\r\n",
    "in a head": b"GET /version HTTP/1.1\r\nHost:",
    "in a body": request("POST", CONFIG_MAPS, b"{}").removesuffix(b"}"),
    "in a watch": WATCH,
}


@pytest.fixture(autouse=True)
def collector():
    """It is seldom at work in a server, so what only it can free piles up: 30 KB for each."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


@pytest.mark.parametrize("loop", LOOPS)
@pytest.mark.parametrize("sent", ENDS.values(), ids=ENDS.keys())
def test_a_closed_connection_is_freed_at_once(tmp_path, loop, sent):
    """Wherever it ends: nothing that belongs to it refers to it in a circle."""
    certificates, context = trusted(tmp_path)

    async def story() -> None:
        others = living()  # of servers that stand still while this one runs
        async with serving(tmp_path / "plane", tls=certificates) as server:
            async with connected(server.port, context) as peer:
                await until(lambda: len(living()) > len(others))
                known = [weakref.ref(each) for each in living() if each not in others]
                await peer.send(sent)
                for _ in range(100):
                    await asyncio.sleep(0)
            await until(lambda: all(each() is None for each in known))

    on(loop, story())


def living() -> list[HttpServerProtocol]:
    return [each for each in gc.get_objects() if isinstance(each, HttpServerProtocol)]
