"""Fields that an operator of the hub sets in the policies of a city: kept where allowed, else undone."""

from typing import Any

import msgspec

from compute.api.compute import Workload, WorkloadDeployment
from compute.api.karmada import MemberCluster, PropagationPolicy, Suspension, Taint
from compute.api.karmada_work import BindingSuspension, ResourceBinding
from kubekit.api.kinds.events import Event
from tests.integration.operators import cut
from tests.integration.worlds import (
    PROJECT,
    Watched,
    message_of,
    reason_of,
    run_story,
    with_image,
    workload,
)

HELD = Suspension(dispatching=True)


async def tune(world: Watched, **changes: Any) -> PropagationPolicy:
    """Edit the policy of DFW, as an operator does."""
    hub = world.client("hub")
    present = await hub.get(PropagationPolicy, "city-dfw", await world.space())
    spec = msgspec.structs.replace(present.spec, **changes)
    return await hub.patch(present, msgspec.structs.replace(present, spec=spec))


async def shown(world: Watched, kind: str, reason: str) -> WorkloadDeployment:
    """The deployment in its project, once it gives a reason."""
    return await world.named(
        PROJECT,
        WorkloadDeployment,
        "web-home-dfw",
        "default",
        lambda d: reason_of(d, kind) == reason,
    )


def test_a_rollout_that_an_operator_holds_back_says_so_in_the_project():
    """The other city goes on; what runs keeps serving; it ends by itself once that is lifted."""

    async def story(world: Watched) -> None:
        await world.deploy(workload(cities=("DFW", "LHR")))
        await tune(world, suspension=HELD)
        held = await shown(world, "Paused", "PropagationSuspended")
        assert "held back by an operator of the hub" in message_of(held, "Paused")
        await world.change("web", with_image("docker.io/library/nginx:2"))
        await world.rest()
        behind = await world.user.get(WorkloadDeployment, "web-home-dfw", "default")
        assert is_available(behind)
        assert behind.status.observed_generation < behind.metadata.generation
        done = await world.user.get(WorkloadDeployment, "web-home-lhr", "default")
        assert done.status.updated_replicas == 1
        whole = await world.user.get(Workload, "web", "default")
        assert message_of(whole, "Available").endswith("of the hub: web-home-dfw")
        assert await world.quiet() == []
        notes = [e for e in (await world.user.every(Event)).items if "Suspended" in e.reason]
        assert [note.regarding.name for note in notes if note.regarding] == ["web-home-dfw"]
        policy = await tune(world, suspension=None)
        assert policy.spec.suspension is None
        await world.served("web")
        after = await world.user.get(WorkloadDeployment, "web-home-dfw", "default")
        assert reason_of(after, "Paused") == ""

    run_story(story, cities=("DFW", "LHR"))


def is_available(deployment: WorkloadDeployment) -> bool:
    return reason_of(deployment, "Available") == "StableInstanceFound"


def test_what_arrives_while_it_is_held_back_is_not_ready_and_says_why():
    """Its cell never had it, so nothing else could explain it."""

    async def story(world: Watched) -> None:
        await world.deploy(workload("first", cities=("DFW",)))
        await tune(world, suspension=HELD)
        await world.user.create(workload("web", cities=("DFW",)))
        await shown(world, "Available", "PropagationSuspended")
        await tune(world, suspension=None)
        await world.served("web")

    run_story(story, cities=("DFW",))


def test_a_deployment_whose_scheduling_is_suspended_says_so():
    """A cell that would fit is not chosen until the suspension of the binding is lifted."""

    async def taint(world: Watched, *taints: Taint) -> None:
        hub = world.client("hub")
        cell = await hub.get(MemberCluster, "dfw")
        spec = msgspec.structs.replace(cell.spec, taints=taints)
        await hub.patch(cell, msgspec.structs.replace(cell, spec=spec))

    async def suspend(world: Watched, suspension: BindingSuspension | None) -> None:
        hub, name = world.client("hub"), "web-home-dfw-workloaddeployment"
        binding = await hub.get(ResourceBinding, name, await world.space())
        spec = msgspec.structs.replace(binding.spec, suspension=suspension)
        await hub.patch(binding, msgspec.structs.replace(binding, spec=spec))

    async def story(world: Watched) -> None:
        await taint(world, Taint(key="full", effect="NoSchedule"))
        await world.user.create(workload("web", cities=("DFW",)))
        full = await shown(world, "Available", "NoCellForCity")
        assert "1 tainted" in message_of(full, "Available")
        await suspend(world, BindingSuspension(scheduling=True))
        await taint(world)
        await world.rest()
        held = await shown(world, "Available", "NoCellForCity")
        assert "an operator of the hub has suspended scheduling" in message_of(held, "Available")
        await cut(world, "dfw")
        await world.quiet(60.0)
        held = await shown(world, "Available", "NoCellForCity")
        assert "an operator of the hub has suspended scheduling" in message_of(held, "Available")
        await cut(world, "dfw", "false")
        await world.rest()
        await suspend(world, None)
        await world.served("web")

    run_story(story, cities=("DFW",))


def test_what_would_let_machines_outlive_their_workload_is_repaired():
    """An operator's other settings stay beside it."""

    async def story(world: Watched) -> None:
        await world.deploy(workload(cities=("DFW",)))
        await tune(world, preserve_resources_on_deletion=True, conflict_resolution="Overwrite")
        await world.named(
            "hub",
            PropagationPolicy,
            "city-dfw",
            await world.space(),
            lambda p: p.spec.preserve_resources_on_deletion is None,
        )
        policy = await world.client("hub").get(PropagationPolicy, "city-dfw", await world.space())
        assert policy.spec.conflict_resolution == "Overwrite"
        await world.user.delete(await world.user.get(Workload, "web", "default"))
        await world.gone(PROJECT, Workload, "web", "default")
        assert await world.instances("dfw") == []

    run_story(story, cities=("DFW",))
