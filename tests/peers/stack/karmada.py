"""Karmada on the hub: its programs, and what they need to find there."""

import asyncio
import base64
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import yaml

from tests.peers import pki
from tests.peers.access import Access
from tests.peers.api_server import ApiServer
from tests.peers.children import Program, program
from tests.peers.ports import free_ports
from tests.peers.stack import definitions
from tests.peers.stack.admin import Admin, Document, is_true

NAMESPACE: Final = "karmada-system"
CLUSTERS_NAMESPACE: Final = "karmada-cluster"
AGGREGATED: Final = "karmada-aggregated-apiserver"
CONTROLLERS: Final = "karmada-controller-manager"
SCHEDULER: Final = "karmada-scheduler"
WEBHOOK: Final = "karmada-webhook"

_SERVICE = "https://karmada-webhook.karmada-system.svc:443"
_CONVERTED = ("resourcebindings", "clusterresourcebindings")
_API_SERVICE = "v1alpha1.cluster.karmada.io"
_REGISTRATION = "/apis/admissionregistration.k8s.io/v1"
# Without limits on their own requests, so that a test does not wait for a bucket to fill.
_FAST: Final = {
    "kube-api-qps": 1000,
    "kube-api-burst": 2000,
    "rate-limiter-qps": 1000,
    "rate-limiter-bucket-size": 10000,
}
_OUTAGES: Final = {
    "cluster-failure-threshold": "2s",
    "cluster-success-threshold": "1s",
    "cluster-monitor-period": "1s",
    "cluster-monitor-grace-period": "8s",
    "cluster-lease-duration": "8s",
}


