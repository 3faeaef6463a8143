"""Checks that every plane of a world has all requested objects, and nothing else.

It is compared name by name, so what is left behind shows as well as what is missing: on the hub, in
every cell, among the claims, the addresses and the accounts of quota.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from compute.api import names
from compute.api.compute import Instance, Workload, WorkloadDeployment
from compute.api.karmada import PropagationPolicy
from compute.api.karmada_work import ResourceBinding, Work
from compute.api.networking import (
    LocationBinding,
    Network,
    NetworkBinding,
    NetworkContext,
    Subnet,
    SubnetClaim,
)
from compute.api.quota import AllowanceBucket, ResourceClaim, ResourceGrant
from compute.api.resource_manager import Project
from compute.decide import joins
from compute.decide.deployment.template import recorded_hash, template_hash
from kubekit.api.kinds.core import ConfigMap, Namespace
from kubekit.api.meta import Object
from kubekit.client.client import K
from tests.durability.world_wishes import CITIES, Wish, Wishes
from tests.integration.worlds import is_ready, is_served
from tests.support.compute.world_process import WorldProcess

_OURS: Final = (WorkloadDeployment, Instance)
_NETWORK: Final = (Network, LocationBinding, Subnet)
KINDS: Final[dict[str, tuple[type[Object], ...]]] = {
    "core": (Project, ResourceGrant, AllowanceBucket, ConfigMap),
    "hub": (Namespace, *_OURS, PropagationPolicy, ResourceBinding, Work),
    "project": (Namespace, *_OURS, Workload, ResourceClaim, ConfigMap, *_NETWORK),
    "cell": (Namespace, *_OURS, NetworkBinding, NetworkContext, SubnetClaim, Subnet),
}
# The objects that a plane has in any case.
_OF_PLANES: Final = ("default", "kube-", "milo-system", "compute-system", "karmada-")
_PLATFORM: Final = "milo-system"
_LEDGER: Final = "quota-ledger."

Names = dict[str, set[str]]  # by plane


@dataclass(frozen=True, slots=True)
class Census:
    """All objects of the planes, by the context of the plane."""

    planes: Mapping[str, Sequence[Object]]

    def of(self, plane: str, kind: type[K]) -> Iterator[K]:
        return (each for each in self.planes.get(plane, ()) if isinstance(each, kind))

    def names(self) -> Names:
        return {
            plane: {_name(each) for each in there if not _is_of_plane(each)}
            for plane, there in self.planes.items()
        }

    def spaces(self, projects: Iterable[str]) -> dict[str, str]:
        """The name of the namespace of each project on the hub and in cells."""
        return {
            project: names.hub_namespace(each.metadata.uid)
            for project in projects
            for each in self.of(f"project-{project}", Namespace)
            if each.metadata.name == "default"
        }

    def cell(self, space: str, deployment: str, city: str) -> str:
        """The cell that has a deployment; the first of its city where none has."""
        first = city.lower()
        having = (
            plane.removeprefix("cell-")
            for plane in self.planes
            for each in self.of(plane, WorkloadDeployment)
            if plane.startswith(f"cell-{first}")
            and (each.metadata.namespace, each.metadata.name) == (space, deployment)
        )
        return next(having, first)


async def taken(world: WorldProcess) -> Census:
    """A census of all planes that can be reached."""
    planes = {}
    for plane in world.contexts():
        client, kinds = world.client(plane), KINDS[plane.partition("-")[0]]
        planes[plane] = [each for kind in kinds for each in (await client.every(kind)).items]
    return Census(planes)


def faults(census: Census, wishes: Wishes) -> list[str]:
    """The differences between the world and the requests; none once it is idle."""
    return [
        *_differences(census.names(), _expected(census, wishes)),
        *_unserved(census, wishes),
        *(fault for project in wishes for fault in _miscounted(census, project)),
        *_ownerless(census, wishes),
    ]


def _differences(found: Names, wanted: Names) -> Iterator[str]:
    for plane in sorted(found.keys() | wanted.keys()):
        have, want = found.get(plane), wanted.get(plane)
        if have is None or want is None:
            yield f"{plane}: {'is not there' if have is None else 'is still there'}"
            continue
        yield from (f"{plane}: {name} is missing" for name in sorted(want - have))
        yield from (f"{plane}: {name} is left" for name in sorted(have - want))


def _expected(census: Census, wishes: Wishes) -> Names:
    """The expected objects of each plane."""
    cells = [plane for plane in census.planes if plane.startswith("cell-")]
    wanted: Names = defaultdict(set, {plane: set() for plane in ("core", "hub", *cells)})
    spaces = census.spaces(wishes)
    for project, asked in wishes.items():
        wanted["core"] |= {
            f"Project /{project}",
            f"ResourceGrant {_PLATFORM}/{names.grant(project)}",
        }
        wanted[f"project-{project}"] |= {"Network default/default"} | {
            f"LocationBinding /{names.location(city)}" for city in CITIES
        }
        if project in spaces:
            _expect_namespace(census, spaces[project], wanted)
            for name, wish in asked.items():
                _expect_workload(census, wanted, (project, spaces[project], name), wish)
    return wanted


def _expect_namespace(census: Census, space: str, wanted: Names) -> None:
    """It is created on the hub with the first Workload, and stays as long as the project's."""
    if all(each.metadata.name != space for each in census.of("hub", Namespace)):
        return
    wanted["hub"].add(f"Namespace /{space}")
    work = names.work("", space, "Namespace")
    for plane in [plane for plane in wanted if plane.startswith("cell-")]:
        wanted[plane].add(f"Namespace /{space}")
        execution = names.execution_namespace(plane.removeprefix("cell-"))
        wanted["hub"].add(f"Work {execution}/{work}")


