"""Secrets at rest: what is planted in the store is found nowhere on the disk."""

import asyncio
import shutil
import subprocess
import sys
from contextlib import suppress
from datetime import timedelta
from itertools import count
from pathlib import Path
from random import Random

import apsw
import hypothesis.strategies as st
import msgspec
import pytest
from hypothesis import HealthCheck, given, settings

from kubekit.plane.store import statements
from kubekit.plane.store.errors import KeysRefused
from kubekit.plane.store.keys import KeyFile
from kubekit.plane.store.store import Store, StoreSettings, UnreadableStore, WritesStopped
from tests.support.generated import depth
from tests.support.kubekit import virtual_time
from tests.support.kubekit.faulty_disk import FaultyDisk
from tests.support.kubekit.store_builders import (
    WIDGETS,
    Clock,
    body_of,
    changed,
    created,
    deleted,
    environment,
    in_loop,
    opened,
)

ROOT = Path(__file__).parents[5]
SECRETS = "/secrets"
PLANTED = "planted-7f3a9c-hunter2"
NAME = b"example-secret-name"
WRITE_AND_DIE = """
import asyncio, os, signal, sys
from pathlib import Path
from tests.support.kubekit.store_builders import changed, created, environment
from kubekit.plane.store.store import Store

async def live():
    store = await Store.open(Path(sys.argv[1]), environment())
    for number in range(20):
        record = await store.write(created(f"default/{number}", sys.argv[2] * 200, "/secrets"))
        await store.write(changed(record, sys.argv[2], "/secrets"))
    os.kill(os.getpid(), signal.SIGKILL)

asyncio.run(live())
"""


def secret(key: str, body: str = PLANTED):
    return created(key, body, SECRETS)


def holders(directory: Path, needle: bytes = PLANTED.encode()) -> list[str]:
    """The files of a folder in which something is found."""
    files = (file for file in directory.rglob("*") if file.is_file())
    return sorted(file.name for file in files if needle in file.read_bytes())


def images(directory: Path) -> dict[str, bytes]:
    """The files of a folder with their content, except the lock. An empty file counts as absent."""
    files = (file for file in directory.iterdir() if file.suffix != ".lock")
    return {file.name: file.read_bytes() for file in files if file.stat().st_size}


async def present(directory: Path, options: StoreSettings = StoreSettings()) -> dict[str, str]:  # noqa: B008 - immutable
    async with opened(directory, options) as store:
        return {r.key: body_of(r) for r in store.collection(SECRETS).range()}


def make_old(directory: Path) -> None:
    """Turn a file into one from before there was sealing. Its rows must be plain."""
    connection = apsw.Connection(str(directory / "plane.db"))
    connection.execute("DROP TABLE IF EXISTS sealing")
    connection.pragma("user_version", statements.UNSEALED)
    connection.close()
    (directory / "secrets.key").unlink()


@pytest.mark.parametrize("threaded", [True, False], ids=["thread", "loop"])
@in_loop
async def test_k1_a_secret_is_never_on_the_disk(tmp_path, threaded):
    """Neither the database nor the write-ahead log holds it: made, changed, deleted, compacted."""
    async with opened(tmp_path, threaded=threaded) as store:
        records = [await store.write(secret(f"{NAME.decode()}/{n}")) for n in range(5)]
        assert holders(tmp_path, NAME) == ["plane.db-wal"]
        again = await store.write(changed(records[0], f"again {PLANTED}", SECRETS))
        await store.write(deleted(records[1], f"gone {PLANTED}", SECRETS))
        assert (body_of(again), holders(tmp_path)) == (f"again {PLANTED}", [])
        await store.compact(store.revision)
        assert holders(tmp_path) == []
    assert holders(tmp_path) == []


