"""Copy each Instance of the cell to the hub. From there the projector copies it to its project.

A request names one Instance and its copy. The Instance does not depend on the hub: while the hub is
unreachable, a reconcile pass that has to write fails and is retried. A copy that is up to date costs
no request.

A copy outlives the hub's deployment: the project sees its machine stop. It is deleted with its
Instance. If the deployment is gone from the hub and the Instance stays here, nothing is to be seen of
it: its copy is deleted after a while, and not created again.
"""

import asyncio
import logging
from collections.abc import Iterable
from datetime import timedelta
from typing import Final

from msgspec.structs import replace

from compute.api import labels
from compute.api.compute import Instance, WorkloadDeployment
from compute.api.permissions import READ, WATCH, WRITE, allow
from compute.controllers.cell import project_identities
from compute.controllers.cell.planes import CellPlanes, CellSettings
from compute.decide import joins, settling
from compute.decide.federation import Hub, ProjectNamespace, WriteBack, write_back
from compute.decide.writes import Create, Delete
from kubekit.api.kinds.core import Namespace
from kubekit.client.client import Client
from kubekit.runtime import live
from kubekit.runtime.clusters import Cluster, Clusters
from kubekit.runtime.controller import Controller, ControllerSettings
from kubekit.runtime.controller_factory import ControllerFactory
from kubekit.runtime.requests import DONE, ClusterName, Request, Result
from kubekit.runtime.sources import To, mapped, own

NAME: Final = "write-back"

_log: Final = logging.getLogger(__name__)
_BY_DEPLOYMENT: Final = "the name of its deployment"
# No watch event reports that the hub is reachable again.
_SETTINGS: Final = ControllerSettings(longest_backoff=30.0)
# The copies of other cells are not watched, so their deletion is polled. A copy that management assigns
# to this cell is watched from then on.
_CHECK_OTHER_CELL: Final = timedelta(seconds=60)
# The engine deletes the deployment in the cell a moment after that on the hub.
_WITHOUT_DEPLOYMENT: Final = timedelta(seconds=60)

PERMISSIONS: Final = (
    *allow("cell", READ, Instance),
    *allow("cell", WATCH, Namespace),
    *allow("hub", (*READ, *WRITE), Instance),
    *allow("hub", ("patch",), Instance, subresource="status"),
    *allow("hub", READ, WorkloadDeployment),
)


def controllers(
    planes: CellPlanes, settings: CellSettings, factory: ControllerFactory
) -> list[Controller]:
    """The controller of the hub's copies of this cell's Instances."""
    sources = [
        own(Instance, planes.cell),
        mapped(Namespace, planes.cell, project_identities.instances_in(planes.cell)),
        mapped(Instance, planes.hub, _originals(planes.cell)),
        mapped(WorkloadDeployment, planes.hub, NewDeployments(planes).requests),
    ]
    return [
        factory.controller(
            NAME, WriteBackReconciler(planes, settings), planes.cell, sources, _SETTINGS
        )
    ]


