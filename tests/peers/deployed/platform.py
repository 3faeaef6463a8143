"""Our platform on the stack, as an operator installs it: from our manifests, with settings of the site.

    project   management, twice, with the stand-ins of the neighbours
    hub       access for management and cells, the interpreter, the policy that keeps cells apart
    cells     the cell's controllers with a provider, once each

Every process has the service account of its Pod, and a token for each other plane that it works on; it
has no permission but those of the manifests.
"""

import asyncio
import base64
import sys
from collections.abc import Iterable
from pathlib import Path

from tests.peers.deployed import foreign_kinds, identities
from tests.peers.deployed.identities import Identities
from tests.peers.deployed.kustomizations import ROOT, Document, Kustomize, Site, named
from tests.peers.deployed.pod_programs import PodPlace, PodProgram
from tests.peers.pki import Authority
from tests.peers.ports import answers, free_ports
from tests.peers.stack import definitions
from tests.peers.stack.assembly import HUB, PROJECT
from tests.peers.stack.running import RunningStack

WEBHOOK_SERVICE = "webhook-service"
WEBHOOK_PORT = 9443
_MANAGER = "compute-manager"
_WEBHOOK = {"port": WEBHOOK_PORT, "tls": {"certDir": "/etc/webhook-cert"}}
_CONFIG: Document = {
    "apiVersion": "apiserver.config.datumapis.com/v1alpha1",
    "kind": "WorkloadOperator",
    "metricsServer": {"bindAddress": ":8443"},
}
_QUOTA = "/etc/quota-credentials/kubeconfig"
_LIMIT = 90.0  # seconds for a process to be ready, on a machine that has other work
_PAUSE = 0.2


