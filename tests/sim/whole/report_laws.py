"""L5: every status is true and of the current generation; every counter equals a recount."""

from collections.abc import Iterable, Iterator, Sequence

from compute.api.compute import Instance, ReplicaCounts, Workload, WorkloadDeployment
from compute.api.conditions import ConditionType
from compute.api.karmada import MemberCluster
from compute.api.quota import AllowanceBucket, ResourceClaim, ResourceGrant
from compute.api.resource_manager import Project
from compute.app.planes import CORE, HUB, PlaneRef
from compute.decide import budget
from compute.decide.conditions import is_true, status_of
from compute.decide.deployment import slots
from compute.decide.deployment.template import template_hash
from compute.decide.federation.scheduling import is_ready
from compute.decide.scheduling_gates import closed
from kubekit.api.meta import Condition
from tests.sim.whole.budget_laws import granted
from tests.sim.whole.plane_readings import Reading

_COUNTERS = ReplicaCounts.__struct_fields__


def l5_instances_say_whether_they_are_ready(reading: Reading) -> Iterator[str]:
    """An Instance is Ready exactly when it is Programmed and Available, and nothing holds it."""
    for cell in reading.planes("cell"):
        for instance in reading.all(cell, Instance).values():
            said = instance.status.conditions
            serves = is_true(said, ConditionType.PROGRAMMED) and is_true(
                said, ConditionType.AVAILABLE
            )
            denied = status_of(said, ConditionType.QUOTA_GRANTED) == "False"
            expected = serves and not denied and not closed(instance)
            where = f"L5 {cell.name}/{instance.metadata.name}"
            if is_true(said, ConditionType.READY) != expected:
                yield f"{where}: Ready is {status_of(said, ConditionType.READY)}"
            yield from _of_another_time(where, instance.metadata.generation, _ready(said))


def l5_deployments_count_their_instances(reading: Reading) -> Iterator[str]:
    """A deployment of a cell counts its Instances as they are."""
    for cell in reading.planes("cell"):
        for deployment in reading.all(cell, WorkloadDeployment).values():
            instances = reading.members(cell, deployment)
            where = f"L5 {cell.name}/{deployment.metadata.name}"
            yield from _unequal(where, deployment.status, _recount(deployment, instances))
            said, ready = deployment.status.conditions, any(map(slots.is_ready, instances))
            if is_true(said, ConditionType.AVAILABLE) != ready:
                yield f"{where}: Available is {status_of(said, ConditionType.AVAILABLE)}"
            yield from _of_another_time(where, deployment.metadata.generation, said)


def l5_reports_are_of_the_right_generation(reading: Reading) -> Iterator[str]:
    """Every deployment's status speaks of its present spec, as its own plane counts."""
    planes = (*reading.planes("project"), HUB, *reading.planes("cell"))
    for ref in planes:
        for deployment in reading.all(ref, WorkloadDeployment).values():
            observed, generation = (
                deployment.status.observed_generation,
                deployment.metadata.generation,
            )
            if observed != generation and _is_served(reading, deployment):
                name = deployment.metadata.name
                yield f"L5 {ref.name}/{name}: status of {observed}, spec of {generation}"


def l5_workloads_sum_up(reading: Reading) -> Iterator[str]:
    """A Workload and its placements are the sums of their deployments, of the present spec."""
    for project in reading.planes("project"):
        for workload in reading.all(project, Workload).values():
            parts = [
                each
                for each in reading.all(project, WorkloadDeployment).values()
                if each.spec.workload_ref.uid == workload.metadata.uid
            ]
            where = f"L5 {project.name}/{workload.metadata.name}"
            yield from _sums(where, workload, parts)
            available = any(is_true(d.status.conditions, ConditionType.AVAILABLE) for d in parts)
            said = workload.status.conditions
            if is_true(said, ConditionType.AVAILABLE) != available:
                yield f"{where}: Available is {status_of(said, ConditionType.AVAILABLE)}"
            yield from _of_another_time(where, workload.metadata.generation, said)


