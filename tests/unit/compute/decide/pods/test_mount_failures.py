"""Files that cannot be mounted."""

from datetime import timedelta
from typing import Any

import pytest
from msgspec.structs import replace

from compute.decide.pods import mount_failures
from kubekit.api.kinds.core import ObjectReference
from kubekit.api.kinds.events import CoreEvent
from kubekit.api.kinds.pods import EmptyDirVolumeSource, PodVolume
from kubekit.api.kinds.value_sources import ConfigMapVolumeSource, SecretVolumeSource
from kubekit.api.meta import ObjectMeta, with_spec, with_status
from tests.support.compute.builders import NOW
from tests.support.compute.pod_statuses import pod

CONF = PodVolume(name="conf", config_map=ConfigMapVolumeSource(name="web-conf"))
KEYS = PodVolume(name="keys", secret=SecretVolumeSource(secret_name="web-keys"))
SPACE = PodVolume(name="space", empty_dir=EmptyDirVolumeSource())
POD = with_spec(pod(), volumes=(CONF, KEYS, SPACE))
SETUP = 'MountVolume.SetUp failed for volume "{}" : {}'
MISSING = SETUP.format("conf", 'configmap "web-conf" not found')


def event(message: str = MISSING, ago: float = 5.0, reason: str = "FailedMount") -> CoreEvent:
    return CoreEvent(
        metadata=ObjectMeta(name="e"),
        involved_object=ObjectReference(uid="uid-pod"),
        reason=reason,
        message=message,
        last_timestamp=NOW - timedelta(seconds=ago),
    )


def message(*events: CoreEvent) -> str | None:
    found = mount_failures.failure(POD, events, NOW)
    return found.message if found else None


@pytest.mark.parametrize(
    ("volume", "why", "named"),
    [
        ("conf", 'configmap "web-conf" not found', "ConfigMap web-conf"),
        ("conf", "configmap references non-existent config key: a", "ConfigMap web-conf"),
        ("keys", 'secret "web-keys" not found', "Secret web-keys"),
    ],
)
def test_the_object_is_named(volume, why, named):
    """Some messages of a kubelet have only the volume."""
    found = mount_failures.failure(POD, [event(SETUP.format(volume, why))], NOW)

    assert found is not None
    assert (found.status, found.reason) == ("False", "ConfigurationError")
    assert found.message == f"The volume {volume} ({named}) cannot be mounted: {why}"


def test_the_newest_counts():
    newer = event(SETUP.format("keys", "new"), ago=1.0)

    assert message(event(), newer) == "The volume keys (Secret web-keys) cannot be mounted: new"


@pytest.mark.parametrize(
    "events",
    [
        [],
        [event(ago=600.0)],
        [event("Unable to attach or mount volumes: timed out")],
        [event(SETUP.format("space", "no room"))],
        [event(SETUP.format("gone", "what"))],
        [event(reason="FailedScheduling")],
        [event(), event("Pulling image", ago=1.0, reason="Pulling")],
    ],
    ids=["none", "old", "summary", "no object", "unknown", "other", "passed"],
)
def test_everything_else_is_no_failure(events):
    assert message(*events) is None


def test_an_event_before_the_mounts_that_passed_is_over():
    assert message(event("Pulling image", ago=9.0, reason="Pulling"), event()) is not None


def test_times_of_events():
    """Without a time of its own, the time of the object counts; without that, it is new."""
    bare = replace(event(), last_timestamp=None)
    old: dict[str, Any] = {"creation_timestamp": NOW - timedelta(hours=1)}

    assert message(bare) is not None
    assert message(replace(bare, metadata=ObjectMeta(name="e", **old))) is None


def test_only_pods_with_files_are_asked_about():
    assert mount_failures.has_files(POD)
    assert not mount_failures.has_files(with_spec(POD, volumes=(SPACE,)))
    assert not mount_failures.has_files(pod())


@pytest.mark.parametrize(("age", "first", "following"), [(0, 10, 10), (10, 0, 10), (80, -70, 80)])
def test_events_are_read_less_and_less_often(age, first, following):
    begun = with_status(POD, start_time=NOW - timedelta(seconds=age))

    assert mount_failures.check_in(begun, NOW) == timedelta(seconds=first)
    assert mount_failures.next_check(begun, NOW) == timedelta(seconds=following)


def test_a_pod_without_a_start_has_just_begun():
    assert mount_failures.check_in(POD, NOW) == timedelta(seconds=10)
    assert mount_failures.next_check(POD, NOW) == timedelta(seconds=10)
