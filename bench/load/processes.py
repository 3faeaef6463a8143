"""Runs clients and watchers in their own processes."""

import itertools
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import IO, Any, Final

import msgspec

from bench.load.clients import Outcome
from bench.load.scripts import Task
from bench.load.servers import ROOT
from bench.load.watchers import WatchDelays, Watching

_GO: Final = b"go\n"


def run(task: Task, processes: int = 1) -> Outcome:
    """The outcome of clients, spread evenly over processes that start together."""
    shares = list(_shares(task, processes))
    with _started("bench.load.clients", shares) as running:
        for process in running:
            _send(process, _GO)
        outcomes = [msgspec.json.decode(_rest(process), type=Outcome) for process in running]
    took = [duration for outcome in outcomes for duration in outcome.took]
    return Outcome(max(outcome.seconds for outcome in outcomes), took)


def run_watched(task: Task, watching: Watching) -> tuple[Outcome, WatchDelays]:
    """The outcome of clients, and the delays of the watchers during the run."""
    with _started("bench.load.watchers", [watching]) as (watchers,):
        outcome = run(task)
        _send(watchers, b"%d\n" % len(outcome.took))
        return outcome, msgspec.json.decode(_rest(watchers), type=WatchDelays)


def _shares(task: Task, processes: int) -> Iterator[Task]:
    edges = [task.clients * number // processes for number in range(processes + 1)]
    for first, end in itertools.pairwise(edges):
        yield msgspec.structs.replace(task, first=first, clients=end - first, all=task.clients)


@contextmanager
def _started(module: str, tasks: Sequence[msgspec.Struct]) -> Iterator[list[subprocess.Popen[Any]]]:
    """A process for each task, all of them ready to start."""
    running = [_start(module, task) for task in tasks]
    try:
        for process in running:
            if _stream(process.stdout).readline() != b"ready\n":
                raise SystemExit(f"{module} did not start; the reason is above")
        yield running
    finally:
        for process in running:
            process.kill()
            process.communicate()


def _start(module: str, task: msgspec.Struct) -> subprocess.Popen[Any]:
    process = subprocess.Popen(
        [sys.executable, "-m", module], stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=ROOT
    )
    _send(process, msgspec.json.encode(task) + b"\n")
    return process


def _send(process: subprocess.Popen[Any], line: bytes) -> None:
    stream = _stream(process.stdin)
    stream.write(line)
    stream.flush()


def _rest(process: subprocess.Popen[Any]) -> bytes:
    """The remaining output of a process, which must end successfully."""
    output: bytes = _stream(process.stdout).read()
    if process.wait():
        raise SystemExit("a process of the load failed; the reason is above")
    return output


def _stream(stream: IO[bytes] | None) -> IO[bytes]:
    assert stream is not None
    return stream
