"""Stories that look like violations, and are none."""

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
from tests.sim.whole.court import BANK, DFW, LHR, SHOP, WEB, Court, later
from tests.sim.whole.sight import PATIENCE

FIRST, SECOND = (names.instance(WEB, ordinal) for ordinal in range(2))


async def fair_roll(court: Court) -> None:
    """A roll that waits for each replacement."""
    await later()
    court.roll("registry.test/web:2")
    for ordinal in (1, 0):
        court.take_down(ordinal)
        court.bring_up(ordinal)
        await later()


async def fair_scale_to_and_fro_during_a_roll(court: Court) -> None:
    """Scaling down and up again within a moment takes another one down while a roll goes on."""
    await later()
    court.roll("registry.test/web:2")
    court.take_down(1)
    court.scale(0)
    court.scale(2)
    court.ask(DFW, Instance, FIRST)


async def fair_repair_of_two_that_were_not_ready(court: Court) -> None:
    """An Instance that is not Ready may be replaced at once."""
    for ordinal in range(2):
        court.say(ordinal, "False")
    court.roll("registry.test/web:2")
    await later()
    for ordinal in (1, 0):
        court.ask(DFW, Instance, names.instance(WEB, ordinal))


async def fair_parallel_roll(court: Court) -> None:
    """Of a parallel deployment so many may be down as its user says."""
    court.let_roll_together("2")
    await later()
    court.roll("registry.test/web:2")
    court.ask(DFW, Instance, SECOND)
    court.ask(DFW, Instance, FIRST)


async def fair_stray(court: Court) -> None:
    """An Instance whose name is no slot's goes."""
    found = court.get(DFW, Instance, FIRST)
    meta = replace(found.metadata, name="stray", uid="uid-stray", finalizers=(), annotations={})
    changed = {k: v for k, v in meta.labels.items() if k != labels.INSTANCE_INDEX}
    court.slip(DFW, replace(found, metadata=replace(meta, labels=changed)))
    court.remove(DFW, Instance, "stray")


async def fair_vandal(court: Court) -> None:
    """A deletion by another client is not the system's doing."""
    court.judge.forgive(court.get(DFW, Instance, FIRST).metadata.uid, "a vandal")
    court.take_down(0)
    court.bring_up(0)


async def fair_machine_after_a_vandal_took_its_claim(court: Court) -> None:
    """A slot whose claim was taken away may start its machine before it has another."""
    claim = court.get(SHOP, ResourceClaim, names.claim(FIRST))
    court.judge.forgive(claim.metadata.uid, "a vandal")
    court.remove(SHOP, ResourceClaim, claim.metadata.name)
    court.judge.forgive(court.get(DFW, Instance, FIRST).metadata.uid, "a vandal")
    court.take_down(0)
    court.make(0)
    court.open(0)
    court.start(0)


async def fair_deletion(court: Court) -> None:
    """A Workload goes, and everything of it before."""
    court.ask(SHOP, Workload, "web")
    court.ask(SHOP, WorkloadDeployment, WEB)
    court.remove(HUB, WorkloadDeployment, WEB)
    court.ask(HUB, Work, court.work_name)
    court.remove(HUB, PropagationPolicy, names.policy("DFW"))
    court.ask(DFW, WorkloadDeployment, WEB)
    for ordinal in (0, 1):
        court.take_down(ordinal)
        court.remove(SHOP, ResourceClaim, names.claim(names.instance(WEB, ordinal)))
    court.remove(DFW, WorkloadDeployment, WEB)
    court.remove(HUB, Work, court.work_name)
    court.remove(SHOP, WorkloadDeployment, WEB)
    court.remove(SHOP, Workload, "web")
    court.remove(CORE, Project, "shop")


async def fair_deletion_of_what_a_silent_cell_has(court: Court) -> None:
    """An unreachable cell is not waited for, by Workloads and deployments."""
    court.ask(SHOP, Workload, "web")
    court.hear(DFW, "False")
    court.remove(SHOP, Workload, "web")


async def fair_deletion_while_a_cell_is_cut(court: Court) -> None:
    """Nor is one that was cut off for a moment meanwhile."""
    court.ask(SHOP, Workload, "web")
    court.judge.cut("dfw")
    court.judge.healed("dfw")
    court.remove(SHOP, Workload, "web")


async def fair_deletion_after_five_minutes(court: Court) -> None:
    """A cell that answers and does nothing is waited for five minutes."""
    court.ask(SHOP, Workload, "web")
    await asyncio.sleep(PATIENCE)
    court.remove(SHOP, Workload, "web")


