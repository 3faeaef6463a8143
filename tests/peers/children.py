"""Programs that run beside the tests: each with a log, all of them ended by their own ids."""

import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

_TAIL = 20  # lines of a log
_PAUSE = 0.1  # seconds between two checks
_GRACE = 5.0  # seconds for a program that was asked to end


class Ended(Exception):
    """A program has ended early, or is not ready in time. The message has the end of its log."""


@dataclass(frozen=True, slots=True)
class Program:
    """What to run, and its name, which is that of its log as well. Names differ within one run."""

    name: str
    arguments: Sequence[str]
    environment: Mapping[str, str] | None = None
    """All of its environment; without it, ours."""


def program(name: str, binary: Path, flags: Mapping[str, object]) -> Program:
    """A program whose flags are given by name."""
    return Program(name, [str(binary), *(f"--{flag}={value}" for flag, value in flags.items())])


class Child:
    """A program that runs. It has a session of its own, so that Ctrl-C of ours is not its as well."""

    def __init__(self, started: Program, logs: Path) -> None:
        self.name = started.name
        self._log = logs / f"{self.name}.log"
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                started.arguments,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=logs,
                env=started.environment,
                start_new_session=True,
            )

    @property
    def pid(self) -> int:
        return self._process.pid

    def check(self) -> None:
        """Raise `Ended` if it has ended."""
        if self._process.poll() is not None:
            raise Ended(f"{self.name} ended with {self._process.returncode}; {self._last_words()}")

    def until(self, ready: Callable[[], bool], limit: float) -> None:
        """Wait until it is ready. If it ends meanwhile, that is reported at once."""
        start = time.monotonic()
        while not ready():
            try:
                self._process.wait(_PAUSE)
            except subprocess.TimeoutExpired:
                if time.monotonic() - start > limit:
                    raise Ended(f"{self.name} is not ready: {self._last_words()}") from None
            self.check()

    def send(self, how: signal.Signals) -> None:
        """Send a signal, unless it has ended: the id may be another program's by now."""
        if self._process.poll() is None:
            self._process.send_signal(how)

    def stop(self, how: signal.Signals) -> None:
        """End it. Signals go to the id that the system still holds for us, never to a name."""
        self.send(how)
        try:
            self._process.wait(_GRACE)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _last_words(self) -> str:
        lines = self._log.read_text(encoding="utf-8", errors="replace").splitlines()[-_TAIL:]
        return "its log ends\n" + "\n".join(f"  {line}" for line in lines)
