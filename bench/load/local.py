"""The same work through `LocalClient`, without a socket.

python -m bench.load.local SECONDS     prints a JSON document for each figure
"""

import asyncio
import itertools
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Final

import msgspec
import uvloop

from bench.load import objects
from bench.load.measures import SEEDED
from bench.load.report import percentile
from compute.api.compute import Instance
from compute.app import crds
from compute.app.process import tune_interpreter
from compute.app.system_environment import system
from kubekit.client.options import PLAIN_WRITE
from kubekit.client.transport import ResourceLocation
from kubekit.plane.local import LocalClient
from kubekit.plane.plane import Plane
from kubekit.plane.registry import builtins

CLIENTS: Final = (16, 64)
NAMESPACE: Final = "default"
PLACE: Final = ResourceLocation(Instance.RESOURCE, NAMESPACE)

Operation = Callable[[int, int], Awaitable[object]]


async def main(seconds: float) -> None:
    """Every operation with every number of clients."""
    with tempfile.TemporaryDirectory(prefix="bench-local-") as folder:
        plane = await Plane.open(
            Path(folder) / "plane",
            builtins.native(),
            system(),
            definitions=crds.definitions(),
        )
        client = LocalClient(plane)
        for number in range(SEEDED):
            document = objects.document(NAMESPACE, f"seed-{number}")
            await client.raw.create(PLACE, document, PLAIN_WRITE)
        tune_interpreter()
        for clients in CLIENTS:
            for name, operation in _operations(client, clients).items():
                print(msgspec.json.encode(await _rate(name, operation, clients, seconds)).decode())
        await plane.close()


def _operations(client: LocalClient, clients: int) -> dict[str, Operation]:
    """What each client does at its nth turn. Reads are typed, as controllers do them."""
    raw = client.raw
    status = objects.status()
    blank = objects.document(NAMESPACE, "")

    async def create(me: int, turn: int) -> object:
        metadata = blank["metadata"] | {"name": f"new-{clients}-{me}-{turn}"}
        return await raw.create(PLACE, blank | {"metadata": metadata}, PLAIN_WRITE)

    async def get(me: int, turn: int) -> object:
        return await raw.get(_seed(me, turn, clients))

    async def update(me: int, turn: int) -> object:
        place = _seed(me, turn, clients)
        document = await raw.get(place)
        first = status["conditions"][0] | {"message": f"at {time.monotonic_ns()}"}
        document["status"] = status | {"conditions": [first, *status["conditions"][1:]]}
        there = ResourceLocation(place.resource, place.namespace, place.name, "status")
        return await raw.update(there, document, PLAIN_WRITE)

    async def typed_get(me: int, turn: int) -> object:
        return await client.get(Instance, _seed(me, turn, clients).name, NAMESPACE)

    return {"create": create, "get": get, "status": update, "typed get": typed_get}


def _seed(me: int, turn: int, clients: int) -> ResourceLocation:
    number = (me + turn * clients) % SEEDED
    return ResourceLocation(Instance.RESOURCE, NAMESPACE, f"seed-{number}")


async def _rate(name: str, operation: Operation, clients: int, seconds: float) -> dict[str, object]:
    took: list[int] = []
    start = time.monotonic_ns()
    end = start + int(seconds * 1e9)

    async def one(me: int) -> None:
        for turn in itertools.count():
            started = time.monotonic_ns()
            if started >= end:
                return
            await operation(me, turn)
            took.append(time.monotonic_ns() - started)

    await asyncio.gather(*(one(me) for me in range(clients)))
    rate = len(took) / (time.monotonic_ns() - start) * 1e9
    notes = f"p99 {percentile(took, 0.99):.3g} ms"
    return {"name": name, "clients": clients, "rate": rate, "notes": notes}


if __name__ == "__main__":
    uvloop.run(main(float(sys.argv[1])))