async def fair_deletion_of_what_was_waited_for_before(court: Court) -> None:
    """A Workload does not wait for a deployment that was given up before."""
    court.ask(SHOP, WorkloadDeployment, WEB)
    await asyncio.sleep(PATIENCE)
    court.ask(SHOP, Workload, "web")
    court.remove(SHOP, WorkloadDeployment, WEB)
    court.remove(SHOP, Workload, "web")


async def fair_healing_after_the_workload_is_gone(court: Court) -> None:
    """A cell that was cut off goes on healing what it has."""
    court.ask(SHOP, Workload, "web")
    court.judge.cut("dfw")
    court.remove(SHOP, Workload, "web")
    await later()
    court.judge.forgive(court.get(DFW, Instance, FIRST).metadata.uid, "a vandal")
    court.take_down(0)
    court.make(0)


async def fair_project_with_a_cell_that_was_given_up(court: Court) -> None:
    """A project does not wait for the machines of a cell that is no member any more."""
    court.remove(HUB, MemberCluster, "dfw")
    court.remove(SHOP, ResourceClaim, names.claim(FIRST))
    court.remove(CORE, Project, "shop")


async def fair_project_after_five_minutes(court: Court) -> None:
    """A project gives up the claims of a cell that answers and does nothing, and goes."""
    court.scale(1)
    court.ask(DFW, Instance, SECOND)
    court.ask(CORE, Project, "shop")
    await asyncio.sleep(PATIENCE)
    court.remove(SHOP, ResourceClaim, names.claim(FIRST))
    court.remove(SHOP, ResourceClaim, names.claim(SECOND))
    court.remove(CORE, Project, "shop")


async def fair_project_with_a_cell_that_is_cut(court: Court) -> None:
    """A project does not wait for the machines of an unreachable cell."""
    court.judge.cut("dfw")
    court.ask(CORE, Project, "shop")
    court.remove(CORE, Project, "shop")


async def fair_project_that_comes_again(court: Court) -> None:
    """The next project of a name has a plane of its own, which counts from the beginning."""
    court.remove(HUB, MemberCluster, "dfw")
    court.remove(CORE, Project, "shop")
    court.forget(SHOP)
    court.put(SHOP, Namespace(metadata=ObjectMeta(name="default", uid="uid-of-next")))


async def fair_policy_of_a_deployment_that_has_just_come(court: Court) -> None:
    """A policy may go while the first deployment that needs it arrives: it is made anew."""
    court.remove(HUB, PropagationPolicy, names.policy("DFW"))


async def fair_move_from_a_lost_node(court: Court) -> None:
    """A machine is started on another node once its own has failed."""
    meta = ObjectMeta(name=settings.NAME, namespace=settings.NAMESPACE)
    court.put(DFW, ConfigMap(metadata=meta, data={"lostNodes": "node-0"}))
    court.put(DFW, ConfigMap(metadata=meta, data={"lostNodes": "node-0", "nodes": "none"}))
    court.start(0, "node-1", "2026-06-01T13:00:00Z")


async def fair_machine_in_another_cell(court: Court) -> None:
    """A cell that was silent may still run what another has begun to run."""
    court.hear(DFW, "False")
    claim = court.get(SHOP, ResourceClaim, names.claim(FIRST))
    changed = claim.metadata.labels | {labels.SOURCE_CLUSTER: "lhr"}
    court.meta(SHOP, ResourceClaim, claim.metadata.name, labels=changed)
    court.run_in(LHR, 0)


async def fair_budget_that_is_lowered(court: Court) -> None:
    """A budget that is lowered below what is in use takes nothing from anybody."""
    court.limit(1)
    await later()
    court.say(0, "False")


async def fair_deployment_that_a_user_gave_away(court: Court) -> None:
    """An unknown uid is of no other project."""
    changed = court.get(HUB, WorkloadDeployment, WEB).metadata.labels
    court.meta(HUB, WorkloadDeployment, WEB, labels=changed | {labels.WORKLOAD_UID: "who"})


async def fair_project_of_another_name(court: Court) -> None:
    """A project's own things are its own."""
    court.put(BANK, Namespace(metadata=ObjectMeta(name="default", uid="uid-of-bank")))
    changed = {labels.UPSTREAM_CLUSTER: "cluster-bank", labels.UPSTREAM_NAMESPACE: "default"}
    room = names.hub_namespace("uid-of-bank")
    court.put(HUB, Namespace(metadata=ObjectMeta(name=room, labels=changed)))


async def fair_claim_that_was_never_granted(court: Court) -> None:
    """A claim that holds nothing may be taken back at any time."""
    court.scale(3)
    court.make(2)
    court.claim(2)
    court.remove(SHOP, ResourceClaim, names.claim(names.instance(WEB, 2)))
