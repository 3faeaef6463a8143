"""From the cell to the hub: each Instance is copied there, for its project to see.

One pass is for one Instance and its copy. It waits for nobody and holds nothing up: while the hub
cannot be reached a pass that has something to write fails and is tried again, and the Instance does
not notice. A copy that is already right costs no request at all.
"""

import logging
from collections.abc import Iterable
from contextlib import suppress
from datetime import timedelta
from typing import Final

from msgspec.structs import replace

from compute.api import labels, names
from compute.api.compute import Instance, WorkloadDeployment
from compute.api.karmada_work import ResourceBinding
from compute.controllers.cell import project_identities
from compute.controllers.cell.planes import CellPlanes, CellSettings
from compute.controllers.cell.write_back.settling import Settling
from compute.decide import joins
from compute.decide.deployment import slots
from compute.decide.federation import Hub, ProjectNamespace, WriteBack, write_back
from compute.decide.writes import Create, Delete
from kubekit.api.errors import NotFound
from kubekit.api.kinds.core import Namespace
from kubekit.client.client import Client
from kubekit.client.options import DeleteOptions, ListOptions
from kubekit.runtime.clusters import Cluster, Clusters
from kubekit.runtime.controller import Controller, ControllerSettings
from kubekit.runtime.controller_factory import ControllerFactory
from kubekit.runtime.requests import DONE, ClusterName, Request, Result
from kubekit.runtime.sources import To, mapped, own

NAME: Final = "write-back"

_log: Final = logging.getLogger(__name__)
_BY_DEPLOYMENT: Final = "the name of its deployment"
# Nothing tells that the hub can be reached again.
_SETTINGS: Final = ControllerSettings(longest_backoff=30.0)
# Of another cell's copies this one hears nothing, so it looks whether they have gone.
_IN_THE_WAY: Final = timedelta(seconds=60)


def controllers(
    planes: CellPlanes, settings: CellSettings, factory: ControllerFactory
) -> list[Controller]:
    """What keeps the hub's copies of this cell's Instances."""
    sources = [
        own(Instance, planes.cell),
        mapped(Namespace, planes.cell, project_identities.residents(planes.cell)),
        mapped(Instance, planes.hub, _originals(planes.cell)),
        mapped(WorkloadDeployment, planes.hub, Arrivals(planes).asked),
    ]
    return [
        factory.controller(
            NAME, WriteBackReconciler(planes, settings), planes.cell, sources, _SETTINGS
        )
    ]


class WriteBackReconciler:
    """Makes the copy of one Instance right, or takes it away."""

    def __init__(self, planes: CellPlanes, settings: CellSettings) -> None:
        self._planes = planes
        self._name = settings.name
        self._settling = Settling()

    async def reconcile(self, request: Request) -> Result:
        """Compare one Instance with its copy, unless it is about to be written again."""
        cell, hub = self._planes.cell.get(request.cluster), self._planes.hub.sole()
        place = request.namespace, request.name
        instance = cell.informers.of(Instance).cache.get(*place)
        copy = hub.informers.of(Instance).cache.get(*place)
        if instance is None:
            self._settling.forget(request)
            return await self._withdrawn(cell, hub, copy)
        if left := self._settling.left(request, instance):
            return Result(requeue_after=left)
        identity = project_identities.identity(cell, request.namespace)
        name = joins.deployment_name(instance)
        owner = hub.informers.of(WorkloadDeployment).cache.get(request.namespace, name)
        if identity is None or owner is None:
            return DONE  # the namespace's labels, or the deployment, ask again when they come
        if copy is None:
            return await self._first(cell, hub, instance, identity)
        there = Hub((owner,), (copy,))
        if write_back((instance,), there, identity, self._name).writes:
            await self._renewed(cell, hub, there, identity, instance)
        return DONE

    async def _renewed(
        self, cell: Cluster, hub: Cluster, there: Hub, identity: ProjectNamespace, cached: Instance
    ) -> None:
        """Bring the copy to what the Instance is now.

        A cache that is behind would bring back what another, which hears of changes sooner, has
        replaced.
        """
        meta = cached.metadata
        instance = await cell.client.find(Instance, meta.name, meta.namespace)
        if instance is not None and instance.metadata.uid == meta.uid:
            await _carry_out(hub.client, write_back((instance,), there, identity, self._name))

    async def _withdrawn(self, cell: Cluster, hub: Cluster, copy: Instance | None) -> Result:
        """Take away the copy of an Instance that has gone, as a live look shows, and only ours."""
        if copy is None or copy.deleting or _writer(copy) != self._name:
            return DONE
        meta = copy.metadata
        if await cell.client.find(Instance, meta.name, meta.namespace) is None:
            await _carry_out(hub.client, WriteBack((Delete(copy),)))
        return DONE

    async def _first(
        self, cell: Cluster, hub: Cluster, cached: Instance, identity: ProjectNamespace
    ) -> Result:
        """Make the copy, after a live look at everything that it depends on."""
        meta = cached.metadata
        instance = await cell.client.find(Instance, meta.name, meta.namespace)
        if instance is None or instance.metadata.uid != meta.uid:
            return DONE
        name = joins.deployment_name(instance)
        owner = await hub.client.find(WorkloadDeployment, name, meta.namespace)
        copy = await hub.client.find(Instance, meta.name, meta.namespace)
        if owner is None:
            return DONE
        bound = await self._bound(hub, owner) if copy and self._is_anothers(copy) else {}
        there = Hub((owner,), (copy,) if copy else (), bound)
        plan = write_back((instance,), there, identity, self._name)
        await _carry_out(hub.client, plan)
        if bound.get(name) == self._name:
            await self._take_over(hub, owner)
        in_the_way = copy is not None and not plan.writes and self._is_anothers(copy)
        return Result(requeue_after=_IN_THE_WAY) if in_the_way else DONE

    async def _bound(self, hub: Cluster, owner: WorkloadDeployment) -> dict[str, str]:
        """The cell that the engine has chosen for a deployment, by the deployment's name."""
        meta = owner.metadata
        name = names.resource_binding(meta.name, owner.kind)
        binding = await hub.client.find(ResourceBinding, name, meta.namespace)
        chosen = binding.spec.clusters if binding else ()
        return {meta.name: chosen[0].name} if len(chosen) == 1 else {}

    async def _take_over(self, hub: Cluster, owner: WorkloadDeployment) -> None:
        """Take away copies that the cell before this one left of slots which are no more.

        There is no Instance here to ask for them, and that cell may never come back.
        """
        meta = owner.metadata
        others = f"{labels.DEPLOYMENT_NAME}={meta.name},{labels.SOURCE_CLUSTER}!={self._name}"
        left = await hub.client.every(Instance, meta.namespace, ListOptions(label_selector=others))
        beyond = [copy for copy in left.items if not copy.deleting and _is_beyond(copy, owner)]
        await _carry_out(hub.client, WriteBack(tuple(map(Delete, beyond))))

    def _is_anothers(self, copy: Instance) -> bool:
        return _writer(copy) not in (None, self._name)


