"""The simulated provider in a whole world: failures on request, latencies, nodes, and its settings."""

import pytest

from compute.api.compute import Instance, Workload
from compute.providers.machines import NODE
from kubekit.api.kinds.events import Event
from tests.integration.operators import blocked, ready, warnings
from tests.integration.worlds import (
    PROJECT,
    Watched,
    is_ready,
    reason_of,
    run_story,
    running,
    with_image,
    with_replicas,
    workload,
)
from tests.support.kubekit.virtual_time import run


@pytest.mark.parametrize(
    ("image", "reason"),
    [
        ("registry.test/does-not-exist:1", "ImageUnavailable"),
        ("registry.test/crash-loop:1", "InstanceCrashing"),
        ("registry.test/misconfigured:1", "ConfigurationError"),
    ],
)
def test_an_image_that_fails_is_named_up_to_the_workload_and_repaired_by_another(image, reason):
    """Instance, deployment and Workload say the same cause, a Warning tells of it, a new image ends it."""

    async def story(world: Watched) -> None:
        await world.user.create(with_image(image)(workload(cities=("DFW",), replicas=2)))
        whole = await blocked(world, "web", image)
        assert reason_of(whole, "Available") == reason
        shown = await world.user.get(Instance, "web-home-dfw-0", "default")
        assert reason_of(shown, "Ready") == reason
        await world.rest()
        assert await warnings(world, PROJECT) == {reason, "CityStuck"}
        await world.change("web", with_image("registry.test/web:2"))
        await world.served("web")

    run_story(story, cities=("DFW",))


def test_boots_that_fail_are_tried_again_until_they_work():
    """While every attempt fails the Workload says so; what runs already is not touched."""

    async def story(world: Watched) -> None:
        await world.deploy(workload(cities=("DFW",)))
        await world.set_provider("dfw", bootFailureRate="1", startSeconds="1", retrySeconds="2")
        await world.change("web", with_replicas(2))
        whole = await blocked(world, "web", "did not boot")
        assert whole.status.ready_replicas == 1
        await world.rest()
        first = await world.user.get(Instance, "web-home-dfw-0", "default")
        assert is_ready(first)
        await world.set_provider("dfw", startSeconds="1")
        await world.served("web")

    run_story(story, cities=("DFW",))


def test_latencies_that_change_concern_what_starts_from_then_on():
    """A machine that runs goes on; a new one takes its time, and stopping takes its own."""

    async def story(world: Watched) -> None:
        await world.deploy(workload(cities=("DFW",)))
        await world.rest()
        await world.set_provider("dfw", startSeconds="300", stopSeconds="60")
        writes = [w for w in await world.quiet(30.0) if w[1].endswith("/instances")]
        assert writes == []
        await world.change("web", with_replicas(2))
        await ready(world, "web", 1)
        await world.quiet(250.0)
        assert (await world.user.get(Workload, "web", "default")).status.ready_replicas == 1
        await world.served("web", seconds=120.0)
        await world.change("web", with_replicas(1))
        await world.quiet(50.0)
        assert len(await world.instances("dfw")) == 2
        await world.served("web", seconds=30.0)

    run_story(story, cities=("DFW",))


def test_a_node_that_is_lost_and_found():
    """Its machines are reported as down, start elsewhere after a while, and stay there."""

    async def story(world: Watched) -> None:
        await world.deploy(workload(cities=("DFW",)))
        space, cell = await world.space(), world.client("dfw")
        before = await cell.get(Instance, "web-home-dfw-0", space)
        node = before.metadata.annotations[NODE]
        await world.set_provider("dfw", lostNodes=node, recoverySeconds="60")
        await blocked(world, "web", f"{node} has failed")
        await ready(world, "web", 0)
        await world.served("web", seconds=90.0)
        after = await cell.get(Instance, "web-home-dfw-0", space)
        assert after.metadata.uid == before.metadata.uid
        assert after.metadata.annotations[NODE] != node
        assert after.status.network_interfaces == before.status.network_interfaces
        await world.set_provider("dfw")
        await world.rest()
        assert await cell.get(Instance, "web-home-dfw-0", space) == after

    run_story(story, cities=("DFW",))


def test_when_every_node_is_lost_instances_wait_for_one():
    """Nothing is deleted or claimed again; they start once a node is back."""

    async def story(world: Watched) -> None:
        await world.deploy(workload(cities=("DFW",)))
        await world.set_provider("dfw", lostNodes="*", recoverySeconds="10")
        await ready(world, "web", 0)
        await world.rest()
        assert await world.quiet(600.0) == []
        await world.set_provider("dfw", lostNodes="node-0, node-1")
        await world.served("web")

    run_story(story, cities=("DFW",))


def test_settings_that_cannot_be_read_change_nothing_and_are_named():
    """All of the last good ones stay in force, and an event on the ConfigMap names each bad key."""

    async def story(world: Watched) -> None:
        await world.set_provider("dfw", crashingImages="*web*")
        await world.user.create(workload(cities=("DFW",)))
        await blocked(world, "web", "registry.test/web:1")
        await world.set_provider("dfw", crashingImages="", nodes="none", speed="9")
        await world.rest()
        notes = [e.note for e in (await world.client("dfw").every(Event)).items if e.note]
        about = [note for note in notes if "stay in force" in note]
        assert sorted(note.partition(":")[0] for note in about) == ["nodes", "speed"]
        await blocked(world, "web", "registry.test/web:1")
        await world.set_provider("dfw", crashingImages="")
        await world.served("web")

    run_story(story, cities=("DFW",))


def test_one_cell_fails_alone():
    """Settings are of a cell: another goes on as before."""

    async def story(world: Watched) -> None:
        await world.set_provider("dfw", crashRate="1")
        await world.user.create(workload(cities=("DFW", "LHR")))
        await ready(world, "web", 1)
        await world.rest()
        assert is_ready(await world.user.get(Instance, "web-home-lhr-0", "default"))
        failed = await world.user.get(Instance, "web-home-dfw-0", "default")
        assert reason_of(failed, "Ready") == "InstanceCrashing"

    run_story(story, cities=("DFW", "LHR"))


def test_machines_outlive_the_process_that_simulates_them(tmp_path):
    """After a restart with long latencies nothing is started again."""

    async def first() -> Instance:
        async with running(("DFW",), tmp_path) as world:
            await world.make_project()
            await world.set_provider("dfw", startSeconds="5")
            await world.deploy(workload(cities=("DFW",)))
            await world.set_provider("dfw", startSeconds="600")
            await world.rest()
            return await world.client("dfw").get(Instance, "web-home-dfw-0", await world.space())

    async def second(before: Instance) -> None:
        async with running(("DFW",), tmp_path) as world:
            await world.served("web")
            await world.rest()
            space = await world.space()
            assert await world.client("dfw").get(Instance, "web-home-dfw-0", space) == before

    run(second(run(first())))
