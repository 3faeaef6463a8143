"""Stories that break the laws of identity and of statuses."""

from msgspec.structs import replace

from compute.api import labels, names
from compute.api.compute import Instance, InstanceStatus, Workload, WorkloadDeployment
from compute.api.quota import ResourceClaim
from compute.app.planes import HUB
from kubekit.api.kinds.core import ConfigMap, Namespace
from kubekit.api.meta import ObjectMeta
from kubekit.plane.store.records import ChangeType
from tests.sim.whole.lawful_world import BANK, DFW, HUB_NAMESPACE, SHOP, WEB, LawfulWorld
from tests.support.compute import builders

FIRST = names.instance(WEB, 0)


async def s6_versions_rise(world: LawfulWorld) -> None:
    """A plane counts its versions from the beginning again."""
    world.commit(SHOP, ChangeType.ADDED, _note(uid="uid-note"), revision=1)


async def s6_versions_rise__as_they_are_reported(world: LawfulWorld) -> None:
    """An object says that it is of another version than it was written as."""
    world.commit(SHOP, ChangeType.ADDED, _note(uid="uid-note"), resource_version="7")


async def s6_generation_rises_exactly_with_the_spec(world: LawfulWorld) -> None:
    """A spec changes, and the generation does not."""
    found = world.get(SHOP, Workload, "web")
    spec = replace(found.spec, template=builders.template("registry.test/web:2"))
    world.commit(SHOP, ChangeType.MODIFIED, replace(found, spec=spec))


async def s6_generation_rises_exactly_with_the_spec__and_never_alone(world: LawfulWorld) -> None:
    """A generation rises, and the spec is as it was."""
    found = world.get(SHOP, Workload, "web")
    meta = replace(found.metadata, generation=found.metadata.generation + 1)
    world.commit(SHOP, ChangeType.MODIFIED, replace(found, metadata=meta))


async def s6_uids_are_never_reused(world: LawfulWorld) -> None:
    """Two objects have the same uid."""
    world.put(SHOP, _note(uid=world.get(SHOP, Workload, "web").metadata.uid))


async def s6_uids_are_never_reused__nor_by_the_same(world: LawfulWorld) -> None:
    """What is gone comes back with its old uid."""
    world.put(SHOP, _note(uid="uid-note"))
    world.remove(SHOP, ConfigMap, "note")
    world.put(SHOP, _note(uid="uid-note"))


async def s8_nothing_written_is_lost(world: LawfulWorld) -> None:
    """A write is made upon a version that another has replaced already."""
    world.put(SHOP, _note(uid="uid-note"))
    first = world.record(SHOP, ConfigMap, "note")
    world.meta(SHOP, ConfigMap, "note", labels={"a": "b"})
    found = world.get(SHOP, ConfigMap, "note")
    world.commit(SHOP, ChangeType.MODIFIED, found, previous=first)


async def s11_nothing_names_another_project(world: LawfulWorld) -> None:
    """An object of one project carries the uid of another's."""
    uid = world.get(SHOP, Workload, "web").metadata.uid
    world.put(BANK, _note(labels={labels.WORKLOAD_UID: uid}))


async def s11_nothing_names_another_project__by_name(world: LawfulWorld) -> None:
    """An object in the namespace of one project says that it is another's."""
    known = world.get(HUB, WorkloadDeployment, WEB).metadata.labels
    other = known | {labels.UPSTREAM_CLUSTER: "cluster-bank"}
    world.meta(HUB, WorkloadDeployment, WEB, labels=other)


async def s11_owners_are_of_the_same_plane(world: LawfulWorld) -> None:
    """An object is owned by one that is in another plane."""
    owner = world.get(DFW, WorkloadDeployment, WEB).reference()
    world.meta(HUB, WorkloadDeployment, WEB, owner_references=(owner,))


async def s11_namespaces_map_one_to_one(world: LawfulWorld) -> None:
    """A namespace of the hub stands for another project than before."""
    known = world.get(HUB, Namespace, HUB_NAMESPACE).metadata.labels
    other = known | {labels.UPSTREAM_NAMESPACE: "another"}
    world.meta(HUB, Namespace, HUB_NAMESPACE, labels=other)


async def s11_namespaces_map_one_to_one__by_their_names(world: LawfulWorld) -> None:
    """A namespace of the hub is named by a namespace of another project."""
    world.put(BANK, Namespace(metadata=ObjectMeta(name="default", uid="uid-of-bank")))
    known = {labels.UPSTREAM_CLUSTER: "cluster-shop", labels.UPSTREAM_NAMESPACE: "other"}
    hub_namespace = names.hub_namespace("uid-of-bank")
    world.put(HUB, Namespace(metadata=ObjectMeta(name=hub_namespace, labels=known)))


async def s11_a_claim_is_its_own_projects(world: LawfulWorld) -> None:
    """A claim is made in one project on the budget of another."""
    found = world.get(SHOP, ResourceClaim, names.claim(FIRST))
    meta = ObjectMeta(name=found.metadata.name, namespace="default")
    world.put(BANK, replace(found, metadata=meta, status=type(found.status)()))


async def s11_a_claim_is_its_own_projects__for_its_own_instances(world: LawfulWorld) -> None:
    """A claim is made in one project for an Instance of another."""
    found = world.get(SHOP, ResourceClaim, names.claim(FIRST))
    meta = replace(found.metadata, uid="", namespace="default")
    spec = replace(found.spec, consumer_ref=None)
    world.put(BANK, replace(found, metadata=meta, spec=spec, status=type(found.status)()))


async def s12_no_condition_is_ahead_of_its_object(world: LawfulWorld) -> None:
    """A condition speaks of a generation that is yet to come."""
    found = world.get(SHOP, Workload, "web")
    said = (builders.condition("Available", generation=9),)
    world.put(SHOP, replace(found, status=replace(found.status, conditions=said)))


async def s12_a_transition_is_a_change_of_status(world: LawfulWorld) -> None:
    """A condition says the same as before, and since another time."""
    found = world.get(DFW, Instance, FIRST)
    said = tuple(replace(c, last_transition_time=builders.NOW) for c in found.status.conditions)
    world.put(DFW, replace(found, status=replace(found.status, conditions=said)))


async def s12_ready_is_programmed_and_available(world: LawfulWorld) -> None:
    """An Instance is said to be Ready before anybody has set it up."""
    world.scale(3)
    made = world.make(2)
    said = InstanceStatus(conditions=(builders.condition("Ready"),))
    world.put(DFW, replace(made, status=said))


async def s14_counters_are_within_bounds(world: LawfulWorld) -> None:
    """A deployment counts more that are Ready than there are."""
    found = world.get(DFW, WorkloadDeployment, WEB)
    world.put(DFW, replace(found, status=replace(found.status, replicas=1, ready_replicas=2)))


async def s14_counters_are_within_bounds__of_templates(world: LawfulWorld) -> None:
    """A Workload counts more that are programmed than are of the newest template."""
    found = world.get(SHOP, Workload, "web")
    counts = replace(found.status, replicas=2, updated_replicas=1, current_replicas=2)
    world.put(SHOP, replace(found, status=counts))


def _note(**meta: object) -> ConfigMap:
    return ConfigMap(metadata=ObjectMeta(name="note", namespace="default", **meta))  # type: ignore[arg-type] # whatever a story says
