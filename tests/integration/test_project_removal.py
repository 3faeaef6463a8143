"""Projects that are deleted while a cell is cut off, or does nothing."""

from datetime import timedelta

import pytest

from compute.api import labels
from compute.api.compute import Instance
from compute.api.karmada import MemberCluster
from compute.api.networking import NetworkBinding, NetworkContext, Subnet, SubnetClaim
from compute.api.quota import ResourceClaim
from compute.api.resource_manager import Project
from compute.decide.conditions import find
from kubekit.api.errors import Forbidden
from kubekit.api.kinds.core import Namespace
from kubekit.api.kinds.events import Event
from kubekit.api.meta import Object
from kubekit.api.times import format_time
from tests.integration.test_cells import cut
from tests.integration.test_departures import OURS
from tests.integration.worlds import PROJECT, Watched, is_ready, run_story, workload


async def cut_off_and_abandoned(world: Watched) -> None:
    """A project is deleted while one of its cells is cut off, before the cut is detected."""
    await world.deploy(workload(cities=("DFW", "LHR")))
    await cut(world, "dfw")
    await world.quiet(1.0)
    await delete_project(world)
    await world.quiet(5.0)


async def delete_project(world: Watched) -> None:
    core = world.client("core")
    await core.delete(await core.get(Project, PROJECT))


NETWORKING: tuple[type[Object], ...] = (NetworkBinding, NetworkContext, SubnetClaim, Subnet)


def test_a_project_that_is_deleted_says_which_cell_it_waits_for():
    """It is not Ready, names the cell, since when and until when, and takes no new Workload."""

    async def story(world: Watched) -> None:
        await cut_off_and_abandoned(world)
        project = await world.client("core").get(Project, PROJECT)
        started = project.metadata.deletion_timestamp
        assert started is not None
        ready = find(project.status.conditions, "Ready")
        cleanup = find(project.status.conditions, "ResourceCleanup")
        assert ready is not None
        assert cleanup is not None
        assert (ready.status, ready.reason) == ("False", "CleanupAwaitingCompletion")
        assert (cleanup.status, cleanup.reason) == ("False", "CleanupAwaitingCompletion")
        assert ready.message == cleanup.message
        assert f"Waiting since {format_time(started)} until these are gone" in ready.message
        until = format_time(started + timedelta(minutes=5))
        assert (
            f"cell dfw has not released its part; it is waited for until {until}" in ready.message
        )
        with pytest.raises(Forbidden, match=f"project {PROJECT} is being deleted since"):
            await world.user.create(workload("late", cities=("LHR",)))
        assert (await world.quiet(10.0)) == []

    run_story(story)


def test_a_project_waits_for_no_cell_that_is_known_to_be_unreachable():
    """It goes as a Workload does; the cell stops and removes all of it on its return."""

    async def story(world: Watched) -> None:
        await cut_off_and_abandoned(world)
        space = await world.space()
        await world.gone("core", Project, PROJECT, seconds=60.0)
        assert is_ready(await world.client("dfw").get(Instance, "web-home-dfw-0", space))
        notes = [e.note for e in (await world.client("core").every(Event)).items]
        assert any(
            "what is left in dfw is removed when that can be reached" in note for note in notes
        )
        await world.rest()
        assert (await world.left(*OURS, *NETWORKING)).keys() == {"dfw"}
        await cut(world, "dfw", "false")
        await world.rest()
        assert await world.left(*OURS, *NETWORKING) == {}
        for plane in ("hub", "dfw", "lhr"):
            await world.gone(plane, Namespace, space)

    run_story(story)


def test_a_project_waits_five_minutes_for_a_cell_that_answers_and_does_nothing():
    """That is the limit of a Workload's deletion too; what is left ends when the cell works again."""

    async def story(world: Watched) -> None:
        await world.deploy(workload(cities=("DFW",)))
        space = await world.space()
        await world.world.pause("provider dfw")
        await delete_project(world)
        await world.quiet(290.0)
        project = await world.client("core").get(Project, PROJECT)
        ready = find(project.status.conditions, "Ready")
        assert ready is not None
        assert "cell dfw has not released its part" in ready.message
        await world.gone("core", Project, PROJECT, seconds=20.0)
        await world.world.resume("provider dfw")
        await world.rest()
        assert await world.left(*OURS, *NETWORKING) == {}
        await world.gone("dfw", Namespace, space)

    run_story(story, cities=("DFW",))


def test_a_project_made_again_keeps_what_is_its_own():
    """A cell that returns removes what the earlier project of that name had, and nothing else."""

    async def story(world: Watched) -> None:
        await cut_off_and_abandoned(world)
        old = await world.space()
        await world.gone("core", Project, PROJECT, seconds=60.0)
        await world.make_project()
        await world.user.create(workload(cities=("DFW", "LHR")))
        await world.quiet(60.0)
        lhr = await world.client("lhr").get(Instance, "web-home-lhr-0", await world.space())
        assert is_ready(lhr)
        await cut(world, "dfw", "false")
        await world.served("web")
        await world.rest()
        assert await world.client("lhr").get(Instance, "web-home-lhr-0", await world.space()) == lhr
        await world.gone("dfw", Namespace, old)
        await world.gone("hub", Namespace, old)
        claims = (await world.user.every(ResourceClaim)).items
        assert [c.metadata.labels[labels.INSTANCE_NAMESPACE] for c in claims] == [
            await world.space()
        ] * 2

    run_story(story)


def test_a_project_goes_with_a_cell_that_operators_have_given_up():
    """The cell's Cluster is deleted on the hub: nothing waits for its objects any more."""

    async def story(world: Watched) -> None:
        await cut_off_and_abandoned(world)
        hub = world.client("hub")
        await hub.delete(await hub.get(MemberCluster, "dfw"))
        await world.gone("core", Project, PROJECT, seconds=300.0)

    run_story(story)


@pytest.mark.parametrize("part", ["platform", "management"])
def test_a_process_that_restarts_goes_on_with_a_project_that_is_deleted(part):
    """A project that is no longer Ready is still managed until it is gone."""

    async def story(world: Watched) -> None:
        await cut_off_and_abandoned(world)
        await world.world.pause(part)
        await world.world.resume(part)
        await world.gone("core", Project, PROJECT, seconds=90.0)

    run_story(story)
