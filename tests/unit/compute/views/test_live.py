"""The objects of a namespace that are kept current, through all that a server does to its clients."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from compute.api.compute import Workload
from compute.decide.progress import RolloutVerdict, verdict
from compute.views.live import LiveObjects, live_objects
from compute.views.live_rollout import WorkloadGone, live_rollout
from kubekit.api.errors import Expired, Forbidden, NotFound, Unavailable
from kubekit.api.kinds.core import ConfigMap
from tests.support.compute.builders import workload
from tests.support.kubekit.following_builders import (
    Answer,
    Plan,
    Story,
    World,
    config,
    run_in_world,
)
from tests.support.kubekit.plane_worlds import environment

LOST = Unavailable("no connection")


@pytest.fixture
def run_story(tmp_path: Path):
    """Run a story on a fresh plane, in virtual time."""

    def run(story: Story) -> None:
        run_in_world(tmp_path, story)

    return run


@asynccontextmanager
async def following(world: World, *kinds) -> AsyncIterator[LiveObjects]:
    async with live_objects(
        world.client, environment(), "default", *(kinds or (ConfigMap,))
    ) as live:
        yield live


def names(live: LiveObjects) -> list[str]:
    return [each.metadata.name for each in live.all(ConfigMap)]


def test_changes_are_seen(run_story):
    """An object that is created, and one that is deleted."""

    async def story(world: World) -> None:
        first = await world.writer.create(config("one"))
        async with following(world) as live:
            await live.listed()
            assert names(live) == ["one"]
            await live.changed(0.1)
            await world.writer.create(config("two"))
            assert await live.changed(10)
            await world.writer.delete(first)
            assert await live.changed(10)
            assert names(live) == ["two"]
            assert not await live.changed(1)

    run_story(story)


def test_what_is_gone_after_an_expired_version_is_forgotten(run_story):
    """The watch ends, the log is compacted, and the new list decides."""

    async def story(world: World) -> None:
        first = await world.writer.create(config("one"))
        world.transport.watches.extend([Plan(cut_after=0), Plan(refusal=Expired("too old"))])
        async with following(world) as live:
            await live.listed()
            await world.writer.delete(first)
            await world.writer.create(config("two"))
            await asyncio.sleep(10)
            assert names(live) == ["two"]
            assert live.lost_since is None

    run_story(story)


def test_a_server_that_is_lost_and_back(run_story):
    """The objects stay as they were last seen, and their time says so."""

    async def story(world: World) -> None:
        await world.writer.create(config("one"))
        world.transport.watches.extend([Plan(refusal=LOST)] * 3)
        async with following(world) as live:
            await live.listed()
            await asyncio.sleep(1)
            lost_since = live.lost_since
            assert lost_since is not None
            assert live.seen_at() == lost_since
            assert names(live) == ["one"]
            await asyncio.sleep(60)
            assert live.lost_since is None
            assert live.seen_at() > lost_since

    run_story(story)


def test_a_project_that_is_gone_has_no_objects_any_more(run_story):
    """Its kinds are not served. They must not stay on the screen as if they were."""

    async def story(world: World) -> None:
        await world.writer.create(config("one"))
        world.transport.watches.append(Plan(refusal=NotFound("no such project")))
        world.transport.lists.extend(
            [Answer(), *[Answer(refusal=NotFound("no such project"))] * 99]
        )
        async with following(world) as live:
            await live.listed()
            assert names(live) == ["one"]
            await asyncio.sleep(30)
            assert names(live) == []
            assert live.complete
            assert live.lost_since is None

    run_story(story)


def test_a_refusal_is_raised(run_story):
    """An expired token is not retried indefinitely."""

    async def story(world: World) -> None:
        world.transport.lists.append(Answer(refusal=Forbidden("configmaps is forbidden")))
        async with following(world) as live:
            with pytest.raises(Forbidden):
                await live.listed()

    run_story(story)


def test_a_list_that_never_ends_does_not_hold_up_a_client_with_a_limit(run_story):
    """What it sees is as old as the start, so that it is no news."""

    async def story(world: World) -> None:
        world.transport.lists.append(Answer(hangs=True))
        async with following(world) as live:
            started = live.seen_at()
            await live.listed(5)
            assert not live.complete
            assert live.seen_at() == started

    run_story(story)


def test_a_rollout_is_judged_without_a_complete_list(run_story):
    """It is unknown after a while, instead of a command that shows nothing."""

    async def story(world: World) -> None:
        made = await world.writer.create(workload())
        world.transport.lists.extend([Answer(hangs=True)] * 3)
        now = environment().now
        async with live_rollout(world.client, environment(), made) as live:
            early = await live.step()
            assert verdict(early, now()) is RolloutVerdict.PROGRESSING
            await asyncio.sleep(60)
            assert verdict(await live.step(), now()) is RolloutVerdict.UNKNOWN

    run_story(story)


@pytest.mark.parametrize("again", [False, True], ids=["deleted", "created again"])
def test_a_workload_that_is_gone_has_no_rollout(run_story, again):
    """Another one of its name is another rollout."""

    async def story(world: World) -> None:
        made = await world.writer.create(workload())
        async with live_rollout(world.client, environment(), made) as live:
            await live.step()
            await world.writer.delete(made)
            if again:
                await world.writer.create(workload())
            with pytest.raises(WorkloadGone):
                await live.step()
            assert live.snapshot.workload.metadata.uid == made.metadata.uid

    run_story(story)


def test_the_last_state_is_kept_of_each_kind(run_story):
    """A kind that is lost leaves the others as they are."""

    async def story(world: World) -> None:
        await world.writer.create(config("one"))
        await world.writer.create(workload())
        async with following(world, ConfigMap, Workload) as live:
            await live.listed()
            found = live.find(Workload, "web")
            assert found is not None
            assert live.find(Workload, "none") is None
            assert names(live) == ["one"]

    run_story(story)
