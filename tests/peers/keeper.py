"""The process that runs real servers for a run of tests, and ends with it.

It holds the read end of a pipe whose other end only the run has. However the run ends, finished or
killed, the pipe closes, and the process ends the programs that it started and removes their data.
"""

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

READY = "ready"
KEEP = "keep"
DONE = "done"
_ROOT = Path(__file__).parents[2]
_PATIENCE = 30.0  # seconds for the servers to end


class Unstarted(Exception):
    """The servers did not start. Says what the process said."""


class Refused(Exception):
    """The process could not do what it was asked to. Says why."""


class Keeper:
    """A module that runs servers, as a process, and the variables that it printed."""

    def __init__(self, module: str, arguments: Sequence[str] = ()) -> None:
        self.logs = ""
        self.complaint = ""
        self.variables: dict[str, str] = {}
        self._process = subprocess.Popen(
            [sys.executable, "-m", module, "--piped", *arguments],
            cwd=_ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        try:
            self._listen()
        except BaseException:
            self.stop(keep=False)
            raise

    def ask(self, verb: str, subject: object) -> None:
        """Have it do something with a program, and return when that is done."""
        process = self._process
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(f"{verb} {json.dumps(subject)}\n")
        process.stdin.flush()
        answer = process.stdout.readline().strip()
        if answer != DONE:
            reason = json.loads(answer) if answer.startswith('"') else answer
            raise Refused(reason or "the process that runs the servers has ended")

    def stop(self, *, keep: bool) -> None:
        """Have it end what it started."""
        try:
            lines, _ = self._process.communicate(KEEP + "\n" if keep else "", _PATIENCE)
            self.complaint = lines.strip() if self._process.returncode else ""
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.communicate()

    def _listen(self) -> None:
        assert self._process.stdout is not None
        lines = []
        for line in self._process.stdout:
            word, _, rest = line.strip().partition(" ")
            if word == "export":
                name, _, value = rest.partition("=")
                self.variables[name] = value
            elif word == READY:
                self.logs = rest
                return
            lines.append(line)
        raise Unstarted("".join(lines).strip())


def command(line: str) -> tuple[str, Any]:
    """The verb and the subject of what a run asks for."""
    verb, _, subject = line.strip().partition(" ")
    return verb, json.loads(subject) if subject else None
