"""Our managers, as processes that work on the planes of a site.

Each has an account of its own, so that audit logs tell whose a request is. The account may do
everything: what it needs is measured elsewhere.
"""

import asyncio
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from typing import Any, Final
from urllib.error import URLError
from urllib.request import urlopen

from bench.load.federation.site import Site
from bench.load.world import orders
from compute.app.planes import SYSTEM
from tests.peers.ports import free_ports
from tests.peers.stack.admin import Admin

MANAGEMENT: Final = "management"
STAND_INS: Final = "stand-ins"
_LIMIT: Final = 90.0  # seconds for a manager to be ready
_PAUSE: Final = 0.1
_RBAC: Final = "rbac.authorization.k8s.io"


@dataclass(frozen=True, slots=True)
class _Manager:
    """A process: its name, the plane that is its own, its flags, and the fields of its discovery."""

    name: str
    own: str
    flags: Sequence[str]
    discovery: Mapping[str, str]


class Managers:
    """Management, the stand-ins of its neighbours, and one for each cell with its provider."""

    def __init__(self, site: Site) -> None:
        self._site = site
        self._folder = site.folder / "managers"
        self._running: dict[str, str] = {}  # the address of the probes, by name
        self._known: set[str] = set()

    @property
    def cells(self) -> list[str]:
        """The names of the managers of cells."""
        return [f"{cell}-manager" for cell in self._site.cells]

    async def prepare(self) -> None:
        """What the managers expect on the planes, and a kubeconfig for each."""
        self._folder.mkdir()
        for plane in {self._site.core, *self._site.planes}:
            async with self._site.admin(plane) as admin:
                await admin.create("/api/v1/namespaces", {"metadata": {"name": SYSTEM}})
        for cell in self._site.cells:
            async with self._site.client(cell) as client:
                await client.create(orders.at_once())
        for name in (MANAGEMENT, STAND_INS, *self.cells):
            (self._folder / name).mkdir()
            for plane in {self._site.core, *self._site.planes}:
                await self._make_kubeconfig(name, plane)
        self._make_cells_kubeconfigs()

    async def start(self, *names: str) -> None:
        """Start these managers, and wait until they are ready."""
        wanted = [each for each in self._all() if each.name in names]
        for manager in wanted:
            if manager.name in self._known:
                self._site.start(manager.name)
            else:
                self._run(manager)
        await asyncio.gather(*(self._ready(each.name) for each in wanted))

    async def stop(self, *names: str) -> None:
        """Stop these managers, as Kubernetes does."""
        for name in names:
            await asyncio.to_thread(self._site.stop, name)

    def _all(self) -> list[_Manager]:
        hub = self._hub(MANAGEMENT)
        core, is_real = self._site.core, self._site.engine == "karmada"
        # Embedded planes are as Milo's: projects, and what they start with, are the platform's own.
        mode = {"mode": "single" if is_real else "milo"}
        neighbours = "quota,locations,projects,entitlements" if is_real else "quota"
        enabled = (f"--stand-ins={neighbours}",)
        cells = (f"--cells-kubeconfig={self._folder / STAND_INS / 'cells'}",)
        made = [
            _Manager(MANAGEMENT, core, ("--enable-management-controllers", *hub), mode),
            _Manager(STAND_INS, core, (*enabled, *cells, *self._hub(STAND_INS)), mode),
        ]
        for cell, name in zip(self._site.cells, self.cells, strict=True):
            quota = str(self._kubeconfig(name, core))
            fields = {**mode, "clusterName": cell, "quotaKubeconfigPath": quota}
            flags = ("--enable-cell-controllers", "--provider=simulated", f"--city={cell.upper()}")
            made.append(_Manager(name, cell, (*flags, *self._hub(name)), fields))
        return made

    def _hub(self, name: str) -> tuple[str, ...]:
        return (f"--federation-kubeconfig={self._kubeconfig(name, 'hub')}",)

    def _run(self, manager: _Manager) -> None:
        folder = self._folder / manager.name
        config = {
            "apiVersion": "apiserver.config.datumapis.com/v1alpha1",
            "kind": "WorkloadOperator",
            "discovery": manager.discovery,
        }
        (folder / "config.yaml").write_text(json.dumps(config))
        (port,) = free_ports(1)
        self._running[manager.name] = f"http://127.0.0.1:{port}/readyz"
        arguments = [
            *(sys.executable, "-m", "compute", "manager", "--leader-elect"),
            f"--kubeconfig={self._kubeconfig(manager.name, manager.own)}",
            f"--server-config={folder / 'config.yaml'}",
            f"--health-probe-bind-address=127.0.0.1:{port}",
            *manager.flags,
        ]
        self._site.run(manager.name, arguments)
        self._known.add(manager.name)

    async def _ready(self, name: str) -> None:
        try:
            async with asyncio.timeout(_LIMIT):
                while True:
                    if await asyncio.to_thread(_answers, self._running[name]):
                        return
                    self._site.check(name)
                    await asyncio.sleep(_PAUSE)
        except TimeoutError:
            log = self._site.log(name).read_text(encoding="utf-8")[-3000:]
            raise SystemExit(f"{name} is not ready after {_LIMIT:g} s:\n{log}") from None

    def _kubeconfig(self, name: str, plane: str) -> Path:
        return self._folder / name / f"{plane}.kubeconfig"

    async def _make_kubeconfig(self, name: str, plane: str) -> None:
        """With a token of its account; embedded planes know the platform as one user."""
        file = self._kubeconfig(name, plane)
        if self._site.engine == "embedded":
            file.write_bytes(self._site.kubeconfig_of(plane).read_bytes())
            return
        async with self._site.admin(plane) as admin:
            await _make_account(admin, name)
            self._site.access(plane, await admin.token(name, SYSTEM)).write(file)

    def _make_cells_kubeconfigs(self) -> None:
        """A folder with one file for each cell, whose context is called like the cell."""
        folder = self._folder / STAND_INS / "cells"
        folder.mkdir()
        for cell in self._site.cells:
            document = json.loads(self._kubeconfig(STAND_INS, cell).read_text())
            (context,) = document["contexts"]
            document |= {"contexts": [context | {"name": cell}], "current-context": cell}
            (folder / f"{cell}.kubeconfig").write_text(json.dumps(document))


async def _make_account(admin: Admin, name: str) -> None:
    """A service account that may do everything."""
    await admin.create(f"/api/v1/namespaces/{SYSTEM}/serviceaccounts", {"metadata": {"name": name}})
    binding: dict[str, Any] = {
        "metadata": {"name": f"bench-{name}"},
        "roleRef": {"apiGroup": _RBAC, "kind": "ClusterRole", "name": "cluster-admin"},
        "subjects": [{"kind": "ServiceAccount", "name": name, "namespace": SYSTEM}],
    }
    await admin.create(f"/apis/{_RBAC}/v1/clusterrolebindings", binding)


def account(name: str) -> str:
    """The user that a manager is in an audit log."""
    return f"system:serviceaccount:{SYSTEM}:{name}"


def _answers(url: str) -> bool:
    try:
        with urlopen(url, timeout=5) as answer:  # noqa: S310 - an address of our own
            return bool(answer.status == HTTPStatus.OK)
    except (URLError, OSError):
        return False
