"""`compute wait` without a server, and with one that is slow or lost."""

import asyncio
from datetime import timedelta

import pytest

from compute.cli.exits import Exit, Failure
from compute.cli.look.wait_run import _MOST_SELECTED, _wait
from compute.decide.progress.goals import parse
from kubekit.api.errors import Forbidden, Unavailable
from tests.support.compute.builders import workload
from tests.support.compute.sessions import session
from tests.support.kubekit.following_builders import Answer, Story, World, run_in_world
from tests.support.kubekit.plane_worlds import environment

READY, DELETED = parse("ready"), parse("deleted")


@pytest.fixture
def run_story(tmp_path):
    """Run a story on a fresh plane, in virtual time."""

    def run(story: Story) -> None:
        run_in_world(tmp_path, story)

    return run


async def wait(world: World, *names: str, goal=READY, seconds: int = 5) -> Exit:
    here = session(world.client, environment())
    return await _wait(here, names, goal, (timedelta(seconds=seconds), "table"))


@pytest.mark.parametrize(
    ("seconds", "lasts"), [(5, 5), (0, 60)], ids=["with a limit", "without a limit"]
)
def test_a_list_that_never_ends(run_story, capsys, seconds, lasts):
    """The limit holds, and without one a minute of silence is enough."""

    async def story(world: World) -> None:
        await world.writer.create(workload())
        world.transport.lists.extend([Answer(hangs=True)] * 3)
        loop = asyncio.get_running_loop()
        started = loop.time()
        with pytest.raises(Failure) as end:
            await wait(world, "web", seconds=seconds)
        assert end.value.code is Exit.UNKNOWN
        assert lasts <= loop.time() - started < lasts + 3

    run_story(story)
    assert capsys.readouterr().out == (
        "workload/web has an unknown state: the server cannot be reached\n"
    )


def test_a_server_that_comes_back(run_story):
    """What it could not list at first, it lists later."""

    async def story(world: World) -> None:
        made = await world.writer.create(workload())
        world.transport.lists.extend([Answer(refusal=Unavailable("no connection"))] * 3)
        waiting = asyncio.create_task(wait(world, "web", goal=DELETED, seconds=60))
        await asyncio.sleep(10)
        await world.writer.delete(made)
        assert await waiting is Exit.OK

    run_story(story)


def test_many_workloads(run_story, capsys):
    """A selector of all of them would be longer than an address may be."""

    async def story(world: World) -> None:
        names = [f"web-{number}" for number in range(_MOST_SELECTED + 1)]
        made = [await world.writer.create(workload(name)) for name in names]
        waiting = asyncio.create_task(wait(world, *names, goal=DELETED))
        await asyncio.sleep(1)
        for each in made:
            await world.writer.delete(each)
        assert await waiting is Exit.OK
        assert {options.label_selector for _, options in world.transport.listed} == {""}

    run_story(story)
    assert len(capsys.readouterr().out.splitlines()) == _MOST_SELECTED + 1


def test_a_user_that_may_not_read_the_history(run_story, capsys):
    """It is needed for the next command only."""

    async def story(world: World) -> None:
        await world.writer.create(workload())
        world.transport.refusals["ConfigMap"] = Forbidden("configmaps is forbidden")
        with pytest.raises(Failure) as end:
            await wait(world, "web")
        assert end.value.code is Exit.TIMED_OUT

    run_story(story)
    assert capsys.readouterr().out.startswith("workload/web is not ready yet in DFW")
