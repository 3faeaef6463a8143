"""The cost of a request, an event and an import with our HTTP client and with other clients.

    .venv/bin/python bench/clients.py                        all of them, about a minute
    .venv/bin/python bench/clients.py --seconds 1 --only ours,aiohttp

The server is `compute plane` as a process of its own, the same for all. Each client is a process
too and is measured in every round; the table shows the median. All run on uvloop, ask for the
same object from 16 tasks, and then watch the same changes, which the server has in its memory.
"""

import argparse
import asyncio
import resource
import ssl
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any, Final

import msgspec

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # for `bench.load` and `tests`

from bench.load.servers import Server, ours

_ROOT: Final = Path(__file__).resolve().parent.parent
_SPACE: Final = "bench"
_NAME: Final = "object-0"
_PATH: Final = f"/api/v1/namespaces/{_SPACE}/configmaps"
_TASKS: Final = 16
_OBJECTS: Final = 1000
_IMPORTS: Final = {
    "ours": "kubekit.client.http.client",
    "ours, raw": "kubekit.client.http.transport",
    "aiohttp": "aiohttp",
    "httpx": "httpx",
    "lightkube": "lightkube",
    "kubernetes.aio": "kubernetes.aio",
    "kr8s": "kr8s.asyncio",
}


class Target(msgspec.Struct, frozen=True):
    """The server, as its clients need it."""

    kubeconfig: str
    url: str
    token: str
    authority: str
    since: str
    seconds: float


class Costs(msgspec.Struct, frozen=True):
    """The rates and costs of one client in one round."""

    gets: float
    get_cpu: float
    events: float
    event_cpu: float
    imported: float


@dataclass(frozen=True, slots=True)
class Door:
    """A client: one function gets the object, the other watches the changes since a version."""

    get: Callable[[], Awaitable[object]]
    watch: Callable[[], AsyncIterator[object]]


def main(arguments: Sequence[str]) -> int:
    """Measure, and print a table."""
    options = _options(arguments)
    if options.client:
        print(msgspec.json.encode(_measured(options.client, _target_of(options))).decode())
        return 0
    with (
        tempfile.TemporaryDirectory(prefix="bench-clients-") as folder,
        ours(Path(folder) / "plane") as server,
    ):
        target = _prepared(server, Path(folder), options.seconds)
        rounds: dict[str, list[Costs]] = {name: [] for name in options.only}
        for _ in range(options.rounds):
            for name, results in rounds.items():
                results.append(_in_process(name, target))
    print(_table({name: _medians(results) for name, results in rounds.items()}))
    return 0


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=1.5, help="of each measure")
    parser.add_argument("--rounds", type=int, default=3)
    names = list(_DOORS)
    parser.add_argument("--only", type=lambda text: text.split(","), default=names)
    parser.add_argument("--client", help=argparse.SUPPRESS)
    parser.add_argument("--target", help=argparse.SUPPRESS)
    return parser.parse_args(arguments)


def _target_of(options: argparse.Namespace) -> Target:
    return msgspec.json.decode(options.target, type=Target)


def _in_process(name: str, target: Target) -> Costs:
    command = [sys.executable, __file__, "--client", name]
    shown = msgspec.json.encode(target).decode()
    done = subprocess.run([*command, "--target", shown], check=True, capture_output=True, cwd=_ROOT)
    return msgspec.json.decode(done.stdout, type=Costs)


def _prepared(server: Server, folder: Path, seconds: float) -> Target:
    """Create objects on the server: each creation is an event to watch."""
    server.prepare(_SPACE)
    since = server.revision(_SPACE)
    connection = server.connection()
    for number in range(_OBJECTS):
        document = {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": f"object-{number}", "labels": {"app": "bench"}},
            "data": {f"key-{key}": "value " * 10 for key in range(8)},
        }
        connection.post(_PATH, msgspec.json.encode(document))
    connection.close()
    target = server.target
    config = str(folder / "plane" / "kubeconfig")
    return Target(config, target.url, target.token, target.ca, since, seconds)


def _measured(name: str, target: Target) -> Costs:
    imported = _cpu(f"import {_IMPORTS[name]}") - _cpu("pass")
    import uvloop  # noqa: PLC0415 - not part of what the import costs

    async def run() -> Costs:
        async with _DOORS[name](target) as door:
            gets = await _rate(target.seconds, lambda until: _getting(door, until))
            events = await _rate(target.seconds, lambda until: _watching(door, until))
            return Costs(*gets, *events, imported)

    return uvloop.run(run())


