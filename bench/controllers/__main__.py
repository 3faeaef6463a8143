"""The command behind bench/runtime.py."""

import argparse
import json
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from bench.arguments import numbers
from bench.controllers import measures
from bench.controllers.measures import Costs
from bench.controllers.processes import on_kopf, on_runtime
from bench.load import report
from bench.load.report import Better, Row


def main() -> None:
    options = _options()
    rows: list[Row] = []

    def show(row: Row) -> None:
        rows.append(row)
        print(report.table([row]).splitlines()[-1], flush=True)

    with _folder(options.folder) as folder:
        ours = {
            size: measures.heap(folder / f"o{size}", size, _runtime, options.rest)
            for size in options.sizes
        }
        kopf = {
            size: measures.heap(folder / f"k{size}", size, _kopf, options.rest)
            for size in options.sizes
            if size <= options.kopf
        }
        for row in _rows(ours, kopf):
            show(row)
        if options.planes:
            rate, busy = measures.many(folder / "many", options.planes, options.over)
            name = f"{options.over} parents on {options.planes} planes"
            show(_row(name, "1/s", "higher", rate, notes=f"CPU {busy:.0f} us each"))
    print()
    print(report.table(rows))
    if options.json:
        options.json.write_text(json.dumps(report.data(rows), indent=1))


def _rows(ours: dict[int, Costs], kopf: dict[int, Costs]) -> Iterator[Row]:
    for size, result in ours.items():
        other = kopf.get(size)
        yield _row(
            f"parents done, of {size}", "1/s", "higher", result.rate, other and other.rate, hold=10
        )
        yield _row("CPU for each", "us", "lower", result.busy, other and other.busy)
        yield _row("latency p50", "ms", "lower", result.p50, other and other.p50)
        yield _row("latency p99", "ms", "lower", result.p99, other and other.p99)
        yield _row(
            "memory for each", "bytes", "lower", result.memory, other and other.memory, hold=10
        )
        yield _row("at rest", "% of a core", "lower", result.rest, other and other.rest)
    if len(ours) > 1:
        grown = measures.exponent(list(ours), [result.busy for result in ours.values()])
        yield _row("growth of the cost of all", "exponent", "lower", grown, bound=1.1)


def _row(  # noqa: PLR0913, PLR0917 - a line of a table
    name: str,
    unit: str,
    better: Better,
    ours: float,
    peer: float | None = None,
    hold: float | None = None,
    bound: float | None = None,
    notes: str = "",
) -> Row:
    rounds = {"ours": [ours]} | ({} if peer is None else {"peer": [peer]})
    return Row(
        name=name, unit=unit, better=better, rounds=rounds, hold=hold, bound=bound, notes=notes
    )


_runtime = partial(on_runtime, contexts=["compute"])
_kopf = partial(on_kopf, namespace="bench")


@contextmanager
def _folder(parent: Path | None) -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="bench-runtime-", dir=parent) as name:
        yield Path(name)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser("bench/runtime.py", description=__doc__)
    parser.add_argument("--sizes", type=numbers, default=[1000, 3000, 10000], metavar="N,...")
    parser.add_argument(
        "--kopf",
        type=int,
        default=3000,
        metavar="N",
        help="kopf is measured up to so many parents: 10,000 take it longer than eight minutes",
    )
    parser.add_argument("--planes", type=int, default=100, help="0 leaves them out")
    parser.add_argument("--over", type=int, default=10000, help="parents over all those planes")
    parser.add_argument("--rest", type=float, default=5.0, help="seconds to measure it at rest")
    parser.add_argument("--quick", action="store_true", help="a short run: small counts")
    parser.add_argument("--folder", type=Path, help="where data is kept meanwhile")
    parser.add_argument("--json", type=Path, metavar="FILE")
    options = parser.parse_args()
    if options.quick:
        options.sizes, options.planes, options.over, options.rest = [300], 10, 500, 1.0
    return options


if __name__ == "__main__":
    main()
