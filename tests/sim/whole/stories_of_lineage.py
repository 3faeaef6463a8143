"""Stories that break the laws of lineage, and of what goes last."""

from msgspec.structs import replace

from compute.api import names
from compute.api.compute import Instance, Workload, WorkloadDeployment
from compute.api.karmada import PropagationPolicy
from compute.api.resource_manager import Project
from compute.app.planes import CORE, HUB
from compute.decide.federation import policy
from kubekit.api.meta import ManagedFieldsEntry, ObjectMeta
from tests.sim.whole.court import DFW, LHR, ROOM, SHOP, WEB, Court, later, work

FIRST = names.instance(WEB, 0)


async def s4_a_projection_has_its_deployment(court: Court) -> None:
    """What a project shows of an Instance has no owner."""
    court.show(0)
    court.meta(SHOP, Instance, FIRST, owner_references=())


async def s4_a_projection_has_its_deployment__of_another_name(court: Court) -> None:
    """What a project shows of an Instance belongs to another deployment."""
    other = court.twin(SHOP, WorkloadDeployment, WEB, "web-home-lhr")
    court.show(0)
    court.meta(SHOP, Instance, FIRST, owner_references=(other.reference(),))


async def s4_a_projection_has_its_deployment__that_is_gone(court: Court) -> None:
    """What a project shows of an Instance belongs to a deployment that is long gone."""
    owner = court.get(SHOP, WorkloadDeployment, WEB).reference()
    court.show(0)
    gone = replace(owner, uid="uid-of-yesterday")
    court.meta(SHOP, Instance, FIRST, owner_references=(gone,))


async def s5_an_instance_is_made_for_what_is_wanted(court: Court) -> None:
    """An Instance is made in a slot that is not wanted."""
    court.make(2)


async def s5_an_instance_is_made_for_what_is_wanted__of_an_old_template(court: Court) -> None:
    """An Instance is made from a template of long ago."""
    court.scale(3)
    old = court.get(DFW, WorkloadDeployment, WEB)
    court.roll("registry.test/web:2")
    await later()
    court.make(2, of=old)


async def s5_an_instance_is_made_for_what_is_wanted__of_a_deployment_that_is_gone(
    court: Court,
) -> None:
    """An Instance is made for a deployment whose successor has its name."""
    court.scale(3)
    old = court.get(DFW, WorkloadDeployment, WEB)
    gone = replace(old, metadata=replace(old.metadata, uid="uid-of-yesterday"))
    court.make(2, of=gone)


async def s5_no_instance_is_made_for_a_workload_that_is_gone(court: Court) -> None:
    """An Instance is made long after its Workload was, in a cell that could know it."""
    court.scale(3)
    court.judge.forgive(court.get(SHOP, Workload, "web").metadata.uid, "it was torn away")
    court.ask(SHOP, Workload, "web")
    court.remove(SHOP, Workload, "web")
    await later()
    court.make(2)


async def s5_a_deployment_is_made_for_what_is_wanted(court: Court) -> None:
    """A deployment is made in a project for a Workload that never was."""
    found = court.get(SHOP, WorkloadDeployment, WEB)
    ref = replace(found.spec.workload_ref, name="missing")
    meta = ObjectMeta(name="missing-home-dfw", namespace="default")
    court.put(SHOP, replace(found, metadata=meta, spec=replace(found.spec, workload_ref=ref)))


async def s5_a_deployment_is_made_for_what_is_wanted__on_the_hub(court: Court) -> None:
    """A deployment is made on the hub, and its project has none."""
    court.twin(HUB, WorkloadDeployment, WEB, "missing-home-dfw")


async def s5_a_deployment_is_made_for_what_is_wanted__in_a_cell(court: Court) -> None:
    """A deployment is made in a cell without a Work."""
    found = court.get(DFW, WorkloadDeployment, WEB)
    court.put(LHR, replace(found, metadata=replace(found.metadata, uid="", generation=0)))


async def s5_a_deployment_is_made_for_what_is_wanted__in_no_room(court: Court) -> None:
    """A deployment is made on the hub in a namespace that stands for nothing."""
    found = court.get(HUB, WorkloadDeployment, WEB)
    meta = ObjectMeta(name="lost-home-dfw", namespace="ns-of-none")
    court.put(HUB, replace(found, metadata=meta))


async def s5_a_work_is_made_for_what_is_wanted(court: Court) -> None:
    """A Work is made for a deployment that the hub does not have."""
    found = court.get(HUB, WorkloadDeployment, WEB)
    meta = ObjectMeta(name="missing-home-dfw", namespace=ROOM)
    court.put(HUB, work(replace(found, metadata=meta)))


async def s5_a_deployment_leaves_the_hub_after_its_original(court: Court) -> None:
    """A deployment goes from the hub while its project has it."""
    await later()
    court.remove(HUB, WorkloadDeployment, WEB)


async def s7_projections_are_the_projectors(court: Court) -> None:
    """A user writes what only the projector may."""
    court.show(0)
    court.meta(SHOP, Instance, FIRST, managed_fields=(ManagedFieldsEntry(manager="kubectl"),))


async def s9_a_policy_stays_while_it_is_needed(court: Court) -> None:
    """The policy of a city goes while a deployment there lives."""
    await later()
    court.remove(HUB, PropagationPolicy, names.policy("DFW"))


async def s9_a_policy_comes_only_when_it_is_needed(court: Court) -> None:
    """A policy is made for a city without a deployment."""
    court.put(HUB, policy("LHR", ROOM))


async def s10_a_workload_goes_after_its_machines(court: Court) -> None:
    """A Workload is gone, and its Instances run."""
    court.ask(SHOP, Workload, "web")
    court.remove(SHOP, Workload, "web")


async def s10_a_deployment_goes_after_its_machines(court: Court) -> None:
    """A deployment is gone from its project, and its Instances run."""
    court.ask(SHOP, WorkloadDeployment, WEB)
    court.remove(SHOP, WorkloadDeployment, WEB)


async def s10_a_project_goes_after_its_machines(court: Court) -> None:
    """A project is gone, and its machines run."""
    court.ask(CORE, Project, "shop")
    court.remove(CORE, Project, "shop")
