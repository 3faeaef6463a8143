"""L3 and L6: nothing outlives its owner, and every deletion is finished."""

from collections.abc import Iterator
from typing import Final

from compute.api import labels, names
from compute.api.compute import Instance, Workload, WorkloadDeployment
from compute.api.karmada import MemberCluster, PropagationPolicy
from compute.api.karmada_work import ResourceBinding, Work
from compute.api.networking import NetworkBinding, NetworkContext, Subnet, SubnetClaim
from compute.api.quota import ResourceClaim
from compute.app.planes import HUB, PlaneRef, Role
from compute.decide.deployment import slots
from compute.decide.federation import identity
from compute.federation import karmada_keys
from compute.federation.namespaces import is_synced
from compute.services.network import subnet_ledger
from kubekit.api.kinds.coordination import Lease
from kubekit.api.kinds.core import ConfigMap, Namespace
from tests.sim.whole.excuses import place, source
from tests.sim.whole.machine_laws import has_machine, is_granted
from tests.sim.whole.plane_readings import Reading

ROLES: Final[tuple[Role, ...]] = ("core", "hub", "cell", "project")


def l3_everything_has_its_owner(reading: Reading) -> Iterator[str]:
    """Nothing outlives all of its owners."""
    for role in ROLES:
        for ref in reading.planes(role):
            heads = reading.heads(ref)
            there = {head.metadata.uid for head in heads}
            for head in heads:
                owners = head.metadata.owner_references
                if owners and all(owner.uid not in there for owner in owners):
                    yield f"L3 {ref.name}: {head.kind} {head.metadata.name} lost its owner"


def l6_deletions_finish(reading: Reading) -> Iterator[str]:
    """Nothing is still being deleted."""
    for role in ROLES:
        for ref in reading.planes(role):
            for head in reading.heads(ref):
                if head.deleting:
                    yield f"L6 {ref.name}: {head.kind} {head.metadata.name} is still to go"


def l3_claims_have_their_slots(reading: Reading) -> Iterator[str]:
    """Every claim is that of an Instance, or of a slot that waits for one; every machine has one."""
    for project in reading.planes("project"):
        for claim in reading.all(project, ResourceClaim).values():
            if not _has_slot(reading, claim):
                yield f"L3 {project.name}: {claim.metadata.name} has no slot"
    for cell in reading.planes("cell"):
        for instance in filter(has_machine, reading.all(cell, Instance).values()):
            found = place(reading, instance)
            held = reading.find(found[0], ResourceClaim, found[1]) if found else None
            if held is None or not is_granted(held):
                yield f"L3 {cell.name}: {instance.metadata.name} runs without quota"


def l3_policies_are_needed(reading: Reading) -> Iterator[str]:
    """There is a policy for each city of each namespace that has a deployment, and no other."""
    wanted = {
        (hub_namespace, names.policy(deployment.metadata.labels[labels.TOPOLOGY_CITY_CODE]))
        for (hub_namespace, _), deployment in reading.all(HUB, WorkloadDeployment).items()
    }
    yield from _unequal("policy", wanted, set(reading.all(HUB, PropagationPolicy)))


def l3_bindings_and_works_are_needed(reading: Reading) -> Iterator[str]:
    """The engine has what it needs for the hub's deployments and namespaces, and nothing else."""
    kind = WorkloadDeployment.RESOURCE.kind
    bindings = {
        (hub_namespace, names.resource_binding(name, kind))
        for hub_namespace, name in reading.all(HUB, WorkloadDeployment)
    }
    yield from _unequal("binding", bindings, set(reading.all(HUB, ResourceBinding)))
    works = {
        (names.execution_namespace(cell.name), names.work(hub_namespace, name, kind))
        for hub_namespace, name in reading.all(HUB, WorkloadDeployment)
        for cell in reading.bound(hub_namespace, name)
    }
    works |= {
        (names.execution_namespace(cell), names.work("", name, Namespace.RESOURCE.kind))
        for _, cell in reading.all(HUB, MemberCluster)
        for _, name in reading.all(HUB, Namespace)
        if is_synced(name)
    }
    yield from _unequal("Work", works, set(reading.all(HUB, Work)))


def l3_namespaces_have_their_originals(reading: Reading) -> Iterator[str]:
    """Every namespace of the hub stands for one of a project, and every one of a cell for the hub's."""
    for _, name in reading.all(HUB, Namespace):
        if names.hub_namespace_uid(name) and not _has_original(reading, name):
            yield f"L3 hub: namespace {name} stands for nothing"
    for cell in reading.planes("cell"):
        for _, name in reading.all(cell, Namespace):
            if names.hub_namespace_uid(name) and ("", name) not in reading.all(HUB, Namespace):
                yield f"L3 {cell.name}: namespace {name} is not on the hub"