@in_loop
async def test_k1_readers_see_what_was_written(tmp_path):
    """The present after a restart, the history, and the past are the same as if nothing was sealed."""
    async with opened(tmp_path) as store:
        first = await store.write(secret("a", "one"))
        second = await store.write(changed(first, "two", SECRETS))
        await store.write(created("w", "plain"))
        await store.write(deleted(second, "three", SECRETS))
        await store.write(secret("b", "four"))
    async with opened(tmp_path) as store:
        events = await store.history(SECRETS, 0)
        bodies = [(body_of(e.record), e.previous and body_of(e.previous)) for e in events]
        assert bodies == [("one", None), ("two", "one"), ("three", "two"), ("four", None)]
        assert await store.collection_at(SECRETS, 1) == [first]
        assert await store.collection_at(SECRETS, 3) == [second]
        found = store.find(SECRETS, "b")
        assert found is not None
        assert body_of(found) == "four"


@in_loop
async def test_k1_only_the_chosen_resources_are_sealed(tmp_path):
    """Others go to the disk as they are, in the same batch."""
    async with opened(tmp_path, StoreSettings(sealed=frozenset({"/others"}))) as store:
        drafts = [created(str(n), f"plain-{PLANTED}") for n in range(3)]
        others = [created(str(n), "sealed-" + PLANTED, "/others") for n in range(3)]
        await asyncio.gather(*map(store.write, [*drafts, *others]))
    assert holders(tmp_path, b"plain-" + PLANTED.encode()) == ["plane.db"]
    assert holders(tmp_path, b"sealed-") == []


def test_k1_a_kill_leaves_nothing_plain(tmp_path):
    """A write-ahead log that was not folded holds sealed rows only, and they open."""
    command = [sys.executable, "-c", WRITE_AND_DIE, str(tmp_path / "plane.db"), PLANTED]
    done = subprocess.run(command, env={"PYTHONPATH": str(ROOT)}, check=False)
    assert done.returncode == -9
    assert (tmp_path / "plane.db-wal").stat().st_size > 100_000
    assert holders(tmp_path) == []
    assert asyncio.run(present(tmp_path)) == {f"default/{n}": PLANTED for n in range(20)}


@pytest.mark.parametrize("killed", [True, False], ids=["after a kill", "after a close"])
@pytest.mark.parametrize("wrong", [True, False], ids=["wrong key", "no key"])
def test_k1_without_its_key_a_file_is_refused_and_left_alone(tmp_path, killed, wrong):
    """The sentence names the file of keys; not a byte of anything is changed, and all is well after."""
    path = tmp_path / "plane.db"
    if killed:
        command = [sys.executable, "-c", WRITE_AND_DIE, str(path), PLANTED]
        subprocess.run(command, env={"PYTHONPATH": str(ROOT)}, check=False)
    else:
        asyncio.run(_some_secrets(tmp_path, 20))
    keys = tmp_path / "secrets.key"
    right = keys.read_bytes()
    keys.unlink()
    if wrong:
        KeyFile(keys).create_first()
    before = images(tmp_path)
    with pytest.raises(KeysRefused, match=f"{keys} (has no key|is missing)"):
        asyncio.run(Store.open(path, environment()))

    assert images(tmp_path) == before
    keys.write_bytes(right)
    keys.chmod(0o600)
    assert len(asyncio.run(present(tmp_path))) == 20


async def _some_secrets(directory: Path, number: int) -> None:
    async with opened(directory) as store:
        for key in range(number):
            await store.write(secret(f"default/{key}"))


@pytest.mark.parametrize("content", [b"", b"rubbish"], ids=["empty", "rubbish"])
@in_loop
async def test_k1_an_old_file_with_a_bad_file_of_keys_is_left_alone(tmp_path, content):
    """Nothing is sealed with a key that cannot be read again."""
    await _plain(tmp_path)
    (tmp_path / "secrets.key").write_bytes(content)
    (tmp_path / "secrets.key").chmod(0o600)
    before = images(tmp_path)
    with pytest.raises(KeysRefused):
        await Store.open(tmp_path / "plane.db", environment())
    assert images(tmp_path) == before


