"""Long commands: kept in a log, spoken of while they run, tried again if what failed passes."""

import os
import re
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

Say = Callable[[str], None]

# Errors of a module proxy, or of the network, that go away by themselves.
PASSES = re.compile(
    r"\b(?:429|50[0234])\b|too many requests|time[d ]*-?out|deadline exceeded|reset by peer"
    r"|broken pipe|unexpected EOF|connection refused|no such host|server misbehaving"
    r"|unreachable|stream error|GOAWAY|took longer than",
    re.IGNORECASE,
)
FULL = re.compile(r"no space left on device|disk quota exceeded", re.IGNORECASE)
_TAIL = 15  # lines of a log that are shown


class Failed(Exception):
    """A command failed. The message has the reason, as far as its log has one."""


@dataclass(frozen=True, slots=True)
class Patience:
    """Seconds: between two lines, for one try, and before each try after the first."""

    remind: float = 30
    limit: float = 2400
    pauses: tuple[float, ...] = (2, 5, 15, 30, 60, 120)


PATIENT = Patience()


@dataclass(frozen=True, slots=True)
class Command:
    """What to run, where, and its name in messages."""

    what: str
    arguments: Sequence[str]
    cwd: Path
    log: Path
    progress: str = "{seconds} s"
    """The progress line; ``{lines}`` is how many lines the command has written."""


class Runner:
    """Runs commands in one environment."""

    def __init__(
        self, say: Say, environment: Mapping[str, str], patience: Patience = PATIENT
    ) -> None:
        self._say = say
        self._environment = dict(environment)
        self._patience = patience

    def output(self, command: Command) -> str:
        """The stdout of the command. Its stderr goes to its log."""
        for pause in (*self._patience.pauses, None):
            start = command.log.stat().st_size if command.log.exists() else 0
            code, output = self._attempt(command)
            if code == 0:
                return output
            errors = _read(command.log, start).partition("\n")[
                2
            ]  # what comes after the command itself
            if pause is None or FULL.search(errors) or not PASSES.search(errors):
                raise Failed(_complaint(command, errors))
            self._say(f"{command.what}: {_last(errors)}; trying again in {pause:g} s")
            time.sleep(pause)  # noqa: TID251 - a script of its own, with no clock to inject
        raise AssertionError("the last try has no pause")

    def _attempt(self, command: Command) -> tuple[int, str]:
        output = command.log.with_suffix(".out")
        with command.log.open("ab") as log, output.open("wb") as out:
            log.write(f"$ {' '.join(command.arguments)}\n".encode())
            log.flush()
            offset = log.tell()
            process = subprocess.Popen(
                command.arguments, cwd=command.cwd, env=self._environment, stdout=out, stderr=log
            )
            try:
                code = self._waited(process, command, offset)
            finally:
                _end(process)
        text = output.read_text(encoding="utf-8", errors="replace")
        output.unlink()
        return code, text

    def _waited(self, process: subprocess.Popen[bytes], command: Command, offset: int) -> int:
        start = time.monotonic()
        while True:
            try:
                return process.wait(self._patience.remind)
            except subprocess.TimeoutExpired:
                seconds = time.monotonic() - start
            if seconds >= self._patience.limit:
                with command.log.open("a", encoding="utf-8") as log:
                    log.write(f"took longer than {self._patience.limit:g} s\n")
                return 1
            lines = _read(command.log, offset).count("\n")
            self._say(
                f"{command.what}: {command.progress.format(seconds=int(seconds), lines=lines)}"
            )


def _read(log: Path, start: int) -> str:
    return log.read_bytes()[start:].decode(errors="replace")


def _end(process: subprocess.Popen[bytes]) -> None:
    """Leave nothing running behind, whatever made us stop waiting."""
    if process.poll() is not None:
        return
    process.terminate()
    try:
        process.wait(10)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _complaint(command: Command, errors: str) -> str:
    why = "the disk is full; " if FULL.search(errors) else ""
    tail = os.linesep.join(f"  {line}" for line in errors.splitlines()[-_TAIL:])
    return f"{command.what}: {why}see {command.log}, which ends\n{tail}"


def _last(errors: str) -> str:
    """The line with the failure. go repeats itself, and the last line is the shortest."""
    lines = [line for line in errors.splitlines() if PASSES.search(line)]
    return lines[-1].strip()[-160:]
