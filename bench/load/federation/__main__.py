"""The command behind bench/federation.py."""

import argparse
import asyncio
import json
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import msgspec
import uvloop

from bench.load import report
from bench.load.federation import rows, site
from bench.load.federation.measurement import PARTS, measured
from bench.load.federation.results import SiteResult, Sizes
from bench.load.federation.site import Engine

_ENGINES: Final[tuple[Engine, ...]] = ("karmada", "embedded")
_QUICK: Final = Sizes(
    latencies=3, lives=1, burst=6, burst_everywhere=2, rest=2, outage=2, patience=60
)


def main(arguments: Sequence[str]) -> int:
    """Measure each engine, and print what was found."""
    options = _options(arguments)
    if "karmada" in options.engines and (reason := site.absent()):
        raise SystemExit(f"there is no Karmada to measure: {reason}")
    found = {engine: _measured(engine, options) for engine in options.engines}
    if len(found) == len(_ENGINES):
        _print("The embedded engine (ours) beside Karmada (peer)",
               report.table(list(rows.of_engines(found["embedded"], found["karmada"]))))  # fmt: skip
    if options.json:
        output = {"command": ["bench/federation.py", *arguments], **found}
        options.json.write_text(json.dumps(msgspec.to_builtins(output), indent=1))
    return int(any(result.failed for result in found.values()))


def _measured(engine: Engine, options: argparse.Namespace) -> SiteResult:
    """One engine, in planes of its own. What concerns it alone is printed at once."""
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        result = runner.run(measured(engine, options.sizes, options.only))
    if engine == "karmada":
        _print("Our managers with Karmada (ours) beside Karmada alone (peer)",
               report.table(list(rows.of_karmada(result))), rows.requests(result))  # fmt: skip
    _print(rows.processes(result))
    if result.failed:
        _print(f"{engine}: {result.failed}")
    return result


def _print(*texts: str) -> None:
    for text in filter(None, texts):
        print(text, end="\n\n", flush=True)


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        "bench/federation.py", description="Measure deliveries through Karmada and our own engine."
    )
    add: Any = parser.add_argument
    add("--engines", type=_engines, default=_ENGINES, metavar="NAME,...",
        help=f"some of {', '.join(_ENGINES)}")  # fmt: skip
    add("--only", type=_parts, metavar="PART,...", help=f"some of {', '.join(PARTS)}")
    add("--burst", type=int, default=Sizes().burst, metavar="N", help="Workloads in a city each")
    add("--rest", type=float, default=Sizes().rest, help="seconds to measure it at rest")
    add("--outage", type=float, default=Sizes().outage, help="seconds without the hub")
    add("--patience", type=float, default=Sizes().patience, help="seconds for each single wait")
    add("--quick", action="store_true", help="a short run of everything but outages")
    add("--json", type=Path, metavar="FILE", help="also write all results")
    options = parser.parse_args(arguments)
    options.sizes = _QUICK if options.quick else Sizes(
        burst=options.burst, burst_everywhere=max(1, options.burst // 5), rest=options.rest,
        outage=options.outage, patience=options.patience,
    )  # fmt: skip
    if options.only is None:
        options.only = [part for part in PARTS if part != "outages" or not options.quick]
    return options


def _engines(text: str) -> list[str]:
    return _chosen(text, _ENGINES)


def _parts(text: str) -> list[str]:
    return _chosen(text, PARTS)


def _chosen(text: str, known: Sequence[str]) -> list[str]:
    """Those that are named, in the order in which they are measured."""
    named = set(text.split(","))
    if unknown := named - set(known):
        raise argparse.ArgumentTypeError(f"there is no {', '.join(sorted(unknown))}")
    return [each for each in known if each in named]


if __name__ == "__main__":
    # A SIGTERM also ends the processes of the planes.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("ended"))
    sys.exit(main(sys.argv[1:]))
