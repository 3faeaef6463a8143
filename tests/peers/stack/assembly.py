"""The whole real stack: a project, a hub with Karmada, and a cell for each city.

All planes share one etcd, each under a prefix of its own. Each has an authority of its own: with a
common one the administrator of the hub would be that of every cell.
"""

import asyncio
import json
from collections.abc import Coroutine, Sequence
from pathlib import Path
from typing import Any

from tests.peers.access import write_kubeconfig
from tests.peers.api_server import CONTROLLERS, ROLE_SUMS, ApiServer, Etcd
from tests.peers.children import Ended
from tests.peers.ports import free_ports
from tests.peers.processes import Processes
from tests.peers.stack import definitions, machines, members
from tests.peers.stack.admin import Admin, is_true
from tests.peers.stack.karmada import Karmada
from tools.peers import catalog

CITIES = ("DFW", "LHR")
PROJECT = "project"
HUB = "hub"
_LIMIT = 180.0  # seconds for all of it, on a machine that has other work
_PAUSE = 0.2  # seconds between two checks of the programs
# Requests of ours only: the programs of Kubernetes and Karmada would fill the disk.
_AUDIT = {
    "apiVersion": "audit.k8s.io/v1",
    "kind": "Policy",
    "omitStages": ["RequestReceived"],
    "rules": [
        {
            "level": "None",
            "userGroups": [
                "system:masters",
                "system:nodes",
                "system:unauthenticated",
                *(f"system:serviceaccounts:{name}" for name in ("kube-system", "karmada-cluster")),
            ],
        },
        {"level": "None", "users": ["system:kube-controller-manager", "system:kube-scheduler"]},
        {"level": "Metadata"},
    ],
}
_INTERPRETERS = "/apis/config.karmada.io/v1alpha1/resourceinterpretercustomizations"
_FEDERATION = Path(__file__).parents[3] / "config" / "components" / "federation"
_CANARY = "canary"


