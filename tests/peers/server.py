"""A real kube-apiserver with its etcd and its controllers, on loopback ports, with RBAC on."""

import asyncio
import os
import signal
import socket
import ssl
from contextlib import ExitStack
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

from tests.peers import pki
from tests.peers.access import Access
from tests.peers.children import Child

NEEDED = ("etcd", "kube-apiserver", "kube-controller-manager", "kubectl")
_LIMIT = 90.0  # seconds for one program to be ready, on a machine that has other work
_CONTROLLERS = ("namespace", "garbagecollector", "serviceaccount", "serviceaccount-token")
_SUMS = "clusterrole-aggregation"


class Server:
    """The programs of one server, in a folder of their own."""

    def __init__(self, binaries: Path, folder: Path) -> None:
        self._binaries = binaries
        self._folder = folder
        self._pki = folder / "pki"
        self._children: list[Child] = []
        self._etcd, self._peer, self._port, self._manager = _free_ports(4)
        self.logs = folder / "log"
        self.url = f"https://127.0.0.1:{self._port}"

    def start(self) -> dict[str, str]:
        """What a client must know, as variables of the environment.

        The controllers come last: they list the kinds once and then every half minute, so every
        kind that the tests bring is there before.
        """
        self.logs.mkdir()
        pki.make(self._pki)
        self._spawn("etcd", self._etcd_flags())
        server = self._spawn("kube-apiserver", self._server_flags())
        server.until(lambda: self._answers(f"{self.url}/readyz"), _LIMIT)
        known = self._known()
        asyncio.run(_bring_kinds(known, self._folder))
        self._access("controllers").write(self._folder / "controllers")
        manager = self._spawn("kube-controller-manager", self._manager_flags())
        manager.until(lambda: _listens(self._manager), _LIMIT)
        return known

    def check(self) -> None:
        """Nothing, or the complaint of the first program that has ended by itself."""
        for child in self._children:
            child.check()

    def stop(self) -> None:
        """End all, the last first. The data is thrown away, so none gets more than a moment to end.

        An API server with open watches takes a minute to end when asked, so it is not asked.
        """
        polite = {"kube-controller-manager": signal.SIGTERM}
        for child in reversed(self._children):
            child.stop(polite.get(child.name, signal.SIGKILL))

    def _spawn(self, name: str, flags: dict[str, object]) -> Child:
        arguments = [
            str(self._binaries / name),
            *(f"--{flag}={value}" for flag, value in flags.items()),
        ]
        child = Child(arguments, self.logs)
        self._children.append(child)
        return child

    def _known(self) -> dict[str, str]:
        access = self._access("admin")
        return {
            "CONTRACT_SERVER": access.url,
            "CONTRACT_CA": str(access.authority),
            "CONTRACT_CERT": str(access.certificate),
            "CONTRACT_KEY": str(access.key),
            "CONTRACT_ETCD": f"http://127.0.0.1:{self._etcd}",
            "CONTRACT_CONTROLLERS": "1",
            "CONTRACT_DISPOSABLE": "1",
            "KUBECONFIG": str(access.write(self._folder / "kubeconfig")),
        }

    def _access(self, user: str) -> Access:
        pair = (self._pki / f"{user}.{kind}" for kind in ("crt", "key"))
        return Access(self.url, self._pki / "ca.crt", *pair)

    def _etcd_flags(self) -> dict[str, object]:
        client, peer = (f"http://127.0.0.1:{port}" for port in (self._etcd, self._peer))
        return {
            "name": "peer",
            "data-dir": self._folder / "etcd",
            "listen-client-urls": client,
            "advertise-client-urls": client,
            "listen-peer-urls": peer,
            "initial-advertise-peer-urls": peer,
            "initial-cluster": f"peer={peer}",
            "log-level": "warn",
            "unsafe-no-fsync": "true",
        }

    def _server_flags(self) -> dict[str, object]:
        return {
            "etcd-servers": f"http://127.0.0.1:{self._etcd}",
            "secure-port": self._port,
            "bind-address": "127.0.0.1",
            "advertise-address": "127.0.0.1",
            "endpoint-reconciler-type": "none",  # which alone allows that address
            "cert-dir": self._pki,
            "tls-cert-file": self._pki / "apiserver.crt",
            "tls-private-key-file": self._pki / "apiserver.key",
            "client-ca-file": self._pki / "ca.crt",
            "service-account-issuer": "https://kubernetes.default.svc",
            "service-account-key-file": self._pki / "accounts.pub",
            "service-account-signing-key-file": self._pki / "accounts.key",
            "authorization-mode": "RBAC",
            "service-cluster-ip-range": "10.96.0.0/16",
            "disable-admission-plugins": "StorageObjectInUseProtection,ServiceAccount",
            "profiling": "false",
            "shutdown-delay-duration": "0s",
        }

    def _manager_flags(self) -> dict[str, object]:
        config = self._folder / "controllers"
        return {
            "kubeconfig": config,
            "authentication-kubeconfig": config,
            "authorization-kubeconfig": config,
            "bind-address": "127.0.0.1",
            "secure-port": self._manager,
            "cert-dir": self._pki / "manager",
            "leader-elect": "false",
            "use-service-account-credentials": "true",
            "service-account-private-key-file": self._pki / "accounts.key",
            "root-ca-file": self._pki / "ca.crt",
            "profiling": "false",
            "controllers": ",".join((*_CONTROLLERS, _SUMS)),
            # The tests make a namespace each; at the usual pace their deletions pile up.
            "kube-api-qps": 1000,
            "kube-api-burst": 2000,
            "concurrent-namespace-syncs": 20,
        }

    def _answers(self, url: str) -> bool:
        trust = ssl.create_default_context(cafile=self._pki / "ca.crt")
        try:
            with urlopen(url, context=trust, timeout=5) as answer:
                return bool(answer.status == 200)
        except (URLError, OSError):
            return False


async def _bring_kinds(known: dict[str, str], folder: Path) -> None:
    """The kinds of the contract suite and ours. The suite finds them there and leaves them alone."""
    from tests.contract import servers  # noqa: PLC0415 - the suite is far larger than all of this

    os.environ.update(known)
    async with servers.named_server(folder):
        pass


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def _free_ports(count: int) -> list[int]:
    """Ports that are free now. All are held until the last is known, so that they differ."""
    with ExitStack() as held:
        sockets = [held.enter_context(socket.socket()) for _ in range(count)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]
