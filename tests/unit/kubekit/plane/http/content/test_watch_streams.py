"""A watch as the body of a response, on a virtual clock."""

import asyncio

import msgspec

from kubekit.client.options import WatchOptions
from kubekit.plane.http.content.watch_streams import WatchStream
from tests.support.kubekit import plane_worlds, virtual_time


async def opened(world, **options) -> tuple[WatchStream, list[WatchStream], list[str]]:
    """A stream of the world's ConfigMaps, where it says that it went, and its calls for us."""
    watch = await world.plane.registry.watch(world.kind, "default", WatchOptions(**options))
    gone: list[WatchStream] = []
    calls: list[str] = []
    stream = WatchStream(watch, None, gone.append)
    stream.start(lambda: calls.append("ready"))
    return stream, gone, calls


def types_of(stream: WatchStream) -> list[str]:
    return [msgspec.json.decode(line)["type"] for line in stream.take()]


def test_a_stream_ends_after_its_time_with_a_bookmark(tmp_path):
    """A client that requested bookmarks gets a last one with its position."""

    async def story():
        async with plane_worlds.opened(tmp_path) as world:
            await world.create("a")
            stream, gone, calls = await opened(world, allow_bookmarks=True)
            stream.limit(asyncio.get_running_loop(), 30.0)
            first = types_of(stream)
            await asyncio.sleep(29)
            assert (types_of(stream), stream.ended, calls) == ([], False, [])
            await asyncio.sleep(2)
            last = types_of(stream)
            assert (stream.ended, set(calls), types_of(stream)) == (True, {"ready"}, [])
            stream.close()
            return first, last, gone == [stream]

    assert virtual_time.run(story()) == (["ADDED"], ["BOOKMARK"], True)


def test_a_stream_that_is_closed_early_forgets_its_time(tmp_path):
    """No timer is left to wake a watch that is gone."""

    async def story():
        async with plane_worlds.opened(tmp_path) as world:
            stream, gone, calls = await opened(world)
            stream.limit(asyncio.get_running_loop(), 600.0)
            stream.close()
            await world.create("a")
            await asyncio.sleep(1000)
            return calls, gone == [stream]

    assert virtual_time.run(story()) == ([], True)


def test_a_stream_is_finished_once(tmp_path):
    """The plane that goes and the time that is up may come together."""

    async def story():
        async with plane_worlds.opened(tmp_path) as world:
            stream, _, calls = await opened(world, allow_bookmarks=True)
            stream.finish()
            asked = len(calls)
            stream.finish()
            assert len(calls) == asked
            last = types_of(stream)
            stream.close()
            return last

    assert virtual_time.run(story()) == ["BOOKMARK"]


def test_every_event_is_sent_before_the_end(tmp_path):
    """A long backlog is not cut off by the end of the time."""

    async def story():
        async with plane_worlds.opened(tmp_path) as world:
            for number in range(250):
                await world.create(f"n{number}")
            stream, _, _ = await opened(world)
            stream.finish()
            counts = []
            while not stream.ended:
                counts.append(len(types_of(stream)))
            stream.close()
            return counts

    assert virtual_time.run(story()) == [100, 100, 50]


def test_large_objects_are_sent_before_the_end(tmp_path):
    """Fewer lines than usual, because they are long, are not yet the last ones."""

    async def story():
        async with plane_worlds.opened(tmp_path) as world:
            for number in range(20):
                await world.create(f"n{number}", data={"large": "x" * 50_000})
            stream, _, _ = await opened(world, allow_bookmarks=True)
            stream.finish()
            types: list[str] = []
            while not stream.ended:
                types += types_of(stream)
            stream.close()
            return types

    assert virtual_time.run(story()) == ["ADDED"] * 20 + ["BOOKMARK"]