class Stack:
    """The programs, in a folder of their own. Call `start`, and `stop` at the end."""

    def __init__(self, peers: Path, folder: Path, cities: Sequence[str] = CITIES) -> None:
        binaries = peers / "bin"
        names = [PROJECT, HUB, *(city.lower() for city in cities)]
        client, peer, *ports = free_ports(2 + 2 * len(names))
        self.folder = folder
        self.logs = folder / "log"
        self.processes = Processes(self.logs)
        self._cities = cities
        self._etcd = Etcd(binaries, folder / "etcd", client, peer)
        self.planes = {
            name: ApiServer(
                binaries,
                folder / name,
                self._etcd.url,
                name,
                f"/{name}",
                ports[2 * number],
                ports[2 * number + 1],
            )
            for number, name in enumerate(names)
        }
        files = catalog.files(catalog.KARMADA, peers)
        self._karmada = Karmada(binaries, files, self.planes[HUB])

    @property
    def kubeconfig(self) -> Path:
        """The file with a context of every plane."""
        return self.folder / "kubeconfig"

    async def start(self) -> None:
        """Start everything. `Ended` says which program was in the way."""
        self._make_files()
        try:
            async with asyncio.timeout(_LIMIT):
                await self._watched(self._bring_up())
        except TimeoutError:
            raise Ended(f"the stack was not ready within {_LIMIT:g} s") from None

    def stop(self) -> None:
        """End everything. What it stored is thrown away."""
        self.processes.stop()

    def _make_files(self) -> None:
        self.logs.mkdir()
        for name, plane in self.planes.items():
            authority = plane.make_pki()
            if name == HUB:
                self._karmada.make_pki(authority)
            plane.kubeconfig("admin")
        (self.folder / "audit.json").write_text(json.dumps(_AUDIT), encoding="utf-8")
        accesses = {name: plane.access("admin") for name, plane in self.planes.items()}
        write_kubeconfig(self.kubeconfig, accesses)

    async def _watched(self, work: Coroutine[Any, Any, None]) -> None:
        """Do it, unless a program ends meanwhile."""
        task = asyncio.ensure_future(work)
        try:
            while not task.done():
                self.processes.check()
                await asyncio.wait([task], timeout=_PAUSE)
        finally:
            task.cancel()
        await task

    async def _bring_up(self) -> None:
        self.processes.start(self._etcd.program())
        for name, plane in self.planes.items():
            self.processes.start(plane.server(self._server_flags(name)))
        admins = {n: Admin(p.folder / "admin.kubeconfig") for n, p in self.planes.items()}
        try:
            others = [self._prepare(n, admin) for n, admin in admins.items() if n != HUB]
            await asyncio.gather(self._prepare_hub(admins[HUB]), *others)
            await self._federate(admins)
        finally:
            for admin in admins.values():
                await admin.transport.close()

    def _server_flags(self, name: str) -> dict[str, object]:
        flags: dict[str, object] = {
            "audit-policy-file": self.folder / "audit.json",
            "audit-log-path": self.logs / f"{name}-audit.log",
            # Clusters that have it on ask for a permission more of what names an owner.
            "enable-admission-plugins": "OwnerReferencesPermissionEnforcement",
        }
        if name == HUB:
            return flags | self._karmada.server_flags()
        # There is no controller that takes such a taint away.
        lacking = "StorageObjectInUseProtection,ServiceAccount,TaintNodesByCondition"
        return flags | {"disable-admission-plugins": lacking}

    async def _prepare_hub(self, admin: Admin) -> None:
        plane = self.planes[HUB]
        await _ready(plane)
        await self._karmada.prepare(admin)
        for program in self._karmada.first_programs():
            self.processes.start(program)
        self.processes.start(plane.controllers((*CONTROLLERS, ROLE_SUMS)))
        await self._karmada.configure(admin)

    async def _prepare(self, name: str, admin: Admin) -> None:
        plane = self.planes[name]
        await _ready(plane)
        await definitions.serve(admin, definitions.ours())
        self.processes.start(plane.controllers((*CONTROLLERS, ROLE_SUMS)))
        if name != PROJECT:
            self.processes.start(machines.scheduler(plane))
            self.processes.start(machines.kwok(plane))
            await machines.add_node(admin)

    async def _federate(self, admins: dict[str, Admin]) -> None:
        """Join the cells, start the rest of Karmada, and see that an object reaches each cell."""
        hub = admins[HUB]
        cells = {city.lower(): city for city in self._cities}
        for name, city in cells.items():
            await members.join(hub, admins[name], self.planes[name], city)
        for program in self._karmada.programs():
            self.processes.start(program)
        for name in cells:
            await hub.until(f"{members.CLUSTERS}/{name}", lambda cell: is_true("Ready", cell))
        for interpreter in definitions.read(_FEDERATION.glob("workloaddeployment.yaml")):
            await hub.apply(_INTERPRETERS, interpreter)
        await self._send_canary(hub, [admins[name] for name in cells])

    async def _send_canary(self, hub: Admin, cells: Sequence[Admin]) -> None:
        """Karmada says that it is ready before its caches are filled; an object that arrives says more."""
        await hub.create("/api/v1/namespaces", {"metadata": {"name": _CANARY}})
        objects = f"/api/v1/namespaces/{_CANARY}/configmaps"
        policies = f"/apis/policy.karmada.io/v1alpha1/namespaces/{_CANARY}/propagationpolicies"
        metadata = {"metadata": {"name": _CANARY, "namespace": _CANARY}}
        selector = {"apiVersion": "v1", "kind": "ConfigMap", "name": _CANARY}
        spec = {"resourceSelectors": [selector], "placement": {"clusterAffinity": {}}}
        await hub.create(objects, metadata)
        policy = {
            "apiVersion": "policy.karmada.io/v1alpha1",
            "kind": "PropagationPolicy",
            **metadata,
            "spec": spec,
        }
        await hub.until(f"{objects}/{_CANARY}", lambda _: True)
        await hub.create(policies, policy)
        for cell in cells:
            await cell.until(f"{objects}/{_CANARY}", lambda _: True)
        await hub.delete(f"{objects}/{_CANARY}")
        await hub.delete(f"{policies}/{_CANARY}")


async def _ready(plane: ApiServer) -> None:
    """Wait until it serves. The time limit is that of the whole stack."""
    while True:
        if await asyncio.to_thread(plane.ready):
            return
        await asyncio.sleep(_PAUSE)
