"""What a follower does when a server fails: it waits, says so, and tries again."""

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from kubekit.api.errors import (
    Expired,
    Forbidden,
    InternalError,
    Timeout,
    TooManyRequests,
    Unavailable,
)
from kubekit.api.status import StatusDetails
from kubekit.client.options import ListOptions
from tests.support.kubekit.following_builders import (
    Answer,
    Plan,
    Story,
    World,
    config,
    gaps,
    run_in_world,
)

GONE = Expired("too old resource version")


@pytest.fixture
def run_story(tmp_path: Path) -> Callable[[Story], None]:
    """Run a story on a fresh plane."""
    return lambda story: run_in_world(tmp_path, story)


def test_a_server_that_forgets_at_once_is_asked_ever_less(run_story):
    """Going on and on with 410 is trouble, and no reason for a loop of lists."""

    async def story(world: World) -> None:
        world.transport.always = Plan(refusal=GONE)
        async with world.following():
            await asyncio.sleep(300)
        assert len(world.transport.listed) < 30
        assert [type(trouble) for trouble in world.troubles] == [Expired]

    run_story(story)


def test_a_version_that_expired_during_an_outage_is_listed_again_soon(run_story):
    """A restarted server has forgotten the version. It answers, so the pauses of its outage are over."""

    async def story(world: World) -> None:
        await world.writer.create(config("one"))
        cut = Plan(cut_after=0, error=OSError("cut"))
        down = [Plan(refusal=OSError("refused"))] * 8
        world.transport.watches.extend([cut, *down, Plan(refusal=GONE)])
        async with world.following() as picture:
            await asyncio.sleep(200)
        (_, listed), (answered, _) = world.transport.listed, world.transport.watched[9]
        assert world.transport.watched[9][0] - world.transport.watched[8][0] > 10
        assert listed[0] - answered < 1
        assert picture.words == ["list one", "list one"]
        assert [str(trouble) for trouble in world.troubles] == ["cut", "refused", "None"]

    run_story(story)


def test_pages_that_outlive_their_version_give_way_to_one_piece(run_story):
    """The list starts over; what follows begins a picture anew."""

    async def story(world: World) -> None:
        for name in "abc":
            await world.writer.create(config(name))
        world.transport.lists.extend([Answer(), Answer(refusal=GONE)])
        async with world.following(ListOptions(limit=2)) as picture:
            await asyncio.sleep(5)
            world.transport.watches.append(Plan(refusal=GONE))
            await asyncio.sleep(700)
        assert picture.words == ["list a b", "list a b c", "list a b", "list c"]
        assert [options.limit for _, options in world.transport.listed] == [2, 2, 0, 2, 2]

    run_story(story)


def test_a_silent_watch_is_given_up(run_story):
    """One that says nothing beyond its time is half open; what was missed comes with the next."""

    async def story(world: World) -> None:
        world.transport.watches.append(Plan(silent=True))
        async with world.following() as picture:
            await world.writer.create(config("one"))
            await asyncio.sleep(640)
        seconds = world.transport.watched[0][1].timeout_seconds or 0
        assert seconds + 30 <= gaps(world.transport.watched)[0] <= seconds + 31
        assert picture.words == ["list", "ADDED one"]
        assert [type(trouble) for trouble in world.troubles] == [TimeoutError, type(None)]
        assert "half open" in str(world.troubles[0])

    run_story(story)


def test_a_list_that_is_never_answered_is_asked_again(run_story):
    """A list without an answer times out."""

    async def story(world: World) -> None:
        world.transport.lists.append(Answer(hangs=True))
        async with world.following() as picture:
            await asyncio.sleep(100)
        assert picture.words == ["list"]
        assert [str(trouble) for trouble in world.troubles] == [
            "the server did not answer in time",
            "None",
        ]

    run_story(story)


