"""Opening a store: locks, permissions, formats and damaged files."""

import asyncio
import os
import stat
import subprocess
import sys
from pathlib import Path

import apsw
import pytest

from kubekit.plane.store.store import Busy, Store, UnreadableStore
from tests.support.kubekit.store_builders import WIDGETS, created, environment, in_loop, opened

ROOT = Path(__file__).parents[5]
HOLDER = """
import asyncio, sys
from pathlib import Path
from tests.support.kubekit.store_builders import environment
from kubekit.plane.store.store import Store

async def hold():
    store = await Store.open(Path(sys.argv[1]), environment())
    print("held", flush=True)
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)

asyncio.run(hold())
"""


def test_a_second_process_is_refused_by_name(tmp_path):
    """Two processes never share a file: the error names the first, and a retry later succeeds."""
    path = tmp_path / "plane.db"
    command = [sys.executable, "-c", HOLDER, str(path)]
    with subprocess.Popen(command, stdin=-1, stdout=-1, env={"PYTHONPATH": str(ROOT)}) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        with pytest.raises(Busy, match=f"process {holder.pid} already uses {path}: stop it"):
            asyncio.run(Store.open(path, environment()))
        holder.kill()
    assert asyncio.run(revision_of(tmp_path)) == 0


async def revision_of(directory: Path) -> int:
    async with opened(directory) as store:
        return store.revision


@in_loop
async def test_the_same_process_is_refused_as_well(tmp_path):
    """A file is open once, also within one process."""
    async with opened(tmp_path):
        with pytest.raises(Busy, match=f"process {os.getpid()} "):
            await Store.open(tmp_path / "plane.db", environment())


@in_loop
async def test_other_users_cannot_read_the_files(tmp_path):
    """Objects may hold secrets: the directory is made 0700 and every file 0600."""
    directory = tmp_path / "deep" / "data"
    async with opened(directory) as store:
        await store.write(created("a"))
        assert stat.S_IMODE(directory.stat().st_mode) == 0o700
        modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in directory.iterdir()}
    names = ["plane.db", "plane.db-wal", "plane.db.lock", "secrets.key"]
    assert modes == dict.fromkeys(names, 0o600)


@in_loop
async def test_a_newer_format_is_refused(tmp_path):
    """A file of a later version is left alone."""
    async with opened(tmp_path):
        pass
    with apsw.Connection(str(tmp_path / "plane.db")) as connection:
        connection.pragma("user_version", 3)
    connection.close()
    with pytest.raises(UnreadableStore, match="has format 3, not 2"):
        await Store.open(tmp_path / "plane.db", environment())


@in_loop
async def test_a_database_of_another_program_is_refused(tmp_path):
    """Nothing is added to a database that is not ours."""
    with apsw.Connection(str(tmp_path / "plane.db")) as connection:
        connection.execute("CREATE TABLE theirs (x)")
    connection.close()
    with pytest.raises(UnreadableStore, match="has format 0"):
        await Store.open(tmp_path / "plane.db", environment())


@in_loop
async def test_a_database_of_another_program_with_our_number_is_refused(tmp_path):
    """The number of a format is no proof of whose it is."""
    with apsw.Connection(str(tmp_path / "plane.db")) as connection:
        connection.execute("CREATE TABLE theirs (x)")
        connection.pragma("user_version", 1)
    connection.close()
    with pytest.raises(UnreadableStore, match="is not a readable store"):
        await Store.open(tmp_path / "plane.db", environment())


@in_loop
async def test_a_damaged_file_is_refused_and_released(tmp_path):
    """Half of the objects would be worse than none; a restored copy can be opened."""
    path = tmp_path / "plane.db"
    async with opened(tmp_path) as store:
        await asyncio.gather(*(store.write(created(str(n), "x" * 1000)) for n in range(100)))
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2] + bytes(8192) + whole[len(whole) // 2 + 8192 :])
    with pytest.raises(UnreadableStore, match=r"plane\.db is not a readable store"):
        await Store.open(path, environment())
    path.write_bytes(whole)
    async with opened(tmp_path) as store:
        assert len(store.collection(WIDGETS)) == 100


@in_loop
async def test_the_names_of_new_directories_are_durable(tmp_path, monkeypatch):
    """A file exists after a power cut only if every directory of its path does."""
    synced = set()
    sync = os.fsync

    def seen(file: int) -> None:
        synced.add(Path(f"/proc/self/fd/{file}").readlink())
        sync(file)

    monkeypatch.setattr(os, "fsync", seen)
    async with opened(tmp_path / "deep" / "data"):
        folders = {path for path in synced if path.is_dir()}
        assert folders == {tmp_path, tmp_path / "deep", tmp_path / "deep" / "data"}


@in_loop
async def test_the_size_is_that_of_the_files(tmp_path):
    """The size covers the main file and the write-ahead log."""
    async with opened(tmp_path) as store:
        await store.write(created("a", "x" * 50_000))
        files = [tmp_path / "plane.db", tmp_path / "plane.db-wal"]
        assert store.size == sum(file.stat().st_size for file in files)
        assert store.size > 50_000


@in_loop
async def test_a_file_that_is_no_database_is_refused(tmp_path):
    """The error names the damage, and the file can be opened once it is repaired."""
    (tmp_path / "plane.db").write_bytes(b"rubbish " * 1000)
    with pytest.raises(UnreadableStore, match="is not a readable store"):
        await Store.open(tmp_path / "plane.db", environment())
    (tmp_path / "plane.db").unlink()
    async with opened(tmp_path) as store:
        assert len(store.collection(WIDGETS)) == 0


@in_loop
async def test_a_file_that_another_program_uses_is_busy(tmp_path):
    """While another tool has the file open, the store cannot open it."""
    async with opened(tmp_path):
        pass
    other = apsw.Connection(str(tmp_path / "plane.db"))
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(Busy, match=r"another program has .*plane\.db open"):
        await Store.open(tmp_path / "plane.db", environment())
    other.close()


@in_loop
async def test_a_path_that_is_a_directory_is_refused(tmp_path):
    """The error names the path, and no lock is left behind."""
    (tmp_path / "plane.db").mkdir()
    for _ in range(2):
        with pytest.raises(UnreadableStore, match=r"plane\.db"):
            await Store.open(tmp_path / "plane.db", environment())
