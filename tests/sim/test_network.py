"""The simulated network: each fault has exactly the effect of its name."""

import asyncio
from random import Random

import pytest
from msgspec.structs import replace

from kubekit.api.errors import ApiError, Expired, NotFound, Timeout, Unavailable
from kubekit.api.meta import ObjectMeta
from kubekit.client.client import Client
from kubekit.client.options import WatchOptions
from kubekit.plane.local import LocalClient
from tests.sim.kinds import NAMESPACE, Child, CopySpec
from tests.sim.loop import Life, SimLoop, run
from tests.sim.network import Link, Wires
from tests.sim.planes import open_plane
from tests.sim.trace import Trace
from tests.sim.weather import FAIR, Weather


class Line:
    """A plane, a client beside it, and a client at the other end of a link."""

    def __init__(self, plane, weather):
        self.plane = plane
        self.trace = Trace()
        self.wires = Wires(self.trace)
        self.link = Link("p>plane", plane, self.wires, Random(1))
        self.link.weather = weather
        self.far = Client(self.link)
        self.near = LocalClient(plane)

    async def watched(self, events, version="", seconds=5.0):
        """Versions of the changes that come within some seconds, and how the stream ended."""
        options = WatchOptions(resource_version=version)
        versions = []
        try:
            async with asyncio.timeout(seconds), self.far.watch(Child, "", options) as changes:
                for write in events:
                    await write
                async for change in changes:
                    versions.append(int(change.resource_version))  # noqa: PERF401 -- until it fails
        except (ApiError, TimeoutError) as error:
            return versions, type(error).__name__
        return versions, "ended"


def on_a_line(story, weather=FAIR, seed=1):
    async def main():
        plane = await open_plane("line")
        line = Line(plane, weather)
        try:
            return await story(line)
        finally:
            line.link.die()
            await line.wires.close()
            await plane.close()

    return run(main(), SimLoop(seed))


def child(name, content=""):
    metadata = ObjectMeta(name=name, namespace=NAMESPACE)
    return Child(metadata=metadata, spec=CopySpec(content=content))


async def make(line, count=1):
    return [await line.near.create(child(f"c{number}")) for number in range(count)]


def test_fair_weather_changes_nothing_but_takes_its_time():
    """Without trouble a request is answered as by the plane itself, one latency there and one back."""

    async def story(line):
        made = await line.far.create(child("a", "hello"))
        return made == await line.near.get(Child, "a", NAMESPACE), line.trace.count

    assert on_a_line(story) == (True, 1)


def test_a_lost_request_is_not_applied():
    """The caller waits until its time-out, and nothing has happened."""

    async def story(line):
        with pytest.raises(Timeout, match="no answer within 5 s"):
            await line.far.create(child("a"))
        return await line.near.find(Child, "a", NAMESPACE)

    assert on_a_line(story, Weather(lost_request=1.0)) is None


def test_a_lost_response_is_applied():
    """The caller waits until its time-out, and yet it has happened."""

    async def story(line):
        with pytest.raises(Timeout):
            await line.far.create(child("a"))
        return await line.near.find(Child, "a", NAMESPACE)

    assert on_a_line(story, Weather(lost_response=1.0)) is not None


def test_a_refusal_is_not_applied():
    """A busy server says so at once, and has done nothing."""

    async def story(line):
        with pytest.raises(ApiError) as refusal:
            await line.far.create(child("a"))
        return refusal.value.code, await line.near.find(Child, "a", NAMESPACE)

    code, found = on_a_line(story, Weather(refused=1.0))

    assert code in {429, 503}
    assert found is None


def test_what_the_plane_refuses_comes_back_as_it_is():
    """A refusal of the plane is raised at the caller as the same class."""

    async def story(line):
        await line.far.get(Child, "missing", NAMESPACE)

    with pytest.raises(NotFound, match="missing"):
        on_a_line(story)


def test_a_partition_lets_nothing_through():
    """While parted every request fails, soon or late; after healing it is as before."""

    async def story(line):
        line.link.part()
        failures = []
        for number in range(6):
            with pytest.raises((Timeout, Unavailable)) as failure:
                await line.far.create(child(f"a{number}"))
            failures.append(type(failure.value).__name__)
        line.link.heal()
        await line.far.create(child("b"))
        listed = await line.near.list(Child)
        return failures, [item.metadata.name for item in listed.items]

    failures, names = on_a_line(story)

    assert {"Timeout", "Unavailable"} == set(failures)
    assert names == ["b"]


def test_a_request_goes_on_without_its_sender():
    """What is on its way arrives, also when its sender was killed in the meantime."""

    async def story(line):
        life = Life("process")
        life.begin(line.far.create(child("a")), "create")
        await asyncio.sleep(0.0001)
        line.link.die()
        await life.end()
        await asyncio.sleep(1.0)
        return await line.near.find(Child, "a", NAMESPACE)

    assert on_a_line(story) is not None


def test_a_dead_process_sends_nothing():
    """Not even a finally-block of a killed process reaches a plane."""

    async def story(line):
        line.link.die()
        with pytest.raises(Unavailable, match="dead"):
            await line.far.create(child("a"))
        return await line.near.find(Child, "a", NAMESPACE)

    assert on_a_line(story) is None


