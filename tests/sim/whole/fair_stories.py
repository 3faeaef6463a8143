"""Stories that look like violations, but are allowed."""

import asyncio

from msgspec.structs import replace

from compute.api import labels, names
from compute.api.compute import Instance, Workload, WorkloadDeployment
from compute.api.karmada import MemberCluster, PropagationPolicy
from compute.api.karmada_work import Work
from compute.api.quota import ResourceClaim
from compute.api.resource_manager import Project
from compute.app.planes import CORE, HUB
from compute.providers import settings
from kubekit.api.kinds.core import ConfigMap, Namespace
from kubekit.api.meta import ObjectMeta
from tests.sim.whole.lawful_world import BANK, DFW, LHR, SHOP, WEB, LawfulWorld, later
from tests.sim.whole.observed_state import PATIENCE

FIRST, SECOND = (names.instance(WEB, ordinal) for ordinal in range(2))


async def fair_roll(world: LawfulWorld) -> None:
    """A roll that waits for each replacement."""
    await later()
    world.roll("registry.test/web:2")
    for ordinal in (1, 0):
        world.take_down(ordinal)
        world.bring_up(ordinal)
        await later()


async def fair_scale_to_and_fro_during_a_roll(world: LawfulWorld) -> None:
    """Scaling down and up again at once deletes another Instance during a rollout."""
    await later()
    world.roll("registry.test/web:2")
    world.take_down(1)
    world.scale(0)
    world.scale(2)
    world.ask(DFW, Instance, FIRST)


async def fair_repair_of_two_that_were_not_ready(world: LawfulWorld) -> None:
    """An Instance that is not Ready may be replaced at once."""
    for ordinal in range(2):
        world.say(ordinal, "False")
    world.roll("registry.test/web:2")
    await later()
    for ordinal in (1, 0):
        world.ask(DFW, Instance, names.instance(WEB, ordinal))


async def fair_parallel_roll(world: LawfulWorld) -> None:
    """In a parallel deployment, as many Instances may be down as the user allows."""
    world.let_roll_together("2")
    await later()
    world.roll("registry.test/web:2")
    world.ask(DFW, Instance, SECOND)
    world.ask(DFW, Instance, FIRST)


async def fair_request_during_a_pause(world: LawfulWorld) -> None:
    """What the user asked to replace is replaced, although its deployment is paused."""
    world.pause()
    world.request(0)
    await later()
    world.take_down(0)
    world.bring_up(0)


async def fair_request_before_a_roll(world: LawfulWorld) -> None:
    """What the user asked to replace comes before a higher number that is to be rolled."""
    world.request(0)
    await later()
    world.roll("registry.test/web:2")
    for ordinal in (0, 1):
        world.take_down(ordinal)
        world.bring_up(ordinal)
        await later()


async def fair_stray(world: LawfulWorld) -> None:
    """An Instance whose name belongs to no slot is deleted."""
    found = world.get(DFW, Instance, FIRST)
    meta = replace(found.metadata, name="stray", uid="uid-stray", finalizers=(), annotations={})
    changed = {k: v for k, v in meta.labels.items() if k != labels.INSTANCE_INDEX}
    world.slip(DFW, replace(found, metadata=replace(meta, labels=changed)))
    world.remove(DFW, Instance, "stray")


async def fair_vandal(world: LawfulWorld) -> None:
    """A deletion by another client is not the system's doing."""
    world.judge.forgive(world.get(DFW, Instance, FIRST).metadata.uid, "a vandal")
    world.take_down(0)
    world.bring_up(0)


async def fair_machine_after_a_vandal_took_its_claim(world: LawfulWorld) -> None:
    """A slot whose claim was taken away may start its machine before it has another."""
    claim = world.get(SHOP, ResourceClaim, names.claim(FIRST))
    world.judge.forgive(claim.metadata.uid, "a vandal")
    world.remove(SHOP, ResourceClaim, claim.metadata.name)
    world.judge.forgive(world.get(DFW, Instance, FIRST).metadata.uid, "a vandal")
    world.take_down(0)
    world.make(0)
    world.open(0)
    world.start(0)


async def fair_deletion(world: LawfulWorld) -> None:
    """A Workload is deleted after everything that belongs to it."""
    world.ask(SHOP, Workload, "web")
    world.ask(SHOP, WorkloadDeployment, WEB)
    world.remove(HUB, WorkloadDeployment, WEB)
    world.ask(HUB, Work, world.work_name)
    world.remove(HUB, PropagationPolicy, names.policy("DFW"))
    world.ask(DFW, WorkloadDeployment, WEB)
    for ordinal in (0, 1):
        world.take_down(ordinal)
        world.remove(SHOP, ResourceClaim, names.claim(names.instance(WEB, ordinal)))
    world.remove(DFW, WorkloadDeployment, WEB)
    world.remove(HUB, Work, world.work_name)
    world.remove(SHOP, WorkloadDeployment, WEB)
    world.remove(SHOP, Workload, "web")
    world.remove(CORE, Project, "shop")


async def fair_deletion_of_what_a_silent_cell_has(world: LawfulWorld) -> None:
    """An unreachable cell is not waited for, by Workloads and deployments."""
    world.ask(SHOP, Workload, "web")
    world.hear(DFW, "False")
    world.remove(SHOP, Workload, "web")


