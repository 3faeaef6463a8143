"""Whether a project may use a service."""

from datetime import timedelta

import msgspec
import pytest

from compute.api import annotations
from compute.api.services import ServiceEntitlement, ServiceEntitlementSpec, ServiceRef
from compute.decide.conditions import find
from compute.decide.entitlement import ApprovalSettings, answer, read_settings
from kubekit.api.meta import ObjectMeta
from tests.support.compute.builders import NOW

COMPUTE = "compute.datumapis.com"
AUTOMATIC, MANUAL = ApprovalSettings(), ApprovalSettings(automatic=False)
SLOW = ApprovalSettings(delay=timedelta(seconds=30))


def asked(service: str = COMPUTE, word: str = "", why: str = "") -> ServiceEntitlement:
    marks = {annotations.APPROVAL: word, annotations.APPROVAL_MESSAGE: why}
    meta = ObjectMeta(
        name="compute",
        creation_timestamp=NOW,
        generation=1,
        annotations={key: value for key, value in marks.items() if value},
    )
    spec = ServiceEntitlementSpec(service_ref=ServiceRef(name=service))
    return ServiceEntitlement(metadata=meta, spec=spec)


@pytest.mark.parametrize(
    ("entitlement", "settings", "phase", "reason", "again"),
    [
        pytest.param(asked(), AUTOMATIC, "Active", "EntitlementActive", None, id="by itself"),
        pytest.param(
            asked(), SLOW, "PendingApproval", "EntitlementPendingApproval", 30, id="later"
        ),
        pytest.param(
            asked(), MANUAL, "PendingApproval", "EntitlementPendingApproval", None, id="by hand"
        ),
        pytest.param(
            asked(word="Approved"), MANUAL, "Active", "EntitlementActive", None, id="approved"
        ),
        pytest.param(
            asked(word="Denied"), AUTOMATIC, "Rejected", "EntitlementRejected", None, id="denied"
        ),
        pytest.param(
            asked(word="perhaps"),
            AUTOMATIC,
            "Active",
            "EntitlementActive",
            None,
            id="unknown approval",
        ),
        pytest.param(
            asked("dns.example.com", "Approved"),
            AUTOMATIC,
            "PendingApproval",
            "ServiceNotPublished",
            None,
            id="no such service",
        ),
    ],
)
def test_what_becomes_of_an_entitlement(entitlement, settings, phase, reason, again):
    """An approval overrides the settings; a service must exist to be approved."""
    found = answer(entitlement, settings, NOW, suspended=False)
    ready = find(found.status.conditions, "Ready")
    assert ready is not None
    assert (found.status.phase, ready.reason) == (phase, reason)
    wait = found.requeue_after
    assert (wait.total_seconds() if wait else None) == again
    assert (found.status.entitled_at == NOW) is (phase == "Active")
    assert (found.status.origin, found.status.observed_generation) == ("Direct", 1)


def test_an_approval_that_takes_a_while_comes():
    """After the delay the entitlement is active, and stays so from then on, whatever is decided."""
    later = answer(asked(), SLOW, NOW + timedelta(seconds=30), suspended=False)
    assert later.status.phase == "Active"
    had = msgspec.structs.replace(asked(), status=later.status)
    kept = answer(had, MANUAL, NOW + timedelta(days=1), suspended=False)
    assert kept.status == later.status


def test_a_rejection_after_an_approval_keeps_when_it_was_approved():
    """That shows that access was revoked, and not merely denied."""
    approved = answer(asked(), AUTOMATIC, NOW, suspended=False)
    had = msgspec.structs.replace(asked(word="Denied"), status=approved.status)

    revoked = answer(had, AUTOMATIC, NOW + timedelta(days=1), suspended=False)

    assert (revoked.status.phase, revoked.status.entitled_at) == ("Rejected", NOW)


def test_a_rejection_says_why():
    """The message of the denial reaches the requester."""
    found = answer(asked(word="Denied", why="not for toys"), AUTOMATIC, NOW, suspended=False)
    ready = find(found.status.conditions, "Ready")
    assert ready is not None
    assert ready.message == "not for toys"


@pytest.mark.parametrize(
    ("suspended", "status", "reason"),
    [(True, "True", "ProjectSuspended"), (False, "False", "ProjectActive")],
)
def test_a_suspended_project_shows_it(suspended, status, reason):
    """It does not lose the service by that."""
    found = answer(asked(), AUTOMATIC, NOW, suspended=suspended)
    said = find(found.status.conditions, "Suspended")
    assert said is not None
    assert (said.status, said.reason, found.status.phase) == (status, reason, "Active")


def test_settings_are_read_key_by_key():
    """What is not said is as without a ConfigMap."""
    said = {"approval": "Manual", "delaySeconds": "2.5", "services": f"{COMPUTE}, dns.example.com,"}
    wanted = ApprovalSettings(
        automatic=False,
        delay=timedelta(seconds=2.5),
        services=(COMPUTE, "dns.example.com"),
    )
    assert read_settings(said, AUTOMATIC) == (wanted, [])
    assert read_settings({"approval": "Automatic"}, wanted) == (AUTOMATIC, [])


@pytest.mark.parametrize("delay", ["soon", "-1", "nan", "inf", "99999999999"])
def test_a_setting_that_cannot_be_read_stays_as_it_was(delay):
    """The key is named, and the last good value stays."""
    known = ApprovalSettings(automatic=False, delay=timedelta(seconds=7))
    kept, faults = read_settings({"approval": "maybe", "delaySeconds": delay}, known)
    assert kept == known
    assert [fault.partition(":")[0] for fault in faults] == ["approval", "delaySeconds"]


def test_an_unknown_key_is_named():
    """It was meant to change something."""
    kept, faults = read_settings({"delay": "5"}, AUTOMATIC)
    assert kept == AUTOMATIC
    assert faults == ["delay: no such key; there are approval, delaySeconds, services"]


def test_settings_that_are_unreadable_at_first_approve_nothing():
    """After a restart the last value is unknown; a delay does less harm than an approval."""
    kept, faults = read_settings({"approval": "maybe", "delaySeconds": "soon"}, None)
    assert kept == MANUAL
    assert len(faults) == 2
    assert read_settings({}, None) == (AUTOMATIC, [])
