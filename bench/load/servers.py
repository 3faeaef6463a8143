"""The servers that are measured: our own, started here, and a peer that runs already."""

import base64
import os
import secrets
import select
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final

import msgspec
import yaml

from bench.load import objects
from bench.load.connection import Connection, Refused, Target, trusting

ROOT: Final = Path(__file__).resolve().parents[2]
_TICKS: Final = os.sysconf("SC_CLK_TCK")
_PATIENCE: Final = 60
_ACCOUNT: Final = {"kind": "ServiceAccount", "name": "bench", "namespace": "default"}
_ROLE: Final = {
    "apiGroup": "rbac.authorization.k8s.io",
    "kind": "ClusterRole",
    "name": "cluster-admin",
}
_RIGHTS: Final = (
    ("/api/v1/namespaces/default/serviceaccounts", {"metadata": {"name": "bench"}}),
    (
        "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings",
        {"metadata": {"name": "bench"}, "subjects": [_ACCOUNT], "roleRef": _ROLE},
    ),
)
_TOKEN: Final = "/api/v1/namespaces/default/serviceaccounts/bench/token"  # noqa: S105 - a path
_TOKEN_REQUEST: Final = {"spec": {"expirationSeconds": 86400}}


class Server:
    """A server, and the processes of it whose memory and time can be read."""

    def __init__(self, name: str, target: Target, processes: tuple[int, ...] = ()) -> None:
        self.name = name
        self.target = target
        self.processes = processes
        self.namespace = f"bench-{secrets.token_hex(4)}"

    def connection(self) -> Connection:
        return Connection(self.target, trusting(self.target))

    def prepare(self, namespace: str) -> None:
        """Make a namespace."""
        document = {
            "apiVersion": "v1",
            "kind": "Namespace",
            "metadata": {"name": namespace},
        }
        connection = self.connection()
        connection.post("/api/v1/namespaces", msgspec.json.encode(document))
        connection.close()

    def revision(self, namespace: str) -> str:
        """The newest version of a collection, to watch from."""
        connection = self.connection()
        page = msgspec.json.decode(connection.get(objects.collection(namespace) + "?limit=1"))
        connection.close()
        version: str = page["metadata"]["resourceVersion"]
        return version

    def clear(self, namespace: str) -> None:
        """Remove what a run has left. Only of use for a server that goes on afterwards."""
        connection = self.connection()
        connection.delete(objects.collection(namespace))
        connection.delete(f"/api/v1/namespaces/{namespace}")
        connection.close()

    def memory(self) -> int:
        """Bytes of memory in use, 0 if that cannot be known."""
        return sum(resident(process) for process in self.processes)

    def busy(self) -> float:
        """Seconds of CPU used so far."""
        return sum(cpu(process) for process in self.processes)


class Ours(Server):
    """`compute plane` as a process, on a folder of its own."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._port = _free_port()
        self._process = self._start()
        super().__init__("ours", _target(folder), (self._process.pid,))
        self.ready_after = self._await_ready()
        self._become_user()

    def restart(self) -> float:
        """Seconds from the start of the process until it answers a request, after a clean stop."""
        self.stop()
        started = time.monotonic()
        self._process = self._start()
        self.processes = (self._process.pid,)
        self._await_ready()
        seconds = time.monotonic() - started
        self._become_user()
        return seconds

    def stop(self) -> None:
        self._process.send_signal(signal.SIGTERM)
        self._process.wait(_PATIENCE)

    def _start(self) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "compute", "plane", "--data", str(self._folder)]
        with (self._folder.parent / "plane.log").open("ab") as log:
            return subprocess.Popen(
                [*command, "--port", str(self._port)], stdout=log, stderr=log, cwd=ROOT
            )

    def _await_ready(self) -> float:
        started = time.monotonic()
        while self._process.poll() is None and time.monotonic() - started < _PATIENCE:
            with suppress(OSError, Refused):
                self.target = _target(self._folder)
                self.connection().get("/readyz")
                return time.monotonic() - started
            _pause()
        raise SystemExit((self._folder.parent / "plane.log").read_text())

    def _become_user(self) -> None:
        """Continue with a service account's token, whose permissions have to be evaluated.

        The token of the folder may do everything without an evaluation.
        """
        connection = self.connection()
        for path, document in _RIGHTS:
            with suppress(Refused):  # it is there from the life before
                connection.post(path, msgspec.json.encode(document))
        answer = connection.post(_TOKEN, msgspec.json.encode(_TOKEN_REQUEST))
        connection.close()
        token = msgspec.json.decode(answer)["status"]["token"]
        self.target = msgspec.structs.replace(self.target, token=token)


@contextmanager
def ours(folder: Path) -> Iterator[Ours]:
    """Our server for as long as it is needed."""
    server = Ours(folder)
    try:
        yield server
    finally:
        server.stop()


def cpu(process: int | str) -> float:
    """Seconds of CPU that a process has used."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICKS


def resident(process: int | str) -> int:
    """Bytes of memory that a process uses."""
    pages = int(Path(f"/proc/{process}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def _target(folder: Path) -> Target:
    """What the kubeconfig says; an empty one while there is none."""
    file = folder / "kubeconfig"
    if not file.exists():
        return Target("https://127.0.0.1:1", "")
    config: dict[str, Any] = yaml.safe_load(file.read_text())
    cluster = config["clusters"][0]["cluster"]
    ca = folder.parent / "ca.crt"
    ca.write_bytes(base64.b64decode(cluster["certificate-authority-data"]))
    return Target(cluster["server"], (folder / "token").read_text().strip(), str(ca))


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
        return port


def _pause() -> None:
    """A moment, so that waiting for a server does not slow its start."""
    select.select((), (), (), 0.01)
