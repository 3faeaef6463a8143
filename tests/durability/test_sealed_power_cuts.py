"""Power cuts while rows are sealed and resealed: no acknowledged write is lost with a key."""

import asyncio
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from kubekit.plane.store.keys import KeyFile
from kubekit.plane.store.store import Store, WritesStopped
from tests.durability.test_power_cuts import SMALL, World, compact
from tests.support.kubekit.store_builders import WIDGETS, environment

WORLDS = 5
LIVES = 10
SEALED = replace(SMALL, sealed=frozenset({WIDGETS}))


class SealedWorld(World):
    """A world whose every row is sealed, with keys that change."""

    async def open(self) -> Store:
        return await Store.open(
            self.path, environment(), SEALED, threaded=False, vfs=self.disk.name
        )

    async def live(self) -> None:
        """Write and rotate until the power fails, which may be while opening or closing."""
        self.disk.dies_at = self.disk.operations + self.chance.choice([5, 40, 120, 300])
        self.disk.dies_at -= self.chance.randrange(5)
        try:
            store = await self.open()
        except WritesStopped:
            return
        for _ in range(self.chance.randrange(1, 12)):
            await self.write_some(store)
            if self.chance.random() < 0.4:
                await self.rotate(store)
            if self.chance.random() < 0.2:
                await compact(store, self.chance)
        await store.close()

    async def rotate(self, store: Store) -> None:
        """Start resealing, and write meanwhile."""
        KeyFile(self.path.with_name("secrets.key")).rotate()
        rotation = asyncio.ensure_future(store.reseal())
        await self.write_some(store)
        if self.chance.random() < 0.5:
            rotation.cancel()
        await asyncio.gather(rotation, return_exceptions=True)

    def check_sealed(self) -> None:
        """Nothing that was ever written is plain on the disk."""
        for blocks in self.disk.files.values():
            assert b'"kind":"Widget"' not in blocks.seen


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_k1_a_power_cut_loses_nothing_that_is_sealed(tmp_path, seed):
    """At any moment, also during a rotation, every acknowledged write still opens."""
    asyncio.run(_history(tmp_path, Random(f"sealed-{seed}")))


async def _history(directory: Path, chance: Random) -> None:
    for number in range(WORLDS):
        world = SealedWorld(directory / str(number), chance)
        world.path.parent.mkdir()
        for _ in range(LIVES):
            await world.live()
            world.disk.power_cut(chance)
            await world.verify()
            world.check_sealed()