async def _plain(directory: Path, number: int = 30) -> None:
    """A file from before sealing existed, with secrets in rows and in free pages."""
    async with opened(directory, StoreSettings(sealed=frozenset())) as store:
        drafts = [secret(f"default/{n}", PLANTED * (1 + n % 3 * 400)) for n in range(number)]
        records = await asyncio.gather(*map(store.write, drafts))
        await asyncio.gather(*(store.write(deleted(r, PLANTED, SECRETS)) for r in records[5:]))
        await store.write(created("w", "kept"))
    make_old(directory)


@in_loop
async def test_k1_an_old_file_is_sealed_when_it_is_opened(tmp_path):
    """Rows, history and free pages: nothing plain is left, and everything can still be read."""
    await _plain(tmp_path)
    assert "plane.db" in holders(tmp_path)
    async with opened(tmp_path) as store:
        assert holders(tmp_path) == []
        assert len(await store.history(SECRETS, 0)) == 30 + 25
        assert len(store.collection(WIDGETS)) == 1
    expected = {f"default/{n}": PLANTED * (1 + n % 3 * 400) for n in range(5)}
    assert await present(tmp_path) == expected


@in_loop
async def test_k1_what_an_old_file_had_deleted_is_gone(tmp_path):
    """Free pages of an old file hold compacted data: the file is rewritten."""
    await _plain(tmp_path)
    connection = apsw.Connection(str(tmp_path / "plane.db"))
    connection.execute("DELETE FROM log WHERE resource = '/secrets'")
    connection.close()
    assert holders(tmp_path) == ["plane.db"]
    async with opened(tmp_path):
        assert holders(tmp_path) == []


@pytest.mark.slow
def test_k1_power_cuts_while_an_old_file_is_sealed(tmp_path):
    """At whatever step the power fails: the next opening finishes, and nothing is lost or plain."""
    for seed in count():
        if not asyncio.run(_cut_while_sealing(tmp_path / str(seed), seed)):
            break
    assert seed > 10


async def _cut_while_sealing(directory: Path, step: int) -> bool:
    """Whether the power failed before the work was done."""
    disk = FaultyDisk()
    path = directory / "plane.db"
    unsealed = StoreSettings(sealed=frozenset())
    async with opened(directory, unsealed, vfs=disk.name) as store:
        for number in range(10):
            await store.write(secret(f"default/{number}", PLANTED * (1 + number * 100)))
    _make_old_on(disk, path)
    disk.dies_at = disk.operations + 1 + step * 3
    with suppress(WritesStopped):
        await (await Store.open(path, environment(), vfs=disk.name)).close()
    died = disk.operations >= disk.dies_at
    disk.power_cut(Random(step))
    async with opened(directory, vfs=disk.name) as store:
        found = [body_of(record) for record in store.collection(SECRETS).range()]
        assert found == [PLANTED * (1 + number * 100) for number in range(10)]
    assert not any(PLANTED.encode() in blocks.seen for blocks in disk.files.values())
    return died


def _make_old_on(disk: FaultyDisk, path: Path) -> None:
    connection = apsw.Connection(str(path), vfs=disk.name)
    connection.pragma("locking_mode", "exclusive")
    connection.execute("DROP TABLE sealing")
    connection.pragma("user_version", statements.UNSEALED)
    connection.close()
    for blocks in disk.files.values():
        blocks.sync()


@pytest.mark.parametrize("threaded", [True, False], ids=["thread", "loop"])
@in_loop
async def test_k1_a_new_key_is_taken_up_under_load(tmp_path, threaded):
    """Everything is resealed under load; then the old key is no longer needed."""
    keys = KeyFile(tmp_path / "secrets.key")
    async with opened(tmp_path, threaded=threaded) as store:
        drafts = [secret(f"default/{n}", f"{n}-" + "x" * 5000) for n in range(300)]
        records = await asyncio.gather(*map(store.write, drafts))
        new = keys.rotate()
        rotation = asyncio.ensure_future(store.reseal())
        written = 0
        while not rotation.done():
            await store.write(changed(records[written], f"late {written}", SECRETS))
            written += 1
        await rotation
        assert written > 1
    _only(keys, new)
    found = await present(tmp_path)
    assert [found[f"default/{n}"] for n in range(written)] == [f"late {n}" for n in range(written)]
    assert found["default/299"].startswith("299-")
    assert len(found) == 300


