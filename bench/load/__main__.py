"""The benchmark of the plane: see bench/plane.py for how it is called."""

import argparse
import json
import os
import platform
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from bench.arguments import numbers
from bench.load import measures, plane_measures, report
from bench.load.connection import Target
from bench.load.measures import Plan
from bench.load.report import Row
from bench.load.servers import ROOT, Server, ours

_MEASURES: Final = ("create", "get", "status", "list", "list.gz", "watch", "watch.paced")
_ASIDE: Final = ("local", "memory", "idle", "watchers")


def main(arguments: Sequence[str]) -> int:
    """Measure what is asked for. Exits with 1 if a goal is missed and --check is given."""
    options = _options(arguments)
    rows: list[Row] = []
    for row in _rows(options, set(options.only)):
        rows.append(row)
        print(report.table([row]).splitlines()[1], file=sys.stderr)  # to show progress
    facts = {"command": ["bench/plane.py", *arguments], "machine": _machine()}
    print(report.table(rows))
    if options.json:
        Path(options.json).write_text(json.dumps({**facts, "rows": report.data(rows)}, indent=2))
    return 1 if options.check and any(row.verdict == "MISSES" for row in rows) else 0


def _rows(options: argparse.Namespace, only: set[str]) -> Iterator[Row]:
    with tempfile.TemporaryDirectory(prefix="bench-plane-", dir=options.folder) as folder:
        http: list[Row] = []
        if only & set(_MEASURES):
            for row in _over_https(options, only, Path(folder)):
                http.append(row)
                yield row
        if "local" in only:
            yield from plane_measures.local(http, options.seconds)
        if "memory" in only:
            yield from plane_measures.memory(Path(folder), options.objects)
        if "idle" in only:
            yield from plane_measures.idle_planes(options.planes)
        if "watchers" in only:
            yield from plane_measures.idle_watchers(Path(folder), options.idle_watchers)


def _over_https(options: argparse.Namespace, only: set[str], folder: Path) -> Iterator[Row]:
    with ours(folder / "rates") as server:
        servers: list[Server] = [server]
        if options.peer:
            servers.append(_peer(options))
        plan = Plan(
            servers=servers,
            clients=options.clients,
            watchers=options.watchers,
            rounds=options.rounds,
            seconds=options.seconds,
            processes=options.processes,
        )
        measures.prepare(plan, options.listed)
        yield from _measured(plan, only, options.listed)
        if options.peer:
            measures.clear(servers[-1])


def _measured(plan: Plan, only: set[str], listed: int) -> Iterator[Row]:
    for script in _chosen(only, "create", "get", "status"):
        for clients in plan.clients:
            yield measures.rate(plan, script, clients)
    for script in _chosen(only, "list", "list.gz"):
        yield measures.list_alone(plan, script, listed)
        for clients in plan.clients:
            yield measures.list_crowd(plan, script, listed, clients)
    for name in _chosen(only, "watch", "watch.paced"):
        for watchers in plan.watchers:
            for clients in plan.clients:
                paced = name == "watch.paced"
                yield measures.watch(plan, watchers, clients, paced=paced)


def _chosen(only: set[str], *names: str) -> list[str]:
    return [name for name in names if name in only]


def _peer(options: argparse.Namespace) -> Server:
    target = Target(options.peer, options.token, options.ca)
    return Server("peer", target, tuple(options.peer_pids))


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="bench/plane.py", description="Measure the embedded plane, beside a peer if given."
    )
    add = parser.add_argument
    add("--peer", metavar="URL", default="", help="a kube-apiserver that has our CRDs")
    add("--token", default="", help="a bearer token of the peer that may do everything")
    add("--ca", metavar="FILE", default="", help="the peer's CA; without it nothing is checked")
    add("--peer-pids", metavar="PID,...", type=numbers, default=[], help="to read its CPU time")
    add("--only", metavar="NAME,...", type=_names, default=[*_MEASURES, *_ASIDE],
        help=f"some of {', '.join((*_MEASURES, *_ASIDE))}")  # fmt: skip
    add("--clients", metavar="N,...", type=numbers, default=[16, 64])
    add("--watchers", metavar="N,...", type=numbers, default=[4, 100])
    add("--rounds", type=int, default=3, help="turns of each server at each measure")
    add("--seconds", type=float, default=3, help="of each turn")
    add("--processes", type=int, default=1, help="that the clients are spread over")
    add("--listed", type=int, default=measures.LISTED, help="objects in the list")
    add("--objects", type=int, default=100_000, help="for memory and restart")
    add("--planes", type=int, default=100, help="for the cost of idle planes")
    add("--idle-watchers", type=int, default=10_000)
    add("--quick", action="store_true", help="a short run: small counts, one round of a second")
    add("--folder", default=None, help="where the data is stored; a real disk, not tmpfs")
    add("--json", metavar="FILE", default="", help="also write all results")
    add("--check", action="store_true", help="fail if a goal is missed")
    options = parser.parse_args(arguments)
    if options.quick:
        vars(options).update(rounds=1, seconds=1, listed=1000, objects=5000, idle_watchers=500)
    return options


def _names(text: str) -> list[str]:
    names = text.split(",")
    for name in names:
        if name not in (*_MEASURES, *_ASIDE):
            raise argparse.ArgumentTypeError(f"{name} is not measured")
    return names


def _machine() -> dict[str, Any]:
    return {
        "cores": os.cpu_count(),
        "system": platform.platform(),
        "python": platform.python_version(),
        "root": str(ROOT),
    }


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