def test_the_waits_after_errors_grow(run_story):
    """From 0.8 seconds on doubled up to 30, shortened by chance; and reported once."""

    async def story(world: World) -> None:
        world.transport.lists.extend([Answer(refusal=Unavailable("down"))] * 8)
        async with world.following() as picture:
            await asyncio.sleep(300)
        pauses = gaps(world.transport.listed)
        most = [0.8, 1.6, 3.2, 6.4, 12.8, 25.6, 30, 30]
        assert all(one / 2 <= pause <= one for pause, one in zip(pauses, most, strict=True))
        assert [str(trouble) for trouble in world.troubles] == ["down", "None"]
        assert picture.words == ["list"]

    run_story(story)


def test_after_a_good_watch_the_waits_start_again(run_story):
    """What was long ago does not make the next recovery slow; nor does a change of trouble go untold."""

    async def story(world: World) -> None:
        world.transport.lists.extend([Answer(refusal=Unavailable("down"))] * 5)
        async with world.following():
            await asyncio.sleep(60)
            world.transport.watches.extend(
                [Plan(refusal=Forbidden("no")), Plan(refusal=OSError("cut"))]
            )
            await asyncio.sleep(640)
        assert [str(trouble) for trouble in world.troubles] == ["down", "None", "no", "cut", "None"]
        assert gaps(world.transport.watched)[1] < 1

    run_story(story)


def test_a_server_that_ends_every_watch_at_once_is_asked_ever_less(run_story):
    """A watch that ends right after its start is an error, not a reason to retry at once."""

    async def story(world: World) -> None:
        world.transport.always = Plan(cut_after=0)
        async with world.following():
            await asyncio.sleep(600)
        assert 20 < len(world.transport.watched) < 60
        assert ["right after its start" in str(trouble) for trouble in world.troubles] == [True]
        assert len(world.transport.listed) == 1

    run_story(story)


def test_a_server_that_ends_every_watch_after_one_change_is_asked_at_a_bounded_rate(run_story):
    """Each change is progress, but two watches never follow each other in less than 0.4 seconds."""

    async def story(world: World) -> None:
        world.transport.always = Plan(cut_after=1)
        async with world.following() as picture:
            for number in range(20):
                await world.writer.create(config(f"n{number}"))
            await asyncio.sleep(60)
        assert len(picture.objects) == 20
        assert min(gaps(world.transport.watched)) >= 0.4

    run_story(story)


def test_a_retry_after_is_honoured(run_story):
    """The pause is as long as it says."""

    async def story(world: World) -> None:
        busy = TooManyRequests("busy", StatusDetails(retry_after_seconds=45))
        world.transport.lists.append(Answer(refusal=busy))
        async with world.following():
            await asyncio.sleep(60)
        assert gaps(world.transport.listed) == [45]

    run_story(story)


def test_a_retry_after_is_honoured_up_to_a_limit(run_story):
    """Five minutes are the most; else one odd answer would end a follower."""

    async def story(world: World) -> None:
        busy = TooManyRequests("busy", StatusDetails(retry_after_seconds=10**9))
        world.transport.lists.append(Answer(refusal=busy))
        async with world.following() as picture:
            await asyncio.sleep(400)
        assert gaps(world.transport.listed) == [300]
        assert picture.words == ["list"]

    run_story(story)


def test_a_server_that_lost_its_past_is_listed_anew(run_story):
    """A version that it has not reached means another history, after a restore for example."""

    async def story(world: World) -> None:
        world.transport.watches.append(Plan(refusal=Timeout("Too large resource version: 900")))
        async with world.following() as picture:
            await asyncio.sleep(10)
        assert picture.words == ["list", "list"]

    run_story(story)


def test_a_list_without_a_version_is_trouble(run_story):
    """There is nothing to watch from."""

    async def story(world: World) -> None:
        world.transport.lists.append(Answer(instead={"metadata": {}}))
        async with world.following() as picture:
            await asyncio.sleep(10)
        assert isinstance(world.troubles[0], InternalError)
        assert picture.words == ["list"]

    run_story(story)
