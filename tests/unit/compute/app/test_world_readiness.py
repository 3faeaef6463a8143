"""When a world may be called ready: its first user is not refused for coming early."""

import asyncio
import gc

import pytest

from compute.api.networking import LocationBinding
from compute.app.planes import PlaneRef
from compute.app.sites import sites
from compute.app.world_server import hosted
from kubekit.plane.local import LocalClient

CITIES = ("AMS", "DFW", "FRA", "IAD", "LHR", "NRT", "SIN", "SYD")


@pytest.fixture(autouse=True)
def memory():
    """The garbage collector of the tests stays as it is."""
    before = gc.get_threshold()
    yield
    gc.unfreeze()
    gc.set_threshold(*before)


def test_a_ready_world_offers_every_city_to_its_project(tmp_path):
    """A Workload in a city that is not offered yet would be refused, and not retried."""

    async def story() -> set[str]:
        async with hosted(tmp_path, sites(CITIES), ("127.0.0.1", 0)) as world:
            await world.make_project("demo")
            await world.ready()
            project = LocalClient(world.world.planes[PlaneRef("project", "demo")])
            return {each.metadata.name for each in (await project.every(LocationBinding)).items}

    assert asyncio.run(story()) == {city.lower() for city in CITIES}


def test_a_project_that_never_gets_a_plane_is_not_waited_for(tmp_path):
    """Its name is too long for one, and its status says so; the world starts all the same."""

    async def story() -> str:
        async with hosted(tmp_path, sites(["DFW"]), ("127.0.0.1", 0)) as world:
            await world.make_project("p" * 60)
            async with asyncio.timeout(30):
                await world.ready()
            (project,) = await world.projects()
            return project.status.conditions[0].reason

    assert asyncio.run(story()) == "ProjectNameConflict"
