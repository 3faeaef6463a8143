"""The command behind bench/world.py."""

import argparse
import json
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import msgspec

from bench.arguments import numbers
from bench.load import report
from bench.load.servers import ROOT
from bench.load.world import growth, peer, pictures, rows
from bench.load.world.growth import Curve
from bench.load.world.pictures import Chart
from bench.load.world.results import Pods, Task, WorldResult

_PHASES: Final = ("rest", "status", "restarting", "deleting")
_DETAILS: Final = ("writes", "passes")


def main(arguments: Sequence[str]) -> int:
    """Run the requested measurements, and print the results as they arrive."""
    options = _options(arguments)
    if options.peer and (reason := peer.absent()):
        raise SystemExit(f"there is no peer to compare with: {reason}")
    worlds = [_printed(world, options) for world in _worlds(options)]
    if more := list(rows.of_growth(worlds)):
        print(report.table(more), end="\n\n", flush=True)
    pods = [_compared(count, worlds, options) for count in options.peer]
    if options.json:
        output = {"command": ["bench/world.py", *arguments], "worlds": worlds, "pods": pods}
        options.json.write_text(json.dumps(msgspec.to_builtins(output), indent=1))
    if options.pictures:
        _draw(options.pictures, worlds)
    return int(any(world.failed for world in worlds))


def _worlds(options: argparse.Namespace) -> Iterator[WorldResult]:
    for instances in options.sizes:
        for cities in options.cities:
            yield _measured(options, instances, cities, options.only)


def _printed(found: WorldResult, options: argparse.Namespace) -> WorldResult:
    if table := list(rows.of_world(found)):
        print(report.table(table), end="\n\n", flush=True)
    if found.failed:
        name = f"{growth.instances(found.instances)}, {growth.cities(found.cities)}"
        print(f"{name}: {found.failed}\n", flush=True)
    for detail in _DETAILS:
        if getattr(options, detail):
            print(rows.each(found, detail), end="\n\n", flush=True)
    return found


def _compared(count: int, worlds: list[WorldResult], options: argparse.Namespace) -> Pods:
    """As many Pods as Instances; a world of that size is measured if there is none yet."""
    with _folder(options) as folder:
        pods = peer.measured(folder, count)
    same = [each for each in worlds if each.deleting and 0 <= count - each.instances < each.cities]
    if not same:
        same = [_printed(_measured(options, count, options.cities[0], ["deleting"]), options)]
        worlds += same
    for world in same:
        print(report.table(list(rows.beside(world, pods))), end="\n\n", flush=True)
    return pods


def _measured(
    options: argparse.Namespace, instances: int, cities: int, phases: list[str]
) -> WorldResult:
    """A world in its own process."""
    with _folder(options) as folder:
        task = Task(
            instances=instances, cities=cities, folder=str(folder / "data"), phases=phases,
            rest=options.rest, touches=options.touches, seconds=options.seconds,
            unavailable=options.unavailable, patience=options.patience, profiles=options.profiles,
        )  # fmt: skip
        done = subprocess.run(
            [sys.executable, "-m", "bench.load.world.host"],
            input=msgspec.json.encode(task), stdout=subprocess.PIPE, check=True, cwd=ROOT,
        )  # fmt: skip
    return msgspec.json.decode(done.stdout.splitlines()[-1], type=WorldResult)


def _draw(folder: Path, worlds: Sequence[WorldResult]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, chart, curves in _charts(worlds):
        (folder / f"{name}.svg").write_text(pictures.drawn(chart, curves), encoding="utf-8")


def _charts(worlds: Sequence[WorldResult]) -> Iterator[tuple[str, Chart, list[Curve]]]:
    costs = Chart("CPU until all Instances are Ready and shown", "Instances", "seconds")
    yield "world-instances", costs, list(growth.against_instances(worlds))
    costs = Chart("CPU until all Instances are Ready and shown", "cities", "seconds")
    yield "world-cities", costs, list(growth.against_cities(worlds))


@contextmanager
def _folder(options: argparse.Namespace) -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="bench-world-", dir=options.folder) as name:
        yield Path(name)


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser("bench/world.py", description="Measure whole worlds.")
    add: Any = parser.add_argument
    add("--sizes", type=numbers, default=[1, 100, 10_000], metavar="N,...", help="Instances")
    add("--cities", type=numbers, default=[1, 10, 100], metavar="N,...")
    add("--only", metavar="PART,...", type=_phases, default=list(_PHASES),
        help=f"besides growing: some of {', '.join(_PHASES)}, or none")  # fmt: skip
    add("--rest", type=float, default=30.0, help="seconds to measure it at rest")
    add("--touches", type=float, default=100.0, help="statuses that providers write a second")
    add("--seconds", type=float, default=10.0, help="for which they do")
    add("--unavailable", default="25%", help="Instances of a city that a restart may take at once")
    add("--patience", type=float, default=600.0, help="seconds for one phase of one world")
    add("--peer", type=numbers, nargs="?", const=[1000, 6000], default=[], metavar="N,...",
        help="as many Pods of a StatefulSet too, of `make peers`; 1000,6000 if no number is given")  # fmt: skip
    add("--writes", action="store_true", help="also what was written, by plane and kind")
    add("--passes", action="store_true", help="also the reconcile passes by controller")
    add("--profiles", metavar="DIR", default="", help="let py-spy record each phase into DIR")
    add("--pictures", type=Path, metavar="DIR", help="draw the growth into DIR")
    add("--quick", action="store_true", help="a short run: one small world")
    add("--folder", type=Path, help="where the data is stored; a real disk, not tmpfs")
    add("--json", type=Path, metavar="FILE", help="also write all results")
    options = parser.parse_args(arguments)
    if options.quick:
        options.sizes, options.cities, options.rest, options.seconds = [99], [3], 3.0, 2.0
    return options


def _phases(text: str) -> list[str]:
    """The parts that are named, in the order in which they happen."""
    named = set(text.split(",")) - {"none"}
    if unknown := named - set(_PHASES):
        raise argparse.ArgumentTypeError(f"there is no {', '.join(sorted(unknown))}")
    return [phase for phase in _PHASES if phase in named]


if __name__ == "__main__":
    # A SIGTERM also ends the child processes, and leaves no folder behind.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("ended"))
    sys.exit(main(sys.argv[1:]))
