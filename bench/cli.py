"""Measures what a command costs: CPU time of help, completion and a list, beside kubectl.

    .venv/bin/python bench/cli.py                     a world of its own, and kubectl if there is one
    .venv/bin/python bench/cli.py --rounds 40         more rounds
    .venv/bin/python bench/cli.py --json out.json     the numbers as JSON as well

Each round runs every command once, ours and kubectl's in turn, so that a busy machine slows both. A
number is the median of the CPU time, user and system, of the whole process. Both read the same
workloads from the same server. The budgets are in docs/performance.md; one that is exceeded
makes the exit code 1 only with --strict, because a median depends on the machine.
"""

import argparse
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import Final

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # for `tools`

from compute.cli.completion import name_cache
from tools.peers import catalog

ROOT: Final = Path(__file__).resolve().parent.parent
COMPUTE: Final = Path(sys.executable).with_name("compute")
MANIFEST: Final = ROOT / "examples" / "hello.yaml"
_LIMIT: Final = 120.0  # seconds for one command


@dataclass(frozen=True, slots=True)
class Case:
    """A command of ours, what kubectl does instead, and the budgets."""

    name: str
    ours: tuple[str, ...]
    theirs: tuple[str, ...]
    budget: float  # milliseconds of CPU time
    ratio: float = 0.0  # how many times kubectl's CPU time is acceptable; 0 for no goal


CASES: Final = (
    Case("help", ("--help",), ("--help",), 70.0, 1.5),
    Case("help of a command", ("status", "--help"), ("get", "--help"), 70.0),
    Case("completion", ("__complete", ""), ("__complete", ""), 70.0),
    Case(
        "completion of names",
        ("__complete", "status", ""),
        ("__complete", "get", "workloads", ""),
        70.0,
    ),
    Case("list", ("workloads",), ("get", "workloads"), 120.0, 2.0),
)


@dataclass(frozen=True, slots=True)
class Measured:
    """The medians of one case, in milliseconds; None where there is no kubectl."""

    name: str
    ours: float
    theirs: float | None
    ratio: float | None
    budget: float
    ratio_goal: float

    @property
    def is_within(self) -> bool:
        too_slow = self.ratio_goal and self.ratio is not None and self.ratio > self.ratio_goal
        return self.ours <= self.budget and not too_slow


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print a table, and return the exit code."""
    options = _parser().parse_args(arguments)
    kubectl = options.kubectl or _kubectl()
    if not kubectl:
        print(
            "there is no kubectl on the PATH, and none among the peers: no ratios", file=sys.stderr
        )
    with tempfile.TemporaryDirectory() as folder, _world(Path(folder)) as environment:
        measured = _measure(kubectl, environment, options.rounds)
    print(_table(measured))
    if options.json:
        Path(options.json).write_text(json.dumps([asdict(m) for m in measured], indent=2) + "\n")
    return int(options.strict and not all(each.is_within for each in measured))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=15, help="how often each command runs")
    parser.add_argument("--kubectl", metavar="FILE", help="the kubectl to compare with")
    parser.add_argument("--json", metavar="FILE", help="write the numbers there as well")
    parser.add_argument("--strict", action="store_true", help="fail where a budget is exceeded")
    return parser


def _kubectl() -> str | None:
    """The kubectl of the PATH, or one that `make peers` built."""
    if found := shutil.which("kubectl"):
        return found
    built = catalog.folder() / "bin" / "kubectl"
    return str(built) if os.access(built, os.X_OK) else None


@contextmanager
def _world(folder: Path) -> Iterator[Mapping[str, str]]:
    """A running world with a workload; the environment in which both commands find it."""
    environment = _environment(folder)
    _run([str(COMPUTE), "up", "--detach", "--port=0", "--cities=DFW,LHR,SIN"], environment)
    try:
        _run([str(COMPUTE), "deploy", "-f", str(MANIFEST), "-y", "--detach"], environment)
        yield environment
    finally:
        _run([str(COMPUTE), "down"], environment)


def _environment(folder: Path) -> dict[str, str]:
    """An environment of its own. Compiled modules are kept, as for every user."""
    named = ("COMPUTE_", "DATUM_", "KUBE", "XDG_", "PYTHON")
    inherited = {k: v for k, v in os.environ.items() if not k.startswith(named)}
    data = folder / "world"
    own = {"HOME": str(folder), "COMPUTE_DATA": str(data), "KUBECONFIG": str(data / "kubeconfig")}
    return inherited | own


def _measure(kubectl: str | None, environment: Mapping[str, str], rounds: int) -> list[Measured]:
    ours: dict[str, list[float]] = {case.name: [] for case in CASES}
    theirs: dict[str, list[float]] = {case.name: [] for case in CASES}
    for number in range(rounds + 1):
        for case in CASES:
            name_cache.cache_file(environment).unlink(missing_ok=True)  # ask the server each time
            mine = _run([str(COMPUTE), *case.ours], environment)
            other = _run([kubectl, *case.theirs], environment) if kubectl else None
            if number:  # the first round compiles modules, and fills the caches of both
                ours[case.name].append(mine)
                theirs[case.name] += [] if other is None else [other]
    return [_measured(case, ours[case.name], theirs[case.name]) for case in CASES]


def _measured(case: Case, ours: Sequence[float], theirs: Sequence[float]) -> Measured:
    mine, other = median(ours), median(theirs) if theirs else None
    return Measured(
        name=case.name,
        ours=round(mine, 1),
        theirs=None if other is None else round(other, 1),
        ratio=round(mine / other, 2) if other else None,
        budget=case.budget,
        ratio_goal=case.ratio,
    )


def _run(command: Sequence[str], environment: Mapping[str, str]) -> float:
    """Run a command to its end; the CPU time of its process in milliseconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        command, env=dict(environment), capture_output=True, text=True, check=False, timeout=_LIMIT
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)} failed: {done.stderr.strip()}")
    return 1000 * (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


def _table(measured: Sequence[Measured]) -> str:
    rows = [("COMMAND", "COMPUTE", "BUDGET", "KUBECTL", "RATIO", "GOAL", "")]
    rows += [
        (
            each.name,
            f"{each.ours:.0f} ms",
            f"{each.budget:.0f} ms",
            "-" if each.theirs is None else f"{each.theirs:.0f} ms",
            "-" if each.ratio is None else f"{each.ratio:.2f}",
            f"{each.ratio_goal:.1f}" if each.ratio_goal else "-",
            "" if each.is_within else "exceeded",
        )
        for each in measured
    ]
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return "\n".join(
        "   ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    )


if __name__ == "__main__":
    sys.exit(main())
