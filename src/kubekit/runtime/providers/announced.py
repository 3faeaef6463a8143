"""Clusters that another part of the same process announces, such as the planes it serves."""

import asyncio

from kubekit.client.client import Client
from kubekit.runtime.clusters import Clusters
from kubekit.runtime.requests import ClusterName


class AnnouncedClusters:
    """Engages clusters that are announced and disengages clusters that are withdrawn, in order.

    Announcing does not wait, so any code that mounts or removes a plane can call it.
    """

    def __init__(self, clusters: Clusters) -> None:
        self._clusters = clusters
        self._pending: dict[ClusterName, Client | None] = {}  # None: withdrawn
        self._changed = asyncio.Event()

    def announce(self, name: ClusterName, client: Client) -> None:
        self._enqueue(name, client)

    def withdraw(self, name: ClusterName) -> None:
        self._enqueue(name, None)

    async def run(self) -> None:
        while True:
            await self._changed.wait()
            self._changed.clear()
            while self._pending:
                name, client = next(iter(self._pending.items()))
                if client is None:
                    await self._clusters.disengage(name)
                else:
                    await self._clusters.engage(name, client)
                if self._pending[name] is client:  # no later call for it meanwhile
                    del self._pending[name]

    def problems(self) -> list[str]:
        return [
            f"{self._clusters.role} {name} is not engaged yet"
            for name, client in self._pending.items()
            if client is not None
        ]

    def _enqueue(self, name: ClusterName, client: Client | None) -> None:
        self._pending.pop(name, None)  # the last call counts, and moves to the end
        self._pending[name] = client
        self._changed.set()
