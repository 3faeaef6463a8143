"""Stories that break the laws of machines, departures and budgets."""

from msgspec.structs import replace

from compute.api import finalizers, gates, labels, names
from compute.api.compute import Instance, WorkloadDeployment
from compute.api.instance_spec import SchedulingGate
from compute.api.quota import ResourceClaim
from tests.sim.whole.lawful_world import DFW, LHR, SHOP, WEB, LawfulWorld, later

FIRST = names.instance(WEB, 0)
SECOND = names.instance(WEB, 1)
CLAIM = names.claim(FIRST)


async def s1_one_live_instance_per_slot(world: LawfulWorld) -> None:
    """A second Instance says that it has the number of the first."""
    found = world.get(DFW, Instance, SECOND)
    changed = found.metadata.labels | {labels.INSTANCE_INDEX: "0"}
    world.meta(DFW, Instance, SECOND, labels=changed)


async def s1_one_machine_per_slot(world: LawfulWorld) -> None:
    """Another cell runs the machine as well."""
    world.run_in(LHR, 0)


async def s1b_a_machine_has_its_instance(world: LawfulWorld) -> None:
    """An Instance goes with both finalizers at once, its machine's among them."""
    world.scale(1)
    world.ask(DFW, Instance, SECOND)
    world.remove(DFW, Instance, SECOND)


async def s1b_a_machine_has_its_instance__from_the_beginning(world: LawfulWorld) -> None:
    """An Instance is born with the machine of another."""
    world.scale(3)
    world.make(2, annotations=world.get(DFW, Instance, FIRST).metadata.annotations)


async def s1b_a_machine_has_its_instance__unasked(world: LawfulWorld) -> None:
    """An Instance that only its machine holds goes without having been asked to."""
    found = world.get(DFW, Instance, FIRST)
    held = replace(found.metadata, finalizers=(finalizers.SIMULATED,))
    world.slip(DFW, replace(found, metadata=held))
    world.remove(DFW, Instance, FIRST)


async def s1b_a_machine_stops_only_with_its_instance(world: LawfulWorld) -> None:
    """A provider gives up a machine that is wanted."""
    world.meta(DFW, Instance, FIRST, finalizers=(finalizers.CLAIM,))


async def s2_nothing_goes_without_a_cause(world: LawfulWorld) -> None:
    """An Instance goes that is wanted, and of the newest template."""
    world.ask(DFW, Instance, FIRST)


async def s2_a_pause_holds_rolls(world: LawfulWorld) -> None:
    """An Instance is replaced although its deployment is paused."""
    world.pause()
    await later()
    world.roll("registry.test/web:2")
    await later()
    world.ask(DFW, Instance, SECOND)


async def s2_a_roll_takes_down_no_more_than_allowed(world: LawfulWorld) -> None:
    """A roll goes on before the one that it took down is Ready again."""
    await later()
    world.roll("registry.test/web:2")
    world.take_down(1)
    world.make(1)
    world.ask(DFW, Instance, FIRST)


async def s2_a_roll_takes_down_no_more_than_allowed__on_request(world: LawfulWorld) -> None:
    """Another Instance is replaced on request before the first is Ready again."""
    world.request(0, 1)
    await later()
    world.take_down(1)
    world.make(1)
    world.ask(DFW, Instance, FIRST)


async def s2_nothing_goes_without_a_cause__a_second_time(world: LawfulWorld) -> None:
    """An Instance that was replaced on request is replaced once more."""
    world.request(1)
    await later()
    world.take_down(1)
    world.bring_up(1)
    await later()
    world.ask(DFW, Instance, SECOND)


async def s2_a_roll_goes_from_the_highest(world: LawfulWorld) -> None:
    """A roll starts with the lowest number."""
    await later()
    world.roll("registry.test/web:2")
    world.ask(DFW, Instance, FIRST)