async def fair_deletion_while_a_cell_is_cut(world: LawfulWorld) -> None:
    """Nor is one that was cut off for a moment meanwhile."""
    world.ask(SHOP, Workload, "web")
    world.judge.cut("dfw")
    world.judge.healed("dfw")
    world.remove(SHOP, Workload, "web")


async def fair_deletion_after_five_minutes(world: LawfulWorld) -> None:
    """A cell that answers and does nothing is waited for five minutes."""
    world.ask(SHOP, Workload, "web")
    await asyncio.sleep(PATIENCE)
    world.remove(SHOP, Workload, "web")


async def fair_deletion_of_what_was_waited_for_before(world: LawfulWorld) -> None:
    """A Workload does not wait for a deployment that was given up before."""
    world.ask(SHOP, WorkloadDeployment, WEB)
    await asyncio.sleep(PATIENCE)
    world.ask(SHOP, Workload, "web")
    world.remove(SHOP, WorkloadDeployment, WEB)
    world.remove(SHOP, Workload, "web")


async def fair_healing_after_the_workload_is_gone(world: LawfulWorld) -> None:
    """A cell that was cut off goes on healing what it has."""
    world.ask(SHOP, Workload, "web")
    world.judge.cut("dfw")
    world.remove(SHOP, Workload, "web")
    await later()
    world.judge.forgive(world.get(DFW, Instance, FIRST).metadata.uid, "a vandal")
    world.take_down(0)
    world.make(0)


async def fair_project_with_a_cell_that_was_given_up(world: LawfulWorld) -> None:
    """A project does not wait for the machines of a cell that is no member any more."""
    world.remove(HUB, MemberCluster, "dfw")
    world.remove(SHOP, ResourceClaim, names.claim(FIRST))
    world.remove(CORE, Project, "shop")


async def fair_project_after_five_minutes(world: LawfulWorld) -> None:
    """A project gives up the claims of a cell that answers and does nothing, and goes."""
    world.scale(1)
    world.ask(DFW, Instance, SECOND)
    world.ask(CORE, Project, "shop")
    await asyncio.sleep(PATIENCE)
    world.remove(SHOP, ResourceClaim, names.claim(FIRST))
    world.remove(SHOP, ResourceClaim, names.claim(SECOND))
    world.remove(CORE, Project, "shop")


async def fair_project_with_a_cell_that_is_cut(world: LawfulWorld) -> None:
    """A project does not wait for the machines of an unreachable cell."""
    world.judge.cut("dfw")
    world.ask(CORE, Project, "shop")
    world.remove(CORE, Project, "shop")


async def fair_project_that_comes_again(world: LawfulWorld) -> None:
    """The next project of a name has a plane of its own, which counts from the beginning."""
    world.remove(HUB, MemberCluster, "dfw")
    world.remove(CORE, Project, "shop")
    world.forget(SHOP)
    world.put(SHOP, Namespace(metadata=ObjectMeta(name="default", uid="uid-of-next")))


async def fair_policy_of_a_deployment_that_has_just_come(world: LawfulWorld) -> None:
    """A policy may go while the first deployment that needs it arrives: it is made anew."""
    world.remove(HUB, PropagationPolicy, names.policy("DFW"))


async def fair_move_from_a_lost_node(world: LawfulWorld) -> None:
    """A machine is started on another node once its own has failed."""
    meta = ObjectMeta(name=settings.NAME, namespace=settings.NAMESPACE)
    world.put(DFW, ConfigMap(metadata=meta, data={"lostNodes": "node-0"}))
    world.put(DFW, ConfigMap(metadata=meta, data={"lostNodes": "node-0", "nodes": "none"}))
    world.start(0, "node-1", "2026-06-01T13:00:00Z")


async def fair_machine_in_another_cell(world: LawfulWorld) -> None:
    """A cell that was silent may still run what another has started to run."""
    world.hear(DFW, "False")
    claim = world.get(SHOP, ResourceClaim, names.claim(FIRST))
    changed = claim.metadata.labels | {labels.SOURCE_CLUSTER: "lhr"}
    world.meta(SHOP, ResourceClaim, claim.metadata.name, labels=changed)
    world.run_in(LHR, 0)


async def fair_budget_that_is_lowered(world: LawfulWorld) -> None:
    """A budget that is lowered below what is in use takes nothing from anybody."""
    world.limit(1)
    await later()
    world.say(0, "False")


async def fair_deployment_that_a_user_gave_away(world: LawfulWorld) -> None:
    """An unknown uid is of no other project."""
    changed = world.get(HUB, WorkloadDeployment, WEB).metadata.labels
    world.meta(HUB, WorkloadDeployment, WEB, labels=changed | {labels.WORKLOAD_UID: "who"})


async def fair_project_of_another_name(world: LawfulWorld) -> None:
    """A project's own things are its own."""
    world.put(BANK, Namespace(metadata=ObjectMeta(name="default", uid="uid-of-bank")))
    changed = {labels.UPSTREAM_CLUSTER: "cluster-bank", labels.UPSTREAM_NAMESPACE: "default"}
    hub_namespace = names.hub_namespace("uid-of-bank")
    world.put(HUB, Namespace(metadata=ObjectMeta(name=hub_namespace, labels=changed)))


async def fair_claim_that_was_never_granted(world: LawfulWorld) -> None:
    """A claim that holds nothing may be taken back at any time."""
    world.scale(3)
    world.make(2)
    world.claim(2)
    world.remove(SHOP, ResourceClaim, names.claim(names.instance(WEB, 2)))