def test_a_stopped_process_gets_its_answer_when_it_goes_on():
    """The plane does not wait for a paused process; the process hears of it after its pause."""

    async def story(line):
        life, times = Life("process"), []

        async def ask():
            await line.far.create(child("a"))
            times.append(asyncio.get_running_loop().time())

        life.begin(ask(), "ask")
        await asyncio.sleep(0.0001)
        life.pause()
        await asyncio.sleep(3.0)
        there = await line.near.find(Child, "a", NAMESPACE)
        life.resume()
        await asyncio.sleep(1.0)
        return there is not None, round(times[0], 3)

    assert on_a_line(story) == (True, 3.0)


def test_a_watch_tells_the_changes_in_their_order():
    """In fair weather every change comes once, in order, and the stream stays open."""

    async def story(line):
        made = await make(line)
        version = made[0].metadata.resource_version
        versions, end = await line.watched([make_more(line)], version)
        return [number - int(version) for number in versions], end

    assert on_a_line(story) == ([1, 2, 3], "TimeoutError")


async def make_more(line):
    for name in "xyz":
        await line.near.create(child(name))


def test_a_cut_watch_ends_or_breaks():
    """The stream is over in the middle of things, politely or not."""
    ends = {on_a_line(story_of_draws(draw), Weather(cut=1.0))[1] for draw in range(8)}

    assert ends == {"ended", "Unavailable"}


def story_of_draws(draws):
    async def story(line):
        for _ in range(draws):
            line.link.chance.random()
        return await line.watched([make_more(line)])

    return story


def test_a_silent_watch_tells_nothing_and_stays_open():
    """A half-open stream looks the same as one on which nothing happens."""

    async def story(line):
        return await line.watched([make_more(line)])

    assert on_a_line(story, Weather(silent=1.0)) == ([], "TimeoutError")


def test_delayed_events_keep_their_order():
    """A late event holds back all that follow it, as on any connection."""

    async def story(line):
        made = await make(line)
        versions, _ = await line.watched([make_more(line)], made[0].metadata.resource_version, 60.0)
        return versions

    versions = on_a_line(story, Weather(delayed=0.5, delay=9.0))

    assert versions == sorted(versions)
    assert len(versions) == 3


def test_a_stale_list_shows_the_past_and_its_watch_stays_behind():
    """A replica that lags answers from before; its watch brings the rest, later."""

    async def story(line):
        await make(line, 30)
        listed = await line.far.list(Child)
        before = asyncio.get_running_loop().time()
        missing = 30 - len(listed.items)
        versions, _ = await line.watched([], listed.resource_version, 60.0)
        return missing, len(versions), before

    missing, versions, _ = on_a_line(story, Weather(stale_list=1.0))

    assert missing > 0
    assert versions == missing


def test_an_expired_watch_is_refused():
    """410 comes as the answer to opening a watch."""

    async def story(line):
        await make(line)
        async with line.far.watch(Child, "", WatchOptions(resource_version="1")):
            return

    with pytest.raises(Expired):
        on_a_line(story, Weather(expired=1.0))


def test_a_watch_expires_within_the_stream():
    """410 comes also in the middle of a stream, and ends it."""

    async def story(line):
        async def turned():
            line.link.weather = Weather(expired=5.0)  # one event in five: now each
            await make_more(line)

        return await line.watched([turned()])

    assert on_a_line(story) == ([], "Expired")


def test_a_compacted_version_expires_by_itself():
    """What a plane has really forgotten is refused without any trouble on the line."""

    async def story(line):
        await make(line, 3)
        await line.plane.store.compact(line.plane.store.revision)
        async with line.far.watch(Child, "", WatchOptions(resource_version="2")):
            return

    with pytest.raises(Expired):
        on_a_line(story)


def test_a_doubled_stream_repeats_events():
    """A resumed watch may bring events from before the version it was asked for."""

    async def story(line):
        made = await make(line, 30)
        version = made[-1].metadata.resource_version
        versions, _ = await line.watched([make_more(line)], version)
        return [number - int(version) for number in versions]

    versions = on_a_line(story, Weather(repeated=1.0))

    assert min(versions) < 0
    assert versions[-3:] == [1, 2, 3]


@pytest.mark.parametrize("draws", range(6))
def test_a_partition_holds_a_stream_and_then_anything_may_become_of_it(draws):
    """After healing the held events come in order, or the stream breaks, or it is half open."""

    async def story(line):
        made = await make(line)
        for _ in range(draws):
            line.link.chance.random()

        async def parted():
            line.link.part()
            await make_more(line)
            await asyncio.sleep(1.0)
            line.link.heal()
            await line.near.create(child("last"))

        version = made[0].metadata.resource_version
        versions, end = await line.watched([parted()], version)
        return [number - int(version) for number in versions], end

    assert on_a_line(story) in (
        ([1, 2, 3, 4], "TimeoutError"),
        ([], "Unavailable"),
        ([], "TimeoutError"),
    )


def test_a_stream_without_a_reader_is_closed_at_the_plane():
    """A plane keeps no watch for a reader that has gone, or that never received its opening."""

    async def story(line):
        async with line.far.watch(Child):
            open_then = line.plane.registry.watching
        line.link.weather = Weather(lost_response=1.0)
        with pytest.raises(Timeout):
            async with line.far.watch(Child):
                pass
        return open_then, line.plane.registry.watching

    assert on_a_line(story) == (1, 0)


def test_a_change_between_two_versions_is_refused_as_ever():
    """The line carries versions and uids unchanged: a conflict stays a conflict."""

    async def story(line):
        made = (await make(line))[0]
        other = await line.far.patch(made, replace(made, spec=CopySpec(content="x")))
        return int(other.metadata.resource_version) > int(made.metadata.resource_version)

    assert on_a_line(story)
