"""Failures on request: images, boots, crashes, nodes, and settings that are wrong."""

from datetime import timedelta

import pytest

from compute.api.compute import Instance
from compute.providers.machines import NODE
from kubekit.api.kinds.events import Event
from tests.support.compute.network_builders import settings
from tests.support.compute.provider_builders import (
    CELL,
    NS,
    addresses,
    cell,
    live,
    machine,
    message,
    name,
    seen,
    start,
    status_and_reason,
)
from tests.support.kubekit.stage import staged


@pytest.mark.parametrize(
    ("image", "reason", "programmed"),
    [
        ("registry.test/does-not-exist:1", "ImageUnavailable", "False"),
        ("registry.test/misconfigured", "ConfigurationError", "False"),
        ("registry.test/crash-loop:2", "InstanceCrashing", "True"),
    ],
)
def test_images_that_fail(tmp_path, image, reason, programmed):
    """By default the image's name decides, so it is easy to try; the message names the image."""

    async def story(stage):
        await cell(stage)
        await start(stage, machine(image=image))

        failed = await seen(stage, available=reason)

        assert status_and_reason(failed, "Programmed")[0] == programmed
        assert image in message(failed)
        await stage.rest()
        assert await stage.quiet() == []

    staged(tmp_path, story, CELL)


def test_which_images_fail_can_be_set(tmp_path):
    """At run time: a failing machine recovers when its pattern is removed."""

    async def story(stage):
        await cell(stage)
        await settings(stage, "dfw", "simulated-provider", unavailableImages="a*, web:*")
        await start(stage, machine(image="web:1"))
        await seen(stage, available="ImageUnavailable")

        await settings(stage, "dfw", "simulated-provider", unavailableImages="other")
        await seen(stage)
        await settings(stage, "dfw", "simulated-provider", crashingImages="web:1")
        await seen(stage, available="InstanceCrashing")

    staged(tmp_path, story, CELL)


def test_a_machine_that_does_not_boot_is_tried_again(tmp_path):
    """While every attempt fails it says so, writing once; it comes up when that ends."""

    async def story(stage):
        await cell(stage)
        await settings(stage, "dfw", "simulated-provider", bootFailureRate="1", startSeconds="1")
        await start(stage, machine())
        await stage.named(
            "dfw", Instance, name(), NS, lambda i: "did not boot" in message(i), seconds=30.0
        )
        await stage.rest()
        assert await stage.quiet() == []

        await settings(stage, "dfw", "simulated-provider", startSeconds="1")
        await seen(stage)

    staged(tmp_path, story, CELL)


def test_machines_may_crash_by_chance(tmp_path):
    """At a rate of one they all do; at zero none does."""

    async def story(stage):
        await cell(stage)
        await settings(stage, "dfw", "simulated-provider", crashRate="1")
        await start(stage, machine())
        await seen(stage, available="InstanceCrashing")
        await settings(stage, "dfw", "simulated-provider", crashRate="0")
        await seen(stage)

    staged(tmp_path, story, CELL)


def test_a_lost_node(tmp_path):
    """Its machines are down, and after a while run on another node, with the addresses they had."""

    async def story(stage):
        await cell(stage)
        await start(stage, machine())
        node = (await seen(stage)).metadata.annotations[NODE]
        await settings(stage, "dfw", "simulated-provider", lostNodes=node, recoverySeconds="60")
        started_at = stage.environment.now()
        down = await seen(stage, available="Provisioning")
        assert message(down) == f"{node} has failed; the instance is started on another node"

        back = await seen(stage, seconds=90.0)

        assert stage.environment.now() - started_at >= timedelta(seconds=59)
        assert back.metadata.annotations[NODE] != node
        assert addresses(back) == addresses(down) == ["10.0.0.2"]
        await stage.rest()
        assert await stage.quiet() == []

    staged(tmp_path, story, CELL)


def test_a_node_that_comes_back_in_time(tmp_path):
    """Its machines go on where they are."""

    async def story(stage):
        await cell(stage)
        await start(stage, machine())
        node = (await seen(stage)).metadata.annotations[NODE]
        await settings(stage, "dfw", "simulated-provider", lostNodes=node)
        await seen(stage, available="Provisioning")
        await settings(stage, "dfw", "simulated-provider")

        assert (await seen(stage)).metadata.annotations[NODE] == node

    staged(tmp_path, story, CELL)


def test_some_machines_of_a_node(tmp_path):
    """A pattern after the node's name says which of its machines are lost."""

    async def story(stage):
        await cell(stage)
        await settings(stage, "dfw", "simulated-provider", nodes="1")
        await start(stage, machine(0), machine(1))
        await seen(stage, 0)
        await seen(stage, 1)
        lost = {"nodes": "1", "lostNodes": "node-0/*-1"}
        await settings(stage, "dfw", "simulated-provider", **lost)

        await seen(stage, 1, available="Provisioning")
        assert status_and_reason(await live(stage, 0)) == ("True", "Available")

    staged(tmp_path, story, CELL)


def test_no_node_is_left(tmp_path):
    """New Instances say so and have no machine, old ones stay down; all run when one is back."""

    async def story(stage):
        await cell(stage)
        await start(stage, machine(0))
        await seen(stage)
        await settings(stage, "dfw", "simulated-provider", lostNodes="*")
        await start(stage, machine(1))
        waiting = await seen(stage, 1, available="Provisioning")
        assert message(waiting).startswith("Every node has failed")
        assert waiting.metadata.finalizers == ()
        await stage.rest(120.0)
        assert await stage.quiet() == []

        await settings(stage, "dfw", "simulated-provider")
        await seen(stage, 0)
        await seen(stage, 1)

    staged(tmp_path, story, CELL)


def test_bad_settings_are_reported_and_not_applied(tmp_path):
    """A Warning names the key; what was set before stays in force, until they are corrected."""

    async def story(stage):
        await cell(stage)
        await settings(stage, "dfw", "simulated-provider", crashRate="1")
        await start(stage, machine())
        await seen(stage, available="InstanceCrashing")
        bad = {"crashRate": "often", "startSeconds": "0", "colour": "red"}
        await settings(stage, "dfw", "simulated-provider", **bad)
        await stage.rest()
        events = (await stage.client("dfw").every(Event, "compute-system")).items
        assert {(e.reason, e.type, e.note.partition(":")[0]) for e in events} == {
            ("SettingsInvalid", "Warning", "crashRate"),
            ("SettingsInvalid", "Warning", "colour"),
        }
        assert status_and_reason(await live(stage))[1] == "InstanceCrashing"

        await settings(stage, "dfw", "simulated-provider", crashRate="0")
        await seen(stage)

    staged(tmp_path, story, CELL)


def test_settings_that_are_deleted(tmp_path):
    """The defaults hold again; and other ConfigMaps never did."""

    async def story(stage):
        await cell(stage)
        await settings(stage, "dfw", "something-else", crashRate="1")
        written = await settings(stage, "dfw", "simulated-provider", crashRate="1")
        await start(stage, machine())
        await seen(stage, available="InstanceCrashing")

        await stage.client("dfw").delete(written)
        await seen(stage)

    staged(tmp_path, story, CELL)