def _only(keys: KeyFile, name: str) -> None:
    """Take every other key out of the file."""
    document = msgspec.json.decode(keys.path.read_bytes())
    document["keys"] = [entry for entry in document["keys"] if entry["name"] == name]
    keys.path.write_bytes(msgspec.json.encode(document))


@in_loop
async def test_k1_a_new_key_is_taken_up_at_the_start(tmp_path):
    """After a rotation while nothing runs, the next start reseals by itself."""
    keys = KeyFile(tmp_path / "secrets.key")
    await _some_secrets(tmp_path, 3)
    new = keys.rotate()
    async with opened(tmp_path) as store:
        await _settled(store)
    _only(keys, new)
    assert len(await present(tmp_path)) == 3


async def _settled(store: Store) -> None:
    """Wait for what is under way in the background, then find nothing left to do."""
    await store.reseal()


@in_loop
async def test_k1_an_interrupted_rotation_continues(tmp_path):
    """Closed in the middle, the next process reads both generations and finishes."""
    keys = KeyFile(tmp_path / "secrets.key")
    async with opened(tmp_path) as store:
        drafts = [secret(f"default/{n}", "x" * 20_000) for n in range(100)]
        await asyncio.gather(*map(store.write, drafts))
    old = keys.current()
    new = keys.rotate()
    store = await Store.open(tmp_path / "plane.db", environment())
    await store.write(secret("first"))
    await store.close()
    assert _generations(tmp_path) == [old, new]
    async with opened(tmp_path) as store:
        await _settled(store)
    assert _generations(tmp_path) == [new]
    _only(keys, new)
    assert len(await present(tmp_path)) == 101


@pytest.mark.parametrize("threaded", [True, False], ids=["thread", "loop"])
@in_loop
async def test_k1_closing_ends_a_wait_for_a_rotation(tmp_path, threaded):
    """Closed in the middle, a store does not leave the caller of the rotation waiting."""
    keys = KeyFile(tmp_path / "secrets.key")
    async with opened(tmp_path, threaded=threaded) as store:
        drafts = [secret(f"default/{n}", "x" * 20_000) for n in range(200)]
        await asyncio.gather(*map(store.write, drafts))
        keys.rotate()
        rotation = asyncio.ensure_future(store.reseal())
        await asyncio.sleep(0)
        await store.close()
        with pytest.raises(WritesStopped, match="is closed"):
            await asyncio.wait_for(rotation, 10)


def _generations(directory: Path) -> list[str]:
    connection = apsw.Connection(str(directory / "plane.db"))
    names = [name for (_, name, _, _) in connection.execute(statements.GENERATIONS)]
    connection.close()
    return names


@in_loop
async def test_k1_rotations_follow_each_other(tmp_path):
    """Started at the same moment, they do not remove each other's keys."""
    keys = KeyFile(tmp_path / "secrets.key")
    async with opened(tmp_path) as store:
        for number in range(50):
            await store.write(secret(f"default/{number}", "x" * 20_000))
        keys.rotate()
        first = asyncio.ensure_future(store.reseal())
        await asyncio.sleep(0)
        new = keys.rotate()
        await asyncio.gather(first, store.reseal(), store.reseal())
    _only(keys, new)
    assert len(await present(tmp_path)) == 50


