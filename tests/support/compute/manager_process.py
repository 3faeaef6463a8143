"""`compute manager` in a process of its own."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final
from urllib.error import URLError
from urllib.request import urlopen

PATIENCE: Final = 60.0  # seconds for anything, on a machine with other work
_PAUSE: Final = 0.05


class ManagerProcess:
    """A manager and its log. Its probes are on a port that was free."""

    def __init__(self, log: Path, port: int, *arguments: str) -> None:
        self.log = log
        self.probes = f"http://127.0.0.1:{port}"
        line = [sys.executable, "-m", "compute", "manager", *arguments]
        line.append(f"--health-probe-bind-address=127.0.0.1:{port}")
        with log.open("ab") as output:
            self._process = subprocess.Popen(
                line, stdin=subprocess.DEVNULL, stdout=output, stderr=output, env=_environment()
            )

    @property
    def code(self) -> int | None:
        """The exit code; None while it runs."""
        return self._process.poll()

    def page(self, path: str) -> tuple[int, str]:
        """The code and the text of a page of the probes; the code 0 while nothing answers."""
        try:
            with urlopen(f"{self.probes}{path}", timeout=5) as answer:
                return answer.status, answer.read().decode()
        except URLError as error:
            body = getattr(error, "read", bytes)()
            return getattr(error, "code", 0), body.decode()

    def ready(self) -> None:
        """Wait until it is ready."""
        end = time.monotonic() + PATIENCE
        while self.page("/readyz")[0] != 200:
            assert self.code is None, self.text()
            assert time.monotonic() < end, self.page("/readyz?verbose")[1] + self.text()
            self._wait(_PAUSE)

    def until_logged(self, text: str) -> None:
        """Wait until its log has a text."""
        end = time.monotonic() + PATIENCE
        while text not in self.text():
            assert self.code is None, self.text()
            assert time.monotonic() < end, self.text()
            self._wait(_PAUSE)

    def until_ended(self) -> None:
        """Wait until it ends by itself."""
        self._process.wait(PATIENCE)

    def stop(self) -> int:
        """End it as Kubernetes does."""
        self._process.terminate()
        return self._process.wait(PATIENCE)

    def kill(self) -> None:
        """End it without a chance to release anything."""
        self._process.kill()
        self._process.wait(PATIENCE)

    def text(self) -> str:
        """Everything it has logged."""
        return self.log.read_text()

    def _wait(self, seconds: float) -> None:
        """Wait for its end, a moment at a time."""
        try:
            self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            return


@contextmanager
def managing(*managers: ManagerProcess) -> Iterator[None]:
    """End these managers with the context, however it ends."""
    try:
        yield
    finally:
        for each in managers:
            if each.code is None:
                each.kill()


def _environment() -> dict[str, str]:
    """The environment without settings of a manager or a cluster."""
    return {name: value for name, value in os.environ.items() if name != "KUBECONFIG"}