@dataclass(frozen=True)
class Karmada:
    """Karmada's programs, for one hub."""

    binaries: Path
    files: Path
    """The definitions and the webhook configurations of its release."""
    hub: ApiServer
    ports: list[int] = field(default_factory=lambda: free_ports(8))

    @property
    def folder(self) -> Path:
        return self.hub.folder / "karmada"

    def make_pki(self, authority: pki.Authority) -> None:
        """Certificates and kubeconfigs of its programs, and the authority of aggregated APIs."""
        self.folder.mkdir()
        front = pki.Authority(self.folder / "front", "front-proxy-ca")
        front.client(self.folder / "front" / "front-proxy-client", "front-proxy-client")
        names = [f"{AGGREGATED}.{NAMESPACE}.svc"]
        authority.server(self.folder / AGGREGATED, AGGREGATED, names)
        (self.folder / "webhook").mkdir()
        authority.server(self.folder / "webhook" / "tls", WEBHOOK)
        for name in (AGGREGATED, CONTROLLERS, SCHEDULER, WEBHOOK):
            user = self.folder / f"{name}-client"
            authority.client(user, f"system:karmada:{name}", "system:masters")
            certificate, key = (user.with_name(f"{user.name}.{kind}") for kind in ("crt", "key"))
            trust = self.hub.certificates / "ca.crt"
            Access(self.hub.url, trust, certificate, key).write(self._kubeconfig(name))

    def server_flags(self) -> dict[str, object]:
        """The flags of the hub's kube-apiserver that let it serve an aggregated API."""
        front = self.folder / "front"
        return {
            "proxy-client-cert-file": front / "front-proxy-client.crt",
            "proxy-client-key-file": front / "front-proxy-client.key",
            "requestheader-client-ca-file": front / "front-proxy-ca.crt",
            "requestheader-allowed-names": "front-proxy-client",
            "requestheader-username-headers": "X-Remote-User",
            "requestheader-group-headers": "X-Remote-Group",
            "requestheader-extra-headers-prefix": "X-Remote-Extra-",
        }

    async def prepare(self, admin: Admin) -> None:
        """Everything that must be on the hub before its programs are started."""
        for name in (NAMESPACE, CLUSTERS_NAMESPACE):
            await admin.create("/api/v1/namespaces", {"metadata": {"name": name}})
        crds = definitions.read(self.files.glob("*.karmada.io_*.yaml"))
        crds += definitions.read(self.files.glob("*.x-k8s.io_*.yaml"))
        await asyncio.gather(
            definitions.serve(admin, [self._converted(crd) for crd in crds]),
            definitions.serve(admin, definitions.ours()),
            admin.apply(f"/api/v1/namespaces/{NAMESPACE}/services", self._service()),
            admin.apply("/apis/apiregistration.k8s.io/v1/apiservices", self._api_service()),
        )

    async def configure(self, admin: Admin) -> None:
        """Wait for the aggregated API, then have policies and bindings pass through its webhook."""
        path = f"/apis/apiregistration.k8s.io/v1/apiservices/{_API_SERVICE}"
        await admin.until(path, lambda service: is_true("Available", service))
        await admin.until("/apis/cluster.karmada.io/v1alpha1/clusters", lambda _: True)
        for configuration in self._webhooks():
            kind = f"{configuration['kind'].lower()}s"
            await admin.apply(f"{_REGISTRATION}/{kind}", configuration)

    def first_programs(self) -> list[Program]:
        """What is started as soon as the hub is prepared."""
        return [self._aggregated(), self._webhook()]

    def programs(self) -> list[Program]:
        """What is started once the kind Cluster is served, or it waits ten seconds to look again."""
        return [self._controllers(), self._scheduler()]

    @property
    def webhook_port(self) -> int:
        return self.ports[0]

    def _aggregated(self) -> Program:
        config = self._kubeconfig(AGGREGATED)
        return self._program(
            AGGREGATED,
            {
                "authentication-kubeconfig": config,
                "authorization-kubeconfig": config,
                "etcd-servers": self.hub.etcd,
                "etcd-prefix": self.hub.prefix,
                "tls-cert-file": self.folder / f"{AGGREGATED}.crt",
                "tls-private-key-file": self.folder / f"{AGGREGATED}.key",
                "bind-address": "127.0.0.1",
                "secure-port": self.ports[1],
                "cert-dir": self.folder / "aggregated",
            },
        )

    def _webhook(self) -> Program:
        flags: dict[str, object] = {
            "bind-address": "127.0.0.1",
            "secure-port": self.webhook_port,
            "cert-dir": self.folder / "webhook",
        }
        return self._program(WEBHOOK, flags | self._probes(2))

    def _controllers(self) -> Program:
        flags: dict[str, object] = {
            "leader-elect": "false",
            "cluster-api-qps": 1000,
            "cluster-api-burst": 2000,
            "rate-limiter-max-delay": "1s",
            "concurrent-work-syncs": 10,
            "concurrent-resourcebinding-syncs": 10,
            "concurrent-resource-template-syncs": 10,
            "cluster-status-update-frequency": "1s",
            "enable-cluster-resource-modeling": "false",
            "feature-gates": "PropagateDeps=true",
        }
        return self._program(CONTROLLERS, flags | _FAST | _OUTAGES | self._probes(4))

    def _scheduler(self) -> Program:
        flags: dict[str, object] = {"leader-elect": "false"}
        return self._program(SCHEDULER, flags | _FAST | self._probes(6))

    def _probes(self, first: int) -> dict[str, object]:
        metrics, health = self.ports[first : first + 2]
        return {
            "metrics-bind-address": f"127.0.0.1:{metrics}",
            "health-probe-bind-address": f"127.0.0.1:{health}",
        }

    def _program(self, name: str, flags: dict[str, object]) -> Program:
        return program(name, self.binaries / name, {"kubeconfig": self._kubeconfig(name)} | flags)

    def _kubeconfig(self, name: str) -> Path:
        return self.folder / f"{name}.kubeconfig"

    @property
    def _bundle(self) -> str:
        return base64.b64encode((self.hub.certificates / "ca.crt").read_bytes()).decode()

    def _converted(self, crd: Document) -> Document:
        """Two of its definitions have an older version, which its webhook converts."""
        if crd["spec"]["names"]["plural"] not in _CONVERTED:
            return crd
        url = f"https://127.0.0.1:{self.webhook_port}/convert"
        webhook = {
            "clientConfig": {"url": url, "caBundle": self._bundle},
            "conversionReviewVersions": ["v1"],
        }
        return crd | {
            "spec": crd["spec"] | {"conversion": {"strategy": "Webhook", "webhook": webhook}}
        }

    def _service(self) -> Document:
        """Endpoints cannot hold a loopback address; an external name can."""
        return {
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": {"name": AGGREGATED, "namespace": NAMESPACE},
            "spec": {"type": "ExternalName", "externalName": "localhost"},
        }

    def _api_service(self) -> Document:
        group, version = "cluster.karmada.io", "v1alpha1"
        service = {"name": AGGREGATED, "namespace": NAMESPACE, "port": self.ports[1]}
        return {
            "apiVersion": "apiregistration.k8s.io/v1",
            "kind": "APIService",
            "metadata": {"name": _API_SERVICE},
            "spec": {
                "group": group,
                "version": version,
                "groupPriorityMinimum": 2000,
                "versionPriority": 10,
                "caBundle": self._bundle,
                "service": service,
            },
        }

    def _webhooks(self) -> list[Document]:
        text = (self.files / "webhook-configuration.yaml").read_text(encoding="utf-8")
        text = text.replace(_SERVICE, f"https://127.0.0.1:{self.webhook_port}")
        return list(yaml.safe_load_all(text.replace("{{caBundle}}", self._bundle)))
