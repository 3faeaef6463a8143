"""Many clients at once: nothing lost, nothing twice, one winner."""

import asyncio

import pytest

from kubekit.api.errors import AlreadyExists, Conflict, NotFound
from tests.contract.collection import Collection, names, take, version
from tests.contract.kinds import RED


async def test_one_of_many_creates(widgets: Collection):
    """Of all who create the same name, one succeeds."""

    async def create(number: int) -> int:
        try:
            await widgets.make("one", metadata={"labels": {"by": str(number)}}, spec=RED)
        except AlreadyExists:
            return -1
        return number

    winners = [n for n in await asyncio.gather(*map(create, range(20))) if n >= 0]
    assert len(winners) == 1
    assert (await widgets.get("one"))["metadata"]["labels"] == {"by": str(winners[0])}


async def test_one_of_many_updates(widgets: Collection):
    """Of all who update from the same version, one succeeds."""
    made = await widgets.make("one", spec=RED)

    async def update(number: int) -> int:
        try:
            await widgets.update(made | {"spec": RED | {"replicas": number}})
        except Conflict:
            return -1
        return number

    winners = [n for n in await asyncio.gather(*map(update, range(20))) if n >= 0]
    assert len(winners) == 1
    assert (await widgets.get("one"))["spec"]["replicas"] == winners[0]


async def test_patches_of_different_fields_all_arrive(widgets: Collection):
    """A patch that names no version is put on top of whatever came before."""
    await widgets.make("one", spec=RED)
    await asyncio.gather(
        *(widgets.merge("one", {"spec": {"words": {f"k{i}": "x"}}}) for i in range(10))
    )
    assert len((await widgets.get("one"))["spec"]["words"]) == 10


async def test_counting_by_reading_and_writing(widgets: Collection):
    """Clients that read again after each conflict lose no step."""
    await widgets.make("one", spec=RED | {"replicas": 0})

    async def count(steps: int) -> None:
        while steps:
            got = await widgets.get("one")
            spec = got["spec"] | {"replicas": got["spec"]["replicas"] + 1}
            try:
                await widgets.update(got | {"spec": spec})
            except Conflict:
                continue
            steps -= 1

    await asyncio.gather(*(count(5) for _ in range(4)))
    got = await widgets.get("one")
    assert got["spec"]["replicas"] == 20
    assert got["metadata"]["generation"] == 21


async def test_one_of_many_deletes(widgets: Collection):
    """Of all who delete an object, one removes it."""
    await widgets.make("one", spec=RED)

    async def delete() -> bool:
        try:
            await widgets.delete("one")
        except NotFound:
            return False
        return True

    assert sum(await asyncio.gather(*(delete() for _ in range(10)))) == 1


async def test_a_write_is_seen_by_the_next_read(widgets: Collection):
    """A write that was acknowledged is in every later get and list."""

    async def write_and_read(name: str) -> None:
        made = await widgets.make(name, spec=RED)
        assert await widgets.get(name) == made
        assert name in names(await widgets.list())

    await asyncio.gather(*(write_and_read(f"n{i}") for i in range(20)))


@pytest.mark.parametrize("followers", [1, 4])
async def test_a_watch_and_a_list_tell_the_same_story(widgets: Collection, followers: int):
    """Applying a watch's events to an empty collection gives what a list shows at the end."""
    start = version(await widgets.list())

    async def follow() -> dict[str, str]:
        state: dict[str, str] = {}
        async with widgets.watch(resource_version=start) as stream:
            for event in await take(stream, 45):
                name = event.object["metadata"]["name"]
                state[name] = version(event.object)
                if event.type == "DELETED":
                    del state[name]
        return state

    async def live(name: str) -> None:
        await widgets.make(name, spec=RED)
        await widgets.merge(name, {"spec": {"colour": "blue"}})
        await widgets.merge(name, {"status": {"phase": "Up"}}, "status")
        if name.endswith("0"):
            await widgets.delete(name)

    tasks = [asyncio.ensure_future(follow()) for _ in range(followers)]
    await asyncio.gather(*(live(f"n{i}") for i in range(14)))
    await widgets.make("last", spec=RED)
    stories = await asyncio.gather(*tasks)
    listed = {i["metadata"]["name"]: version(i) for i in (await widgets.list())["items"]}
    assert stories == [listed] * followers
