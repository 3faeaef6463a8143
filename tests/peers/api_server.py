"""One API server on a loopback port with RBAC on: its files, and how its programs are started."""

import ssl
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from tests.peers import pki
from tests.peers.access import Access
from tests.peers.children import Program, program
from tests.peers.ports import answers, free_ports

CONTROLLERS = ("namespace", "garbagecollector", "serviceaccount", "serviceaccount-token")
ROLE_SUMS = "clusterrole-aggregation"


@dataclass(frozen=True, slots=True)
class Etcd:
    """A store. Several API servers share it, each under a prefix of its own."""

    binaries: Path
    folder: Path
    client: int
    peer: int

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.client}"

    def program(self, *, durable: bool = False) -> Program:
        """The etcd; one that is ``durable`` syncs to disk."""
        peer = f"http://127.0.0.1:{self.peer}"
        flags: dict[str, object] = {
            "name": "peer",
            "data-dir": self.folder,
            "listen-client-urls": self.url,
            "advertise-client-urls": self.url,
            "listen-peer-urls": peer,
            "initial-advertise-peer-urls": peer,
            "initial-cluster": f"peer={peer}",
            "log-level": "warn",
            "unsafe-no-fsync": "false" if durable else "true",
        }
        return program("etcd", self.binaries / "etcd", flags)


@dataclass(frozen=True, slots=True)
class ApiServer:
    """A kube-apiserver and its kube-controller-manager. ``name`` is the prefix of their names."""

    binaries: Path
    folder: Path
    etcd: str
    name: str = ""
    prefix: str = "/registry"
    port: int = field(default_factory=lambda: free_ports(1)[0])
    manager_port: int = field(default_factory=lambda: free_ports(1)[0])

    @property
    def certificates(self) -> Path:
        return self.folder / "pki"

    @property
    def url(self) -> str:
        return f"https://127.0.0.1:{self.port}"

    def make_pki(self) -> pki.Authority:
        """Its files, before anything is started."""
        self.folder.mkdir(exist_ok=True)
        return pki.make(self.certificates)

    def access(self, user: str) -> Access:
        """The access of a user that has a client certificate: admin, controllers or scheduler."""
        certificate, key = (self.certificates / f"{user}.{kind}" for kind in ("crt", "key"))
        return Access(self.url, self.certificates / "ca.crt", certificate, key)

    def kubeconfig(self, user: str) -> Path:
        return self.access(user).write(self.folder / f"{user}.kubeconfig")

    def token_access(self, token: str) -> Access:
        return Access(self.url, self.certificates / "ca.crt", token=token)

    def ready(self) -> bool:
        """Whether it serves."""
        trust = ssl.create_default_context(cafile=self.certificates / "ca.crt")
        return answers(f"{self.url}/readyz", trust)

    def server(self, more: dict[str, object] | None = None) -> Program:
        """The kube-apiserver, with flags of its own."""
        flags: dict[str, object] = {
            "etcd-servers": self.etcd,
            "etcd-prefix": self.prefix,
            "secure-port": self.port,
            "bind-address": "127.0.0.1",
            "advertise-address": "127.0.0.1",
            "endpoint-reconciler-type": "none",  # which alone allows that address
            "cert-dir": self.certificates,
            "tls-cert-file": self.certificates / "apiserver.crt",
            "tls-private-key-file": self.certificates / "apiserver.key",
            "client-ca-file": self.certificates / "ca.crt",
            "service-account-issuer": "https://kubernetes.default.svc",
            "service-account-key-file": self.certificates / "accounts.pub",
            "service-account-signing-key-file": self.certificates / "accounts.key",
            "authorization-mode": "RBAC",
            "service-cluster-ip-range": "10.96.0.0/16",
            "disable-admission-plugins": "StorageObjectInUseProtection,ServiceAccount",
            "profiling": "false",
            "shutdown-delay-duration": "0s",
        }
        return program(
            self._named("kube-apiserver"), self.binaries / "kube-apiserver", flags | (more or {})
        )

    def controllers(self, names: Iterable[str], more: dict[str, object] | None = None) -> Program:
        """The kube-controller-manager with these controllers, and flags of its own."""
        config = self.kubeconfig("controllers")
        flags: dict[str, object] = {
            "kubeconfig": config,
            "authentication-kubeconfig": config,
            "authorization-kubeconfig": config,
            "bind-address": "127.0.0.1",
            "secure-port": self.manager_port,
            "cert-dir": self.certificates / "manager",
            "leader-elect": "false",
            "use-service-account-credentials": "true",
            "service-account-private-key-file": self.certificates / "accounts.key",
            "root-ca-file": self.certificates / "ca.crt",
            "profiling": "false",
            "controllers": ",".join(names),
            # The tests make a namespace each; at the usual pace their deletions pile up.
            "kube-api-qps": 1000,
            "kube-api-burst": 2000,
            "concurrent-namespace-syncs": 20,
        }
        name = self._named("kube-controller-manager")
        binary = self.binaries / "kube-controller-manager"
        return program(name, binary, flags | (more or {}))

    def _named(self, program_name: str) -> str:
        return f"{self.name}-{program_name}" if self.name else program_name