def l3_deployments_have_their_originals(reading: Reading) -> Iterator[str]:
    """Nothing is in a cell of a deployment that the hub does not have."""
    for cell in reading.planes("cell"):
        for key in reading.all(cell, WorkloadDeployment):
            if reading.find(HUB, WorkloadDeployment, key) is None:
                yield f"L3 {cell.name}: {key[1]} is not on the hub"


def l3_copies_have_their_originals(reading: Reading) -> Iterator[str]:
    """Hub and project show nothing of an Instance that is gone."""
    for key, copy in reading.all(HUB, Instance).items():
        cell = PlaneRef("cell", copy.metadata.labels.get(labels.SOURCE_CLUSTER, ""))
        if cell not in reading.planes("cell") or reading.find(cell, Instance, key) is None:
            yield f"L3 hub: the copy of {key[1]} is of nothing"
    for project in reading.planes("project"):
        for namespace, name in reading.all(project, Instance):
            if (
                reading.find(HUB, Instance, (reading.hub_namespace(project, namespace), name))
                is None
            ):
                yield f"L3 {project.name}: {name} is shown, and is not on the hub"


def l3_deployments_have_their_workloads(reading: Reading) -> Iterator[str]:
    """Deployments and histories are those of Workloads that are there."""
    for project in reading.planes("project"):
        workloads = reading.all(project, Workload)
        uids = {workload.metadata.uid for workload in workloads.values()}
        for (_, name), deployment in reading.all(project, WorkloadDeployment).items():
            if deployment.spec.workload_ref.uid not in uids:
                yield f"L3 {project.name}: {name} is of no Workload"
        for namespace, name in reading.all(project, ConfigMap):
            workload = names.history_workload(name)
            if workload is not None and (namespace, workload) not in workloads:
                yield f"L3 {project.name}: the history of {workload} is of no Workload"


def l3_networks_are_used(reading: Reading) -> Iterator[str]:
    """A network context has a binding, and addresses are given only to claims."""
    for cell in reading.planes("cell"):
        bound = {
            (at.namespace, at.name)
            for binding in reading.all(cell, NetworkBinding).values()
            if (at := binding.status.network_context_ref)
        }
        for key in sorted(reading.all(cell, NetworkContext).keys() - bound):
            yield f"L3 {cell.name}: {key[1]} has no binding"
        for key in sorted(reading.all(cell, Subnet).keys() - reading.all(cell, SubnetClaim).keys()):
            yield f"L3 {cell.name}: {key[1]} has no claim"
    for project in reading.planes("project"):
        for entry in filter(subnet_ledger.is_ours, reading.all(project, Subnet).values()):
            holder = subnet_ledger.holder(entry)
            cell = PlaneRef("cell", holder.cell)
            claims = reading.all(cell, SubnetClaim) if cell in reading.planes("cell") else {}
            if (holder.namespace, holder.claim) not in claims:
                yield f"L3 {project.name}: {entry.metadata.name} has addresses without a claim"


def l3_leases_are_of_the_living(reading: Reading) -> Iterator[str]:
    """A cell that is no member has no lease on the hub."""
    for namespace, name in reading.all(HUB, Lease):
        if namespace == karmada_keys.CLUSTER_NAMESPACE and ("", name) not in reading.all(
            HUB, MemberCluster
        ):
            yield f"L3 hub: the lease of {name} is of no cell"


LAWS = (
    l3_everything_has_its_owner,
    l3_claims_have_their_slots,
    l3_policies_are_needed,
    l3_bindings_and_works_are_needed,
    l3_namespaces_have_their_originals,
    l3_deployments_have_their_originals,
    l3_copies_have_their_originals,
    l3_deployments_have_their_workloads,
    l3_networks_are_used,
    l3_leases_are_of_the_living,
    l6_deletions_finish,
)


def _has_slot(reading: Reading, claim: ResourceClaim) -> bool:
    found = source(claim)
    if found is None or found[0] not in reading.planes("cell"):
        return False
    cell, (hub_namespace, name) = found
    if reading.find(cell, Instance, (hub_namespace, name)) is not None:
        return True
    parts = names.instance_parts(name)
    deployment = (
        reading.find(cell, WorkloadDeployment, (hub_namespace, parts[0])) if parts else None
    )
    return bool(parts and deployment and parts[1] < slots.desired(deployment))


def _has_original(reading: Reading, hub_namespace: str) -> bool:
    namespace = reading.find(HUB, Namespace, ("", hub_namespace))
    origin = identity(namespace) if namespace else None
    if origin is None:
        return False
    project = PlaneRef("project", names.cluster_key(origin.project))
    return (
        project in reading.planes("project")
        and reading.hub_namespace(project, origin.namespace) == hub_namespace
    )


def _unequal(what: str, wanted: set[tuple[str, str]], there: set[tuple[str, str]]) -> Iterator[str]:
    yield from (f"L3 hub: {what} {'/'.join(key)} is needed" for key in sorted(wanted - there))
    yield from (f"L3 hub: {what} {'/'.join(key)} is left over" for key in sorted(there - wanted))
