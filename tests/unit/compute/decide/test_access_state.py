"""The state of a project's access to compute."""

from datetime import timedelta

import msgspec
import pytest

from compute.api.services import (
    ServiceEntitlement,
    ServiceEntitlementSpec,
    ServiceEntitlementStatus,
    ServiceRef,
)
from compute.decide.access_state import AccessState, project_access
from kubekit.api.meta import Condition, ObjectMeta
from tests.support.compute.builders import NOW, condition


def entitlement(
    phase: str = "Active",
    *conditions: Condition,
    entitled: bool = False,
    service: str = "compute.datumapis.com",
    name: str = "compute",
) -> ServiceEntitlement:
    return ServiceEntitlement(
        metadata=ObjectMeta(name=name, creation_timestamp=NOW),
        spec=ServiceEntitlementSpec(service_ref=ServiceRef(name=service)),
        status=ServiceEntitlementStatus(
            phase=phase, conditions=conditions, entitled_at=NOW if entitled else None
        ),
    )


def ready(reason: str, message: str = "") -> Condition:
    return condition("Ready", "False", reason, message, since=NOW + timedelta(minutes=1))


@pytest.mark.parametrize(
    ("given", "state"),
    [
        (None, "CatalogUnavailable"),
        ([], "NotRequested"),
        ([entitlement(service="other.example.com")], "NotRequested"),
        ([entitlement("")], "Processing"),
        ([entitlement("PendingApproval")], "PendingApproval"),
        ([entitlement("Active")], "Active"),
        ([entitlement("Rejected")], "Denied"),
        ([entitlement("Rejected", entitled=True)], "Revoked"),
        ([entitlement("Rejected", ready("ServiceNotPublished"))], "Unavailable"),
        ([entitlement("", ready("EntitlementPendingApproval"))], "Processing"),
    ],
)
def test_the_state_follows_from_the_entitlements(given, state):
    """The phase decides, and the time of an earlier approval; no service is a state of its own."""
    assert project_access(given).state == state


def test_the_best_of_several_entitlements_decides():
    """A second request that waits does not take away what was approved."""
    entitlements = [entitlement("Rejected"), entitlement("Active"), entitlement("PendingApproval")]

    assert project_access(entitlements).state is AccessState.ACTIVE


def test_an_entitlement_that_is_being_deleted_does_not_count():
    """Nothing can be done with it any more."""
    present = entitlement("Active")
    meta = msgspec.structs.replace(present.metadata, deletion_timestamp=NOW)

    access = project_access([msgspec.structs.replace(present, metadata=meta)])

    assert access.state is AccessState.NOT_REQUESTED


def test_the_service_may_be_named_by_the_status():
    """A reference may call it by another name."""
    present = entitlement("Active", service="compute")
    status = msgspec.structs.replace(present.status, service_name="compute.datumapis.com")

    assert project_access([msgspec.structs.replace(present, status=status)]).state == "Active"


def test_the_reason_of_the_server_is_kept():
    """It says why, since when, and whether the project is suspended."""
    suspended = condition("Suspended", "True", "ProjectSuspended")
    given = entitlement("Rejected", ready("EntitlementRejected", "No budget"), suspended)

    access = project_access([given])

    assert (access.message, access.suspended) == ("No budget", True)
    assert access.since == NOW + timedelta(minutes=1)
    assert access.requested_at == NOW


def test_a_request_is_young_for_fifteen_seconds():
    """As long as a first answer may still come at once."""
    access = project_access([entitlement("")])

    assert access.since == NOW
    assert access.is_young(NOW + timedelta(seconds=14))
    assert not access.is_young(NOW + timedelta(seconds=15))
    assert not project_access(None).is_young(NOW)