class WriteBackReconciler:
    """Brings the copy of one Instance up to date, or deletes it."""

    def __init__(self, planes: CellPlanes, settings: CellSettings) -> None:
        self._planes = planes
        self._name = settings.name
        self._settling = SettlingTimer()
        self._without_deployment: dict[Request, float] = {}

    async def reconcile(self, request: Request) -> Result:
        """Compare one Instance with its copy, unless it is about to change again."""
        cell, hub = self._planes.cell.get(request.cluster), self._planes.hub.sole()
        key = request.namespace, request.name
        instance = cell.informers.of(Instance).cache.get(*key)
        copy = hub.informers.of(Instance).cache.get(*key)
        if instance is None:
            self._settling.forget(request)
            self._without_deployment.pop(request, None)
            return await self._delete_copy(cell, hub, copy)
        if left := self._settling.left(request, instance):
            return Result(requeue_after=left)
        identity = project_identities.identity(self._planes, cell, request.namespace)
        name = joins.deployment_name(instance)
        owner = hub.informers.of(WorkloadDeployment).cache.get(request.namespace, name)
        if identity is None or (owner is None and copy is None):
            return DONE  # a watch event of the namespace or the deployment will requeue it
        if copy is None:
            return await self._create_copy(cell, hub, instance, identity)
        seen = Hub(() if owner is None else (owner,), (copy,))
        if write_back((instance,), seen, identity, self._name).writes:
            await self._update_copy(cell, hub, seen, identity, instance)
        return await self._without(request, hub, seen, instance)

    async def _without(
        self, request: Request, hub: Cluster, seen: Hub, instance: Instance
    ) -> Result:
        """Delete the copy of an Instance that stays here although the hub has no deployment of it."""
        (copy,) = seen.copies
        if seen.deployments:
            self._without_deployment.pop(request, None)
            return DONE
        if instance.deleting or copy.deleting or _writer(copy) != self._name:
            return DONE  # the copy is deleted with the Instance, or is that of another cell
        now = asyncio.get_running_loop().time()
        waited = timedelta(seconds=now - self._without_deployment.setdefault(request, now))
        if waited < _WITHOUT_DEPLOYMENT:
            return Result(requeue_after=_WITHOUT_DEPLOYMENT - waited)
        name = joins.deployment_name(instance)
        if await live.certain(hub, WorkloadDeployment, name, request.namespace) is None:
            await _apply(hub.client, WriteBack((Delete(copy),)))
        self._without_deployment.pop(request, None)
        return DONE

    async def _update_copy(
        self,
        cell: Cluster,
        hub: Cluster,
        seen: Hub,
        identity: ProjectNamespace,
        cached: Instance,
    ) -> None:
        """Update the copy from the Instance, read live.

        A cache that lags would restore what another replica of this controller has replaced.
        """
        instance = await live.same(cell.client, cached)
        if instance is not None:
            await _apply(hub.client, write_back((instance,), seen, identity, self._name))

    async def _delete_copy(self, cell: Cluster, hub: Cluster, copy: Instance | None) -> Result:
        """Delete a copy of this cell whose Instance is gone, read live."""
        if copy is None or copy.deleting or _writer(copy) != self._name:
            return DONE
        meta = copy.metadata
        if await cell.client.find(Instance, meta.name, meta.namespace) is None:
            await _apply(hub.client, WriteBack((Delete(copy),)))
        return DONE

    async def _create_copy(
        self, cell: Cluster, hub: Cluster, cached: Instance, identity: ProjectNamespace
    ) -> Result:
        """Create the copy, after a live read of everything that it depends on."""
        instance = await live.same(cell.client, cached)
        if instance is None:
            return DONE
        meta, name = instance.metadata, joins.deployment_name(instance)
        owner = await hub.client.find(WorkloadDeployment, name, meta.namespace)
        copy = await hub.client.find(Instance, meta.name, meta.namespace)
        if owner is None:
            return DONE
        seen = Hub((owner,), (copy,) if copy else ())
        await _apply(hub.client, write_back((instance,), seen, identity, self._name))
        blocked = copy is not None and _writer(copy) not in (None, self._name)
        return Result(requeue_after=_CHECK_OTHER_CELL) if blocked else DONE


class SettlingTimer:
    """How long the copy of an Instance waits for the Instance to stop changing."""

    def __init__(self) -> None:
        self._since: dict[Request, float] = {}
        self._startup_time = settling.StartupTime()

    def left(self, request: Request, instance: Instance) -> timedelta | None:
        """How much longer to wait for an Instance; None if it is to be copied as it is."""
        now = asyncio.get_running_loop().time()
        if settling.is_settled(instance):
            since = self._since.pop(request, None)
            if since is not None:
                self._startup_time.record(timedelta(seconds=now - since))
            return None
        waited = timedelta(seconds=now - self._since.setdefault(request, now))
        left = self._startup_time.settling_time - waited
        return left if left > timedelta() else None

    def forget(self, request: Request) -> None:
        """Forget an Instance that is gone."""
        self._since.pop(request, None)


class NewDeployments:
    """Hub deployments that are new, created again, or gone: that decides whether Instances are copied.

    Other changes of a deployment are frequent and do not matter here, so they requeue nothing.
    """

    def __init__(self, planes: CellPlanes) -> None:
        self._planes = planes
        self._uids: dict[tuple[ClusterName, str, str], str] = {}

    def requests(self, cluster: ClusterName, deployment: WorkloadDeployment) -> Iterable[Request]:
        """The Instances of a deployment that has another uid than before, or none."""
        meta = deployment.metadata
        key = cluster, meta.namespace, meta.name
        known = self._planes.hub.get(cluster).informers.of(WorkloadDeployment).cache
        if (meta.namespace, meta.name) not in known:
            if self._uids.pop(key, None) is not None:
                yield from self._instances(meta.namespace, meta.name)
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
    """Each copy requeues the Instance it is a copy of."""

    def to(_: ClusterName, copy: Instance) -> Iterable[Request]:
        for cell in cells:
            yield Request(cell.name, copy.metadata.namespace, copy.metadata.name)

    return to


def _deployment(instance: Instance) -> Iterable[str]:
    yield f"{instance.metadata.namespace}/{joins.deployment_name(instance)}"


def _writer(copy: Instance) -> str | None:
    return copy.metadata.labels.get(labels.SOURCE_CLUSTER)


async def _apply(hub: Client, plan: WriteBack) -> None:
    for unlinked in plan.unlinked:
        _log.warning("instance without the labels that link it", extra={"object": unlinked.name})
    for write in plan.writes:
        if isinstance(write, Delete):
            await live.delete_as_read(hub, write.existing)  # another cell may have taken it over
        elif isinstance(write, Create):
            await _write_status(hub, await hub.create(write.desired), write.desired)
        else:
            await _write_status(hub, await hub.patch(write.existing, write.desired), write.desired)


async def _write_status(hub: Client, copy: Instance, desired: Instance) -> None:
    await hub.patch_status(copy, replace(copy, status=desired.status))
