"""Registrations: what can be counted. Compute's own are made here, and every one is judged."""

from typing import Final

import msgspec

from compute.api import resource_manager
from compute.api.compute import Instance
from compute.api.conditions import NeighbourCondition
from compute.api.quota import (
    ClaimingResource,
    ConsumerType,
    ResourceRegistration,
    ResourceRegistrationSpec,
)
from compute.api.reasons import NeighbourReason, Reason
from compute.decide import budget, quota
from compute.decide.conditions import put
from compute.decide.ranking import Candidate
from compute.services.planes import PLATFORM
from kubekit.api.kinds.core import Namespace
from kubekit.api.meta import Object, ObjectMeta
from kubekit.environment import ExecutionEnvironment
from kubekit.runtime.clusters import Clusters
from kubekit.runtime.requests import DONE, Request, Result


def _registration(
    name: str, resource_type: str, counted: str, units: tuple[str, str, int]
) -> ResourceRegistration:
    base, display, factor = units
    return ResourceRegistration(
        metadata=ObjectMeta(name=name),
        spec=ResourceRegistrationSpec(
            resource_type=resource_type,
            type=counted,
            base_unit=base,
            display_unit=display,
            unit_conversion_factor=factor,
            consumer_type=ConsumerType(api_group=resource_manager.GROUP, kind=budget.CONSUMER),
            claiming_resources=(
                ClaimingResource(api_group=Instance.RESOURCE.group, kind=Instance.RESOURCE.kind),
            ),
        ),
    )


REGISTRATIONS: Final = (
    _registration("compute-instances", quota.INSTANCES, "Entity", ("instance", "instance", 1)),
    _registration("compute-vcpus", quota.VCPUS, "Allocation", ("millicore", "vCPU", 1000)),
    _registration("compute-memory", quota.MEMORY, "Allocation", ("MiB", "MiB", 1)),
)
FOUNDATION: Final[tuple[Object, ...]] = (
    Namespace(metadata=ObjectMeta(name=PLATFORM)),
    *REGISTRATIONS,
)


class Foundation:
    """Keeps the namespace of the platform, and what compute registers, in the core plane.

    What people changed of a registration stays; one that was deleted comes back.
    """

    def __init__(self, core: Clusters) -> None:
        self._core = core

    async def reconcile(self, request: Request) -> Result:
        core = self._core.get(request.cluster)
        for fresh in FOUNDATION:
            if core.informers.of(type(fresh)).cache.get("", fresh.metadata.name) is None:
                await core.client.create(fresh)
        return DONE


class Registrations:
    """Says of each registration whether it counts."""

    def __init__(self, core: Clusters, environment: ExecutionEnvironment) -> None:
        self._core = core
        self._environment = environment

    async def reconcile(self, request: Request) -> Result:
        core = self._core.get(request.cluster)
        cache = core.informers.of(ResourceRegistration).cache
        registration = cache.get("", request.name)
        if registration is None or registration.deleting:
            return DONE
        others = (each for each in cache.list() if each.metadata.name != request.name)
        faults = list(budget.registration_faults(registration, others))
        now, generation = self._environment.now(), registration.metadata.generation
        said = _verdict("; ".join(map(str, faults)))
        news = [said.condition(NeighbourCondition.ACTIVE, generation, now)]
        status = msgspec.structs.replace(
            registration.status,
            conditions=put(registration.status.conditions, news, now),
            observed_generation=generation,
        )
        told = msgspec.structs.replace(registration, status=status)
        await core.client.patch_status(registration, told)
        return DONE


def _verdict(faults: str) -> Candidate:
    if faults:
        return Candidate("", Reason.VALIDATION_FAILED, faults)
    message = "It can be granted and claimed"
    return Candidate("", NeighbourReason.REGISTRATION_ACTIVE, message, "True")