def _expect_workload(
    census: Census, wanted: Names, whose: tuple[str, str, str], wish: Wish
) -> None:
    project, space, name = whose
    wanted[f"project-{project}"] |= {
        f"Workload default/{name}",
        f"ConfigMap default/{names.history(name)}",
    }
    for city in wish.cities:
        deployment = names.deployment(name, "home", city)
        cell = census.cell(space, deployment, city)
        subnet = names.subnet_claim(names.network_context("default", names.location(city)))
        instances = [names.instance(deployment, n) for n in range(wish.replicas)]
        wanted[f"project-{project}"] |= {
            f"WorkloadDeployment default/{deployment}",
            f"Subnet default/{subnet}.{cell}",
            *(f"Instance default/{each}" for each in instances),
            *(f"ResourceClaim default/{names.claim(each)}" for each in instances),
        }
        copies = {f"WorkloadDeployment {space}/{deployment}"}
        copies |= {f"Instance {space}/{each}" for each in instances}
        wanted["hub"] |= copies | _on_the_hub(space, deployment, city, cell)
        wanted[f"cell-{cell}"] |= copies | _in_the_cell(space, deployment, city)


def _on_the_hub(space: str, deployment: str, city: str, cell: str) -> set[str]:
    kind = WorkloadDeployment.RESOURCE.kind
    work = names.work(space, deployment, kind)
    return {
        f"PropagationPolicy {space}/{names.policy(city)}",
        f"ResourceBinding {space}/{names.resource_binding(deployment, kind)}",
        f"Work {names.execution_namespace(cell)}/{work}",
    }


def _in_the_cell(space: str, deployment: str, city: str) -> set[str]:
    context = names.network_context("default", names.location(city))
    return {
        f"NetworkBinding {space}/{names.network_binding(deployment, 0)}",
        f"NetworkContext {space}/{context}",
        f"SubnetClaim {space}/{names.subnet_claim(context)}",
        f"Subnet {space}/{names.subnet_claim(context)}",
    }


def _unserved(census: Census, wishes: Wishes) -> Iterator[str]:
    """Workloads that are not available, and Instances that are not ready or not updated."""
    spaces = census.spaces(wishes)
    newest: dict[tuple[str, str], str] = {}
    for project in wishes:
        for workload in census.of(f"project-{project}", Workload):
            name = workload.metadata.name
            known = template_hash(workload.spec.template)
            newest[f"project-{project}", name] = newest[spaces.get(project, ""), name] = known
            if not is_served(workload):
                yield f"{project}: {name} is not served: {workload.status}"
    for plane in census.planes:
        for instance in census.of(plane, Instance):
            where = plane if plane.startswith("project-") else instance.metadata.namespace
            wanted = newest.get((where, joins.workload_name(instance)))
            if not is_ready(instance) or recorded_hash(instance) != wanted:
                yield f"{plane}: {_name(instance)} is not ready with the newest template"


def _miscounted(census: Census, project: str) -> Iterator[str]:
    """Claims that are not granted, and buckets that do not add up to the claims."""
    used: Counter[str] = Counter()
    claims: Counter[str] = Counter()
    for claim in census.of(f"project-{project}", ResourceClaim):
        for given in claim.status.allocations:
            used[given.resource_type] += given.allocated_amount
            claims[given.resource_type] += given.status == "Granted"
        if len(claim.status.allocations) != len(claim.spec.requests):
            yield f"{project}: {_name(claim)} is not granted"
    for bucket in census.of("core", AllowanceBucket):
        if bucket.spec.consumer_ref.name == project:
            kind = bucket.spec.resource_type
            reported = bucket.status.allocated, bucket.status.claim_count
            if reported != (used.pop(kind, 0), claims.pop(kind, 0)):
                yield f"{project}: the bucket of {kind} reports {reported}"
    yield from (f"{project}: no bucket of {kind}" for kind in used)


def _ownerless(census: Census, wishes: Wishes) -> Iterator[str]:
    """Buckets and grants of deleted projects."""
    for bucket in census.of("core", AllowanceBucket):
        if bucket.spec.consumer_ref.name not in wishes:
            yield f"core: the bucket of {bucket.spec.consumer_ref.name} is left"
    for kept in census.of("core", ConfigMap):
        _, _, project = kept.metadata.name.partition(_LEDGER)
        if project and project not in wishes:
            yield f"core: {_name(kept)} is left"


def _name(obj: Object) -> str:
    return f"{type(obj).__name__} {obj.metadata.namespace}/{obj.metadata.name}"


def _is_of_plane(obj: Object) -> bool:
    if isinstance(obj, AllowanceBucket):
        return True
    if isinstance(obj, Namespace):
        return obj.metadata.name.startswith(_OF_PLANES)
    ledger = isinstance(obj, ConfigMap) and obj.metadata.namespace == _PLATFORM
    return ledger or obj.metadata.name.startswith("kube-")
