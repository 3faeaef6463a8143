"""The cost of many, slow and greedy clients for our plane over HTTPS, and their effect on others.

    .venv/bin/python bench/many_clients.py                       everything, with 10,000 idle watches
    .venv/bin/python bench/many_clients.py --watches 1000 --only watches,readers
    .venv/bin/python bench/many_clients.py --help                everything else

The server is `compute plane` in a process of its own; watchers and clients are other processes. How
to read the numbers is in docs/performance.md.
"""

import argparse
import json
import resource
import select
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final

import msgspec

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # for `bench.load`

from bench.load import measures, objects, processes, report
from bench.load.clients import Outcome
from bench.load.connection import Connection, Requests, trusting
from bench.load.report import Row
from bench.load.scripts import Task
from bench.load.servers import ROOT, Server, ours
from bench.load.watchers import WatchDelays, Watching

_PARTS: Final = ("watches", "readers", "writers", "planes")
_SEEDED: Final = 1000
_EVENTS: Final = 5  # one a second, which every watcher receives
_SETTLED: Final = 5  # idle seconds over which the CPU time is measured
_UNFINISHED: Final = 100_000  # bytes of a body that a slow writer has sent
_KIB: Final = 1024


def main(arguments: Sequence[str]) -> int:
    """Run the selected measurements; print each result at once, and a table at the end."""
    options = _options(arguments)
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))  # the children inherit it
    rows: list[Row] = []
    for row in _rows(options):
        rows.append(row)
        print(report.table([row]).splitlines()[1], file=sys.stderr)
    print(report.table(rows))
    if options.json:
        found = {"command": ["bench/many_clients.py", *arguments], "rows": report.data(rows)}
        Path(options.json).write_text(json.dumps(found, indent=2))
    return 0


def _rows(options: argparse.Namespace) -> Iterator[Row]:
    with (
        tempfile.TemporaryDirectory(prefix="bench-clients-", dir=options.folder) as folder,
        ours(Path(folder) / "plane") as server,
    ):
        server.prepare(server.namespace)
        measures.seed(server.target, server.namespace, _SEEDED)
        yield from _others(server, "alone", options.seconds)
        if "watches" in options.only:
            yield from _watches(server, options.watches, options.seconds)
        if "writers" in options.only:
            yield from _slow_writers(server, options.writers, options.seconds)
        if "readers" in options.only:
            yield from _slow_readers(server, options)
    if "planes" in options.only:
        yield from _idle_planes(options.planes)


def _others(server: Server, when: str, seconds: float) -> Iterator[Row]:
    """Latencies of 16 ordinary clients, which use objects of their own."""
    for script in ("get", "create"):
        busy = server.busy()
        outcome = _run(server, script, seconds)
        cost = 1e6 * (server.busy() - busy) / len(outcome.took)
        yield _latency(f"{script}, {when}", outcome, f", {cost:,.0f} us of CPU each", clients=16)


