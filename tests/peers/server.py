"""A real kube-apiserver with its etcd and its controllers, with the kinds of the tests."""

import asyncio
import os
import signal
from pathlib import Path

from tests.peers.api_server import CONTROLLERS, ROLE_SUMS, ApiServer, Etcd
from tests.peers.children import Child, Program
from tests.peers.ports import free_ports, listens

NEEDED = ("etcd", "kube-apiserver", "kube-controller-manager", "kubectl")
_LIMIT = 90.0  # seconds for one program to be ready, on a machine that has other work


class Server:
    """The programs of one server, in a folder of their own."""

    def __init__(self, binaries: Path, folder: Path) -> None:
        client, peer, port, manager = free_ports(4)
        self._binaries = binaries
        self._folder = folder
        self._children: list[Child] = []
        self._etcd = Etcd(binaries, folder / "etcd", client, peer)
        self._api = ApiServer(binaries, folder, self._etcd.url, port=port, manager_port=manager)
        self.logs = folder / "log"

    def start(self) -> dict[str, str]:
        """What a client must know, as variables of the environment.

        The controllers come last: they list the kinds once and then every half minute, so every
        kind that the tests bring is there before.
        """
        self.logs.mkdir()
        self._api.make_pki()
        self._spawn(self._etcd.program())
        self._spawn(self._api.server()).until(self._api.ready, _LIMIT)
        known = self._known()
        asyncio.run(_bring_kinds(known, self._folder))
        manager = self._spawn(self._api.controllers((*CONTROLLERS, ROLE_SUMS)))
        manager.until(lambda: listens(self._api.manager_port), _LIMIT)
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

    def _spawn(self, program: Program) -> Child:
        child = Child(program, self.logs)
        self._children.append(child)
        return child

    def _known(self) -> dict[str, str]:
        access = self._api.access("admin")
        return {
            "CONTRACT_SERVER": access.url,
            "CONTRACT_CA": str(access.authority),
            "CONTRACT_CERT": str(access.certificate),
            "CONTRACT_KEY": str(access.key),
            "CONTRACT_ETCD": self._etcd.url,
            "CONTRACT_CONTROLLERS": "1",
            "CONTRACT_DISPOSABLE": "1",
            "KUBECONFIG": str(access.write(self._folder / "kubeconfig")),
        }


async def _bring_kinds(known: dict[str, str], folder: Path) -> None:
    """The kinds of the contract suite and ours. The suite finds them there and leaves them alone."""
    from tests.contract import servers  # noqa: PLC0415 - the suite is far larger than all of this

    os.environ.update(known)
    async with servers.named_server(folder):
        pass
