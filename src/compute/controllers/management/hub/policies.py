"""One propagation policy per city of a hub namespace. It exists only while a deployment needs it.

A request names a policy, which may not exist. `decide.federation.policies` explains why the reads
here are live, and in this order.
"""

from collections.abc import Iterable
from typing import Final

from compute.api import labels, names
from compute.api.compute import WorkloadDeployment
from compute.api.karmada import PropagationPolicy
from compute.api.permissions import READ, WATCH, WRITE, allow
from compute.controllers.management.apply_writes import apply
from compute.controllers.management.planes import ACROSS_PLANES, ManagementPlanes
from compute.controllers.management.predicates import mapped_on_change
from compute.decide.federation import policies_due
from kubekit.client.client import Client
from kubekit.runtime.clusters import Clusters
from kubekit.runtime.controller import Controller
from kubekit.runtime.controller_factory import ControllerFactory
from kubekit.runtime.requests import DONE, ClusterName, Request, Result
from kubekit.runtime.sources import own

NAME: Final = "hub-policies"
_POLICY: Final = "policy"

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


async def ensure_policy(client: Client, deployment: WorkloadDeployment) -> None:
    """Create or keep the policy of a deployment that was just written to the hub."""
    name = names.policy(_city(deployment))
    policy = await client.find(PropagationPolicy, name, deployment.metadata.namespace)
    for write in policies_due((deployment,), (policy,) if policy else ()):
        await apply(client, write)


class HubPolicies:
    """Creates, repairs and deletes policies."""

    def __init__(self, hub: Clusters) -> None:
        self._hub = hub

    async def reconcile(self, request: Request) -> Result:
        """Read the caches; if they show that a write is due, read live and apply it."""
        hub = self._hub.get(request.cluster)
        cache = hub.informers.of(WorkloadDeployment).cache
        cache.add_index(_POLICY, _policy_key)
        deployments = cache.by(_POLICY, f"{request.namespace}/{request.name}")
        policy = hub.informers.of(PropagationPolicy).cache.get(request.namespace, request.name)
        if policies_due(deployments, (policy,) if policy else ()):
            await _repair(hub.client, request)
        return DONE


async def _repair(client: Client, request: Request) -> None:
    policy = await client.find(PropagationPolicy, request.name, request.namespace)
    listed = await client.every(WorkloadDeployment, request.namespace)
    deployments = [d for d in listed.items if names.policy(_city(d)) == request.name]
    if not deployments and listed.unreadable:
        return  # one of the unreadable deployments may be of this city
    for write in policies_due(deployments, (policy,) if policy else ()):
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
