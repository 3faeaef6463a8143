"""Programs that end: what an Instance reports while its Pod restarts them, or is replaced."""

from datetime import timedelta

import pytest
from msgspec.structs import replace

from compute.api.compute import Instance
from kubekit.api.kinds.events import CoreEvent
from kubekit.api.kinds.pods import Pod
from tests.support.compute.pod_builders import pod_cell, pod_instance, pod_of
from tests.support.compute.pod_kinds import staged_pods
from tests.support.compute.provider_builders import (
    NS,
    live,
    message,
    name,
    seen,
    start,
    status_and_reason,
)

AVAILABLE = ("True", "Available")


@pytest.mark.parametrize(
    ("image", "reason", "part"),
    [
        ("crashing:1", "InstanceCrashing", "The container app ended with exit code 1; "),
        ("hungry:1", "InstanceCrashing", "more memory than the instance has (OOMKilled, exit code"),
        ("misspelled:1", "ConfigurationError", 'cannot start: exec: "/srv/wbe": no such file'),
    ],
)
def test_a_program_that_ends_again_and_again(tmp_path, image, reason, part):
    """The phase of its Pod stays Running; the Instance says how it ends."""

    async def story(stage):
        await pod_cell(stage)
        await start(stage, pod_instance(image=image))

        broken = await seen(stage, available=reason)

        assert part in message(broken)
        assert (await pod_of(stage)).status.phase == "Running"
        assert status_and_reason(broken, "Programmed") == ("True", "Programmed")

    staged_pods(tmp_path, story)


def test_a_crash_loop_is_never_available(tmp_path):
    """Between two crashes the program runs for a moment. A rollout must not go on for that."""

    async def story(stage):
        await pod_cell(stage)
        await start(stage, pod_instance(image="crashing:1"))
        await seen(stage, available="InstanceCrashing")
        after = stage.environment.now() + timedelta(minutes=10)
        states = set()

        def look(instance):
            states.add(status_and_reason(instance))
            return stage.environment.now() > after

        await stage.named("dfw", Instance, name(), NS, look, 1000.0)
        assert {reason for _, reason in states} == {"InstanceCrashing"}
        assert {status for status, _ in states} == {"False"}

    staged_pods(tmp_path, story)


def test_a_program_that_fails_once_is_available_when_it_has_proven_itself(tmp_path):
    """It is no crash loop, and it counts after it has run for half a minute."""

    async def story(stage):
        await pod_cell(stage)
        await start(stage, pod_instance(image="migrating:1"))
        again = await stage.named(
            "dfw", Instance, name(), NS, lambda i: "it runs again" in message(i)
        )
        assert status_and_reason(again) == ("False", "Starting")
        began = stage.environment.now()

        await seen(stage)

        assert stage.environment.now() - began > timedelta(seconds=25)
        assert await stage.quiet() == []

    staged_pods(tmp_path, story)


def test_an_evicted_pod_is_replaced_and_the_event_says_why(tmp_path):
    """It never runs again, so another Pod takes its place at once."""

    async def story(stage):
        nodes = await pod_cell(stage)
        await start(stage, pod_instance())
        await seen(stage)
        await stage.quiet(60.0)
        pod = await pod_of(stage)
        said = {"reason": "Evicted", "message": "The node was low on resource: memory."}

        status = replace(pod.status, phase="Failed", **said)
        await nodes.client.patch_status(pod, replace(pod, status=status))
        failed = await seen(stage, available="Stopping")

        why = "Evicted: The node was low on resource: memory."
        assert message(failed).startswith(f"The Pod is being stopped ({why})")
        await seen(stage)
        assert len(nodes.placed) == 2
        events = (await stage.client("dfw").every(CoreEvent, NS)).items
        assert [e.message for e in events] == [f"The Pod has failed: {why}; it is replaced"]

    staged_pods(tmp_path, story)


def test_a_pod_whose_containers_have_all_ended_is_replaced(tmp_path):
    """A node that shuts down may end a Pod in order."""

    async def story(stage):
        nodes = await pod_cell(stage)
        await start(stage, pod_instance())
        await seen(stage)
        await stage.quiet(60.0)
        pod = await pod_of(stage)

        status = replace(pod.status, phase="Succeeded")
        await nodes.client.patch_status(pod, replace(pod, status=status))

        await seen(stage, available="Stopping")
        await seen(stage)
        assert len(nodes.placed) == 2

    staged_pods(tmp_path, story)


def test_pods_that_a_node_rejects_are_replaced_less_and_less_often(tmp_path):
    """In ten minutes there are a few attempts; when the node takes Pods again, the Instance runs."""

    async def story(stage):
        nodes = await pod_cell(stage, rejects="OutOfcpu")
        await start(stage, pod_instance())
        failed = await seen(stage, available="Failed")
        assert "OutOfcpu: Pod was rejected" in message(failed)

        await stage.quiet(600.0)

        assert 5 <= len(nodes.placed) <= 9
        nodes.rejects = ""
        await seen(stage, seconds=600.0)
        assert status_and_reason(await live(stage)) == AVAILABLE
        assert len((await stage.client("dfw").every(Pod)).items) == 1

    staged_pods(tmp_path, story)
