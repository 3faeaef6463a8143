"""How objects are counted: by city, phase and reason."""

import pytest
from msgspec.structs import replace

from compute.api.reasons import Reason
from compute.decide import object_health
from tests.support.compute import builders
from tests.support.compute.builders import NOW, condition


def ready(status, reason, kind="Ready"):
    return condition(kind, status, reason, since=NOW)


@pytest.mark.parametrize(
    ("said", "phase", "reason"),
    [
        ((), "Progressing", ""),
        ((ready("True", Reason.AVAILABLE),), "Ready", "Available"),
        ((ready("False", Reason.PROVISIONING),), "Progressing", "Provisioning"),
        ((ready("False", Reason.IMAGE_UNAVAILABLE),), "Stuck", "ImageUnavailable"),
        ((ready("False", "OfAnotherProvider"),), "Progressing", "Other"),
    ],
)
def test_an_instance_is_counted_by_what_its_readiness_says(said, phase, reason):
    """A reason that is not from our list would be a label that anything could write."""
    assert object_health.of_instance(builders.instance(conditions=said)) == ("DFW", phase, reason)


def test_what_is_being_deleted_is_counted_as_that():
    """Whatever it says of itself, it is on its way out: neither unready nor waiting for quota."""
    said = (
        ready("False", Reason.PROVISIONING),
        ready("False", Reason.QUOTA_EXCEEDED, "QuotaGranted"),
    )
    going = builders.instance(conditions=said, deletion_timestamp=NOW)

    assert object_health.of_instance(going).phase == "Deleting"
    assert object_health.unready_since(going) is None
    assert object_health.waits_for_quota(going) is None


def test_workloads_and_deployments_are_counted_by_their_availability():
    """A Workload is in no city, a deployment in one."""
    workload, deployment = builders.workload(), builders.deployment()
    stuck = (ready("Unknown", Reason.CELL_UNREACHABLE, "Available"),)
    deployment = replace(deployment, status=replace(deployment.status, conditions=stuck))

    assert object_health.of_workload(workload) == ("", "Progressing", "")
    assert object_health.of_deployment(deployment) == ("DFW", "Stuck", "CellUnreachable")


def test_an_instance_is_unready_since_its_readiness_changed():
    """One of which nothing was said yet is unready since it was made."""
    waiting = builders.instance(conditions=(ready("False", Reason.PROVISIONING),))
    new = builders.instance(creation_timestamp=NOW)

    assert object_health.unready_since(waiting) == NOW
    assert object_health.unready_since(new) == NOW
    assert (
        object_health.unready_since(builders.instance(conditions=(ready("True", "Available"),)))
        is None
    )


@pytest.mark.parametrize(
    ("said", "waits"),
    [
        ((), None),
        ((ready("True", Reason.QUOTA_AVAILABLE, "QuotaGranted"),), None),
        ((ready("Unknown", Reason.PENDING_EVALUATION, "QuotaGranted"),), "PendingEvaluation"),
        ((ready("False", Reason.QUOTA_EXCEEDED, "QuotaGranted"),), "QuotaExceeded"),
    ],
)
def test_an_instance_waits_for_quota_until_its_claim_is_granted(said, waits):
    """By the reason that it gives."""
    assert object_health.waits_for_quota(builders.instance(conditions=said)) == waits
