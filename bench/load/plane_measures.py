"""Measurements of our plane alone: without sockets, with many objects, and idle."""

import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import msgspec

from bench.load import measures, objects
from bench.load.report import Row
from bench.load.servers import ROOT, Server, ours

_LOCAL_GOAL: Final = 3  # times the HTTP rate
_MEMORY_GOAL: Final = 2.5  # times the JSON
_READY_GOAL: Final = 3  # seconds
_IDLE_GOAL: Final = 1  # percent of a core
_IDLE_SECONDS: Final = 10


def local(http: Sequence[Row], seconds: float) -> Iterator[Row]:
    """The same work through `LocalClient`, and how much faster than through HTTPS."""
    reached = {(row.name, row.clients): row.ours for row in http if row.unit == "1/s"}
    for result in _run("bench.load.local", str(seconds)):
        name, clients, rate = result["name"], result["clients"], result["rate"]
        through_https = reached.get((name, clients))
        goal = None if through_https is None else _LOCAL_GOAL * through_https
        yield Row(
            name=f"local {name}", clients=clients, unit="1/s", better="higher", rounds={"ours": [rate]},
            bound=goal, notes=result["notes"],
        )  # fmt: skip


def memory(folder: Path, count: int) -> Iterator[Row]:
    """The memory of the objects, and the time of a start with them."""
    with ours(folder / "memory") as server:
        empty = server.memory()
        server.prepare(server.namespace)
        measures.seed(server.target, server.namespace, count)
        loaded = server.memory()
        size = _size(server, count)
        seconds = server.restart()
        again = server.memory()
    name = f"{count:,} objects of {size / count:,.0f} bytes"
    for when, used in (("written", loaded), ("after a restart", again)):
        notes = f"{used / 1e6:,.0f} MB in all, {empty / 1e6:,.0f} MB when empty"
        yield Row(
            name=f"memory, {name}, {when}", unit="x JSON", better="lower",
            rounds={"ours": [(used - empty) / size]}, bound=_MEMORY_GOAL, notes=notes,
        )  # fmt: skip
    yield Row(
        name=f"start, {name}", unit="s", better="lower", rounds={"ours": [seconds]}, bound=_READY_GOAL,
        notes="from the start of the process to the first answer",
    )  # fmt: skip


def idle_planes(planes: int) -> Iterator[Row]:
    """The cost of idle planes."""
    for result in _run("bench.load.idle_planes", str(planes), str(_IDLE_SECONDS)):
        yield Row(
            name=f"{planes} idle planes", unit="% CPU", better="lower", rounds={"ours": [result["percent"]]},
            bound=_IDLE_GOAL, notes=result["notes"],
        )  # fmt: skip


def idle_watchers(folder: Path, count: int) -> Iterator[Row]:
    """The cost of watchers without events."""
    with ours(folder / "watchers") as server:
        server.prepare(server.namespace)
        before = server.memory()
        watching = _watching(server, count)
        after, busy = server.memory(), server.busy()
        watching.wait(_IDLE_SECONDS + 60)
        spent = server.busy() - busy
    yield Row(
        name=f"{count:,} idle watchers", unit="KB each", better="lower",
        rounds={"ours": [(after - before) / count / 1024]},
        notes=f"{100 * spent / _IDLE_SECONDS:.2g} % CPU, {(after - before) / 1e6:,.0f} MB in all",
    )  # fmt: skip


def _watching(server: Server, count: int) -> subprocess.Popen[bytes]:
    """A process that holds watches open for a while."""
    job = [server.target.url, server.target.token, server.target.ca, server.namespace]
    process = subprocess.Popen(
        [sys.executable, "-m", "bench.load.idle_watches", *job, str(count), str(_IDLE_SECONDS)],
        stdout=subprocess.PIPE,
        cwd=ROOT,
    )
    assert process.stdout is not None
    if process.stdout.readline() != b"ready\n":
        raise SystemExit("the idle watchers did not start; the reason is above")
    return process


def _size(server: Server, count: int) -> float:
    """Bytes of JSON of that many objects, from the first hundred."""
    some = min(count, 100)
    connection = server.connection()
    page = connection.get(f"{objects.collection(server.namespace)}?limit={some}")
    connection.close()
    items = msgspec.json.decode(page)["items"]
    return count * sum(len(msgspec.json.encode(item)) for item in items) / some


def _run(module: str, *arguments: str) -> Iterator[dict[str, Any]]:
    """The results that a process of ours prints, one JSON document per line."""
    done = subprocess.run(
        [sys.executable, "-m", module, *arguments], stdout=subprocess.PIPE, check=True, cwd=ROOT
    )
    for line in done.stdout.splitlines():
        yield msgspec.json.decode(line)
