"""The measures: a heap of parents, a trickle of them, rest, and many planes."""

import asyncio
import math
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Final, NamedTuple

import msgspec

from bench.controllers.parents import GROUP, PLURAL, VERSION, definition, parent
from bench.controllers.processes import Measured, on_runtime, written
from bench.controllers.watching import Statuses
from bench.load.connection import Refused
from bench.load.report import percentile
from bench.load.servers import ROOT, Ours, ours
from compute.app.system_environment import system
from kubekit.api.resource import Resource
from kubekit.client.http.client import HttpClient
from kubekit.client.kubeconfig import load
from kubekit.client.options import PLAIN_WRITE
from kubekit.client.transport import ResourceLocation

_PARENTS: Final = Resource(group=GROUP, version=VERSION, kind="Parent", plural=PLURAL)
_NAMESPACE: Final = "bench"
_AT_ONCE: Final = 32
_PATIENCE: Final = 900.0
_TRICKLE: Final = 200  # parents
_PER_SECOND: Final = 20

Started = Callable[[Path], AbstractContextManager[Measured]]


class Costs(NamedTuple):
    """What one controller did with so many parents."""

    rate: float  # objects a second
    busy: float  # microseconds of CPU for each
    memory: float  # bytes for each
    p50: float  # milliseconds from the create to the status
    p99: float
    rest: float  # percent of a core with nothing to do


def heap(folder: Path, count: int, controller: Started, rest: float) -> Costs:
    """A controller meets a heap of parents, then a trickle, then nothing."""
    with ours(_made(folder)) as server:
        config = _prepared(folder, server)
        asyncio.run(_create(config, [f"x{number}" for number in range(count)]))
        statuses = Statuses(server.target, _NAMESPACE, _revision(server))
        with controller(config) as measured:
            started = time.perf_counter_ns()
            _await(statuses, count)
            rate = count / ((max(statuses.seen.values()) - started) / 1e9)
            busy = measured.seconds / count * 1e6
            latencies = asyncio.run(_trickle(config, statuses, count))
            memory = measured.grown / count
            idle = _rest(measured, rest)
    return Costs(rate, busy, memory, percentile(latencies, 0.5), percentile(latencies, 0.99), idle)


def many(folder: Path, planes: int, count: int) -> tuple[float, float]:
    """Objects a second, and CPU for each, with the parents spread over many planes."""
    each = count // planes
    script = str(Path(__file__).parent / "planes.py")
    server = subprocess.Popen(
        [sys.executable, script, str(_made(folder)), str(planes), str(each)],
        stdout=subprocess.PIPE,
        env={"PYTHONPATH": str(ROOT)},
        cwd=ROOT,
    )
    try:
        assert server.stdout is not None
        if server.stdout.readline().strip() != b"ready":
            raise SystemExit("the planes did not come up")
        contexts = [f"p{number}" for number in range(planes)]
        with on_runtime(folder / "data" / "kubeconfig", contexts, each * planes) as measured:
            started = time.perf_counter()
            measured.await_word("done")
            rate = each * planes / (time.perf_counter() - started)
            return rate, measured.seconds / (each * planes) * 1e6
    finally:
        server.send_signal(signal.SIGTERM)
        server.wait()


def exponent(sizes: Sequence[int], each: Sequence[float]) -> float:
    """How the cost of all grows with their number: 1 means that each costs the same."""
    x = [math.log(size) for size in sizes]
    y = [math.log(size * cost) for size, cost in zip(sizes, each, strict=True)]
    middle_x, middle_y = sum(x) / len(x), sum(y) / len(y)
    above = sum((a - middle_x) * (b - middle_y) for a, b in zip(x, y, strict=True))
    return above / sum((a - middle_x) ** 2 for a in x)


def _made(folder: Path) -> Path:
    data = folder / "data"
    data.mkdir(parents=True, mode=0o700)
    return data


def _prepared(folder: Path, server: Ours) -> Path:
    """The kind and the namespace, and a kubeconfig."""
    connection = server.connection()
    crds = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
    connection.post(crds, msgspec.json.encode(definition()))
    connection.close()
    server.prepare(_NAMESPACE)
    authority = Path(server.target.ca).read_bytes()
    return written(folder, server.target.url, authority, server.target.token)


async def _create(config: Path, names: Sequence[str]) -> None:
    environment = system()
    left = iter(names)
    async with HttpClient(load(environment, [config]), environment) as client:

        async def worker() -> None:
            for name in left:
                place = ResourceLocation(_PARENTS, _NAMESPACE)
                await client.raw.create(place, parent(_NAMESPACE, name), PLAIN_WRITE)

        await asyncio.gather(*(worker() for _ in range(_AT_ONCE)))


async def _trickle(config: Path, statuses: Statuses, before: int) -> list[int]:
    """Nanoseconds from when a parent was sent until its status was seen, at a bearable rate."""
    environment = system()
    sent: dict[bytes, int] = {}
    async with HttpClient(load(environment, [config]), environment) as client:
        for number in range(_TRICKLE):
            name = f"y{number}"
            sent[name.encode()] = time.perf_counter_ns()
            place = ResourceLocation(_PARENTS, _NAMESPACE)
            await client.raw.create(place, parent(_NAMESPACE, name), PLAIN_WRITE)
            await asyncio.sleep(1 / _PER_SECOND)
    _await(statuses, before + _TRICKLE)
    return [statuses.seen[name] - at for name, at in sent.items()]


def _await(statuses: Statuses, count: int) -> None:
    if not statuses.wait_for(count, _PATIENCE):
        raise SystemExit(f"{len(statuses.seen)} of {count} parents have a status: given up")


def _rest(measured: Measured, seconds: float) -> float:
    time.sleep(seconds)  # noqa: TID251 - what it does in this time is the measure
    before = measured.seconds
    time.sleep(seconds)  # noqa: TID251 - the same
    return 100 * (measured.seconds - before) / seconds


def _revision(server: Ours) -> str:
    connection = server.connection()
    path = f"/apis/{GROUP}/{VERSION}/namespaces/{_NAMESPACE}/{PLURAL}?limit=1"
    try:
        page = msgspec.json.decode(connection.get(path))
    except Refused as refused:
        raise SystemExit(f"parents are not served: {refused}") from refused
    finally:
        connection.close()
    version: str = page["metadata"]["resourceVersion"]
    return version
