"""The stack as tests see it: its planes, its programs, and what they start beside them."""

import json
import select
import signal
import ssl
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from compute.app.system_environment import system
from kubekit.client.http.client import HttpClient
from kubekit.client.kubeconfig import contexts, load
from tests.peers.access import Access
from tests.peers.keeper import Keeper
from tests.peers.ports import answers
from tests.peers.stack.admin import Admin

API_SERVER = "-kube-apiserver"
_LIMIT = 90.0  # seconds for an API server to be ready
_PAUSE = 0.1


class RunningStack:
    """A stack in a process of its own."""

    def __init__(self, keeper: Keeper) -> None:
        self._keeper = keeper
        self.folder = Path(keeper.variables["STACK"])
        self.kubeconfig = Path(keeper.variables["KUBECONFIG"])
        self.logs = Path(keeper.logs)
        self.planes = tuple(contexts([self.kubeconfig]))
        self._startups: list[tuple[dict[Path, int], dict[Path, int]]] = []

    @property
    def cells(self) -> list[str]:
        """The names of the cells: dfw, lhr and so on."""
        return [name for name in self.planes if name not in {"project", "hub"}]

    def client(self, plane: str) -> HttpClient:
        """A typed client with every right. Create it on a running loop, and close it."""
        return self.client_of(self.kubeconfig_of(plane))

    def client_of(self, kubeconfig: Path) -> HttpClient:
        """A typed client with the rights of a kubeconfig."""
        environment = system()
        return HttpClient(load(environment, [kubeconfig]), environment)

    def admin(self, plane: str) -> Admin:
        """A client with every right for documents of any kind. Use it as a context."""
        return Admin(self.kubeconfig_of(plane))

    def kubeconfig_of(self, plane: str) -> Path:
        """The administrator's kubeconfig of a single plane."""
        return self.folder / plane / "admin.kubeconfig"

    def access(self, plane: str, token: str) -> Access:
        """The access of a service account to a plane."""
        cluster = json.loads(self.kubeconfig_of(plane).read_text())["clusters"][0]["cluster"]
        return Access(cluster["server"], Path(cluster["certificate-authority"]), token=token)

    def audit_log(self, plane: str) -> Path:
        """What service accounts and users asked of a plane, a line for each request."""
        return self.logs / f"{plane}-audit.log"

    def log(self, name: str) -> Path:
        """What a program wrote."""
        return self.logs / f"{name}.log"

    def kill(self, name: str) -> None:
        """End a program at once, such as hub-kube-apiserver or karmada-controller-manager."""
        self._keeper.ask("kill", name)

    def stop(self, name: str) -> None:
        """Ask a program to end, and wait for it; after five seconds it is killed."""
        self._keeper.ask("stop", name)

    def start(self, name: str) -> None:
        """Start a program again that was killed or stopped. An API server is ready at the end."""
        before = self._sizes()
        self._keeper.ask("start", name)
        plane = name.removesuffix(API_SERVER)
        if plane != name:
            self._await(plane)
            self._startups.append((before, self._sizes()))

    def lines(self, name: str) -> Iterator[str]:
        """The lines of a log, but for those that were written while an API server started.

        Until it has read its roles it forbids everything.
        """
        log = self.log(name)
        skipped = [(before.get(log, 0), after.get(log, 0)) for before, after in self._startups]
        offset = 0
        with log.open("rb") as file:
            for line in file:
                if not any(first <= offset < end for first, end in skipped):
                    yield line.decode(errors="replace")
                offset += len(line)

    def _sizes(self) -> dict[Path, int]:
        return {log: log.stat().st_size for log in self.logs.iterdir()}

    def _await(self, plane: str) -> None:
        access = self.access(plane, "")
        trust = ssl.create_default_context(cafile=access.authority)
        ends = time.monotonic() + _LIMIT
        while not answers(f"{access.url}/readyz", trust):
            if time.monotonic() > ends:
                raise AssertionError(f"the API server of {plane} is not ready after {_LIMIT:g} s")
            select.select((), (), (), _PAUSE)

    def check(self, name: str) -> None:
        """Raise `Refused`, with the end of its log, if a program has ended by itself."""
        self._keeper.ask("check", name)

    def send(self, name: str, how: signal.Signals) -> None:
        """Send a signal to a program."""
        self._keeper.ask("signal", (name, int(how)))

    def run(
        self, name: str, arguments: Sequence[str], environment: Mapping[str, str] | None = None
    ) -> None:
        """Start a program beside the stack, which ends with it at the latest."""
        program = {
            "name": name,
            "arguments": list(arguments),
            "environment": dict(environment) if environment is not None else None,
        }
        self._keeper.ask("run", program)
