"""Projects that consume our services: which are engaged, and what is left of those that no longer do.

The service catalog records each consumer in the project of the service's provider. A project whose
records are denied or deleted is disengaged, and its deployments are deleted on the hub. The engine
then deletes them in the cells, which stop the machines and release the claims. What is in the project
stays: it runs again if the project becomes a consumer again.
"""

import logging
from collections.abc import Collection, Iterable
from datetime import timedelta
from typing import Final

from compute.api.compute import WorkloadDeployment
from compute.api.permissions import READ, WATCH, allow
from compute.api.services import ServiceConsumer
from compute.controllers.management.hub.origins import from_hub, original_of
from compute.controllers.management.planes import ACROSS_PLANES, ManagementPlanes
from compute.controllers.management.predicates import mapped_on_change, presence
from compute.decide.consumption import Consumption, consumption
from kubekit.runtime import live
from kubekit.runtime.clusters import Cluster, Clusters
from kubekit.runtime.controller import Controller
from kubekit.runtime.controller_factory import ControllerFactory
from kubekit.runtime.requests import DONE, ClusterName, Request, Result, cluster_name
from kubekit.runtime.sources import mapped

NAME: Final = "revoked-consumers"
PERMISSIONS: Final = (
    *allow("project", WATCH, ServiceConsumer),
    *allow("hub", (*READ, "delete"), WorkloadDeployment),
)

_log: Final = logging.getLogger(__name__)
_BY_PROJECT: Final = "the project it is consumed by"
_OF_PROJECT: Final = "the project it is of"
_SOON: Final = Result(requeue_after=timedelta(seconds=1))


class ServiceConsumers:
    """The records of consumption. ``provider`` is the plane of the provider's project."""

    def __init__(self, provider: Clusters, services: Collection[str]) -> None:
        self.provider = provider
        self._services = services

    def verdict(self, project: str) -> Consumption:
        """What the records say, by the cache.

        A record counts as soon as it is known, since nothing reports it again once the cache is complete.
        Only a complete cache shows that there is none.
        """
        for cluster in self.provider:
            informer = cluster.informers.of(ServiceConsumer)
            informer.cache.add_index(_BY_PROJECT, _consumer_project)
            own = informer.cache.by(_BY_PROJECT, project)
            verdict = consumption(project, self._services, own)
            if informer.synced or verdict is not Consumption.NONE:
                return verdict
        return Consumption.UNDECIDED

    async def live_verdict(self, project: str) -> Consumption:
        """What the records say, read live."""
        listed = await self.provider.sole().client.every(ServiceConsumer)
        if listed.unreadable:
            return Consumption.UNDECIDED  # one of them may be of the project
        return consumption(project, self._services, listed.items)


class RevokedConsumers:
    """Deletes what projects that may not use our services have on the hub."""

    def __init__(self, planes: ManagementPlanes, consumers: ServiceConsumers) -> None:
        self._planes = planes
        self._consumers = consumers

    async def reconcile(self, request: Request) -> Result:
        """A request names a project, and the hub as its cluster."""
        hub = self._planes.hub.get(request.cluster)
        copies = [copy for copy in _copies(hub, request.name) if not copy.deleting]
        if not copies or self._consumers.verdict(request.name) is not Consumption.REVOKED:
            return DONE
        if self._planes.projects.find(cluster_name(request.name)) is not None:
            return _SOON  # as long as it is engaged, the federator would create them again
        if await self._consumers.live_verdict(request.name) is not Consumption.REVOKED:
            return DONE
        about = {"project": request.name, "deployments": len(copies)}
        _log.warning("the project may not use compute any more: its deployments end", extra=about)
        for copy in copies:
            await live.delete_as_read(hub.client, copy)
        return DONE


def controllers(
    planes: ManagementPlanes, consumers: ServiceConsumers, factory: ControllerFactory
) -> list[Controller]:
    """The controller of revocations."""

    def of_consumer(_: ClusterName, consumer: ServiceConsumer) -> Iterable[Request]:
        for hub in planes.hub:
            yield from (Request(hub.name, "", name) for name in _consumer_project(consumer))

    def of_copy(hub: Cluster, copy: WorkloadDeployment) -> Iterable[Request]:
        original = original_of(hub, copy)
        return () if original is None else (Request(hub.name, "", original.cluster),)

    sources = [
        mapped(ServiceConsumer, consumers.provider, of_consumer),
        mapped_on_change(WorkloadDeployment, planes.hub, from_hub(planes.hub, of_copy), presence),
    ]
    reconciler = RevokedConsumers(planes, consumers)
    return [factory.controller(NAME, reconciler, planes.hub, sources, ACROSS_PLANES)]


def _copies(hub: Cluster, project: str) -> list[WorkloadDeployment]:
    cache = hub.informers.of(WorkloadDeployment).cache

    def of(copy: WorkloadDeployment) -> Iterable[str]:
        original = original_of(hub, copy)
        return () if original is None else (original.cluster,)

    cache.add_index(_OF_PROJECT, of)
    return cache.by(_OF_PROJECT, project)


def _consumer_project(consumer: ServiceConsumer) -> Iterable[str]:
    name = consumer.spec.consumer_project_ref.name
    return (name,) if name else ()
