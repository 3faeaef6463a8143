"""Pages of the docs whose commands are run: their blocks, one shell for all of them, and what it printed.

A block of the kind sh is run. A block of the kind text has lines that a block before it printed, in
this order; an ellipsis stands for anything.
"""

import re
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]
_BLOCK: Final = re.compile(r"^```(sh|text)\n(.*?)^```", re.MULTILINE | re.DOTALL)
_MARK: Final = "==== step"


@dataclass(frozen=True, slots=True)
class Step:
    """The lines that one block printed."""

    errors: list[str]
    output: list[str]


@dataclass(frozen=True, slots=True)
class Shell:
    """Where the commands run, with nothing but this environment. ``limit`` is in seconds, for all."""

    folder: Path
    environment: Mapping[str, str]
    limit: float


class Broken(Exception):
    """A command failed. The message is all that was printed."""


def blocks_of(page: str) -> list[tuple[str, str]]:
    """The kind and the text of each block of a page of the repository."""
    return _BLOCK.findall((ROOT / page).read_text(encoding="utf-8"))


def walk(commands: Sequence[str], shell: Shell, files: Path) -> list[Step]:
    """Run all commands in one shell, which ends where one of them fails. ``files`` is for its output."""
    script = "\n".join(f"echo '{_MARK}'; echo '{_MARK}' >&2\n{command}" for command in commands)
    output, errors = files / "output", files / "errors"
    with output.open("w") as out, errors.open("w") as err:
        done = subprocess.run(
            ["sh", "-euc", script],
            cwd=shell.folder,
            env=dict(shell.environment),
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=err,
            check=False,
            timeout=shell.limit,
        )
    if done.returncode:
        raise Broken(output.read_text() + errors.read_text())
    return [Step(*each) for each in zip(_steps(errors), _steps(output), strict=True)]


def unshown(blocks: Sequence[tuple[str, str]], steps: Sequence[Step]) -> list[str]:
    """The lines of the page that no command printed, each with what was printed instead."""
    rest = iter(steps)
    step = Step([], [])
    missing = []
    for kind, text in blocks:
        if kind == "sh":
            step = next(rest)
        elif lines := unseen(text, step.errors, step.output):
            missing.append(f"{lines} is not in {step}")
    return missing


def unseen(excerpt: str, *streams: list[str]) -> list[str]:
    """The lines of a page that no stream printed, in the order of the page within each stream."""
    rest = [[" ".join(line.split()) for line in stream] for stream in streams]
    return [wanted for wanted in excerpt.splitlines() if not any(_took(wanted, r) for r in rest)]


def is_shown(line: str, shown: Sequence[str]) -> bool:
    """Whether a printed line is one of those that a page shows."""
    return any(_pattern(wanted).search(" ".join(line.split())) for wanted in shown)


def _steps(printed: Path) -> list[list[str]]:
    return [step.splitlines() for step in printed.read_text().split(f"{_MARK}\n")[1:]]


def _took(wanted: str, lines: list[str]) -> bool:
    """Whether one of the lines is as wanted. If so, it and those before it are removed."""
    looks = _pattern(wanted)
    for i, line in enumerate(lines):
        if looks.search(line):
            del lines[: i + 1]
            return True
    return False


def _pattern(wanted: str) -> re.Pattern[str]:
    """What a line looks like: as it is written, and anything at all for an ellipsis."""
    return re.compile(".*".join(re.escape(part) for part in " ".join(wanted.split()).split("…")))
