"""A hub that has gone back in time: what cells have is kept for a while, and then the hub is obeyed."""

import asyncio
from collections.abc import Callable

import pytest

from compute.api.compute import WorkloadDeployment
from compute.federation import karmada_keys
from tests.support.compute.engine_builders import (
    NS,
    WD,
    arrived,
    change,
    report,
    run_story,
    scaled,
    send,
    sent,
    settle,
    work,
)
from tests.support.compute.federation_builders import with_meta
from tests.support.kubekit.stage import Stage


def ahead(replicas: int) -> Callable[[WorkloadDeployment], WorkloadDeployment]:
    """The copy in a cell as a later version of the hub's object left it."""

    def edited(copy: WorkloadDeployment) -> WorkloadDeployment:
        noted = copy.metadata.annotations | {karmada_keys.TEMPLATE_GENERATION: "9"}
        return scaled(with_meta(copy, annotations=noted), replicas)

    return edited


async def replicas(stage: Stage) -> int:
    return (await arrived(stage)).spec.scale_settings.min_replicas


async def noted(stage: Stage) -> str:
    return (await arrived(stage)).metadata.annotations[karmada_keys.TEMPLATE_GENERATION]


def test_what_a_cell_has_of_a_later_version_is_kept_for_a_while(tmp_path):
    """The federator has time to write the newest specs of the projects to the hub again."""

    async def story(stage: Stage) -> None:
        await send(stage)
        await settle(stage)
        before = await replicas(stage)
        await change(stage, "dfw", sent(), ahead(7))
        await asyncio.sleep(100)
        assert await replicas(stage) == 7
        await asyncio.sleep(30)
        assert await replicas(stage) == before
        assert await noted(stage) == "1"

    run_story(tmp_path, story)


def test_a_wish_that_is_brought_again_meanwhile_is_taken_at_once(tmp_path):
    """Nothing has to be done for it but to note what the hub counts now, and reports go on."""

    async def story(stage: Stage) -> None:
        await send(stage)
        await settle(stage)
        await change(stage, "dfw", sent(), ahead(7))
        await asyncio.sleep(10)
        assert await noted(stage) == "9"
        seen = (await arrived(stage)).metadata.generation
        await change(stage, "hub", sent(), lambda wd: scaled(wd, 7))
        await asyncio.sleep(10)
        assert await noted(stage) == "2"
        assert (await arrived(stage)).metadata.generation == seen
        await report(stage, ready=7)
        await settle(stage)
        on_hub = await stage.named("hub", WorkloadDeployment, WD, NS)
        assert on_hub.status.ready_replicas == 7
        assert on_hub.status.observed_generation == 2

    run_story(tmp_path, story)


@pytest.mark.parametrize("replicas_then", [3, 5])
def test_what_is_wished_for_after_a_setback_is_done(tmp_path, replicas_then):
    """A generation that starts again is applied from then on, however low it is."""

    async def story(stage: Stage) -> None:
        await send(stage)
        await settle(stage)
        await change(stage, "dfw", sent(), ahead(7))
        await change(stage, "hub", sent(), lambda wd: scaled(wd, 4))
        await asyncio.sleep(300)
        assert await replicas(stage) == 4
        await change(stage, "hub", sent(), lambda wd: scaled(wd, replicas_then))
        await asyncio.sleep(5)
        assert await replicas(stage) == replicas_then
        assert (await work(stage)).status.manifest_statuses

    run_story(tmp_path, story)
