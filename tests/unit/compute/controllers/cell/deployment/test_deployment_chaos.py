"""Random changes of a deployment in any order: it ends as its last spec says."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from random import Random

import pytest

from compute.api import annotations
from compute.api.networking import Location, NetworkBinding
from compute.decide.deployment import slots
from kubekit.api.errors import Conflict, NotFound, Unavailable
from tests.support.compute.builders import deployment
from tests.support.compute.cell_neighbours import (
    NAMESPACE,
    Cell,
    cell,
    image,
    instance_image,
    location,
    scaled,
)
from tests.support.compute.federation_builders import with_meta
from tests.support.kubekit.stage import Stage, staged

Deed = Callable[[Cell, Random], Awaitable[object]]


async def scale(at: Cell, chance: Random) -> None:
    await at.change(lambda of: scaled(of, chance.randrange(5)))


async def roll(at: Cell, chance: Random) -> None:
    kind = chance.choice(["web", "web", "broken"])
    await at.change(lambda of: image(of, f"registry.test/{kind}:{chance.randrange(9)}"))


async def pause(at: Cell, chance: Random) -> None:
    chosen = {annotations.PAUSED: chance.choice(["true", "false"])}
    await at.change(lambda of: with_meta(of, annotations=chosen))


async def kill(at: Cell, chance: Random) -> None:
    there = await at.instances()
    if there:
        await at.client.delete(chance.choice(there))


async def unbind(at: Cell, chance: Random) -> None:
    found = (await at.client.list(NetworkBinding, NAMESPACE)).items
    if found:
        await at.client.delete(chance.choice(found))


async def unlabel(at: Cell, chance: Random) -> None:
    there = await at.instances()
    if there:
        one = chance.choice(there)
        await at.client.patch(one, with_meta(one, labels={}))


async def relocate(at: Cell, _: Random) -> None:
    present = await at.client.find(Location, "lab-dfw-1")
    await (at.client.create(location()) if present is None else at.client.delete(present))


async def lag(at: Cell, chance: Random) -> None:
    at.transport.hold(*chance.sample(["Instance", "WorkloadDeployment", "NetworkBinding"], 2))


async def cut(at: Cell, chance: Random) -> None:
    at.transport.refuses = lambda _verb, _place: (
        Unavailable("unreachable") if chance.random() < 0.3 else None
    )


async def heal(at: Cell, _: Random) -> None:
    at.transport.hold()
    at.transport.refuses = lambda _verb, _place: None


DEEDS: tuple[Deed, ...] = (
    scale, roll, pause, kill, unbind, unlabel, relocate, lag, cut, heal, heal,
)  # fmt: skip


@pytest.mark.parametrize("seed", range(8))
def test_it_ends_as_the_last_spec_says(tmp_path: Path, seed: int) -> None:
    """After random writes of users and neighbours, and network failures, it settles."""

    async def story(stage: Stage) -> None:
        chance = Random(seed)
        at = await cell(stage, copies=2)
        at.machines.bad = ("*/broken:*",)
        policy = chance.choice(["OrderedReady", "Parallel"])
        await at.deploy(deployment(3, policy=policy))
        for _ in range(40):
            await asyncio.sleep(chance.choice([0.0, 0.1, 1.0, 5.0]))
            try:
                await chance.choice(DEEDS)(at, chance)
            except (Conflict, NotFound):
                continue  # a user tries again, or lets it be
        await heal(at, chance)
        if await at.client.find(Location, "lab-dfw-1") is None:
            await at.client.create(location())
        await at.change(
            lambda of: with_meta(scaled(image(of, "registry.test/web:last"), 3), annotations={})
        )
        await at.ready(3, seconds=3600)
        there = await at.instances()
        assert [one.metadata.name for one in there] == [f"web-home-dfw-{n}" for n in range(3)]
        assert {instance_image(one) for one in there} == {"registry.test/web:last"}
        assert all(map(slots.is_ready, there))
        await stage.rest(60)
        assert await stage.quiet() == []

    staged(tmp_path, story)
