"""`compute plane` in a process of its own, for end-to-end tests."""

import signal
import ssl
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TypeVar
from urllib.request import Request, urlopen

import yaml

T = TypeVar("T")
READY = "Ctrl-C stops it.\n"


class PlaneProcess:
    """A plane that serves, until it is stopped."""

    def __init__(self, data: Path, *options: str) -> None:
        self.data = data
        command = [sys.executable, "-m", "compute", "plane", "--data", str(data), *options]
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        self.said = "".join(_until_ready(stream(self.process.stdout)))
        if not self.said.endswith(READY):
            raise AssertionError(self.said + self.process.communicate()[1])

    @property
    def kubeconfig(self) -> Path:
        return self.data / "kubeconfig"

    @property
    def url(self) -> str:
        config = yaml.safe_load(self.kubeconfig.read_text())
        url: str = config["clusters"][0]["cluster"]["server"]
        return url

    def get(self, path: str, token: str | None = None) -> bytes:
        """The body of a response, by default with the token of the folder."""
        token = (self.data / "token").read_text().strip() if token is None else token
        request = Request(self.url + path, headers={"Authorization": f"Bearer {token}"})
        context = ssl.create_default_context(cafile=self.data / "pki" / "ca.crt")
        with urlopen(request, context=context, timeout=10) as answer:
            body: bytes = answer.read()
            return body

    def stop(self, number: signal.Signals = signal.SIGTERM) -> tuple[int, str, str]:
        """Send a signal. Returns the exit code, the rest of stdout, and stderr."""
        self.process.send_signal(number)
        out, err = self.process.communicate(timeout=30)
        return self.process.returncode, out, err


@contextmanager
def running(data: Path, *options: str) -> Iterator[PlaneProcess]:
    """A plane on any free port."""
    plane = PlaneProcess(data, "--port", "0", *options)
    try:
        yield plane
    finally:
        if plane.process.poll() is None:
            plane.process.kill()
        plane.process.communicate()


def _until_ready(lines: IO[str]) -> Iterator[str]:
    for line in lines:
        yield line
        if line == READY:
            return


def stream(opened: T | None) -> T:
    """A pipe of the process, which exists since it was requested."""
    assert opened is not None
    return opened
