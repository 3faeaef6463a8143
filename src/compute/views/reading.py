"""The objects that views are made of, read from a namespace of a project.

A kind that the server does not serve, or that the user may not read, is None where a view can do without
it. An older server, or a role with fewer rights, must not take the rest away.
"""

import asyncio
from collections import defaultdict
from collections.abc import Mapping
from datetime import datetime
from typing import Final

import msgspec
from msgspec.structs import replace

from compute.api import labels, names
from compute.api.compute import Instance, Workload, WorkloadDeployment
from compute.decide import joins
from compute.decide.progress import RolloutSnapshot
from kubekit.api.errors import Forbidden, NotFound
from kubekit.api.kinds.core import ConfigMap
from kubekit.client.client import Client, K
from kubekit.client.options import EVERYTHING, ListOptions

_UNREAD: Final = (NotFound, Forbidden)


class ProjectObjects(msgspec.Struct, frozen=True):
    """Workloads of a namespace, with their deployments and the projections of their Instances."""

    workloads: tuple[Workload, ...]
    deployments: tuple[WorkloadDeployment, ...]
    instances: tuple[Instance, ...]

    def of(self, workload: Workload) -> "ProjectObjects":
        """What belongs to one Workload."""
        return replace(self, workloads=(workload,)).by_workload()[workload.metadata.uid]

    def by_workload(self) -> Mapping[str, "ProjectObjects"]:
        """What belongs to each Workload, by the uid of the Workload."""
        uids = {w.metadata.name: w.metadata.uid for w in self.workloads}
        deployments: defaultdict[str, list[WorkloadDeployment]] = defaultdict(list)
        instances: defaultdict[str, list[Instance]] = defaultdict(list)
        owners = {d.metadata.name: d.spec.workload_ref.uid for d in self.deployments}
        for deployment in self.deployments:
            deployments[deployment.spec.workload_ref.uid].append(deployment)
        for instance in self.instances:
            recorded = instance.metadata.labels.get(labels.WORKLOAD_UID)
            named = recorded or uids.get(joins.workload_name(instance), "")
            for uid in {named, owners.get(joins.deployment_name(instance), "")}:
                instances[uid].append(instance)
        return {
            uid: ProjectObjects((workload,), tuple(deployments[uid]), tuple(instances[uid]))
            for workload in self.workloads
            for uid in (workload.metadata.uid,)
        }

    def snapshot(self, at: datetime) -> RolloutSnapshot:
        """The objects of the first Workload, for a judgement of its rollout."""
        return RolloutSnapshot(self.workloads[0], self.deployments, self.instances, at)


class ProjectReader(msgspec.Struct, frozen=True):
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

    async def known_history(self, workload: str) -> ConfigMap | None:
        """The same; None as well where the user may not read it, for a view that can do without."""
        return await self.if_found(ConfigMap, names.history(workload))

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