@in_loop
async def test_k1_a_full_disk_keeps_the_old_key_in_use(tmp_path):
    """A data key that the disk did not take seals nothing; later the rotation succeeds."""
    disk = FaultyDisk()
    keys = KeyFile(tmp_path / "secrets.key")
    async with opened(tmp_path, vfs=disk.name) as store:
        await store.write(secret("a"))
        keys.rotate()
        with disk.failing(on_write=apsw.SQLITE_FULL), pytest.raises(WritesStopped):
            await store.reseal()
        await store.write(secret("b"))
        disk.power_cut(Random(1))
    async with opened(tmp_path, vfs=disk.name) as store:
        await store.reseal()
        assert [body_of(r) for r in store.collection(SECRETS).range()] == [PLANTED] * 2


def test_k1_resealing_waits_for_a_full_disk_at_startup(tmp_path, caplog):
    """Resealing is retried from time to time, and reads continue until then."""
    disk, keys = FaultyDisk(), KeyFile(tmp_path / "secrets.key")

    async def scenario() -> None:
        async with opened(tmp_path, vfs=disk.name, threaded=False) as store:
            await store.write(secret("a"))
        new = keys.rotate()
        with disk.failing(on_write=apsw.SQLITE_FULL):
            store = await Store.open(
                tmp_path / "plane.db", environment(), threaded=False, vfs=disk.name
            )
            await asyncio.sleep(61)
            assert len(store.collection(SECRETS)) == 1
        await asyncio.sleep(61)
        await store.close()
        _only(keys, new)
        async with opened(tmp_path, vfs=disk.name, threaded=False) as store:
            assert len(store.collection(SECRETS)) == 1

    virtual_time.run(scenario())
    messages = [record.getMessage() for record in caplog.records]
    assert messages[:2] == ["not sealed with the newest key yet"] * 2


@pytest.mark.parametrize("threaded", [True, False], ids=["thread", "loop"])
@in_loop
async def test_k1_a_row_that_does_not_open_keeps_its_data_key(tmp_path, threaded, caplog):
    """A rotation that finds a damaged row logs it and ends; no intact row is lost."""
    keys = KeyFile(tmp_path / "secrets.key")
    async with opened(tmp_path) as store:
        first = await store.write(secret("a"))
        await store.write(changed(first, "later", SECRETS))
    connection = apsw.Connection(str(tmp_path / "plane.db"))
    connection.execute("UPDATE log SET document = substr(document, 1, 40) WHERE revision = 1")
    connection.close()
    keys.rotate()
    async with opened(tmp_path, threaded=threaded) as store:
        for _ in range(2):  # before and after the one that started by itself
            with pytest.raises(UnreadableStore, match="revision 1 of /secrets does not open"):
                await store.reseal()
        await store.write(secret("b"))
    assert "not sealed with the newest key" in [record.getMessage() for record in caplog.records]
    assert await present(tmp_path) == {"a": "later", "b": PLANTED}


@in_loop
async def test_k1_other_resources_can_be_sealed_later_and_opened_again(tmp_path):
    """A changed setting also applies to existing rows, in both directions."""
    both = StoreSettings(sealed=frozenset({SECRETS, WIDGETS}))
    async with opened(tmp_path) as store:
        await store.write(created("w", PLANTED))
        await store.write(changed(await store.write(created("v", PLANTED)), PLANTED))
    assert holders(tmp_path) == ["plane.db"]
    async with opened(tmp_path, both) as store:
        await _settled(store)
        assert holders(tmp_path) == []
    async with opened(tmp_path) as store:
        await _settled(store)
        assert len(await store.history(WIDGETS, 0)) == 3
    assert holders(tmp_path) == ["plane.db"]


