"""A server that is killed repeatedly under load keeps every acknowledged write."""

import asyncio
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from random import Random
from typing import Final

import msgspec
import pytest

from kubekit.api.errors import Timeout, Unavailable
from kubekit.api.kinds.core import ConfigMap
from kubekit.client.options import PLAIN_WRITE, WatchOptions
from kubekit.client.transport import Document, ResourceLocation, Transport
from kubekit.plane.plane import DATABASE
from kubekit.plane.store.records import ChangeEvent
from kubekit.plane.store.store import Store
from tests.contract.http_transport import Address, HttpTransport
from tests.durability.mortal_server import TOKEN, MortalServer
from tests.support.kubekit.plane_worlds import environment

StoredValue = tuple[int, str, str]  # revision, name, value

LAST: Final = "last"
RUNS: Final = 110
WRITERS: Final = 8
WATCHERS: Final = 4
COLLECTION: Final = ResourceLocation(ConfigMap.RESOURCE, "default")
LOST: Final = (Unavailable, Timeout)


@dataclass
class World:
    """The shared state: the server, and the writes that it has acknowledged."""

    server: MortalServer
    chance: Random
    acknowledged: dict[int, tuple[str, str]] = field(default_factory=dict)
    alive: asyncio.Event = field(default_factory=asyncio.Event)
    dead: asyncio.Event = field(default_factory=asyncio.Event)
    over: bool = False
    last_of_run: int = 0

    async def start(self) -> None:
        """Start the server; it is killed after one of the next acknowledgements."""
        await self.server.start()
        self.last_of_run = len(self.acknowledged) + self.chance.randrange(1, 80)
        self.dead.clear()
        self.alive.set()

    def acknowledge(self, document: Document) -> None:
        """Record an acknowledged write, and kill the server at once if it is the last of this run."""
        self.acknowledged[_revision(document)] = _identity(document)
        if not self.over and self.alive.is_set() and len(self.acknowledged) >= self.last_of_run:
            self.alive.clear()
            self.server.kill()
            self.dead.set()


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_no_acknowledged_write_is_lost_by_kills(tmp_path):
    """After more than a hundred kills: nothing lost, no revision used twice, no gap in a watch."""
    world, logs = asyncio.run(_run_with_kills(tmp_path))
    truth = asyncio.run(_written(tmp_path))
    revisions = [revision for revision, _, _ in truth]
    assert revisions == sorted(set(revisions))
    known = {revision: (key, value) for revision, key, value in truth}
    assert {r: known.get(r) for r in world.acknowledged} == world.acknowledged
    assert len(world.acknowledged) > 10 * RUNS
    for log in logs:
        assert log == truth


async def _run_with_kills(directory: Path) -> tuple[World, list[list[StoredValue]]]:
    world = World(MortalServer(directory), Random(7))
    logs: list[list[StoredValue]] = [[] for _ in range(WATCHERS)]
    await world.start()
    address = Address(world.server.url, token=TOKEN)
    async with HttpTransport(address) as transport, asyncio.TaskGroup() as watchers:
        for log in logs:
            watchers.create_task(_watch(world, transport, log))
        async with asyncio.TaskGroup() as writers:
            for number in range(WRITERS):
                writers.create_task(_write(world, transport, f"writer-{number}"))
            for _ in range(RUNS):
                await world.dead.wait()
                await world.start()
            world.over = True
        await transport.create(COLLECTION, _document(LAST, LAST), PLAIN_WRITE)
    world.server.close()
    return world, logs


async def _write(world: World, transport: Transport, name: str) -> None:
    """Create objects and change each a few times, until the world is over."""
    for number in count():
        present = _document(f"{name}-{number}", "0")
        for step in range(4):
            await world.alive.wait()
            if world.over:
                return
            try:
                present = await _written_one(transport, present, str(step))
            except LOST:
                break  # the outcome is unknown; continue with another object
            world.acknowledge(present)


async def _written_one(transport: Transport, document: Document, value: str) -> Document:
    document = {**document, "data": {"value": value}}
    if "uid" not in document["metadata"]:
        return await transport.create(COLLECTION, document, PLAIN_WRITE)
    location = ResourceLocation(
        COLLECTION.resource, COLLECTION.namespace, document["metadata"]["name"]
    )
    return await transport.update(location, document, PLAIN_WRITE)


async def _watch(world: World, transport: Transport, log: list[StoredValue]) -> None:
    """Watch from the start to the last object, across all restarts of the server."""
    version = "1"
    while not log or log[-1][1] != LAST:
        await world.alive.wait()
        with suppress(*LOST):
            options = WatchOptions(resource_version=version)
            async with transport.watch(COLLECTION, options) as events:
                async for event in events:
                    version = event.object["metadata"]["resourceVersion"]
                    log.append((int(version), *_identity(event.object)))
                    if log[-1][1] == LAST:
                        break


async def _written(directory: Path) -> list[StoredValue]:
    """All changes in the log, in order."""
    store = await Store.open(directory / DATABASE, environment())
    try:
        events = await store.history("/configmaps", 1)
        return [_stored_value(event) for event in events]
    finally:
        await store.close()


def _stored_value(event: ChangeEvent) -> StoredValue:
    document = msgspec.json.decode(event.record.data)
    return _revision(document), *_identity(document)


def _document(name: str, value: str) -> Document:
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": name},
        "data": {"value": value},
    }


def _revision(document: Document) -> int:
    return int(document["metadata"]["resourceVersion"])


def _identity(document: Document) -> tuple[str, str]:
    return document["metadata"]["name"], document["data"]["value"]
