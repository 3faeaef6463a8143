"""Grants: the first grant of each project, and whether a grant is active."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from compute.api import names, resource_manager
from compute.api.conditions import NeighbourCondition
from compute.api.quota import (
    Allowance,
    GrantBucket,
    ObjectRef,
    ResourceGrant,
    ResourceGrantSpec,
    ResourceRegistration,
)
from compute.api.reasons import NeighbourReason, Reason
from compute.api.resource_manager import Project
from compute.decide import budget, quota
from compute.decide.conditions import put
from compute.decide.ranking import Candidate
from compute.services.planes import PLATFORM
from compute.services.quota import lookups
from kubekit.api.kinds.core import Namespace
from kubekit.api.meta import with_status
from kubekit.environment import ExecutionEnvironment
from kubekit.runtime import live
from kubekit.runtime.clusters import Clusters
from kubekit.runtime.requests import DONE, Request, Result

# What a project may use until it is granted more: instances, millicores, mebibytes.
FIRST_GRANT: Final[Mapping[str, int]] = MappingProxyType(
    {quota.INSTANCES: 10, quota.VCPUS: 40_000, quota.MEMORY: 81_920}
)


class FirstGrants:
    """Creates the first grant of each project. Operators may change its amounts."""

    def __init__(self, core: Clusters, amounts: Mapping[str, int]) -> None:
        self._core = core
        self._amounts = amounts

    async def reconcile(self, request: Request) -> Result:
        core = self._core.get(request.cluster)
        name = names.grant(request.name)
        known = core.informers.of(ResourceGrant).cache.get(PLATFORM, name)
        namespace = core.informers.of(Namespace).cache.get("", PLATFORM)
        project = core.informers.of(Project).cache.get("", request.name)
        if project is None or project.deleting or known is not None or namespace is None:
            return DONE
        present = await live.current(core.client, project)
        if present is not None:
            await core.client.create(_first(present, name, self._amounts))
        return DONE


class Grants:
    """Reports for each grant whether it is active."""

    def __init__(self, core: Clusters, environment: ExecutionEnvironment) -> None:
        self._core = core
        self._environment = environment

    async def reconcile(self, request: Request) -> Result:
        core = self._core.get(request.cluster)
        grant = core.informers.of(ResourceGrant).cache.get(request.namespace, request.name)
        if grant is None or grant.deleting:
            return DONE
        registered = budget.active(core.informers.of(ResourceRegistration).cache.list())
        faults = "; ".join(map(str, budget.grant_faults(grant, registered)))
        now, generation = self._environment.now(), grant.metadata.generation
        updates = [_verdict(faults).condition(NeighbourCondition.ACTIVE, generation, now)]
        conditions = put(grant.status.conditions, updates, now)
        reported = with_status(grant, conditions=conditions, observed_generation=generation)
        await core.client.patch_status(grant, reported)
        return DONE


def _first(project: Project, name: str, amounts: Mapping[str, int]) -> ResourceGrant:
    consumer = ObjectRef(
        api_group=resource_manager.GROUP, kind=budget.CONSUMER, name=project.metadata.name
    )
    allowances = tuple(
        Allowance(resource_type=kind, buckets=(GrantBucket(amount=amount),))
        for kind, amount in amounts.items()
    )
    return ResourceGrant(
        metadata=lookups.belonging(project, name),
        spec=ResourceGrantSpec(consumer_ref=consumer, allowances=allowances),
    )


def _verdict(faults: str) -> Candidate:
    if faults:
        return Candidate("", Reason.VALIDATION_FAILED, faults)
    message = "It counts towards the quota of its project"
    return Candidate("", NeighbourReason.GRANT_ACTIVE, message, "True")