class Platform:
    """The manifests applied, and the processes that they describe."""

    def __init__(self, stack: RunningStack, kustomize: Kustomize, provider: str = "pods") -> None:
        self.stack = stack
        self.rendered: dict[str, list[Document]] = {}
        """The objects that were applied, by plane."""
        self.pods: dict[str, PodProgram] = {}
        self.started: set[str] = set()
        """The names of all processes that ever ran, as their logs are called."""
        self._folder = stack.folder / "platform"
        self._kustomize = kustomize
        self._provider = provider
        self._identities = Identities(stack)
        self._port = free_ports(1)[0]
        self._starts = 0

    async def install(self) -> None:
        """Apply everything, and create what the manifests expect of an operator."""
        self._folder.mkdir()
        authority = Authority(self._folder / "webhook")
        authority.server(self._folder / "webhook" / "tls", _MANAGER)
        for plane in self.stack.planes:
            built = self._build(plane, ROOT)
            self.rendered[plane] = [self._on_loopback(each) for each in built]
        await asyncio.gather(*(self._apply(plane) for plane in self.stack.planes))
        await self._identities.add_cells()

    async def start(self, code: Path = ROOT) -> None:
        """Start every process, and wait until all are ready.

        ``code`` is the checkout that they are from, with its own Deployments.
        """
        self._starts += 1
        for plane in (PROJECT, *self.stack.cells):
            for pod in await self._pods(plane, code):
                self.pods[pod.place.name] = pod
        for name, pod in self.pods.items():
            program = pod.prepare()
            self.stack.run(name, program.arguments, program.environment)
            self.started.add(name)
        self._start_service()
        await asyncio.gather(*(self.ready(name) for name in self.pods))

    def stop(self) -> None:
        """Stop every process, as a Deployment that is scaled down."""
        for name in (WEBHOOK_SERVICE, *self.pods):
            self.stack.stop(name)
        self.pods.clear()

    async def ready(self, name: str) -> None:
        """Wait until the Pod of a process would be Ready."""
        url = self.pods[name].url("readinessProbe")
        try:
            async with asyncio.timeout(_LIMIT):
                while not await asyncio.to_thread(answers, url):
                    self.stack.check(name)
                    await asyncio.sleep(_PAUSE)
        except TimeoutError:
            log = self.stack.log(name).read_text(encoding="utf-8")[-3000:]
            raise AssertionError(f"{name} is not ready after {_LIMIT:g} s:\n{log}") from None

    def _site(self, plane: str) -> Site:
        """What an operator writes for a plane."""
        if plane == HUB:
            return Site(["overlays/hub", "components/stand-ins-rbac/hub"])
        if plane == PROJECT:
            components = ["webhook", "stand-ins", "cells-credentials", "networking", "prometheus"]
            config = _CONFIG | {"webhookServer": _WEBHOOK, "discovery": {"mode": "single"}}
            return Site(["overlays/management-single"], components, config)
        discovery = {"mode": "single", "clusterName": plane, "quotaKubeconfigPath": _QUOTA}
        return Site(
            ["overlays/cell", "components/stand-ins-rbac/cell"],
            ["networking", "prometheus", f"provider-{self._provider}"],
            _CONFIG | {"discovery": discovery},
        )

    def _build(self, plane: str, code: Path) -> list[Document]:
        folder = self._folder / "sites" / f"{plane}-{self._starts}"
        return self._kustomize.build(self._site(plane).write(folder, code))

    async def _apply(self, plane: str) -> None:
        async with self.stack.admin(plane) as admin:
            await definitions.serve(admin, foreign_kinds.definitions())
        kubeconfig = self.stack.kubeconfig_of(plane)
        await asyncio.to_thread(self._kustomize.apply, kubeconfig, self.rendered[plane])

    async def _pods(self, plane: str, code: Path) -> list[PodProgram]:
        """The Pods of the manager's Deployment on a plane."""
        rendered = self.rendered[plane] if code == ROOT else self._build(plane, code)
        deployment = named(rendered, "Deployment")[_MANAGER]
        account = deployment["spec"]["template"]["spec"]["serviceAccountName"]
        if account != _MANAGER:
            raise LookupError(f"{plane}: the manager runs as {account}")
        access = await self._identities.manager(plane)
        folder = self._folder / "pods" / f"{plane}-{self._starts}"
        folder.mkdir(parents=True)
        objects = [*rendered, *await self._secrets(plane)]
        kubeconfig = access.write(folder / "kubeconfig")
        names = [f"{plane}-manager-{n}" for n in range(deployment["spec"]["replicas"])]
        places = [PodPlace(n, folder / n, kubeconfig, objects, code) for n in names]
        return [PodProgram(deployment, place) for place in places]

    async def _secrets(self, plane: str) -> list[Document]:
        pair = self._folder / "webhook" / "tls"
        certificate = identities.certificate_secret("compute-webhook-cert", pair)
        return [*await self._identities.secrets(plane), certificate]

    def _on_loopback(self, document: Document) -> Document:
        """A webhook configuration with the address of the Service, as there is no cluster network."""
        if not document["kind"].endswith("WebhookConfiguration"):
            return document
        bundle = base64.b64encode((self._folder / "webhook" / "ca.crt").read_bytes()).decode()

        def reached(webhook: Document) -> Document:
            url = f"https://127.0.0.1:{self._port}{webhook['clientConfig']['service']['path']}"
            return webhook | {"clientConfig": {"url": url, "caBundle": bundle}}

        return document | {"webhooks": [reached(each) for each in document["webhooks"]]}

    def _start_service(self) -> None:
        """The Service of the webhooks: any replica of management answers."""
        targets = [pod.port(WEBHOOK_PORT) for n, pod in self.pods.items() if _is_management(n)]
        module = "tests.peers.deployed.service_proxy"
        arguments = [sys.executable, "-m", module, str(self._port), *map(str, targets)]
        self.stack.run(WEBHOOK_SERVICE, arguments, {"PYTHONPATH": str(ROOT)})


def management(pods: Iterable[str]) -> list[str]:
    """The processes of management."""
    return [name for name in pods if _is_management(name)]


def _is_management(name: str) -> bool:
    return name.startswith(f"{PROJECT}-")