@pytest.mark.parametrize(
    "swap",
    [
        "UPDATE log SET document = (SELECT document FROM log WHERE revision = 1) WHERE revision = 2",
        "UPDATE log SET key = 'c' WHERE revision = 2",
        "UPDATE log SET revision = 7 WHERE revision = 2",
        "UPDATE log SET document = substr(document, 1, 40) WHERE revision = 2",
        "UPDATE log SET document = CAST(x'0100000009' || substr(document, 6) AS BLOB) WHERE revision = 2",
    ],
    ids=["of another object", "under another name", "at another time", "cut", "another generation"],
)
@in_loop
async def test_k1_a_row_opens_only_as_itself(tmp_path, swap):
    """Write access to the file is not enough to give one object the secret of another."""
    async with opened(tmp_path) as store:
        await store.write(secret("a", "for a"))
        await store.write(secret("b", "for b"))
    connection = apsw.Connection(str(tmp_path / "plane.db"))
    connection.execute(swap)
    connection.close()
    with pytest.raises(UnreadableStore, match=r"revision (2|7) of /secrets does not open"):
        await Store.open(tmp_path / "plane.db", environment())


@in_loop
async def test_k1_equal_secrets_do_not_look_equal(tmp_path):
    """Each row has a nonce of its own."""
    async with opened(tmp_path) as store:
        for number in range(200):
            await store.write(secret(str(number), "the same"))
    connection = apsw.Connection(str(tmp_path / "plane.db"))
    nonces = {bytes(row[0][5:17]) for row in connection.execute("SELECT document FROM log")}
    connection.close()
    assert len(nonces) == 200


class Service:
    """Keys that never leave a service, as those of a key management service."""

    def __init__(self) -> None:
        self.name = "projects/p/keys/1"
        self.known: dict[tuple[str, bytes], bytes] = {}

    def create_first(self) -> None:
        """Its keys exist already."""

    def current(self) -> str:
        return self.name

    def wrap(self, name: str, data_key: bytes) -> bytes:
        wrapped = b"ticket %d" % len(self.known)
        self.known[name, wrapped] = data_key
        return wrapped

    def unwrap(self, name: str, wrapped: bytes) -> bytes:
        try:
            return self.known[name, wrapped]
        except KeyError:
            raise KeysRefused("the service is not there: try again") from None


@in_loop
async def test_k1_keys_may_come_from_elsewhere(tmp_path):
    """A service replaces the file; without it nothing opens."""
    service = Service()
    async with opened(tmp_path, StoreSettings(keys=service)) as store:
        await store.write(secret("a"))
        service.name = "projects/p/keys/2"
        await store.reseal()
    assert not (tmp_path / "secrets.key").exists()
    assert await present(tmp_path, StoreSettings(keys=service)) == {"a": PLANTED}
    with pytest.raises(KeysRefused, match="try again"):
        await Store.open(tmp_path / "plane.db", environment(), StoreSettings(keys=Service()))


@in_loop
async def test_k1_deleted_content_is_overwritten(tmp_path):
    """What was compacted away is not left in free pages either, sealed or not."""
    clock = Clock()
    async with opened(tmp_path, clock=clock) as store:
        records = [await store.write(created(str(n), PLANTED * 500)) for n in range(20)]
        for record in records:
            await store.write(deleted(record))
        clock.advance(timedelta(hours=1))
        await store.compact(store.revision)
    assert holders(tmp_path) == []


@settings(
    max_examples=depth.examples(20), suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    bodies=st.lists(st.text("abc\u00e9\U0001f600 ", max_size=40), min_size=1, max_size=6),
    rotations=st.sets(st.integers(0, 5)),
)
def test_k1_sealing_changes_nothing_that_can_be_read(tmp_path_factory, bodies, rotations):
    """Whatever is written between whatever rotations, the next process reads it back."""

    async def scenario() -> None:
        directory = tmp_path_factory.mktemp("sealed")
        async with opened(directory, threaded=False) as store:
            for number, body in enumerate(bodies):
                if number in rotations:
                    KeyFile(directory / "secrets.key").rotate()
                    await store.reseal()
                await store.write(secret(str(number), body))
        expected = {str(number): body for number, body in enumerate(bodies)}
        assert await present(directory) == expected
        shutil.rmtree(directory)

    asyncio.run(scenario())