async def s3_grants_stay_within_the_budget(world: LawfulWorld) -> None:
    """A third Instance is granted quota, and there is enough for two."""
    world.limit(2)
    await later()
    world.scale(3)
    world.make(2)
    world.claim(2)
    world.grant(2)


async def s3_a_wanted_slot_keeps_its_grant(world: LawfulWorld) -> None:
    """A roll gives back the quota that the next Instance in the slot would need."""
    await later()
    world.roll("registry.test/web:2")
    world.take_down(1)
    world.remove(SHOP, ResourceClaim, names.claim(SECOND))


async def s3b_a_machine_has_a_granted_claim(world: LawfulWorld) -> None:
    """A machine starts without a claim for quota."""
    world.scale(3)
    world.make(2)
    world.open(2)
    world.start(2)


async def s3b_a_machine_has_a_granted_claim__not_answered(world: LawfulWorld) -> None:
    """A machine starts before its claim is granted."""
    world.scale(3)
    world.make(2)
    world.claim(2)
    world.open(2)
    world.start(2)


async def s3b_a_machine_has_a_granted_claim__of_another_size(world: LawfulWorld) -> None:
    """A machine starts on a claim for less than it takes."""
    world.scale(3)
    world.make(2)
    claim = world.claim(2)
    less = replace(claim.spec, requests=claim.spec.requests[:1])
    world.put(SHOP, replace(claim, spec=less))
    world.grant(2)
    world.open(2)
    world.start(2)


async def s3b_a_machine_has_a_granted_claim__of_another_cell(world: LawfulWorld) -> None:
    """A machine starts on a claim that another cell made."""
    world.scale(3)
    world.make(2)
    claim = world.claim(2)
    changed = claim.metadata.labels | {labels.SOURCE_CLUSTER: "lhr"}
    world.meta(SHOP, ResourceClaim, claim.metadata.name, labels=changed)
    world.grant(2)
    world.open(2)
    world.start(2)


async def s3b_a_claim_outlives_its_machine(world: LawfulWorld) -> None:
    """The quota of an Instance is given back while its machine stops."""
    world.scale(1)
    world.ask(DFW, Instance, SECOND)
    world.remove(SHOP, ResourceClaim, names.claim(SECOND))


async def s3b_quota_is_held_until_the_machine_stopped(world: LawfulWorld) -> None:
    """The finalizer that holds the quota is removed while the machine still runs."""
    world.scale(1)
    world.ask(DFW, Instance, SECOND)
    world.meta(DFW, Instance, SECOND, finalizers=(finalizers.SIMULATED,))


async def s13_gates_only_open(world: LawfulWorld) -> None:
    """A gate that was open is closed again."""
    world.scale(3)
    made = world.make(2)
    assert made.spec.controller is not None
    both = (SchedulingGate(name=gates.NETWORK), SchedulingGate(name=gates.QUOTA))
    shut = replace(made.spec.controller, scheduling_gates=both)
    world.put(DFW, replace(made, spec=replace(made.spec, controller=shut)))


async def s13_nothing_is_provisioned_behind_a_gate(world: LawfulWorld) -> None:
    """A machine starts although its Instance waits."""
    world.scale(3)
    world.make(2)
    world.claim(2)
    world.grant(2)
    world.start(2)


async def s15_a_machine_moves_only_from_a_lost_node(world: LawfulWorld) -> None:
    """A machine that runs well is started on another node."""
    world.start(0, "node-1", "2026-06-01T13:00:00Z")


async def s15_a_cut_cell_lets_everything_run(world: LawfulWorld) -> None:
    """A cell that is cut off takes down what was not to go."""
    world.judge.cut("dfw")
    world.ask(DFW, Instance, FIRST)


async def s15_a_deployment_goes_only_with_its_work(world: LawfulWorld) -> None:
    """A deployment goes from a cell while its Work says that it should be there."""
    world.ask(DFW, WorkloadDeployment, WEB)
