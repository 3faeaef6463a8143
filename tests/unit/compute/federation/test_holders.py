"""A hub that does not remember where it sent an object finds it where it is."""

from contextlib import suppress

import pytest

from compute.api import names
from compute.api.compute import WorkloadDeployment
from compute.app.links import Link
from compute.federation import karmada_keys
from kubekit.api.errors import AlreadyExists
from kubekit.api.kinds.core import Namespace
from kubekit.api.meta import ObjectMeta
from tests.support.compute.engine_builders import (
    NS,
    WD,
    bound,
    run_story_with_links,
    send,
    sent,
    settle,
)
from tests.support.compute.federation_builders import with_meta
from tests.support.kubekit.stage import Stage

BOTH = ("dfw", "dfw-2")


async def leave(stage: Stage, cell: str, **noted: str) -> None:
    """A copy in a cell, as a hub that has forgotten it made it there."""
    client = stage.client(cell)
    with suppress(AlreadyExists):
        await client.create(Namespace(metadata=ObjectMeta(name=NS)))
    annotations = {
        karmada_keys.WORK_NAME: names.work(NS, WD, "WorkloadDeployment"),
        karmada_keys.WORK_NAMESPACE: names.execution_namespace(cell),
    }
    await client.create(with_meta(sent(), annotations=annotations | noted))


async def homes(stage: Stage) -> list[str]:
    return [cell for cell in BOTH if await stage.client(cell).find(WorkloadDeployment, WD, NS)]


@pytest.mark.parametrize("cell", BOTH)
def test_a_copy_that_a_cell_has_is_taken_up_there(tmp_path, cell):
    """It would run twice if another cell of the city were chosen."""

    async def story(stage: Stage, _: dict[str, Link]) -> None:
        await leave(stage, cell)
        before = await stage.named(cell, WorkloadDeployment, WD, NS)
        await send(stage)
        await settle(stage)
        assert await homes(stage) == [cell]
        after = await stage.named(cell, WorkloadDeployment, WD, NS)
        assert after.metadata.uid == before.metadata.uid
        assert [target.name for target in (await bound(stage)).spec.clusters] == [cell]

    run_story_with_links(tmp_path, story, *BOTH)


def test_an_object_that_was_made_in_a_cell_decides_nothing(tmp_path):
    """Only what a Work brought there is ours; the rest may stand in our way, but not choose for us."""

    async def story(stage: Stage, _: dict[str, Link]) -> None:
        await send(stage)
        await settle(stage)
        (chosen,) = await homes(stage)
        (other,) = set(BOTH) - {chosen}
        await stage.client("hub").delete(await stage.named("hub", WorkloadDeployment, WD, NS))
        await settle(stage)
        assert await homes(stage) == []
        await leave(stage, other, **{karmada_keys.WORK_NAME: "of-another-work"})
        await send(stage)
        await settle(stage)
        assert [target.name for target in (await bound(stage)).spec.clusters] == [chosen]

    run_story_with_links(tmp_path, story, *BOTH)


def test_a_cell_that_does_not_answer_holds_up_nothing(tmp_path):
    """The other one gets what is new, though the silent one is still taken for well."""

    async def story(stage: Stage, links: dict[str, Link]) -> None:
        links["dfw"].cut()
        await send(stage)
        await settle(stage)
        binding = await bound(stage, lambda rb: rb.spec.clusters)
        assert binding.spec.clusters[0].name in BOTH

    run_story_with_links(tmp_path, story, *BOTH)
