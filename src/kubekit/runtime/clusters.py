"""The clusters that are looked after: they come and go while everything else runs.

A cluster's life is a scope. Whatever watches it runs in there, so that nothing is left of a cluster
that has gone. Each role (projects, hub, cell) has a `Clusters` of its own, and a name means one
cluster within its role.
"""

import logging
from collections.abc import Iterator
from contextvars import Context, copy_context
from typing import Final, Protocol

from kubekit.client.client import Client
from kubekit.environment import ExecutionEnvironment
from kubekit.runtime.reconciling.recording_client import RecordingClient
from kubekit.runtime.requests import ClusterName, NotEngaged
from kubekit.runtime.scope import Scope
from kubekit.runtime.watching.informers import ALL_OBJECTS, Informers, KindSelectors

_log: Final = logging.getLogger(__name__)


class Cluster:
    """One cluster for as long as it is engaged.

    ``client`` is for reconcilers and notes what they write; the informers read by themselves.
    ``broken`` names the tasks of the cluster that failed: what they kept in step is so no more.
    """

    def __init__(
        self,
        name: ClusterName,
        client: Client,
        environment: ExecutionEnvironment,
        context: Context | None = None,
        parts: KindSelectors = ALL_OBJECTS,
    ) -> None:
        self.name = name
        self.connection = client
        self.client = RecordingClient(name, client)
        self.broken: list[str] = []
        self.scope = Scope(name, self._failed, context)
        self.informers = Informers(name, client, environment, self.scope, parts)

    def _failed(self, task: str, why: BaseException) -> None:
        _log.error("task failed", exc_info=why, extra={"task": task})
        self.broken.append(f"{task} failed: {why!r}")


class Aware(Protocol):
    """Somebody who is told which clusters there are. Neither call may wait for anything."""

    def engage(self, cluster: Cluster) -> None: ...

    def disengage(self, cluster: Cluster) -> None: ...


class Clusters:
    """The clusters of one role, by name, in the order of their coming.

    ``parts`` are selectors of kinds of which this role needs only a part: a cell has no use for the
    copies that other cells keep on the hub. What is written must be of that part too.
    """

    def __init__(
        self, role: str, environment: ExecutionEnvironment, parts: KindSelectors = ALL_OBJECTS
    ) -> None:
        self.role = role
        self._environment = environment
        self._parts = parts
        # Of the process, not of the pass that may engage a cluster: the cluster outlives it.
        self._context = copy_context()
        self._engaged: dict[ClusterName, Cluster] = {}
        self._leaving: dict[Cluster, None] = {}  # disengaged, and not yet ended
        self._aware: list[Aware] = []

    def __iter__(self) -> Iterator[Cluster]:
        return iter(list(self._engaged.values()))

    def __len__(self) -> int:
        return len(self._engaged)

    def find(self, name: ClusterName) -> Cluster | None:
        return self._engaged.get(name)

    def get(self, name: ClusterName) -> Cluster:
        """The cluster of this name. A pass that needs one which has gone ends here, quietly."""
        cluster = self._engaged.get(name)
        if cluster is None:
            raise NotEngaged(name)
        return cluster

    def sole(self) -> Cluster:
        """The cluster of a role that has one, such as the hub. A pass without it ends, quietly."""
        for cluster in self._engaged.values():
            return cluster
        raise NotEngaged(ClusterName(self.role))

    def join(self, aware: Aware) -> None:
        """Tell somebody of every cluster that is here, and of each that comes or goes."""
        self._aware.append(aware)
        for cluster in self:
            aware.engage(cluster)

    async def engage(self, name: ClusterName, client: Client) -> Cluster:
        """Look after a cluster from now on. The client is the cluster's to close.

        The same again changes nothing; another client for the same name is another cluster, which
        takes the place of the first.
        """
        while (present := self._engaged.get(name)) is not None:  # another may have been faster
            if present.connection is client:
                return present
            await self.disengage(name)
        cluster = Cluster(name, client, self._environment, self._context, self._parts)
        self._engaged[name] = cluster
        _log.info("cluster engaged", extra={"role": self.role, "cluster": name})
        for aware in self._aware:
            aware.engage(cluster)
        return cluster

    async def disengage(self, name: ClusterName) -> None:
        """Let a cluster go: nobody hears of it any more, and everything that watched it ends.

        If this is cancelled the rest is done when the cluster is let go again, or all are.
        """
        cluster = self._engaged.pop(name, None)
        if cluster is not None:
            self._leaving[cluster] = None
            for aware in reversed(self._aware):
                aware.disengage(cluster)
        for leaving in [one for one in self._leaving if one.name == name]:
            await self._end(leaving)

    async def close(self) -> None:
        """Let every cluster go, the youngest first."""
        for cluster in [*reversed(list(self)), *self._leaving]:
            await self.disengage(cluster.name)

    def problems(self) -> list[str]:
        """What keeps the caches of the engaged clusters from being complete."""
        return [
            f"{self.role} {cluster.name}: {problem}"
            for cluster in self
            for problem in (*cluster.broken, *cluster.informers.problems())
        ]

    async def _end(self, cluster: Cluster) -> None:
        about = {"role": self.role, "cluster": cluster.name}
        await cluster.scope.close()
        try:
            await cluster.connection.close()
        except Exception:  # noqa: BLE001 - of whatever kind: it is not used any more
            _log.warning("connection not closed", exc_info=True, extra=about)
        self._leaving.pop(cluster, None)
        _log.info("cluster disengaged", extra=about)