class Arrivals:
    """Hub deployments that come, or come again: their Instances could not be copied before.

    A deployment's every other change is of no use here, and there are many: each would ask for all
    of its Instances.
    """

    def __init__(self, planes: CellPlanes) -> None:
        self._planes = planes
        self._uids: dict[tuple[ClusterName, str, str], str] = {}

    def asked(self, cluster: ClusterName, deployment: WorkloadDeployment) -> Iterable[Request]:
        """The Instances of a deployment that was not here before."""
        meta = deployment.metadata
        key = cluster, meta.namespace, meta.name
        known = self._planes.hub.get(cluster).informers.of(WorkloadDeployment).cache
        if (meta.namespace, meta.name) not in known:
            self._uids.pop(key, None)
        elif self._uids.get(key) != meta.uid:
            self._uids[key] = meta.uid
            yield from self._instances(meta.namespace, meta.name)

    def _instances(self, namespace: str, deployment: str) -> Iterable[Request]:
        for cell in self._planes.cell:
            instances = cell.informers.of(Instance).cache
            instances.add_index(_BY_DEPLOYMENT, _deployment)
            for instance in instances.by(_BY_DEPLOYMENT, f"{namespace}/{deployment}"):
                yield Request(cell.name, namespace, instance.metadata.name)


def _originals(cells: Clusters) -> To[Instance]:
    """Each copy asks for the Instance it is of."""

    def to(_: ClusterName, copy: Instance) -> Iterable[Request]:
        for cell in cells:
            yield Request(cell.name, copy.metadata.namespace, copy.metadata.name)

    return to


def _deployment(instance: Instance) -> Iterable[str]:
    yield f"{instance.metadata.namespace}/{joins.deployment_name(instance)}"


def _writer(copy: Instance) -> str | None:
    return copy.metadata.labels.get(labels.SOURCE_CLUSTER)


def _is_beyond(copy: Instance, owner: WorkloadDeployment) -> bool:
    parts = names.instance_parts(copy.metadata.name)
    return parts is not None and parts[1] >= slots.desired(owner)


async def _carry_out(hub: Client, plan: WriteBack) -> None:
    for unlinked in plan.unlinked:
        _log.warning("instance without the labels that link it", extra={"object": unlinked.name})
    for write in plan.writes:
        if isinstance(write, Delete):
            await _delete(hub, write.existing)
        elif isinstance(write, Create):
            await _report(hub, await hub.create(write.desired), write.desired)
        else:
            await _report(hub, await hub.patch(write.existing, write.desired), write.desired)


async def _report(hub: Client, copy: Instance, desired: Instance) -> None:
    await hub.patch_status(copy, replace(copy, status=desired.status))


async def _delete(hub: Client, copy: Instance) -> None:
    """Delete a copy as it was read: another cell may have taken it over since."""
    unchanged = DeleteOptions(resource_version=copy.metadata.resource_version)
    with suppress(NotFound):
        await hub.delete(copy, unchanged)
