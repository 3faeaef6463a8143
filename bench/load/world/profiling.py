"""Where the time of a phase goes, by py-spy where that is installed.

    python -m bench.load.world.profiling FILE [LINES]     the functions that take most

A file has a line for each stack that was seen, and how often. A function's own share is when it was
the innermost; its whole share is when it was anywhere.
"""

import os
import shutil
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

_RATE: Final = "100"  # samples a second
_MOST: Final = 40  # lines


@contextmanager
def recorded(folder: str, phase: str) -> Iterator[None]:
    """Record the stacks of this process into FOLDER/PHASE.txt; with no folder, nothing."""
    if not folder:
        yield
        return
    spy = shutil.which("py-spy")
    if spy is None:
        raise SystemExit("--profile needs py-spy, which is not on the PATH")
    output = str(Path(folder) / f"{phase}.txt")
    words = [spy, "record", "--pid", str(os.getpid()), "--format", "raw", "--output", output]
    watching = subprocess.Popen(
        [*words, "--rate", _RATE, "--gil", "--nonblocking"], stdout=subprocess.DEVNULL
    )
    try:
        yield
    finally:
        watching.send_signal(signal.SIGINT)
        watching.wait()


def shares(lines: Iterable[str]) -> tuple[Counter[str], Counter[str], int]:
    """How often each function was seen: by itself, anywhere, and how often anything was."""
    own: Counter[str] = Counter()
    whole: Counter[str] = Counter()
    seen = 0
    for line in lines:
        stack, _, count = line.rstrip("\n").rpartition(" ")
        frames = [frame.rpartition(":")[0] or frame for frame in stack.split(";")]
        own[frames[-1]] += int(count)
        seen += int(count)
        for frame in set(frames):
            whole[frame] += int(count)
    return own, whole, seen


def table(lines: Iterable[str], most: int = _MOST) -> str:
    """The functions that take most, by themselves and with all they call."""
    own, whole, seen = shares(lines)
    rows = []
    for title, found in (("by itself", own), ("with what it calls", whole)):
        rows.append(f"{title}, of {seen} samples")
        rows += [f"  {100 * n / seen:5.1f} %  {name}" for name, n in found.most_common(most)]
    return "\n".join(rows)


if __name__ == "__main__":
    with Path(sys.argv[1]).open(encoding="utf-8") as file:
        print(table(file, *(int(count) for count in sys.argv[2:])))
