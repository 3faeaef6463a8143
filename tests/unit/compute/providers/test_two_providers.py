"""Two providers of one cell, with different caches and clocks, do not undo each other's conditions."""

from datetime import timedelta

import pytest
from msgspec.structs import replace

from compute.providers.machines import NODE
from compute.providers.simulated import controllers
from kubekit.api.kinds.core import ConfigMap
from kubekit.runtime.controller_factory import ControllerFactory
from kubekit.runtime.reporting.metrics import Metrics
from kubekit.runtime.requests import cluster_name
from tests.support.compute.network_builders import settings
from tests.support.compute.provider_builders import CELL, cell, live, machine, message, seen, start
from tests.support.kubekit.deaf import SilenceableTransport, listener
from tests.support.kubekit.stage import Stage, staged

SETTINGS = "simulated-provider"


async def provider(stage: Stage, number: int = 0, ahead: float = 0.0) -> SilenceableTransport:
    """A process of its own, with caches of its own, whose clock is so many seconds ahead."""
    role = stage.role(f"cell-{number}")
    ear, client = listener(await stage.plane("dfw"))
    await role.engage(cluster_name("dfw"), client)
    now, late = stage.environment.now, timedelta(seconds=ahead)
    around = replace(stage.environment, now=lambda: now() + late)
    stage.start(*controllers(role, ControllerFactory(around, Metrics(), f"provider-{number}")))
    return ear


def test_a_provider_with_stale_settings_undoes_nothing(tmp_path):
    """It asks for the settings before it takes back what another says, and comes to the same."""

    async def story(stage):
        await cell(stage, copies=0)
        ear = await provider(stage, 0)
        await provider(stage, 1)
        await start(stage, machine())
        node = (await seen(stage)).metadata.annotations[NODE]
        ear.stop(ConfigMap)

        await settings(stage, "dfw", SETTINGS, lostNodes=node, recoverySeconds="600")
        down = await seen(stage, available="Provisioning")

        assert message(down).startswith(f"{node} has failed")
        assert await stage.quiet(60.0) == []

    staged(tmp_path, story, CELL)


def test_settings_that_were_deleted_while_the_watch_stood_still_hold_no_more(tmp_path):
    """A live read that finds none applies the defaults."""

    async def story(stage):
        await cell(stage, copies=0)
        ear = await provider(stage, 0)
        await provider(stage, 1)
        written = await settings(stage, "dfw", SETTINGS, crashRate="1")
        await start(stage, machine())
        await seen(stage, available="InstanceCrashing")
        ear.stop(ConfigMap)

        await stage.client("dfw").delete(written)

        await seen(stage)
        assert await stage.quiet(60.0) == []

    staged(tmp_path, story, CELL)


def test_a_machine_stays_on_a_node_that_is_back_though_the_watch_stands_still(tmp_path):
    """A machine is moved by the current settings, not by the cached ones."""

    async def story(stage):
        await cell(stage, copies=0)
        ear = await provider(stage)
        await start(stage, machine())
        node = (await seen(stage)).metadata.annotations[NODE]
        await settings(stage, "dfw", SETTINGS, lostNodes=node, recoverySeconds="60")
        await seen(stage, available="Provisioning")
        ear.stop(ConfigMap)
        await settings(stage, "dfw", SETTINGS)

        assert (await seen(stage, seconds=90.0)).metadata.annotations[NODE] == node

    staged(tmp_path, story, CELL)


def test_settings_are_observed_again_once_a_watch_goes_on(tmp_path):
    """What was asked for while a watch stood still gives way to what it shows later."""

    async def story(stage):
        await cell(stage, copies=0)
        ear = await provider(stage)
        await start(stage, machine())
        node = (await seen(stage)).metadata.annotations[NODE]
        await settings(stage, "dfw", SETTINGS, lostNodes=node, recoverySeconds="60")
        await seen(stage, available="Provisioning")
        ear.stop(ConfigMap)
        await settings(stage, "dfw", SETTINGS)
        await seen(stage, seconds=90.0)
        ear.deaf = False

        await settings(stage, "dfw", SETTINGS, crashRate="1")

        await seen(stage, available="InstanceCrashing")

    staged(tmp_path, story, CELL)


@pytest.mark.parametrize("ahead", [600.0, -600.0], ids=["the second", "the first"])
@pytest.mark.parametrize(
    "trouble",
    [
        {"bootFailureRate": "1", "startSeconds": "1"},
        {"crashRate": "1", "startSeconds": "30"},
        {"startSeconds": "30"},
    ],
    ids=["no boot", "crashes", "slow"],
)
@pytest.mark.parametrize("moved", [False, True], ids=["there", "moved"])
def test_providers_whose_clocks_differ_agree(tmp_path, trouble, ahead, moved):
    """What one says of a machine by a clock that is ahead, the other does not take back."""

    async def story(stage):
        await cell(stage, copies=0)
        await provider(stage, 0)
        await provider(stage, 1, ahead)
        await settings(stage, "dfw", SETTINGS, **trouble)
        await start(stage, machine())
        assert len(await stage.quiet(60.0)) < 10
        if moved:
            node = (await live(stage)).metadata.annotations[NODE]
            await settings(stage, "dfw", SETTINGS, lostNodes=node, **trouble)
            assert len(await stage.quiet(120.0)) < 10
            assert (await live(stage)).metadata.annotations[NODE] != node

    staged(tmp_path, story, CELL)