def _cpu(code: str) -> float:
    """Seconds of CPU time that a new process needs for this code."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-c", code], check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


async def _rate(seconds: float, work: Callable[[float], Awaitable[int]]) -> tuple[float, float]:
    """The rate per second, and the CPU time for each in microseconds."""
    await work(time.perf_counter() + seconds / 5)  # to warm up
    started, busy = time.perf_counter(), time.process_time()
    count = await work(started + seconds)
    took = time.perf_counter() - started
    return count / took, 1e6 * (time.process_time() - busy) / count


async def _getting(door: Door, until: float) -> int:
    async def one() -> int:
        count = 0
        while time.perf_counter() < until:
            await door.get()
            count += 1
        return count

    return sum(await asyncio.gather(*(one() for _ in range(_TASKS))))


async def _watching(door: Door, until: float) -> int:
    count = 0
    while time.perf_counter() < until:
        async for _ in door.watch():
            count += 1
            if count % _OBJECTS == 0:
                break
    return count


@asynccontextmanager
async def _ours(target: Target) -> AsyncIterator[Door]:
    from kubekit.api.kinds.core import ConfigMap  # noqa: PLC0415 - each process needs but one client
    from kubekit.client.http.client import HttpClient  # noqa: PLC0415
    from kubekit.client.options import WatchOptions  # noqa: PLC0415

    async with HttpClient(*_connection(target)) as client:

        async def watch() -> AsyncIterator[object]:
            options = WatchOptions(resource_version=target.since)
            async with client.watch(ConfigMap, _SPACE, options) as events:
                async for event in events:
                    yield event

        yield Door(lambda: client.get(ConfigMap, _NAME, _SPACE), watch)


@asynccontextmanager
async def _ours_raw(target: Target) -> AsyncIterator[Door]:
    from kubekit.api.kinds.core import ConfigMap  # noqa: PLC0415
    from kubekit.client.http.transport import HttpTransport  # noqa: PLC0415
    from kubekit.client.options import WatchOptions  # noqa: PLC0415
    from kubekit.client.transport import ResourceLocation  # noqa: PLC0415

    one, all_ = (
        ResourceLocation(ConfigMap.RESOURCE, _SPACE, _NAME),
        ResourceLocation(ConfigMap.RESOURCE, _SPACE),
    )
    async with HttpTransport(*_connection(target)) as transport:

        async def watch() -> AsyncIterator[object]:
            options = WatchOptions(resource_version=target.since)
            async with transport.watch(all_, options) as events:
                async for event in events:
                    yield event

        yield Door(lambda: transport.get(one), watch)


def _connection(target: Target) -> tuple[Any, Any]:
    from compute.app.system_environment import system  # noqa: PLC0415
    from kubekit.client.connection import Connection  # noqa: PLC0415
    from kubekit.client.credentials import BearerToken  # noqa: PLC0415

    authority = Path(target.authority).read_bytes()
    credentials = BearerToken(target.token)
    return Connection(server=target.url, authority=authority, credentials=credentials), system()


@asynccontextmanager
async def _aiohttp(target: Target) -> AsyncIterator[Door]:
    import aiohttp  # noqa: PLC0415

    trust = ssl.create_default_context(cafile=target.authority)
    headers = {"Authorization": f"Bearer {target.token}", "Accept": "application/json"}
    connector = aiohttp.TCPConnector(limit=64, ssl=trust)
    jar = aiohttp.DummyCookieJar()
    async with aiohttp.ClientSession(
        target.url, connector=connector, headers=headers, cookie_jar=jar, read_bufsize=1 << 20
    ) as session:

        async def get() -> object:
            async with session.get(f"{_PATH}/{_NAME}") as response:
                return msgspec.json.decode(await response.read())

        async def watch() -> AsyncIterator[object]:
            async with session.get(_PATH, params=_watch_query(target)) as response:
                async for line in response.content:
                    yield msgspec.json.decode(line)

        yield Door(get, watch)


@asynccontextmanager
async def _httpx(target: Target) -> AsyncIterator[Door]:
    import httpx  # noqa: PLC0415

    trust = ssl.create_default_context(cafile=target.authority)
    headers = {"Authorization": f"Bearer {target.token}", "Accept": "application/json"}
    async with httpx.AsyncClient(base_url=target.url, verify=trust, headers=headers) as client:

        async def get() -> object:
            return msgspec.json.decode((await client.get(f"{_PATH}/{_NAME}")).content)

        async def watch() -> AsyncIterator[object]:
            async with client.stream("GET", _PATH, params=_watch_query(target)) as response:
                async for line in response.aiter_lines():
                    yield msgspec.json.decode(line)

        yield Door(get, watch)


def _watch_query(target: Target) -> dict[str, str]:
    return {"watch": "true", "resourceVersion": target.since}


def _library(name: str) -> Callable[[Target], Any]:
    @asynccontextmanager
    async def opened(target: Target) -> AsyncIterator[Door]:
        from tests.support.kubekit import client_libraries  # noqa: PLC0415

        sort = client_libraries.Sort("v1", "ConfigMap", "configmaps")
        opening = client_libraries.LIBRARIES[name]
        async with opening(Path(target.kubeconfig), _SPACE, sort) as library:
            yield Door(lambda: library.get(_NAME), lambda: library.watch(target.since))

    return opened


_DOORS: Final[dict[str, Callable[[Target], Any]]] = {
    "ours": _ours,
    "ours, raw": _ours_raw,
    "aiohttp": _aiohttp,
    "httpx": _httpx,
    "lightkube": _library("lightkube async"),
    "kubernetes.aio": _library("kubernetes.aio"),
    "kr8s": _library("kr8s.asyncio"),
}


def _medians(rounds: Sequence[Costs]) -> Costs:
    columns = zip(*(msgspec.structs.astuple(result) for result in rounds), strict=True)
    return Costs(*(median(column) for column in columns))


def _table(results: dict[str, Costs]) -> str:
    """A line for each client; the ratio to the first client in brackets."""
    header = ("client", "gets/s", "CPU µs/get", "events/s", "CPU µs/event", "import ms")
    first = next(iter(results.values()))
    lines = [header, *((name, *_cells(one, first)) for name, one in results.items())]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join(
        "  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True))
        for line in lines
    )


def _cells(one: Costs, first: Costs) -> Iterator[str]:
    for value, best, better in (
        (one.gets, first.gets, "higher"),
        (one.get_cpu, first.get_cpu, "lower"),
        (one.events, first.events, "higher"),
        (one.event_cpu, first.event_cpu, "lower"),
        (1000 * one.imported, 1000 * first.imported, "lower"),
    ):
        worse = best / value if better == "higher" else value / best
        yield f"{value:,.0f} ({worse:.1f}x)"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
