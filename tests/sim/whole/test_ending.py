"""How a world must end: each law is broken by a story that is named after it."""

import asyncio
from collections.abc import Callable

import pytest

from compute.api.quota import ResourceClaim
from tests.integration.worlds import workload
from tests.sim.whole import stories_of_endings
from tests.sim.whole.ending import LAWS, differences, waiting
from tests.sim.whole.judged import JudgedWorld, judged
from tests.sim.whole.plane_snapshots import PlaneSnapshots

STORIES: dict[str, Callable[[PlaneSnapshots], None]] = {
    name: story
    for name, story in vars(stories_of_endings).items()
    if name.startswith("l") and name[1:2].isdigit()
}


def _broken(snapshots: PlaneSnapshots) -> list[str]:
    """The laws that an album does not keep."""
    reading = snapshots.reading
    return [law.__name__ for law in LAWS if next(iter(law(reading)), None) is not None]


@pytest.mark.parametrize("name", sorted(STORIES))
def test_a_difference_is_found(name: str):
    """What is not as it should be is found by the law that asks for it."""
    snapshots = PlaneSnapshots()
    STORIES[name](snapshots)
    assert name.partition("__")[0] in _broken(snapshots)


def test_a_world_at_rest_has_no_difference():
    """Where everything is as it should be, no law finds anything."""
    assert _broken(PlaneSnapshots()) == []


def test_every_law_has_a_story():
    """A law that finds nothing is none."""
    assert {name.partition("__")[0] for name in STORIES} == {law.__name__ for law in LAWS}


def test_a_claim_that_could_be_granted_is_named():
    """L7: the oldest claim that waits while it fits the budget is named, with its age."""

    async def story(world: JudgedWorld) -> None:
        await world.limit(1)
        await world.user.create(workload(cities=("DFW",), replicas=2))
        await world.rest()
        assert differences(world.all_planes) == []
        for part in world.world.parts:
            await world.world.pause(part)
        await world.limit(0)
        assert waiting(world.all_planes) is None
        await world.limit(2)
        await asyncio.sleep(0)

        found = waiting(world.all_planes)
        claim = await world.user.get(ResourceClaim, "instance-web-home-dfw-1", "default")
        assert found is not None
        assert (found.project, found.name) == ("shop", "instance-web-home-dfw-1")
        assert found.since == claim.metadata.creation_timestamp

    judged(story, ("DFW",))