def _watches(server: Server, count: int, seconds: float) -> Iterator[Row]:
    """Watches of the same kind in another namespace: each write is checked against all of them."""
    namespace = f"watched-{server.namespace}"
    server.prepare(namespace)
    before = server.memory()
    with ExitStack() as stack:
        watching = [
            stack.enter_context(_watching(server, namespace, count // 2 + count % 2 * turn))
            for turn in range(2)
        ]
        for process in watching:
            _expect_ready(process)
        yield _each("idle watch", count, server.memory() - before)
        yield _busy(server, f"{count:,} idle watches")
        yield from _others(server, f"beside {count:,} watches", seconds)
        getting = _in_background(server, "get", _EVENTS)
        events = _run(server, "create", _EVENTS, namespace=namespace, clients=1, period=1.0)
        yield _latency("create that all of them receive", events, clients=1)
        yield _latency("get, while they receive it", getting(), clients=1)
        yield _each("watch that has received something", count, server.memory() - before)
        yield from _delays(watching, count, len(events.took))


def _delays(
    watching: Sequence["subprocess.Popen[bytes]"], count: int, events: int
) -> Iterator[Row]:
    delays: list[int] = []
    cut_off = 0
    for process in watching:
        said, _ = process.communicate(b"%d\n" % events)
        received = msgspec.json.decode(said, type=WatchDelays)
        delays += received.delays
        cut_off += received.cut_off
    for share, name in ((0.5, "half of them"), (1.0, "the last of them")):
        yield Row(
            name=f"event to {name}", clients=count, unit="ms", better="lower",
            rounds={"ours": [report.percentile(delays, share)]}, notes=f"{cut_off} were cut off",
        )  # fmt: skip


def _slow_writers(server: Server, count: int, seconds: float) -> Iterator[Row]:
    """Clients that have sent the first part of a body, and send no more."""
    start = Requests(server.target).head("POST", objects.collection(server.namespace))
    before = server.memory()
    context = trusting(server.target)
    held = []
    for _ in range(count):
        held.append(Connection(server.target, context))
        held[-1].send(start + b"1000000\r\n\r\n" + b" " * _UNFINISHED)
    server.revision(server.namespace)  # after its response, the server has read all earlier bytes
    yield _each(f"body of which {_UNFINISHED:,} bytes came", count, server.memory() - before)
    yield from _others(server, f"beside {count:,} slow writers", seconds)
    _hang_up(held)


def _slow_readers(server: Server, options: argparse.Namespace) -> Iterator[Row]:
    """Clients that have requested a long list and do not read it."""
    listed, count = f"list-{server.namespace}", options.readers
    server.prepare(listed)
    measures.seed(server.target, listed, options.listed)
    connection = server.connection()
    size = len(connection.get(objects.collection(listed)))
    connection.close()
    before = server.memory()
    context = trusting(server.target)
    held = [Connection(server.target, context) for _ in range(count)]
    request = Requests(server.target).bare("GET", objects.collection(listed))
    for connection in held:
        connection.send(request)
    server.revision(server.namespace)
    yield _each(f"unread list of {size / 1e6:.0f} MB", count, server.memory() - before)
    yield from _others(server, f"beside {count:,} slow readers", options.seconds)
    _hang_up(held)


def _idle_planes(planes: int) -> Iterator[Row]:
    done = subprocess.run(
        [sys.executable, "-m", "bench.load.idle_planes", str(planes), "20"],
        stdout=subprocess.PIPE, check=True, cwd=ROOT,
    )  # fmt: skip
    figure: dict[str, Any] = json.loads(done.stdout)
    yield Row(
        name=f"{planes} idle planes, 20 s", unit="% CPU", better="lower",
        rounds={"ours": [figure["percent"]]}, bound=1, notes=figure["notes"],
    )  # fmt: skip


def _run(server: Server, script: str, seconds: float, **changed: str | float) -> Outcome:
    return processes.run(_task(server, script, seconds, **changed))


def _task(server: Server, script: str, seconds: float, **changed: str | float) -> Task:
    task = Task(
        script=script, target=server.target, namespace=server.namespace, clients=16,
        seconds=seconds, names=_SEEDED, prefix=f"n{time.monotonic_ns()}",
    )  # fmt: skip
    return msgspec.structs.replace(task, **changed)


def _in_background(server: Server, script: str, seconds: float) -> Callable[[], Outcome]:
    """Start one client in a process of its own. The returned function waits for its outcome."""
    process = subprocess.Popen(
        [sys.executable, "-m", "bench.load.clients"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=ROOT,
    )  # fmt: skip
    task = _task(server, script, seconds, clients=1, all=1)
    _tell(process, msgspec.json.encode(task) + b"\n")
    _expect_ready(process)
    _tell(process, b"go\n")
    return lambda: msgspec.json.decode(process.communicate()[0], type=Outcome)


def _watching(server: Server, namespace: str, count: int) -> "subprocess.Popen[bytes]":
    process = subprocess.Popen(
        [sys.executable, "bench/watch_clients.py"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=ROOT,
    )  # fmt: skip
    task = Watching(server.target, namespace, count, server.revision(namespace))
    _tell(process, msgspec.json.encode(task) + b"\n")
    return process


def _tell(process: "subprocess.Popen[bytes]", line: bytes) -> None:
    assert process.stdin is not None
    process.stdin.write(line)
    process.stdin.flush()


def _expect_ready(process: "subprocess.Popen[bytes]") -> None:
    assert process.stdout is not None
    if process.stdout.readline() != b"ready\n":
        raise SystemExit("a load process did not start; its error is printed above")


def _latency(name: str, outcome: Outcome, more: str = "", *, clients: int) -> Row:
    middle, worst = (report.percentile(outcome.took, share) for share in (0.5, 1.0))
    rate = len(outcome.took) / outcome.seconds
    return Row(
        name=name, clients=clients, unit="p99 ms", better="lower",
        rounds={"ours": [report.percentile(outcome.took, 0.99)]},
        notes=f"p50 {middle:.2f} ms, worst {worst:.0f} ms, {rate:,.0f}/s{more}",
    )  # fmt: skip


def _each(name: str, count: int, memory: int) -> Row:
    return Row(
        name=f"memory of one {name}", clients=count, unit="KiB", better="lower",
        rounds={"ours": [memory / count / _KIB]}, notes=f"{memory / 1e6:,.0f} MB in all",
    )  # fmt: skip


def _busy(server: Server, name: str) -> Row:
    """CPU time over a few seconds of rest."""
    before = server.busy()
    select.select((), (), (), _SETTLED)
    return Row(
        name=name, unit="% CPU", better="lower",
        rounds={"ours": [100 * (server.busy() - before) / _SETTLED]},
    )  # fmt: skip


def _hang_up(held: Sequence[Connection]) -> None:
    for connection in held:
        connection.close()


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="bench/many_clients.py", description="Measure the cost of many clients."
    )
    add = parser.add_argument
    add("--only", metavar="PART,...", type=lambda text: text.split(","), default=_PARTS,
        help=f"some of {', '.join(_PARTS)}")  # fmt: skip
    add("--watches", type=int, default=10_000)
    add("--readers", type=int, default=200, help="slow readers of a list")
    add("--listed", type=int, default=10_000, help="objects in that list")
    add("--writers", type=int, default=500, help="slow writers")
    add("--planes", type=int, default=100, help="idle planes in one process")
    add("--seconds", type=float, default=3, help="for which other clients are measured each time")
    add("--folder", default=None, help="where data is kept meanwhile; a real disk, not tmpfs")
    add("--json", metavar="FILE", default="", help="also write everything that was found")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
