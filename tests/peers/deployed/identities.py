"""The credentials that an operator makes for the processes: kubeconfigs with tokens, in Secrets."""

import base64
from collections.abc import Mapping
from pathlib import Path

from compute.app.manager_permissions import CELLS, MANAGER, STAND_INS, SYSTEM
from tests.peers.access import Access, inline_kubeconfig
from tests.peers.deployed.kustomizations import Document
from tests.peers.stack.assembly import HUB, PROJECT
from tests.peers.stack.running import RunningStack


class Identities:
    """Tokens of the service accounts of our manifests."""

    def __init__(self, stack: RunningStack) -> None:
        self._stack = stack

    async def add_cells(self) -> None:
        """To add a cell is to create its account, on the hub and in the project."""
        for plane in (HUB, PROJECT):
            async with self._stack.admin(plane) as admin:
                for cell in self._stack.cells:
                    path = f"/api/v1/namespaces/{CELLS}/serviceaccounts"
                    await admin.create(path, {"metadata": {"name": cell}})

    async def manager(self, plane: str) -> Access:
        """A manager, on a plane."""
        return await self._access(plane, MANAGER, SYSTEM)

    async def secrets(self, plane: str) -> list[Document]:
        """What the manager of a plane mounts."""
        if plane == PROJECT:
            hub = {"hub": await self.manager(HUB)}
            cells = {n: await self._access(n, STAND_INS, SYSTEM) for n in self._stack.cells}
            return [
                _kubeconfig("compute-federation-credentials", hub),
                _kubeconfig("compute-cells-credentials", cells),
            ]
        hub = {"hub": await self._access(HUB, plane, CELLS)}
        project = {"project": await self._access(PROJECT, plane, CELLS)}
        return [
            _kubeconfig("compute-federation-credentials", hub),
            _kubeconfig("compute-quota-credentials", project),
        ]

    async def _access(self, plane: str, account: str, namespace: str) -> Access:
        async with self._stack.admin(plane) as admin:
            return self._stack.access(plane, await admin.token(account, namespace))


def secret(name: str, files: Mapping[str, bytes]) -> Document:
    """A Secret with these files."""
    data = {key: base64.b64encode(content).decode() for key, content in files.items()}
    metadata = {"name": name, "namespace": SYSTEM}
    return {"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "data": data}


def certificate_secret(name: str, pair: Path) -> Document:
    """A Secret with a certificate and its key, whose files differ by suffix only."""
    files = {f"tls.{kind}": pair.with_suffix(f".{kind}").read_bytes() for kind in ("crt", "key")}
    return secret(name, files)


def _kubeconfig(name: str, accesses: Mapping[str, Access]) -> Document:
    return secret(name, {"kubeconfig": inline_kubeconfig(accesses).encode()})
