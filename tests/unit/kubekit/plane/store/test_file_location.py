"""A file that is removed while it is in use: no later write is acknowledged."""

import shutil
from datetime import timedelta

import pytest

from kubekit.plane.store.store import WritesStopped
from tests.support.kubekit.store_builders import WIDGETS, Clock, created, in_loop, keys, opened


def remove_folder(directory):
    shutil.rmtree(directory)


def remove_database(directory):
    (directory / "plane.db").unlink()


def remove_log(directory):
    (directory / "plane.db-wal").unlink()


def replace_by_a_copy(directory):
    shutil.copy(directory / "plane.db", directory / "copy.db")
    (directory / "copy.db").replace(directory / "plane.db")


def move_folder_away(directory):
    directory.rename(directory.with_name("moved"))


@pytest.mark.parametrize(
    "harm",
    [remove_folder, remove_database, remove_log, replace_by_a_copy, move_folder_away],
)
@pytest.mark.parametrize("threaded", [True, False], ids=["thread", "loop"])
@in_loop
async def test_p5_writes_stop_when_the_file_is_gone(tmp_path, harm, threaded):
    """Within a second writes are refused finally, with a message; reads continue from memory."""
    clock, directory = Clock(), tmp_path / "data"
    async with opened(directory, clock=clock, threaded=threaded) as store:
        await store.write(created("a"))
        harm(directory)
        clock.advance(timedelta(seconds=1))
        for _ in range(2):
            with pytest.raises(WritesStopped, match="was deleted or replaced while") as stopped:
                await store.write(created("b"))
            assert stopped.value.final
            assert str(directory) in str(stopped.value)
        assert store.stopped is not None
        assert keys(store.collection(WIDGETS).range()) == ["a"]


@pytest.mark.parametrize("hours", [1, -1], ids=["forwards", "backwards"])
@in_loop
async def test_p5_an_unmoved_file_is_written_whatever_the_clock_says(tmp_path, hours):
    """A check that passes changes nothing, nor does a clock that jumps."""
    clock = Clock()
    async with opened(tmp_path, clock=clock) as store:
        for number in range(5):
            await store.write(created(str(number), "x" * 10_000))
            await store.compact(store.revision)
            clock.advance(timedelta(hours=hours))
        assert len(store.collection(WIDGETS)) == 5


@in_loop
async def test_p5_a_link_to_the_folder_is_accepted(tmp_path):
    """A path through a link names the same file."""
    clock = Clock()
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    async with opened(tmp_path / "link", clock=clock) as store:
        clock.advance(timedelta(seconds=5))
        assert (await store.write(created("a"))).revision == 1
