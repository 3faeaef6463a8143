"""The status of a claim."""

from datetime import timedelta

import msgspec

from compute.api import names
from compute.api.quota import NEW_RESOURCE_CLAIM_STATUS, ResourceRequest
from compute.decide import quota
from compute.decide.budget import denied, granted, refused, reopened
from kubekit.api.fields import required
from tests.support.compute.builders import NOW
from tests.support.compute.service_builders import claim

LATER = NOW + timedelta(minutes=5)


def new(vcpus: int = 0):
    made = claim(vcpus=vcpus) if vcpus else claim()
    metadata = msgspec.structs.replace(made.metadata, generation=2)
    return msgspec.structs.replace(made, metadata=metadata, status=NEW_RESOURCE_CLAIM_STATUS)


def said(status):
    one = status.conditions[0]
    return one.type, one.status, one.reason, one.observed_generation, one.last_transition_time


def test_a_granted_claim_has_all_it_asked_for():
    """Each request is answered with its amount and the bucket that gave it."""
    status = granted(new(vcpus=500), "shop", NOW)
    assert said(status) == ("Granted", "True", "QuotaAvailable", 2, NOW)
    assert [(a.resource_type, a.status, a.allocated_amount) for a in status.allocations] == [
        (quota.INSTANCES, "Granted", 1),
        (quota.VCPUS, "Granted", 500),
    ]
    assert status.allocations[0].allocating_bucket == names.bucket(
        quota.INSTANCES, "Project", "shop"
    )
    assert status.observed_generation == 2


def test_a_denied_claim_has_nothing_and_knows_what_was_lacking():
    """It reports each amount that was not available, and that the others wait for it: none is denied
    finally, so that the claim is not created again and keeps its position.
    """
    status = denied(new(vcpus=500), {quota.INSTANCES: 3}, {quota.INSTANCES: 1}, NOW)
    assert said(status)[1:3] == ("False", "QuotaExceeded")
    assert status.conditions[0].message == (
        "Not enough quota: vcpus: 0.5 asked for, 0 of 0 left. "
        "Scale down, delete something, or ask for more quota"
    )
    assert [(a.status, a.reason, a.allocated_amount) for a in status.allocations] == [
        ("Pending", "PendingEvaluation", 0),
        ("Pending", "QuotaExceeded", 0),
    ]


def test_a_refused_claim_reports_what_to_correct():
    """It names the field."""
    status = refused(new(), [required("spec.resourceRef", "name it")], NOW)
    assert said(status)[1:3] == ("False", "ValidationFailed")
    assert status.allocations[0].message == "spec.resourceRef: Required value: name it"


def test_a_reopened_claim_is_as_good_as_new():
    """It waits again, and has no answers."""
    status = reopened(new(), NOW)
    assert (said(status)[2], status.allocations) == ("PendingEvaluation", ())


def test_a_type_that_is_asked_for_twice_is_answered_once():
    """The answers are a map by type; two of one type would not be taken."""
    made = new()
    twice = (ResourceRequest(resource_type="cpu", amount=1),) * 2
    spec = msgspec.structs.replace(made.spec, requests=twice)
    assert len(refused(msgspec.structs.replace(made, spec=spec), [], NOW).allocations) == 1
