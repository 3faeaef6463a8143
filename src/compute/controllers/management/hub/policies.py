"""One propagation policy per city of a hub namespace. It exists only while a deployment needs it.

A request names a policy, which may not exist. `decide.federation.policies` explains the order of the
reads.
"""

import asyncio
from collections.abc import Iterable
from datetime import timedelta
from typing import Final

from compute.api import labels, names
from compute.api.compute import WorkloadDeployment
from compute.api.karmada import PropagationPolicy
from compute.api.permissions import READ, WATCH, WRITE, allow
from compute.controllers.management.apply_writes import apply, save
from compute.controllers.management.planes import ACROSS_PLANES, ManagementPlanes
from compute.controllers.management.predicates import mapped_on_change
from compute.decide.federation import policies_due
from compute.decide.writes import Create, Delete, Update, Write
from kubekit.client.client import Client
from kubekit.runtime import live
from kubekit.runtime.clusters import Cluster, Clusters
from kubekit.runtime.controller import Controller
from kubekit.runtime.controller_factory import ControllerFactory
from kubekit.runtime.requests import DONE, ClusterName, Request, Result
from kubekit.runtime.sources import own

NAME: Final = "hub-policies"
_POLICY: Final = "policy"
# Seconds. The federator creates the policy right after the deployment: both would create it at once.
_LEFT_TO_ITS_WRITER: Final = 1.0

PERMISSIONS: Final = (
    *allow("hub", (*READ, *WRITE), PropagationPolicy),
    *allow("hub", WATCH, WorkloadDeployment),
)


def controllers(planes: ManagementPlanes, factory: ControllerFactory) -> list[Controller]:
    """The controller that keeps the hub's policies."""
    sources = [
        own(PropagationPolicy, planes.hub),
        mapped_on_change(WorkloadDeployment, planes.hub, _requests, _city_and_deletion),
    ]
    policies = HubPolicies(planes.hub)
    return [factory.controller(NAME, policies, planes.hub, sources, ACROSS_PLANES)]


async def ensure_policy(hub: Cluster, deployment: WorkloadDeployment) -> None:
    """Create or keep the policy of a deployment that was just written to the hub.

    Another writer may create it at the same moment, so its name may be taken. It is then read, after
    the deployment was written, as the protocol requires.
    """
    namespace, name = deployment.metadata.namespace, names.policy(_city(deployment))
    informer = hub.informers.find(PropagationPolicy)
    if informer is None or informer.cache.get(namespace, name) is None:
        fresh = [each for each in policies_due((deployment,), ()) if isinstance(each, Create)]
        if all([await live.create(hub.client, each.desired) for each in fresh]):
            return
    policy = await hub.client.find(PropagationPolicy, name, namespace)
    for write in policies_due((deployment,), (policy,) if policy else ()):
        await _apply(hub.client, write)


class HubPolicies:
    """Creates, repairs and deletes policies."""

    def __init__(self, hub: Clusters) -> None:
        self._hub = hub
        self._missing_since: dict[Request, float] = {}

    async def reconcile(self, request: Request) -> Result:
        """Compare the caches, and apply the write that is due."""
        hub = self._hub.get(request.cluster)
        informer = hub.informers.of(WorkloadDeployment)
        informer.cache.add_index(_POLICY, _policy_key)
        deployments = informer.cache.by(_POLICY, f"{request.namespace}/{request.name}")
        if not deployments and any(key[0] == request.namespace for key in informer.unreadable):
            return DONE  # one of the unreadable deployments may be of this city
        policy = hub.informers.of(PropagationPolicy).cache.get(request.namespace, request.name)
        due = policies_due(deployments, (policy,) if policy else ())
        if not any(isinstance(write, Create) for write in due):
            self._missing_since.pop(request, None)
        elif left := self._left_to_its_writer(request):
            return Result(requeue_after=left)
        for write in due:
            await _repair(hub.client, request, write)
        return DONE

    def _left_to_its_writer(self, request: Request) -> timedelta | None:
        """How much longer a policy is left to the federator, which creates it with a deployment."""
        now = asyncio.get_running_loop().time()
        left = self._missing_since.setdefault(request, now) + _LEFT_TO_ITS_WRITER - now
        return timedelta(seconds=left) if left > 0 else None


async def _repair(client: Client, request: Request, write: Write[PropagationPolicy]) -> None:
    """Apply a write that the caches show.

    A mark and a restored field may follow from a deployment that is not there any more: neither does
    harm, and the policy itself is the current one, or the write fails. A policy is created or deleted
    after a live read of the deployments.
    """
    if isinstance(write, Update):
        await save(client, write)
        return
    policy = write.existing if isinstance(write, Delete) else None
    listed = await client.every(WorkloadDeployment, request.namespace)
    deployments = [d for d in listed.items if names.policy(_city(d)) == request.name]
    if not deployments and listed.unreadable:
        return
    for due in policies_due(deployments, (policy,) if policy else ()):
        await _apply(client, due)


async def _apply(client: Client, write: Write[PropagationPolicy]) -> None:
    """Apply a write. Another writer may have created the policy."""
    if isinstance(write, Create):
        await live.create(client, write.desired)
    else:
        await apply(client, write)


def _requests(hub: ClusterName, deployment: WorkloadDeployment) -> Iterable[Request]:
    city = _city(deployment)
    if city:
        yield Request(hub, deployment.metadata.namespace, names.policy(city))


def _city_and_deletion(deployment: WorkloadDeployment) -> object:
    return _city(deployment), deployment.deleting


def _policy_key(deployment: WorkloadDeployment) -> Iterable[str]:
    city = _city(deployment)
    if city:
        yield f"{deployment.metadata.namespace}/{names.policy(city)}"


def _city(deployment: WorkloadDeployment) -> str:
    return deployment.metadata.labels.get(labels.TOPOLOGY_CITY_CODE, "")
