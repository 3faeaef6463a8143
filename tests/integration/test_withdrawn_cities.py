"""A city that a project is no longer offered, while Workloads run there."""

import asyncio
from typing import Any

import pytest
from msgspec.structs import replace

from compute.api import names
from compute.api.compute import Instance, Workload, WorkloadDeployment
from compute.api.networking import LocationBinding
from compute.decide.conditions import find
from kubekit.api.errors import Forbidden
from kubekit.api.kinds.events import Event
from kubekit.client.options import DeleteOptions
from kubekit.plane.local import LocalClient
from kubekit.plane.users import MASTERS, User
from tests.integration.test_traps import uids
from tests.integration.worlds import PROJECT, Watched, run_story, workload

TWO = ("DFW", "LHR")
GRACE = 300.0  # seconds


async def withdraw(world: Watched, city: str = "LHR") -> None:
    """The location service takes the offer of a city back."""
    await world.user.delete(await world.user.get(LocationBinding, names.location(city)))


async def reasons(world: Watched, name: str) -> list[str]:
    """The reasons of the events about an object, drains alone."""
    events = (await world.user.every(Event)).items
    about = [e for e in events if e.regarding and e.regarding.name == name and e.action == "Drain"]
    return sorted(e.reason for e in about)


def drain_of(obj: Any) -> str:
    said = find(obj.status.conditions, "DrainScheduled")
    return said.reason if said else ""


def test_a_binding_that_blinks_replaces_no_instance():
    """Deleted and made again within a moment: every Instance is the one that it was."""

    async def story(world: Watched) -> None:
        await world.deploy(workload(cities=TWO, replicas=2))
        before = await uids(world, "lhr", Instance)
        await withdraw(world)
        await world.rest()
        assert await uids(world, "lhr", Instance) == before
        assert drain_of(await world.user.get(Workload, "web", "default")) == ""

    run_story(story, TWO)


@pytest.mark.parametrize("restarted", [False, True], ids=["", "with a restart"])
def test_a_withdrawn_city_is_drained_after_the_grace(restarted):
    """Not before, though management is restarted in between; and at rest nothing is written."""

    async def story(world: Watched) -> None:
        await world.deploy(workload(cities=TWO))
        before = await uids(world, "lhr", Instance)
        await world.world.pause("platform")  # it would offer the city again
        await withdraw(world)
        for kind, name in ((WorkloadDeployment, "web-home-lhr"), (Workload, "web")):
            await world.named(
                PROJECT, kind, name, true=lambda o: drain_of(o) == "CityWithdrawn", seconds=1.0
            )
            assert await reasons(world, name) == ["CityWithdrawn"]
        await asyncio.sleep(100.0)
        if restarted:
            await world.world.pause("management")
            await world.world.resume("management")
        await asyncio.sleep(30.0)
        assert await world.quiet(GRACE - 133.0) == []
        assert await uids(world, "lhr", Instance) == before
        await world.gone(PROJECT, WorkloadDeployment, "web-home-lhr", "default", seconds=5.0)
        assert await world.instances("lhr") == []
        served = await world.named(
            PROJECT, Workload, "web", true=lambda w: not drain_of(w), seconds=5.0
        )
        assert "not offered to this project: LHR" in served.status.conditions[0].message
        assert await reasons(world, "web") == ["CityWithdrawn", "CityWithdrawn"]

    run_story(story, TWO)


def test_a_city_that_returns_within_the_grace_goes_on_untouched():
    """At four minutes of five: the same Instances, no drain, and an event that says so."""

    async def story(world: Watched) -> None:
        await world.deploy(workload(cities=TWO))
        before = await uids(world, "lhr", Instance)
        await world.world.pause("platform")
        await withdraw(world)
        await asyncio.sleep(240.0)
        await world.world.resume("platform")
        for kind, name in ((WorkloadDeployment, "web-home-lhr"), (Workload, "web")):
            await world.named(PROJECT, kind, name, true=lambda o: not drain_of(o), seconds=1.0)
        await asyncio.sleep(GRACE)
        assert await uids(world, "lhr", Instance) == before
        assert await reasons(world, "web-home-lhr") == ["CityReturned", "CityWithdrawn"]

    run_story(story, TWO)


def test_a_user_may_not_take_away_a_city_in_use():
    """Not the administrator either, and not by a dry run; once it is not used, it may go."""

    async def story(world: Watched) -> None:
        admin = LocalClient(world.planes[PROJECT], User("admin", (MASTERS,)), "kubectl")
        await world.deploy(workload(cities=TWO))
        offer = await admin.get(LocationBinding, names.location("LHR"))
        for options in (DeleteOptions(), DeleteOptions(dry_run=True)):
            with pytest.raises(Forbidden, match="LHR is in use by Workload default/web"):
                await admin.delete(offer, options)
        moved = replace(offer, spec=replace(offer.spec, topology={}))
        with pytest.raises(Forbidden, match="LHR is in use by Workload default/web"):
            await admin.patch(offer, moved)
        await world.user.delete(await world.user.get(Workload, "web", "default"))
        await world.gone(PROJECT, Workload, "web", "default")
        await admin.delete(offer)

    run_story(story, TWO)
