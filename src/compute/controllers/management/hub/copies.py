"""The hub's copies of Instances whose deployment is gone from the hub.

A copy outlives the deployment: its cell deletes it with its Instance, once the machine has stopped. An
unreachable cell does not, nor one whose controllers are down. So such a copy is deleted here: at once
where the cell is unreachable, since nothing is known of its machine any more, and else after a limit.
"""

import asyncio
from collections.abc import Iterable
from datetime import timedelta
from typing import Final

from compute.api import labels, names
from compute.api.compute import Instance, WorkloadDeployment
from compute.api.karmada import MemberCluster
from compute.api.permissions import READ, allow
from compute.controllers.management.hub.origins import from_hub
from compute.controllers.management.hub.reachability import is_reachable
from compute.controllers.management.planes import ACROSS_PLANES, ManagementPlanes
from compute.controllers.management.predicates import mapped_on_change, presence
from compute.decide import joins
from compute.decide.federation.scheduling import is_ready
from kubekit.runtime import live
from kubekit.runtime.clusters import Cluster, Clusters
from kubekit.runtime.controller import Controller
from kubekit.runtime.controller_factory import ControllerFactory
from kubekit.runtime.requests import DONE, Request, Result
from kubekit.runtime.watching.cache import Cache

NAME: Final = "hub-copies"
_DEPLOYMENT: Final = "deployment"
_CELL: Final = "cell"
# As long as the federator waits for the cell of a deleted deployment.
_CELL_TIMEOUT: Final = 300.0  # seconds

PERMISSIONS: Final = (
    *allow("hub", (*READ, "delete"), Instance),
    *allow("hub", READ, WorkloadDeployment, MemberCluster),
)


def controllers(planes: ManagementPlanes, factory: ControllerFactory) -> list[Controller]:
    """The controller of copies without a deployment."""

    def itself(hub: Cluster, copy: Instance) -> Iterable[Request]:
        yield Request(hub.name, copy.metadata.namespace, copy.metadata.name)

    def of_deployment(hub: Cluster, deployment: WorkloadDeployment) -> Iterable[Request]:
        meta = deployment.metadata
        return _requests(hub, _DEPLOYMENT, f"{meta.namespace}/{meta.name}")

    def of_cell(hub: Cluster, cell: MemberCluster) -> Iterable[Request]:
        return _requests(hub, _CELL, cell.metadata.name)

    hub = planes.hub
    sources = [
        mapped_on_change(Instance, hub, from_hub(hub, itself), presence),
        mapped_on_change(WorkloadDeployment, hub, from_hub(hub, of_deployment), presence),
        mapped_on_change(MemberCluster, hub, from_hub(hub, of_cell), is_ready),
    ]
    return [factory.controller(NAME, HubCopies(hub), hub, sources, ACROSS_PLANES)]


def copies_of(hub: Cluster, hub_namespace: str, deployment: str) -> list[tuple[str, str]]:
    """The keys of the copies of a deployment, from the cache."""
    return _copies(hub).keys_by(_DEPLOYMENT, f"{hub_namespace}/{deployment}")


class HubCopies:
    """Deletes copies whose deployment is gone, where their cell does not."""

    def __init__(self, hub: Clusters) -> None:
        self._hub = hub
        self._since: dict[Request, float] = {}  # without a deployment

    async def reconcile(self, request: Request) -> Result:
        """Delete a copy that nothing else deletes."""
        hub = self._hub.get(request.cluster)
        copy = _copies(hub).get(request.namespace, request.name)
        if copy is None or copy.deleting or _has_deployment(hub, copy):
            self._since.pop(request, None)
            return DONE
        if await is_reachable(hub, copy.metadata.labels.get(labels.SOURCE_CLUSTER, "")):
            now = asyncio.get_running_loop().time()
            left = self._since.setdefault(request, now) + _CELL_TIMEOUT - now
            if left > 0:
                return Result(requeue_after=timedelta(seconds=left))
        name = joins.deployment_name(copy)
        if await live.certain(hub, WorkloadDeployment, name, request.namespace) is None:
            await live.delete_as_read(hub.client, copy)
        return DONE


def _has_deployment(hub: Cluster, copy: Instance) -> bool:
    """Whether the deployment of a copy is on the hub. Only copies of projects are deleted."""
    namespace = copy.metadata.namespace
    deployments = hub.informers.of(WorkloadDeployment).cache
    is_present = (namespace, joins.deployment_name(copy)) in deployments
    return is_present or names.hub_namespace_uid(namespace) is None


def _requests(hub: Cluster, index: str, value: str) -> Iterable[Request]:
    return [Request(hub.name, *key) for key in _copies(hub).keys_by(index, value)]


def _copies(hub: Cluster) -> Cache[Instance]:
    cache = hub.informers.of(Instance).cache
    cache.add_index(_DEPLOYMENT, _deployment_key)
    cache.add_index(_CELL, _cell_key)
    return cache


def _deployment_key(copy: Instance) -> Iterable[str]:
    return (f"{copy.metadata.namespace}/{joins.deployment_name(copy)}",)


def _cell_key(copy: Instance) -> Iterable[str]:
    return (copy.metadata.labels.get(labels.SOURCE_CLUSTER, ""),)
