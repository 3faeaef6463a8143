"""Power cuts at any moment, on the real store over a disk that loses unsynced data."""

import asyncio
from contextlib import suppress
from pathlib import Path
from random import Random

import apsw
import pytest

from kubekit.plane.store import statements
from kubekit.plane.store.records import ChangeType, Draft, Record
from kubekit.plane.store.store import Store, StoreSettings, WritesStopped
from tests.support.generated import depth
from tests.support.kubekit.faulty_disk import FaultyDisk
from tests.support.kubekit.store_builders import (
    WIDGETS,
    body_in,
    body_of,
    changed,
    created,
    deleted,
    environment,
)

CUTS = depth.either(2_500, 50_000)
HISTORIES = depth.either(5, 100)
LIVES = 10  # runs per disk, so that power is cut with young and old files
SMALL = StoreSettings(wal_bytes=40_000, wal_limit=400_000, ring_events=20, ring_bytes=40_000)
KEYS = [f"default/{letter}" for letter in "abcdefgh"]


class World:
    """One disk over several runs, and the writes that were acknowledged."""

    def __init__(self, directory: Path, chance: Random) -> None:
        self.chance = chance
        self.path = directory / f"{chance.random()}.db"
        self.disk = FaultyDisk()
        self.promised: list[tuple[int, str, ChangeType, str]] = []
        self.unanswered: list[list[str]] = []  # bodies, transaction by transaction
        self.written = 0

    async def open(self) -> Store:
        return await Store.open(self.path, environment(), SMALL, threaded=False, vfs=self.disk.name)

    async def live(self) -> None:
        """Write until the power fails, which may be while opening or closing."""
        self.disk.dies_at = self.disk.operations + self.chance.choice([5, 40, 120, 300])
        self.disk.dies_at -= self.chance.randrange(5)
        try:
            store = await self.open()
        except WritesStopped:
            return
        for _ in range(self.chance.randrange(1, 12)):
            await self.write_some(store)
            if self.chance.random() < 0.2:
                await compact(store, self.chance)
        await store.close()

    async def write_some(self, store: Store) -> None:
        """A few changes of different objects at once, which become one transaction."""
        keys = self.chance.sample(KEYS, self.chance.randrange(1, 5))
        drafts = [self.draft(store, key) for key in keys]
        results = await asyncio.gather(*map(store.write, drafts), return_exceptions=True)
        failed = []
        for draft, result in zip(drafts, results, strict=True):
            if isinstance(result, Record):
                self.promised.append((result.revision, draft.key, draft.change, body_of(result)))
            else:
                assert isinstance(result, WritesStopped)
                failed.append(body_in(draft.tail))
        if failed:
            self.unanswered.append(failed)

    def draft(self, store: Store, key: str) -> Draft:
        self.written += 1
        body = f"{self.written}-" + "x" * self.chance.choice([0, 100, 2000, 9000])
        record = store.find(WIDGETS, key)
        if record is None:
            return created(key, body)
        return (deleted if self.chance.random() < 0.3 else changed)(record, body)

    async def verify(self) -> None:
        """No acknowledged write is lost; a transaction is present as a whole or not at all."""
        self.check_integrity()
        store = await self.open()
        highest = self.promised[-1][0] if self.promised else 0
        assert store.revision >= highest
        history = [
            (event.record.revision, event.record.key, event.change, body_of(event.record))
            for event in await store.history(WIDGETS, store.compacted)
        ]
        surprises = [change for change in history if change[0] > highest]
        assert history == [c for c in self.promised if c[0] > store.compacted] + surprises
        self.check_surprises([change[3] for change in surprises])
        self.promised += surprises
        self.check_present(store)
        await store.close()

    def check_surprises(self, bodies: list[str]) -> None:
        """An unacknowledged rest is the first failed transaction as a whole, or nothing."""
        assert bodies in ([], *self.unanswered[:1])
        self.unanswered.clear()

    def check_present(self, store: Store) -> None:
        last = {key: (revision, change) for revision, key, change, _ in self.promised}
        expected = {
            key: revision for key, (revision, change) in last.items() if change != "DELETED"
        }
        present = {record.key: record.revision for record in store.collection(WIDGETS).range()}
        assert present == expected

    def check_integrity(self) -> None:
        connection = apsw.Connection(str(self.path), vfs=self.disk.name)
        connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
        connection.pragma("locking_mode", "exclusive")
        assert connection.pragma("integrity_check") == "ok"
        connection.close()


async def compact(store: Store, chance: Random) -> None:
    """Compact a part of the history, if the disk accepts it."""
    with suppress(WritesStopped):
        await store.compact(chance.randint(store.compacted, store.revision))


async def history(directory: Path, seed: str) -> int:
    """Several runs of several disks, each ended by a power cut and followed by a check."""
    chance = Random(seed)
    cuts = 0
    for _ in range(CUTS // HISTORIES // LIVES):
        world = World(directory, chance)
        for _ in range(LIVES):
            await world.live()
            world.disk.power_cut(chance)
            cuts += 1
            await world.verify()
    return cuts


def test_the_disk_model_finds_commits_that_are_not_synced(tmp_path, monkeypatch):
    """Without a sync at each commit, acknowledged writes are lost: the model finds it."""
    careless = tuple({**dict(statements.PRAGMAS), "synchronous": "normal"}.items())
    monkeypatch.setattr(statements, "PRAGMAS", careless)
    with pytest.raises(AssertionError):
        asyncio.run(history(tmp_path, "careless"))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(HISTORIES))
def test_a_power_cut_loses_nothing_that_was_acknowledged(tmp_path, seed):
    """At any moment of the power cut, the file is valid and has all acknowledged writes."""
    assert asyncio.run(history(tmp_path, f"cuts-{seed}")) == CUTS // HISTORIES


@pytest.mark.slow
@pytest.mark.parametrize("step", range(1, 60))
def test_a_power_cut_while_opening_after_a_failed_sync(tmp_path, step):
    """A write-ahead log that may not be on disk is written again before anything relies on it."""
    world = World(tmp_path, Random(step))
    asyncio.run(cut_while_opening(world, step))


async def cut_while_opening(world: World, step: int) -> None:
    """Acknowledge little, fail to sync much, and cut the power after so many operations of the next run."""
    store = await world.open()
    await world.write_some(store)
    drafts = [world.draft(store, f"default/{n}") for n in range(30)]
    with world.disk.failing(on_sync=apsw.SQLITE_IOERR_FSYNC):
        results = await asyncio.gather(*map(store.write, drafts), return_exceptions=True)
    assert {type(result) for result in results} == {WritesStopped}
    world.unanswered.append([body_in(draft.tail) for draft in drafts])
    await store.close()
    world.disk.dies_at = world.disk.operations + step
    with suppress(WritesStopped):
        await (await world.open()).close()
    world.disk.power_cut(world.chance)
    await world.verify()
