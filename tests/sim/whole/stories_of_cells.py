"""Stories that break the laws of machines, departures and budgets."""

from msgspec.structs import replace

from compute.api import finalizers, gates, labels, names
from compute.api.compute import Instance, WorkloadDeployment
from compute.api.instance_spec import SchedulingGate
from compute.api.quota import ResourceClaim
from tests.sim.whole.court import DFW, LHR, SHOP, WEB, Court, later

FIRST = names.instance(WEB, 0)
SECOND = names.instance(WEB, 1)
CLAIM = names.claim(FIRST)


async def s1_one_live_instance_per_slot(court: Court) -> None:
    """A second Instance says that it has the number of the first."""
    found = court.get(DFW, Instance, SECOND)
    changed = found.metadata.labels | {labels.INSTANCE_INDEX: "0"}
    court.meta(DFW, Instance, SECOND, labels=changed)


async def s1_one_machine_per_slot(court: Court) -> None:
    """Another cell runs the machine as well."""
    court.run_in(LHR, 0)


async def s1b_a_machine_has_its_instance(court: Court) -> None:
    """An Instance goes with both finalizers at once, its machine's among them."""
    court.scale(1)
    court.ask(DFW, Instance, SECOND)
    court.remove(DFW, Instance, SECOND)


async def s1b_a_machine_has_its_instance__from_the_beginning(court: Court) -> None:
    """An Instance is born with the machine of another."""
    court.scale(3)
    court.make(2, annotations=court.get(DFW, Instance, FIRST).metadata.annotations)


async def s1b_a_machine_has_its_instance__unasked(court: Court) -> None:
    """An Instance that only its machine holds goes without having been asked to."""
    found = court.get(DFW, Instance, FIRST)
    held = replace(found.metadata, finalizers=(finalizers.SIMULATED,))
    court.slip(DFW, replace(found, metadata=held))
    court.remove(DFW, Instance, FIRST)


async def s1b_a_machine_stops_only_with_its_instance(court: Court) -> None:
    """A provider gives up a machine that is wanted."""
    court.meta(DFW, Instance, FIRST, finalizers=(finalizers.CLAIM,))


async def s2_nothing_goes_without_a_cause(court: Court) -> None:
    """An Instance goes that is wanted, and of the newest template."""
    court.ask(DFW, Instance, FIRST)


async def s2_a_pause_holds_rolls(court: Court) -> None:
    """An Instance is replaced although its deployment is paused."""
    court.pause()
    await later()
    court.roll("registry.test/web:2")
    await later()
    court.ask(DFW, Instance, SECOND)


async def s2_a_roll_takes_down_no_more_than_allowed(court: Court) -> None:
    """A roll goes on before the one that it took down is Ready again."""
    await later()
    court.roll("registry.test/web:2")
    court.take_down(1)
    court.make(1)
    court.ask(DFW, Instance, FIRST)


async def s2_a_roll_goes_from_the_highest(court: Court) -> None:
    """A roll begins with the lowest number."""
    await later()
    court.roll("registry.test/web:2")
    court.ask(DFW, Instance, FIRST)


async def s3_grants_stay_within_the_budget(court: Court) -> None:
    """A third Instance is granted quota, and there is enough for two."""
    court.limit(2)
    await later()
    court.scale(3)
    court.make(2)
    court.claim(2)
    court.grant(2)


async def s3_a_wanted_slot_keeps_its_grant(court: Court) -> None:
    """A roll gives back the quota that the next Instance in the slot would need."""
    await later()
    court.roll("registry.test/web:2")
    court.take_down(1)
    court.remove(SHOP, ResourceClaim, names.claim(SECOND))


async def s3b_a_machine_has_a_granted_claim(court: Court) -> None:
    """A machine starts without a claim for quota."""
    court.scale(3)
    court.make(2)
    court.open(2)
    court.start(2)


async def s3b_a_machine_has_a_granted_claim__not_answered(court: Court) -> None:
    """A machine starts before its claim is granted."""
    court.scale(3)
    court.make(2)
    court.claim(2)
    court.open(2)
    court.start(2)


async def s3b_a_machine_has_a_granted_claim__of_another_size(court: Court) -> None:
    """A machine starts on a claim for less than it takes."""
    court.scale(3)
    court.make(2)
    claim = court.claim(2)
    less = replace(claim.spec, requests=claim.spec.requests[:1])
    court.put(SHOP, replace(claim, spec=less))
    court.grant(2)
    court.open(2)
    court.start(2)


async def s3b_a_machine_has_a_granted_claim__of_another_cell(court: Court) -> None:
    """A machine starts on a claim that another cell made."""
    court.scale(3)
    court.make(2)
    claim = court.claim(2)
    changed = claim.metadata.labels | {labels.SOURCE_CLUSTER: "lhr"}
    court.meta(SHOP, ResourceClaim, claim.metadata.name, labels=changed)
    court.grant(2)
    court.open(2)
    court.start(2)


async def s3b_a_claim_outlives_its_machine(court: Court) -> None:
    """The quota of an Instance is given back while its machine stops."""
    court.scale(1)
    court.ask(DFW, Instance, SECOND)
    court.remove(SHOP, ResourceClaim, names.claim(SECOND))


async def s3b_quota_is_held_until_the_machine_stopped(court: Court) -> None:
    """Who looks after the quota lets go of an Instance whose machine still runs."""
    court.scale(1)
    court.ask(DFW, Instance, SECOND)
    court.meta(DFW, Instance, SECOND, finalizers=(finalizers.SIMULATED,))


async def s13_gates_only_open(court: Court) -> None:
    """A gate that was open is closed again."""
    court.scale(3)
    made = court.make(2)
    assert made.spec.controller is not None
    both = (SchedulingGate(name=gates.NETWORK), SchedulingGate(name=gates.QUOTA))
    shut = replace(made.spec.controller, scheduling_gates=both)
    court.put(DFW, replace(made, spec=replace(made.spec, controller=shut)))


async def s13_nothing_is_provisioned_behind_a_gate(court: Court) -> None:
    """A machine starts although its Instance waits."""
    court.scale(3)
    court.make(2)
    court.claim(2)
    court.grant(2)
    court.start(2)


async def s15_a_machine_moves_only_from_a_lost_node(court: Court) -> None:
    """A machine that runs well is started on another node."""
    court.start(0, "node-1", "2026-06-01T13:00:00Z")


async def s15_a_cut_cell_lets_everything_run(court: Court) -> None:
    """A cell that is cut off takes down what was not to go."""
    court.judge.cut("dfw")
    court.ask(DFW, Instance, FIRST)


async def s15_a_deployment_goes_only_with_its_work(court: Court) -> None:
    """A deployment goes from a cell while its Work says that it should be there."""
    court.ask(DFW, WorkloadDeployment, WEB)
