"""L1 and L2: what was requested exists, with the newest template, and all copies are equal."""

from collections.abc import Iterator

from compute.api import annotations, labels, names
from compute.api.compute import Instance, ReplicaCounts, Workload, WorkloadDeployment
from compute.api.conditions import ConditionType
from compute.api.networking import LocationBinding, Network
from compute.app.planes import HUB, PlaneRef
from compute.decide import joins, overrides
from compute.decide.deployment import replacements, slots
from compute.decide.deployment.rollup import same
from compute.decide.deployment.template import recorded_hash, template_hash
from compute.decide.overrides import replaced_instances
from tests.sim.whole.excuses import excuse
from tests.sim.whole.plane_readings import Reading, same_spec
from tests.sim.whole.shapes import ordinal

_SAID_BY_THE_PROJECT = (ConditionType.DRAIN_SCHEDULED, ConditionType.REFERENCED_DATA_READY)


def l1_workloads_are_split(reading: Reading) -> Iterator[str]:
    """Every Workload has exactly the deployments that its spec defines."""
    for project in reading.planes("project"):
        deployments = reading.all(project, WorkloadDeployment)
        for workload in reading.all(project, Workload).values():
            if workload.deleting or _lacks_networks(reading, project, workload):
                continue
            uid, name = workload.metadata.uid, workload.metadata.name
            wanted = _wanted(reading, project, workload)
            there = {key[1]: d for key, d in deployments.items() if d.spec.workload_ref.uid == uid}
            for each in sorted(wanted - there.keys()):
                yield f"L1 {project.name}: {name} lacks {each}"
            for each in sorted(there.keys() - wanted):
                yield f"L1 {project.name}: {each} is too many"
            for each in sorted(wanted & there.keys()):
                yield from _unlike(project, workload, there[each])


def l1_deployments_arrive(reading: Reading) -> Iterator[str]:
    """Every deployment of a project is on the hub and in one cell of its city, with the same spec."""
    for project in reading.planes("project"):
        for (namespace, name), deployment in reading.all(project, WorkloadDeployment).items():
            hub_namespace = reading.hub_namespace(project, namespace)
            where = f"L1 {project.name}/{name}"
            hub = reading.find(HUB, WorkloadDeployment, (hub_namespace, name))
            if hub is None or not same_spec(hub, deployment):
                yield f"{where}: {'not on' if hub is None else 'another on'} the hub"
                continue
            cells = [ref.name for ref in reading.bound(hub_namespace, name)]
            serving = reading.cells_of(deployment.spec.city_code)
            if serving and (len(cells) != 1 or cells[0] not in serving):
                yield f"{where}: bound to {cells}, served by {serving}"
            yield from _in_cells(reading, where, cells, deployment, hub_namespace)


def l1_slots_are_filled(reading: Reading) -> Iterator[str]:
    """Every slot has an Instance that is Ready with the newest template, or has a valid excuse."""
    for cell in reading.planes("cell"):
        for deployment in reading.all(cell, WorkloadDeployment).values():
            instances = reading.members(cell, deployment)
            where = f"L1 {cell.name}/{deployment.metadata.name}"
            excused = {i.metadata.uid: excuse(reading, cell, i) for i in instances}
            yield from _slots(where, deployment, instances, excused)


def l2_copies_equal_the_cell(reading: Reading) -> Iterator[str]:
    """The copies of an Instance on the hub and in the project equal the cell's."""
    for cell in reading.planes("cell"):
        for (hub_namespace, name), instance in reading.all(cell, Instance).items():
            copy = reading.find(HUB, Instance, (hub_namespace, name))
            where = f"L2 {cell.name}/{name}"
            if copy is None or not _says(copy, instance):
                yield f"{where}: {'no copy' if copy is None else 'another copy'} on the hub"
                continue
            if copy.metadata.labels.get(labels.SOURCE_CLUSTER) != cell.name:
                yield f"{where}: the hub's copy is another cell's"
            shown = _projection(reading, copy)
            if shown is None or not _says(shown, instance):
                yield f"{where}: {'nothing' if shown is None else 'another'} in the project"


def l2_reports_equal_the_cell(reading: Reading) -> Iterator[str]:
    """The status of a deployment on the hub and in the project equals the cell's."""
    for project in reading.planes("project"):
        for (namespace, name), deployment in reading.all(project, WorkloadDeployment).items():
            hub_namespace = reading.hub_namespace(project, namespace)
            for cell in reading.bound(hub_namespace, name):
                report = reading.find(cell, WorkloadDeployment, (hub_namespace, name))
                hub = reading.find(HUB, WorkloadDeployment, (hub_namespace, name))
                for plane, shown in (("hub", hub), (project.name, deployment)):
                    if report is None or shown is None or _reported(shown) == _reported(report):
                        continue
                    yield f"L2 {plane}/{name}: {_reported(shown)}, {cell.name} {_reported(report)}"


