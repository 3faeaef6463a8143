"""Stories that break the laws of lineage, and of what goes last."""

from msgspec.structs import replace

from compute.api import names
from compute.api.compute import Instance, Workload, WorkloadDeployment
from compute.api.karmada import PropagationPolicy
from compute.api.resource_manager import Project
from compute.app.planes import CORE, HUB
from compute.decide.federation import policy
from kubekit.api.meta import ManagedFieldsEntry, ObjectMeta
from tests.sim.whole.lawful_world import (
    DFW,
    HUB_NAMESPACE,
    LHR,
    SHOP,
    WEB,
    LawfulWorld,
    later,
    work,
)

FIRST = names.instance(WEB, 0)


async def s4_a_projection_has_its_deployment(world: LawfulWorld) -> None:
    """What a project shows of an Instance has no owner."""
    world.show(0)
    world.meta(SHOP, Instance, FIRST, owner_references=())


async def s4_a_projection_has_its_deployment__of_another_name(world: LawfulWorld) -> None:
    """What a project shows of an Instance belongs to another deployment."""
    other = world.twin(SHOP, WorkloadDeployment, WEB, "web-home-lhr")
    world.show(0)
    world.meta(SHOP, Instance, FIRST, owner_references=(other.reference(),))


async def s4_a_projection_has_its_deployment__that_is_gone(world: LawfulWorld) -> None:
    """What a project shows of an Instance belongs to a deployment that is long gone."""
    owner = world.get(SHOP, WorkloadDeployment, WEB).reference()
    world.show(0)
    gone = replace(owner, uid="uid-of-yesterday")
    world.meta(SHOP, Instance, FIRST, owner_references=(gone,))


async def s5_an_instance_is_made_for_what_is_wanted(world: LawfulWorld) -> None:
    """An Instance is made in a slot that is not wanted."""
    world.make(2)


async def s5_an_instance_is_made_for_what_is_wanted__of_an_old_template(world: LawfulWorld) -> None:
    """An Instance is made from a template of long ago."""
    world.scale(3)
    old = world.get(DFW, WorkloadDeployment, WEB)
    world.roll("registry.test/web:2")
    await later()
    world.make(2, of=old)


async def s5_an_instance_is_made_for_what_is_wanted__of_a_deployment_that_is_gone(
    world: LawfulWorld,
) -> None:
    """An Instance is made for a deployment whose successor has its name."""
    world.scale(3)
    old = world.get(DFW, WorkloadDeployment, WEB)
    gone = replace(old, metadata=replace(old.metadata, uid="uid-of-yesterday"))
    world.make(2, of=gone)


async def s5_no_instance_is_made_for_a_workload_that_is_gone(world: LawfulWorld) -> None:
    """An Instance is made long after its Workload was, in a cell that could know it."""
    world.scale(3)
    world.judge.forgive(world.get(SHOP, Workload, "web").metadata.uid, "it was torn away")
    world.ask(SHOP, Workload, "web")
    world.remove(SHOP, Workload, "web")
    await later()
    world.make(2)


async def s5_a_deployment_is_made_for_what_is_wanted(world: LawfulWorld) -> None:
    """A deployment is made in a project for a Workload that never was."""
    found = world.get(SHOP, WorkloadDeployment, WEB)
    ref = replace(found.spec.workload_ref, name="missing")
    meta = ObjectMeta(name="missing-home-dfw", namespace="default")
    world.put(SHOP, replace(found, metadata=meta, spec=replace(found.spec, workload_ref=ref)))


async def s5_a_deployment_is_made_for_what_is_wanted__on_the_hub(world: LawfulWorld) -> None:
    """A deployment is made on the hub, and its project has none."""
    world.twin(HUB, WorkloadDeployment, WEB, "missing-home-dfw")


async def s5_a_deployment_is_made_for_what_is_wanted__in_a_cell(world: LawfulWorld) -> None:
    """A deployment is made in a cell without a Work."""
    found = world.get(DFW, WorkloadDeployment, WEB)
    world.put(LHR, replace(found, metadata=replace(found.metadata, uid="", generation=0)))


async def s5_a_deployment_is_made_for_what_is_wanted__in_no_namespace(world: LawfulWorld) -> None:
    """A deployment is made on the hub in a namespace that stands for nothing."""
    found = world.get(HUB, WorkloadDeployment, WEB)
    meta = ObjectMeta(name="lost-home-dfw", namespace="ns-of-none")
    world.put(HUB, replace(found, metadata=meta))


async def s5_a_work_is_made_for_what_is_wanted(world: LawfulWorld) -> None:
    """A Work is made for a deployment that the hub does not have."""
    found = world.get(HUB, WorkloadDeployment, WEB)
    meta = ObjectMeta(name="missing-home-dfw", namespace=HUB_NAMESPACE)
    world.put(HUB, work(replace(found, metadata=meta)))


async def s5_a_deployment_leaves_the_hub_after_its_original(world: LawfulWorld) -> None:
    """A deployment goes from the hub while its project has it."""
    await later()
    world.remove(HUB, WorkloadDeployment, WEB)


async def s7_projections_are_the_projectors(world: LawfulWorld) -> None:
    """A user writes what only the projector may."""
    world.show(0)
    world.meta(SHOP, Instance, FIRST, managed_fields=(ManagedFieldsEntry(manager="kubectl"),))


async def s9_a_policy_stays_while_it_is_needed(world: LawfulWorld) -> None:
    """The policy of a city goes while a deployment there lives."""
    await later()
    world.remove(HUB, PropagationPolicy, names.policy("DFW"))


async def s9_a_policy_comes_only_when_it_is_needed(world: LawfulWorld) -> None:
    """A policy is made for a city without a deployment."""
    world.put(HUB, policy("LHR", HUB_NAMESPACE))


async def s10_a_workload_goes_after_its_machines(world: LawfulWorld) -> None:
    """A Workload is gone, and its Instances run."""
    world.ask(SHOP, Workload, "web")
    world.remove(SHOP, Workload, "web")


async def s10_a_deployment_goes_after_its_machines(world: LawfulWorld) -> None:
    """A deployment is gone from its project, and its Instances run."""
    world.ask(SHOP, WorkloadDeployment, WEB)
    world.remove(SHOP, WorkloadDeployment, WEB)


async def s10_a_project_goes_after_its_machines(world: LawfulWorld) -> None:
    """A project is gone, and its machines run."""
    world.ask(CORE, Project, "shop")
    world.remove(CORE, Project, "shop")
