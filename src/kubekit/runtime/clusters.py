"""The engaged clusters of a role. Clusters come and go while everything else runs.

Each cluster has a scope. Everything that watches the cluster runs in that scope, so that nothing
remains of a cluster that is disengaged. Each role (projects, hub, cell) has a `Clusters` of its own.
The name of a cluster is unique within its role.
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

    Reconcilers use ``client``, which records what they write; informers read through their own.
    ``broken`` lists the tasks of the cluster that failed: their caches are no longer kept in sync.
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
    """A listener for clusters that are engaged and disengaged. Neither call may block."""

    def engage(self, cluster: Cluster) -> None: ...

    def disengage(self, cluster: Cluster) -> None: ...


class Clusters:
    """The clusters of one role, by name, in the order in which they were engaged.

    ``parts`` has a selector for each kind of which this role needs only some objects. For example, a
    cell does not need the copies that other cells keep on the hub. Objects that are written must match
    the selector too.
    """

    def __init__(
        self, role: str, environment: ExecutionEnvironment, parts: KindSelectors = ALL_OBJECTS
    ) -> None:
        self.role = role
        self._environment = environment
        self._parts = parts
        # The context of the process, not of the pass that engages a cluster: the cluster outlives it.
        self._context = copy_context()
        self._engaged: dict[ClusterName, Cluster] = {}
        self._disengaging: dict[Cluster, None] = {}  # disengaged, and not yet ended
        self._aware: list[Aware] = []

    def __iter__(self) -> Iterator[Cluster]:
        return iter(list(self._engaged.values()))

    def __len__(self) -> int:
        return len(self._engaged)

    def find(self, name: ClusterName) -> Cluster | None:
        return self._engaged.get(name)

    def get(self, name: ClusterName) -> Cluster:
        """The cluster of this name. `NotEngaged` ends a pass that needs one without an error."""
        cluster = self._engaged.get(name)
        if cluster is None:
            raise NotEngaged(name)
        return cluster

    def sole(self) -> Cluster:
        """The only cluster of a role, such as the hub. `NotEngaged` ends a pass without an error."""
        for cluster in self._engaged.values():
            return cluster
        raise NotEngaged(ClusterName(self.role))

    def join(self, aware: Aware) -> None:
        """Call a listener for every engaged cluster, and whenever one is engaged or disengaged."""
        self._aware.append(aware)
        for cluster in self:
            aware.engage(cluster)

    async def engage(self, name: ClusterName, client: Client) -> Cluster:
        """Engage a cluster. It closes the client when it is disengaged.

        Engaging it again with the same client changes nothing. Another client for the same name is
        another cluster, which replaces the first.
        """
        # A loop: a concurrent call may engage the name while the first cluster is disengaged.
        while (present := self._engaged.get(name)) is not None:
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
        """Disengage a cluster: its listeners are called, and everything that watches it ends.

        If this is cancelled, the next call for the cluster, or `close`, does the rest.
        """
        cluster = self._engaged.pop(name, None)
        if cluster is not None:
            self._disengaging[cluster] = None
            for aware in reversed(self._aware):
                aware.disengage(cluster)
        for old in [old for old in self._disengaging if old.name == name]:
            await self._end(old)

    async def close(self) -> None:
        """Disengage every cluster, the newest first."""
        for cluster in [*reversed(list(self)), *self._disengaging]:
            await self.disengage(cluster.name)

    def problems(self) -> list[str]:
        """The reasons why caches of the engaged clusters are not complete."""
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
        except Exception:  # noqa: BLE001 - whatever it is, the connection is no longer used
            _log.warning("connection not closed", exc_info=True, extra=about)
        self._disengaging.pop(cluster, None)
        _log.info("cluster disengaged", extra=about)
