"""The command line as a user runs it: a process, its streams and its exit code, or a terminal.

A transcript is a golden file: commands with all that they print. Text that differs between runs, such as
ages and addresses, is replaced by a placeholder. ``UPDATE_TRANSCRIPTS=1`` writes the files again; read the
difference before it is committed.
"""

import os
import pty
import re
import select
import shlex
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fcntl import ioctl
from pathlib import Path
from typing import Final, Self

import pyte

COMPUTE: Final = Path(sys.executable).with_name("compute")
LIMIT: Final = 90.0  # seconds for one command
_UPDATE: Final = "UPDATE_TRANSCRIPTS"

# What differs between runs, and what stands for it.
_VOLATILE: Final = (
    (re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|\+00:00)"), "TIME"),
    (re.compile(r"\b\d\d:\d\d:\d\d\b"), "CLOCK"),
    (re.compile(r"\b[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b"), "UID"),
    (re.compile(r"\b10\.\d+\.\d+\.\d+\b"), "ADDRESS"),
    (re.compile(r"\bprocess \d+"), "process PID"),
    (re.compile(r"(https?://127\.0\.0\.1):\d+"), r"\1:PORT"),
    (re.compile(r"\b\d+m \d+s\b|\b\d+(?:\.\d+)?[smhd]\b"), "AGE"),
    (re.compile(r"\bnode-\d+"), "node-N"),
    (re.compile(r"\bopened (?:at once|after AGE)"), "opened WHEN"),
    (re.compile(r'("resourceVersion": )"\d+"'), r'\1"VERSION"'),
)
_GAPS: Final = re.compile(r" {3,}")


@dataclass(frozen=True)
class Finished:
    """A command that has ended."""

    arguments: tuple[str, ...]
    code: int
    stdout: str
    stderr: str

    def __str__(self) -> str:
        """The command as a transcript shows it: stderr lines have a mark, other codes than 0 a line."""
        lines = [f"$ compute {shlex.join(self.arguments)}", *self.stdout.splitlines()]
        lines += [f"! {line}".rstrip() for line in self.stderr.splitlines()]
        return "\n".join([*lines, *([f"[exit {self.code}]"] * bool(self.code))])


@dataclass(frozen=True)
class CommandLine:
    """The command with an environment of its own: no settings, no kubeconfig, no terminal."""

    home: Path
    data: Path  # the folder of the world
    variables: Mapping[str, str] = field(default_factory=dict)

    def __call__(self, *arguments: str, text: str = "", **variables: str) -> Finished:
        """Run a command to its end; ``text`` is its stdin."""
        done = subprocess.run(
            [COMPUTE, *arguments],
            input=text,
            capture_output=True,
            text=True,
            check=False,
            timeout=LIMIT,
            cwd=self.home,
            env=self.environment(**variables),
        )
        return Finished(arguments, done.returncode, done.stdout, done.stderr)

    def of(self, **variables: str) -> "CommandLine":
        """The same with more variables, such as COMPUTE_PROJECT."""
        return CommandLine(self.home, self.data, {**self.variables, **variables})

    def start(self, *arguments: str, **variables: str) -> "subprocess.Popen[str]":
        """Start a command in the background, without a terminal."""
        return subprocess.Popen(
            [COMPUTE, *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=self.home,
            env=self.environment(**variables),
        )

    def terminal(self, *arguments: str, columns: int = 100, lines: int = 40) -> "Terminal":
        """Start a command on a terminal."""
        return Terminal([str(COMPUTE), *arguments], self, columns, lines)

    def environment(self, **variables: str) -> dict[str, str]:
        named = ("COMPUTE_", "DATUM_", "XDG_", "KUBE", "LC_", "LANG", "COLUMNS", "LINES")
        inherited = {k: v for k, v in os.environ.items() if not k.startswith(named)}
        own = {"HOME": str(self.home), "COMPUTE_DATA": str(self.data), "LANG": "C.UTF-8"}
        return inherited | own | {"NO_COLOR": "1"} | dict(self.variables) | variables


def normal(text: str) -> str:
    """The text without what differs between runs. Widths of columns follow their content, so gaps are equal."""
    for pattern, placeholder in _VOLATILE:
        text = pattern.sub(placeholder, text)
    return "\n".join(_GAPS.sub("   ", line).rstrip() for line in text.splitlines())


def check_transcript(file: Path, *runs: Finished, replace: Mapping[str, str] | None = None) -> None:
    """Compare the runs with a golden file. ``replace`` has further text that differs, such as a folder."""
    text = "\n\n".join(map(str, runs))
    for found, placeholder in (replace or {}).items():
        text = text.replace(found, placeholder)
    check_text(file, normal(text) + "\n")


def check_text(file: Path, text: str) -> None:
    """Compare a text with a golden file."""
    if os.environ.get(_UPDATE):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    assert text == (file.read_text() if file.exists() else "")


class Terminal:
    """A command on a real pseudo-terminal, and the screen that it draws."""

    def __init__(self, command: Sequence[str], of: CommandLine, columns: int, lines: int) -> None:
        self.screen = pyte.Screen(columns, lines)
        self._stream = pyte.ByteStream(self.screen)
        self._main, second = pty.openpty()
        ioctl(second, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
        environment = of.environment(TERM="xterm-256color")
        environment.pop("NO_COLOR")
        self._process = subprocess.Popen(
            command, stdin=second, stdout=second, stderr=second, close_fds=True,
            cwd=of.home, env=environment, start_new_session=True, preexec_fn=_own_terminal,  # noqa: PLW1509 -- a test has one thread
        )  # fmt: skip
        os.close(second)
        self.raw = b""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait()
        os.close(self._main)

    def text(self) -> str:
        """The screen as text, without empty lines at its end."""
        return "\n".join(line.rstrip() for line in self.screen.display).rstrip()

    def type(self, keys: str) -> None:
        os.write(self._main, keys.encode())

    def until(self, wanted: str, limit: float = LIMIT) -> str:
        """Read until the screen matches a regular expression. Returns the screen."""
        deadline = time.monotonic() + limit
        while not re.search(wanted, self.text(), re.MULTILINE):
            assert self._read(deadline), f"it ended without {wanted!r}:\n{self.text()}"
        return self.text()

    def ended(self, limit: float = LIMIT) -> int:
        """Read until the command ends. Returns its exit code."""
        deadline = time.monotonic() + limit
        while self._read(deadline):
            pass
        return self._process.wait(limit)

    def _read(self, deadline: float) -> bool:
        left = deadline - time.monotonic()
        assert left > 0, f"nothing more in time:\n{self.text()}"
        if not select.select([self._main], [], [], left)[0]:
            return True
        try:
            data = os.read(self._main, 65536)
        except OSError:  # the command has closed the terminal
            return False
        self.raw += data
        self._stream.feed(data)
        return bool(data)


def _own_terminal() -> None:
    """Make the terminal the controlling one, so that Ctrl-C reaches the command."""
    ioctl(0, termios.TIOCSCTTY, 0)
