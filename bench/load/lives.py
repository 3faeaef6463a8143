"""The runs of a process: the samples of each, as tables and verdicts."""

from collections import Counter
from collections.abc import Sequence
from statistics import median
from typing import Final

import msgspec

from bench.load.slopes import slope

MB: Final = 1_000_000
_FLAT: Final = 1.0  # MB/h, or descriptors in an hour
_FEW: Final = 6  # points say nothing yet
_REMEMBERED: Final = 720.0  # seconds: planes keep ten minutes of changes, and forget every two
_WAL_LIMIT: Final = 64 * 1024 * 1024


class Sample(msgspec.Struct, frozen=True):
    """The process at one moment: seconds of the run, MB, open files, bytes of the longest WAL."""

    at: float
    memory: float
    files: int
    wal: int


class Life(msgspec.Struct, kw_only=True):
    """From a start to a kill."""

    number: int
    ready: float  # seconds from the start of the process
    settled: float  # seconds from then until everything is served
    first: Sample  # when it was ready
    rest: Sample  # when everything was served
    samples: list[Sample] = []  # from then on
    changes: int = 0


def title() -> str:
    return _line("life", "ready s", "served s", "MB ready", "MB", "files", "WAL MB")


def row(life: Life) -> str:
    seconds = f"{life.ready:.1f}", f"{life.settled:.1f}"
    cells = str(life.number), *seconds, f"{life.first.memory:.1f}", *_cells(life.rest)
    return _line(*cells)


def judged(lives: Sequence[Life], left: Counter[str], strange: Sequence[str]) -> int:
    """Print the long life and the verdicts; 0 if none is missed."""
    last = lives[-1]
    print("\nthe last life, without kills\n" + _line("second", "MB", "files", "WAL MB"))
    for sample in last.samples[:: max(1, len(last.samples) // 15)]:
        print(_line(f"{sample.at - last.first.at:.0f}", *_cells(sample)))
    _tell(lives)
    young = [life.first for life in lives[len(lives) // 2 :]]
    old = [sample for sample in last.samples if sample.at - last.first.at > _REMEMBERED]
    wal = max(s.wal for life in lives for s in (life.first, life.rest, *life.samples))
    verdicts = [
        _flat("memory when ready, from life to life, MB/h", young, "memory"),
        _flat("descriptors when ready, from life to life, 1/h", young, "files"),
        _flat("memory in the last life, MB/h", old, "memory"),
        _flat("descriptors in the last life, 1/h", last.samples[1:], "files"),
        _verdict(f"longest WAL {wal / MB:.1f} MB", holds=wal <= _WAL_LIMIT),
        _verdict(f"unexplained lines in the log: {len(strange)}", holds=not strange),
        _verdict(f"left after everything was deleted: {dict(left) or 0}", holds=not left),
    ]
    for line in strange[:10]:
        print(f"    {line[:300]}")
    return 0 if all(verdicts) else 1


def _tell(lives: Sequence[Life]) -> None:
    ready = [life.ready for life in lives]
    served = [life.settled for life in lives]
    print(
        f"\n{len(lives)} kills under {sum(life.changes for life in lives)} changes; "
        f"ready after {median(ready):.1f} s (most {max(ready):.1f} s), "
        f"everything served {median(served):.1f} s later (most {max(served):.1f} s)"
    )


def _flat(name: str, samples: Sequence[Sample], figure: str) -> bool:
    """Whether a line through the samples rises by more than is allowed, beyond its error.

    A line whose error is larger than that proves nothing either way, and stays open.
    """
    if len(samples) < _FEW:
        print(f"open    {name}: too short to tell")
        return True
    found = slope([(sample.at / 3600, getattr(sample, figure)) for sample in samples])
    text = f"{name}: {found.rise:+.1f} ± {found.error:.1f}"
    if found.rise - 2 * found.error <= _FLAT < found.rise + 2 * found.error:
        print(f"open    {text}, no rise beyond the error")
        return True
    return _verdict(text, holds=found.rise <= _FLAT)


def _verdict(text: str, *, holds: bool) -> bool:
    print(f"{'holds ' if holds else 'MISSES'}  {text}")
    return holds


def _cells(sample: Sample) -> tuple[str, str, str]:
    return f"{sample.memory:.1f}", str(sample.files), f"{sample.wal / MB:.1f}"


def _line(*cells: str) -> str:
    return "".join(f"{cell:>10}" for cell in cells)
