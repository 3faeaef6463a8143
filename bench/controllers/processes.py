"""The processes that are measured: a controller on our runtime, or on kopf."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from bench.load.servers import ROOT, cpu, resident
from compute.app.kubeconfig import kubeconfig

_PATIENCE: Final = 30
_HERE: Final = Path(__file__).parent


class Measured:
    """A controller as a process. What it used before the first reconcile does not count."""

    def __init__(self, command: list[str], kubeconfig: Path) -> None:
        around = os.environ | {"KUBECONFIG": str(kubeconfig), "PYTHONPATH": str(ROOT)}
        self._process = subprocess.Popen(
            [sys.executable, *command], stdout=subprocess.PIPE, env=around, cwd=ROOT
        )
        self.await_word("started")
        self._cpu, self._memory = cpu(self._process.pid), resident(self._process.pid)

    def await_word(self, word: str) -> None:
        """Wait until the process prints this on a line of its own."""
        assert self._process.stdout is not None
        for line in self._process.stdout:
            if line.decode().strip() == word:
                return
        raise SystemExit(f"the controller ended with {self._process.wait()} before {word!r}")

    @property
    def seconds(self) -> float:
        """Of CPU, since it started to work."""
        return cpu(self._process.pid) - self._cpu

    @property
    def grown(self) -> int:
        """Bytes of memory, since it started to work."""
        return resident(self._process.pid) - self._memory

    def stop(self) -> None:
        self._process.send_signal(signal.SIGTERM)
        try:
            self._process.wait(_PATIENCE)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


@contextmanager
def on_runtime(config: Path, contexts: list[str], count: int = 0) -> Iterator[Measured]:
    """Ours, over one cluster for each context. It prints ``done`` after this many statuses."""
    script = str(_HERE / "on_runtime.py")
    yield from _running(Measured([script, str(config), str(count), *contexts], config))


@contextmanager
def on_kopf(config: Path, namespace: str) -> Iterator[Measured]:
    """The same on kopf, which serves one cluster."""
    yield from _running(Measured([str(_HERE / "on_kopf.py"), namespace], config))


def _running(measured: Measured) -> Iterator[Measured]:
    try:
        yield measured
    finally:
        measured.stop()


def written(folder: Path, url: str, authority: bytes, token: str) -> Path:
    """A kubeconfig for the controllers, with the one context ``compute``."""
    file = folder / "bench.kubeconfig"
    file.write_bytes(kubeconfig(url, authority, token))
    file.chmod(0o600)
    return file