def l5_buckets_say_what_is_used(reading: Reading) -> Iterator[str]:
    """A bucket has the sum of the grants, and the sum of what was granted from it."""
    for bucket in reading.all(CORE, AllowanceBucket).values():
        ref = PlaneRef("project", bucket.spec.consumer_ref.name)
        if ref not in reading.planes("project"):
            continue
        kind = bucket.spec.resource_type
        claims = [granted(claim) for claim in reading.all(ref, ResourceClaim).values()]
        used = sum(each.get(kind, 0) for each in claims)
        limit = budget.limits(reading.all(CORE, ResourceGrant).values(), ref.name).get(kind, 0)
        shown = bucket.status.limit, bucket.status.allocated, bucket.status.available
        if shown != (limit, used, max(0, limit - used)):
            yield f"L5 {ref.name}: of {kind} {shown} is reported, not {limit}, {used}"


def l5_members_and_projects_are_ready(reading: Reading) -> Iterator[str]:
    """Every cell answers, and every project that is wanted has its plane."""
    for cluster in reading.all(HUB, MemberCluster).values():
        if not is_ready(cluster):
            yield f"L5 hub: {cluster.metadata.name} is not Ready"
    for project in reading.all(CORE, Project).values():
        ready = is_true(project.status.conditions, ConditionType.READY)
        if not ready or PlaneRef("project", project.metadata.name) not in reading.planes("project"):
            yield f"L5 core: {project.metadata.name} is not Ready"


LAWS = (
    l5_instances_say_whether_they_are_ready,
    l5_deployments_count_their_instances,
    l5_reports_are_of_the_right_generation,
    l5_workloads_sum_up,
    l5_buckets_say_what_is_used,
    l5_members_and_projects_are_ready,
)


def _ready(conditions: Iterable[Condition]) -> list[Condition]:
    return [said for said in conditions if said.type == ConditionType.READY]


def _of_another_time(where: str, generation: int, said: Iterable[Condition]) -> Iterator[str]:
    for each in said:
        if each.observed_generation != generation:
            yield f"{where}: {each.type} is of {each.observed_generation}, spec of {generation}"


def _is_served(reading: Reading, deployment: WorkloadDeployment) -> bool:
    """Whether there is a cell that could have reported."""
    return bool(reading.cells_of(deployment.spec.city_code))


def _recount(deployment: WorkloadDeployment, instances: Sequence[Instance]) -> dict[str, int]:
    newest = template_hash(deployment.spec.template)
    updated = [
        each
        for each in instances
        if each.status.controller and each.status.controller.observed_template_hash == newest
    ]
    programmed = [i for i in updated if is_true(i.status.conditions, ConditionType.PROGRAMMED)]
    return {
        "replicas": len(instances),
        "desired_replicas": slots.desired(deployment),
        "updated_replicas": len(updated),
        "current_replicas": len(programmed),
        "ready_replicas": len([each for each in instances if slots.is_ready(each)]),
    }


def _sums(where: str, workload: Workload, parts: Sequence[WorkloadDeployment]) -> Iterator[str]:
    yield from _unequal(where, workload.status, _added(parts))
    if workload.status.deployments != len(parts):
        yield f"{where}: {workload.status.deployments} deployments are reported, there are {len(parts)}"
    if workload.status.observed_generation != workload.metadata.generation:
        yield f"{where}: its status is of {workload.status.observed_generation}"
    for placement in workload.status.placements:
        own = [each for each in parts if each.spec.placement_name == placement.name]
        yield from _unequal(f"{where}/{placement.name}", placement, _added(own))


def _added(parts: Iterable[WorkloadDeployment]) -> dict[str, int]:
    statuses = [each.status for each in parts]
    return {name: sum(getattr(each, name) for each in statuses) for name in _COUNTERS}


def _unequal(where: str, status: ReplicaCounts, counted: dict[str, int]) -> Iterator[str]:
    for name, number in counted.items():
        if getattr(status, name) != number:
            yield f"{where}: {name} is {getattr(status, name)}, and {number} were counted"
