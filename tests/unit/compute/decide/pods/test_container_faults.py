"""Containers that cannot start, or end again and again."""

from datetime import timedelta
from typing import Any

import pytest
from msgspec.structs import replace

from compute.api.reasons import Reason
from compute.decide.pods.container_faults import ContainerFault, worst
from kubekit.api.kinds.pods import ContainerState, ContainerStatus
from kubekit.api.meta import with_status
from tests.support.compute.builders import NOW
from tests.support.compute.pod_statuses import ended, pod, runs, waits


def fault(*statuses: ContainerStatus, **more: Any) -> ContainerFault | None:
    return worst(pod(container_statuses=statuses, **more), NOW)


def stated(*statuses: ContainerStatus) -> tuple[Reason, str]:
    found = fault(*statuses)
    assert found is not None
    return found.reason, found.message


def ago(seconds: float):
    return NOW - timedelta(seconds=seconds)


@pytest.mark.parametrize(
    ("reason", "message", "why"),
    [
        ("ErrImagePull", "pull access denied", "pull access denied"),
        (
            "ImagePullBackOff",
            'Back-off pulling image "web:1": ErrImagePull: pull access denied',
            "pull access denied",
        ),
        ("InvalidImageName", 'couldn\'t parse image "WEB:1"', 'couldn\'t parse image "WEB:1"'),
        ("ErrImageNeverPull", "", "ErrImageNeverPull"),
        ("RegistryUnavailable", "no route", "no route"),
    ],
)
def test_images(reason, message, why):
    assert stated(waits(reason, message)) == (
        Reason.IMAGE_UNAVAILABLE,
        f"The image web:1 cannot be pulled: {why}",
    )


def test_the_pause_between_two_attempts_says_nothing():
    status = waits("ImagePullBackOff", 'Back-off pulling image "web:1"')

    assert stated(status)[1] == "The image web:1 cannot be pulled"


@pytest.mark.parametrize(
    ("reason", "message", "why"),
    [
        ("CreateContainerConfigError", 'secret "s" not found', 'secret "s" not found'),
        (
            "CreateContainerConfigError",
            "container has runAsNonRoot and image will run as root",
            "container has runAsNonRoot and image will run as root",
        ),
        ("CreateContainerError", "", "CreateContainerError"),
        ("RunContainerError", "no such mount", "no such mount"),
    ],
)
def test_configurations(reason, message, why):
    assert stated(waits(reason, message)) == (
        Reason.CONFIGURATION_ERROR,
        f"The container app cannot be created: {why}",
    )


@pytest.mark.parametrize(
    ("last", "reason", "message"),
    [
        (
            ended(2),
            Reason.INSTANCE_CRASHING,
            "The container app ended with exit code 2; it is started again and again",
        ),
        (
            ended(1, message="no such table\n"),
            Reason.INSTANCE_CRASHING,
            "The container app ended with exit code 1: no such table; it is started again and again",
        ),
        (
            ended(137, "OOMKilled"),
            Reason.INSTANCE_CRASHING,
            "The container app used more memory than the instance has (OOMKilled, exit code 137); "
            "it is started again and again",
        ),
        (
            ended(128, "StartError", 'exec: "wbe": not found'),
            Reason.CONFIGURATION_ERROR,
            'The container app cannot start: exec: "wbe": not found',
        ),
        (
            ended(127, "ContainerCannotRun"),
            Reason.CONFIGURATION_ERROR,
            "The container app cannot start: ContainerCannotRun",
        ),
        (
            ContainerState(),
            Reason.INSTANCE_CRASHING,
            "The container app ends again and again",
        ),
    ],
)
def test_crash_loops(last, reason, message):
    assert stated(waits("CrashLoopBackOff", last_state=last)) == (reason, message)


@pytest.mark.parametrize(
    ("state", "restarts", "reason"),
    [
        (ended(1), 0, Reason.STARTING),
        (ended(0, "Completed"), 0, Reason.STARTING),
        (ended(1), 1, Reason.INSTANCE_CRASHING),
        (ended(128, "StartError"), 0, Reason.CONFIGURATION_ERROR),
    ],
)
def test_a_container_that_has_just_ended(state, restarts, reason):
    """The first time it is no loop, unless its command is wrong."""
    status = ContainerStatus(name="app", state=state, restart_count=restarts)

    assert stated(status)[0] is reason


def test_an_init_container_that_is_done_is_no_fault():
    done = ContainerStatus(name="init", state=ended(0, "Completed"), ready=True)

    assert fault(runs(), init_container_statuses=(done,)) is None
    broken = ContainerStatus(name="init", image="init:1", state=waits("ErrImagePull", "no").state)
    found = fault(waits("PodInitializing"), init_container_statuses=(broken,))
    assert found is not None
    assert found.message == "The image init:1 cannot be pulled: no"


@pytest.mark.parametrize(
    ("status", "reason"),
    [
        (runs(ago(10), ended(1), 1), Reason.STARTING),
        (runs(ago(10), ended(1), 2), Reason.INSTANCE_CRASHING),
        (runs(ago(10), ended(1, ran=None), 2), Reason.INSTANCE_CRASHING),
        (runs(ago(30), ended(1), 9), None),
        (runs(ago(10), ended(1, ran=3600.0), 9), None),
        (runs(ago(10)), None),
        (runs(None, ended(1), 2), None),
    ],
    ids=["once", "again", "unknown", "proven", "after an hour", "first", "no time"],
)
def test_a_container_that_runs_again(status, reason):
    """It counts once it has run for half a minute, unless it had run for long before."""
    found = fault(status)

    assert (found.reason if found else None) is reason
    if found:
        assert found.passes_in == timedelta(seconds=20)


def test_waiting_containers_without_a_fault():
    assert fault(waits("ContainerCreating"), waits("PodInitializing")) is None
    assert fault() is None


def test_the_worst_is_reported():
    image, config = waits("ErrImagePull", "no"), waits("CreateContainerConfigError", "no")
    crash = waits("CrashLoopBackOff", last_state=ended(1))

    assert stated(crash, image)[0] is Reason.IMAGE_UNAVAILABLE
    assert stated(image, crash, config)[0] is Reason.CONFIGURATION_ERROR
    assert stated(runs(ago(1), ended(1), 1), crash)[0] is Reason.INSTANCE_CRASHING


def test_an_image_is_named_as_the_pod_names_it():
    """A runtime reports it by its digest."""
    status = replace(waits("ErrImagePull", "no"), image="sha256:abc")

    assert "web:1" in stated(status)[1]
    other = with_status(pod(), container_statuses=(replace(status, name="other"),))
    found = worst(other, NOW)
    assert found is not None
    assert "sha256:abc" in found.message
