"""Registrations: the resource types that can be claimed. Compute's own are created here; all are validated."""

from typing import Final

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
from kubekit.api.meta import Object, ObjectMeta, with_status
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
    """Creates the namespace of the platform, and compute's registrations, in the core plane.

    A registration that users changed stays as it is; one that was deleted is created again.
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
    """Reports for each registration whether it is active."""

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
        verdict = _verdict("; ".join(map(str, faults)))
        updates = [verdict.condition(NeighbourCondition.ACTIVE, generation, now)]
        reported = with_status(
            registration,
            conditions=put(registration.status.conditions, updates, now),
            observed_generation=generation,
        )
        await core.client.patch_status(registration, reported)
        return DONE


def _verdict(faults: str) -> Candidate:
    if faults:
        return Candidate("", Reason.VALIDATION_FAILED, faults)
    message = "It can be granted and claimed"
    return Candidate("", NeighbourReason.REGISTRATION_ACTIVE, message, "True")
