"""Following a real plane over a real socket, with a relay in between that cuts the connections."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec
import pytest

from kubekit.api.kinds.core import ConfigMap
from kubekit.client.connection import Connection
from kubekit.client.credentials import BearerToken
from kubekit.client.http.client import HttpClient
from kubekit.client.http.settings import HttpSettings
from kubekit.client.list_watch import follow
from kubekit.client.options import EVERYTHING
from kubekit.plane.http.server import Server
from kubekit.plane.local import LocalClient
from kubekit.plane.plane import Plane
from tests.support.kubekit.following_builders import Picture, config
from tests.support.kubekit.http_builders import QUICKLY, TOKEN, known_tokens
from tests.support.kubekit.plane_builders import environment as plane_environment, open_plane
from tests.unit.kubekit.client.http.scripted import (
    environment,
    events,
    listening,
    reply,
    run,
    serving,
)


@dataclass
class Relay:
    """Passes bytes on between a client and a server, until it is cut."""

    port: int
    writers: list[asyncio.StreamWriter] = field(default_factory=list)

    async def __call__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there, back = await asyncio.open_connection("127.0.0.1", self.port)
        self.writers += [writer, back]
        await asyncio.wait(
            [
                asyncio.ensure_future(_pass(reader, back)),
                asyncio.ensure_future(_pass(there, writer)),
            ]
        )

    def cut(self) -> None:
        while self.writers:
            self.writers.pop().transport.abort()


async def _pass(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while data := await reader.read(65536):
            writer.write(data)
    except ConnectionError:
        pass
    finally:
        writer.close()


@dataclass
class Watcher:
    """What a follower yielded and reported."""

    picture: Picture[Any] = field(default_factory=Picture)
    troubles: list[Exception | None] = field(default_factory=list)
    received: asyncio.Event = field(default_factory=asyncio.Event)

    async def watch(self, client: HttpClient, namespace: str = "default") -> None:
        around = environment()
        steps = follow(client, ConfigMap, namespace, EVERYTHING, around, self.report)
        async with aclosing(steps):
            async for step in steps:
                self.picture.take(step)
                self.received.set()

    def report(self, trouble: Exception | None) -> None:
        self.troubles.append(trouble)
        self.received.set()

    async def until(self, last: str) -> list[str]:
        """All steps, once the last of them is this one."""
        await self._until(lambda: self.picture.words[-1:] == [last])
        return self.picture.words

    async def until_trouble(self) -> None:
        await self._until(lambda: bool(self.troubles))

    async def _until(self, holds: Callable[[], bool]) -> None:
        async with asyncio.timeout(20):
            while not holds():
                self.received.clear()
                await self.received.wait()


@dataclass
class World:
    plane: Plane
    writer: LocalClient
    relay: Relay
    watcher: Watcher


@asynccontextmanager
async def world(directory: Path) -> AsyncIterator[World]:
    """A plane behind a server, a relay to it, and a follower on the other side."""
    async with open_plane(directory) as plane:
        server = Server(("127.0.0.1", 0), None, known_tokens(), plane_environment(), QUICKLY)
        server.mount("/", plane)
        await server.start()
        relay = Relay(int(server.url.rpartition(":")[2]))
        try:
            async with (
                listening(relay) as port,
                watching(f"http://127.0.0.1:{port}") as watcher,
            ):
                yield World(plane, LocalClient(plane), relay, watcher)
        finally:
            await server.close()


@asynccontextmanager
async def watching(
    url: str, namespace: str = "default", settings: HttpSettings | None = None
) -> AsyncIterator[Watcher]:
    connection = Connection(server=url, credentials=BearerToken(TOKEN))
    async with HttpClient(connection, environment(), settings or HttpSettings()) as client:
        watcher = Watcher()
        task = asyncio.ensure_future(watcher.watch(client, namespace))
        try:
            yield watcher
        finally:
            task.cancel()
            await asyncio.wait([task])


def test_a_cut_is_resumed_and_a_forgotten_version_listed_anew(tmp_path):
    """After a cut no change is missed or repeated; after a compaction there is a new list."""

    async def story():
        async with world(tmp_path) as here:
            until = here.watcher.until
            await until("list")
            one = await here.writer.create(config("one"))
            await until("ADDED one")
            here.relay.cut()
            await here.writer.create(config("two"))
            await until("ADDED two")
            here.relay.cut()
            await here.writer.delete(one)
            await here.writer.create(config("three"))
            await here.plane.store.compact(here.plane.store.revision)
            await until("list three two")
            await here.writer.create(config("four"))
            return await until("ADDED four"), here.watcher.troubles

    words, troubles = run(story())
    assert words == ["list", "ADDED one", "ADDED two", "list three two", "ADDED four"]
    assert troubles[-1] is None


def test_a_server_that_goes_away_is_waited_for(tmp_path):
    """While no server answers the follower retries; then it resumes where it was."""

    async def story():
        async with world(tmp_path) as here:
            await here.watcher.until("list")
            port, here.relay.port = here.relay.port, 1  # where no server listens
            here.relay.cut()
            await here.writer.create(config("one"))
            await here.watcher.until_trouble()
            here.relay.port = port
            return await here.watcher.until("ADDED one")

    assert run(story()) == ["list", "ADDED one"]


def _document(name: str, version: str) -> dict[str, Any]:
    metadata = {"name": name, "namespace": "room", "resourceVersion": version}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata}


def _list(version: str, *documents: dict[str, Any]) -> Callable[..., Any]:
    metadata = {"resourceVersion": version}
    return reply(body=msgspec.json.encode({"metadata": metadata, "items": documents}))


def _line(change: str, document: dict[str, Any]) -> bytes:
    return msgspec.json.encode({"type": change, "object": document}) + b"\n"


@pytest.mark.parametrize(
    "bad",
    [b"no JSON\n", b'{"type":"ERROR","object":7}\n', b"x" * 2000],
    ids=["nonsense", "error", "long"],
)
def test_a_line_that_makes_no_sense_is_passed_by_a_new_list(bad):
    """A watch from the same version would meet it again and again."""

    async def story():
        good = events(_line("ADDED", _document("two", "9")), close=True)
        steps = (_list("5"), events(bad), _list("8", _document("one", "8")), good)
        settings = HttpSettings(longest_line=1000)
        async with (
            serving(*steps) as server,
            watching(server.url, "room", settings) as watcher,
        ):
            return await watcher.until("ADDED two"), server.lines[3].count("resourceVersion=8")

    assert run(story()) == (["list", "list one", "ADDED two"], 1)
