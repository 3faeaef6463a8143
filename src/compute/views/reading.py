"""The objects that views are made of, read from a namespace of a project.

A kind that the server does not serve, or that the user may not read, is None where a view can do without
it. An older server, or a role with fewer rights, must not take the rest away.
"""

import asyncio
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from compute.api import labels, names
from compute.api.compute import Instance, Workload, WorkloadDeployment
from compute.decide import joins
from compute.decide.progress import RolloutSnapshot
from kubekit.api.errors import Forbidden, NotFound
from kubekit.api.kinds.core import ConfigMap
from kubekit.client.client import Client, K
from kubekit.client.options import EVERYTHING, ListOptions

_UNREAD: Final = (NotFound, Forbidden)


@dataclass(frozen=True, slots=True)
class ProjectObjects:
    """Workloads of a namespace, with their deployments and the projections of their Instances."""

    workloads: tuple[Workload, ...]
    deployments: tuple[WorkloadDeployment, ...]
    instances: tuple[Instance, ...]

    def of(self, workload: Workload) -> "ProjectObjects":
        """What belongs to one Workload."""
        uid, name = workload.metadata.uid, workload.metadata.name
        deployments = tuple(d for d in self.deployments if d.spec.workload_ref.uid == uid)
        known = {d.metadata.name for d in deployments}
        instances = tuple(
            i for i in self.instances if joins.deployment_name(i) in known or _names(i, name, uid)
        )
        return ProjectObjects((workload,), deployments, instances)

    def snapshot(self, at: datetime) -> RolloutSnapshot:
        """The objects of the first Workload, for a judgement of its rollout."""
        return RolloutSnapshot(self.workloads[0], self.deployments, self.instances, at)


def _names(instance: Instance, name: str, uid: str) -> bool:
    recorded = instance.metadata.labels.get(labels.WORKLOAD_UID)
    return recorded == uid if recorded else joins.workload_name(instance) == name


@dataclass(frozen=True, slots=True)
class ProjectReader:
    """Reads a namespace of a project."""

    client: Client
    namespace: str

    async def everything(self) -> ProjectObjects:
        """All Workloads with all that belongs to them."""
        workloads, deployments, instances = await asyncio.gather(
            self.all(Workload), self.all(WorkloadDeployment), self.all(Instance)
        )
        return ProjectObjects(workloads, deployments, instances)

    async def of_workload(self, name: str) -> ProjectObjects:
        """One Workload with all that belongs to it. Raises NotFound."""
        workload, deployments, instances = await asyncio.gather(
            self.client.get(Workload, name, self.namespace),
            self.all(WorkloadDeployment),
            self.all(Instance),
        )
        return ProjectObjects((workload,), deployments, instances).of(workload)

    async def history(self, workload: str) -> ConfigMap | None:
        """The revisions of a Workload; None where there are none."""
        return await self.client.find(ConfigMap, names.history(workload), self.namespace)

    async def all(self, kind: type[K], options: ListOptions = EVERYTHING) -> tuple[K, ...]:
        """Every object of a kind in the namespace, or in the project for a kind without one."""
        namespace = self.namespace if kind.RESOURCE.namespaced else ""
        return (await self.client.every(kind, namespace, options)).items

    async def if_served(
        self, kind: type[K], options: ListOptions = EVERYTHING
    ) -> tuple[K, ...] | None:
        """The same; None where the server does not serve the kind, or the user may not list it."""
        try:
            return await self.all(kind, options)
        except _UNREAD:
            return None

    async def if_found(self, kind: type[K], name: str) -> K | None:
        """The object, if the kind is served, the user may read it, and it exists."""
        namespace = self.namespace if kind.RESOURCE.namespaced else ""
        try:
            return await self.client.get(kind, name, namespace)
        except _UNREAD:
            return None