LAWS = (
    l1_workloads_are_split,
    l1_deployments_arrive,
    l1_slots_are_filled,
    l2_copies_equal_the_cell,
    l2_reports_equal_the_cell,
)


def _wanted(reading: Reading, project: PlaneRef, workload: Workload) -> set[str]:
    bindings = reading.all(project, LocationBinding).values()
    offered = {b.spec.topology.get(labels.TOPOLOGY_CITY_CODE) for b in bindings}
    name = workload.metadata.name
    places = joins.expected(workload)
    return {
        names.deployment(name, placement, city) for placement, city in places if city in offered
    }


def _lacks_networks(reading: Reading, project: PlaneRef, workload: Workload) -> bool:
    own, networks = workload.metadata.namespace, reading.all(project, Network)
    wanted = (interface.network for interface in workload.spec.template.spec.network_interfaces)
    return any((each.namespace or own, each.name) not in networks for each in wanted)


def _unlike(project: PlaneRef, workload: Workload, deployment: WorkloadDeployment) -> Iterator[str]:
    """The fields in which a deployment differs from its Workload."""
    where = f"L1 {project.name}/{deployment.metadata.name}"
    city, own = deployment.spec.city_code, workload.metadata.annotations
    paused = overrides.is_paused(workload, city)
    if not paused and deployment.spec.template != overrides.template_for(workload, city):
        yield f"{where}: another template than its Workload has for {city}"
    if deployment.spec.scale_settings != joins.expected(workload)[joins.placement_city(deployment)]:
        yield f"{where}: another scale than its Workload's"
    expected = {
        annotations.PAUSED: "true" if paused else own.get(annotations.PAUSED),
        annotations.MAX_UNAVAILABLE: own.get(annotations.MAX_UNAVAILABLE),
        annotations.REPLACED_INSTANCES: replaced_instances.by_deployment(workload).get(
            deployment.metadata.name
        ),
    }
    for key, value in expected.items():
        if deployment.metadata.annotations.get(key) != value:
            yield f"{where}: another {key} than its Workload's"


def _in_cells(
    reading: Reading,
    where: str,
    cells: list[str],
    deployment: WorkloadDeployment,
    hub_namespace: str,
) -> Iterator[str]:
    for ref in reading.planes("cell"):
        there = reading.find(ref, WorkloadDeployment, (hub_namespace, deployment.metadata.name))
        if (there is not None) != (ref.name in cells):
            yield f"{where}: {'not in' if there is None else 'still in'} {ref.name}"
        elif there is not None and not same_spec(there, deployment):
            yield f"{where}: another in {ref.name}"


def _slots(
    where: str,
    deployment: WorkloadDeployment,
    instances: list[Instance],
    excused: dict[str, str],
) -> Iterator[str]:
    """What is wrong with the slots of one deployment. A slot that cannot be Ready blocks the others."""
    blocked = any(excused.values())
    paused = deployment.metadata.annotations.get(annotations.PAUSED) == "true"
    newest, desired = template_hash(deployment.spec.template), slots.desired(deployment)
    there, stamps = {ordinal(each): each for each in instances}, replacements.stamps(deployment)
    for number in range(desired):
        if number not in there and not blocked:
            yield f"{where}: slot {number} is empty"
    for slot, instance in there.items():
        if slot is None or slot >= desired:
            yield f"{where}: {instance.metadata.name} is too many"
            continue
        ready, stale = slots.is_ready(instance), recorded_hash(instance) != newest
        if stale and not paused and not (blocked and ready):
            yield f"{where}: {instance.metadata.name} is of an old template"
        if replacements.is_due(instance, stamps.get(slot)) and not (blocked and ready):
            yield f"{where}: {instance.metadata.name} was not replaced on request"
        if not ready and not excused[instance.metadata.uid]:
            yield f"{where}: {instance.metadata.name} is not Ready, and could be"


def _says(copy: Instance, original: Instance) -> bool:
    return same_spec(copy, original) and same(copy.status, original.status)


def _projection(reading: Reading, copy: Instance) -> Instance | None:
    values = copy.metadata.labels
    namespace = values.get(labels.UPSTREAM_NAMESPACE, "")
    project = names.cluster_key(names.decode_cluster(values.get(labels.UPSTREAM_CLUSTER, "")))
    ref = PlaneRef("project", project)
    if ref not in reading.planes("project"):
        return None
    return reading.find(ref, Instance, (namespace, copy.metadata.name))


def _reported(deployment: WorkloadDeployment) -> tuple[object, ...]:
    """A status without its generations, which differ between planes."""
    status = deployment.status
    counted = tuple(getattr(status, name) for name in ReplicaCounts.__struct_fields__)
    conditions = sorted(
        (each.type, each.status, each.reason, each.message)
        for each in status.conditions
        if each.type not in _SAID_BY_THE_PROJECT
    )
    return counted, conditions, status.location
