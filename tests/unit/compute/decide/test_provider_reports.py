"""Which Instances a provider may run, and how its report changes their status."""

from datetime import timedelta

import pytest

from compute.api.compute import InterfaceAssignments, NetworkInterfaceStatus
from compute.api.reasons import Reason
from compute.decide.conditions import find
from compute.decide.provider_reports import (
    ConditionValue,
    ProviderReport,
    is_denied,
    may_run,
    reported,
)
from kubekit.api.meta import with_status
from tests.support.compute.builders import NOW, condition, instance

UP = ConditionValue("True", Reason.AVAILABLE, "It runs")
SET_UP = ConditionValue("True", Reason.PROGRAMMED, "It is set up")
LATER = NOW + timedelta(minutes=1)


@pytest.mark.parametrize(
    ("gates", "quota", "allowed"),
    [
        ((), "True", True),
        ((), "Unknown", True),
        ((), "False", False),
        (("Quota",), "True", False),
        (("Network", "Quota"), "False", False),
    ],
)
def test_an_instance_may_run_without_gates_and_unless_quota_is_denied(gates, quota, allowed):
    made = instance(gates=gates, conditions=(condition("QuotaGranted", quota),))

    assert may_run(made) is allowed
    assert is_denied(made) is (quota == "False")


def test_a_report_sets_conditions_hash_and_addresses():
    address = (NetworkInterfaceStatus(assignments=InterfaceAssignments(network_ip="10.0.0.2")),)
    made = with_status(instance(conditions=(condition("Ready", "False"),)), controller=None)

    status = reported(made, ProviderReport(SET_UP, UP, "abc", address), NOW)

    assert [c.type for c in status.conditions] == ["Ready", "Programmed", "Available"]
    available = find(status.conditions, "Available")
    assert available is not None
    assert (available.status, available.reason, available.message) == (
        "True",
        "Available",
        "It runs",
    )
    assert available.observed_generation == 1
    assert status.controller is not None
    assert status.controller.observed_template_hash == "abc"
    assert status.network_interfaces == address


def test_what_a_report_leaves_out_stays():
    made = instance(conditions=(condition("Programmed"), condition("Available")))

    assert reported(made, ProviderReport(), NOW) == made.status
    stopping = ConditionValue("False", Reason.STOPPING, "It is being stopped")
    status = reported(made, ProviderReport(available=stopping), NOW)
    assert find(status.conditions, "Programmed") == find(made.status.conditions, "Programmed")
    assert status.controller == made.status.controller


def test_an_empty_hash_is_no_template():
    assert reported(instance(), ProviderReport(template_hash=""), NOW).controller is None


def test_the_same_report_again_changes_nothing():
    """Neither the time nor the observed generation: a pass without news writes nothing."""
    made = instance()
    first = with_status(made, conditions=reported(made, ProviderReport(SET_UP, UP), NOW).conditions)

    assert reported(first, ProviderReport(SET_UP, UP), LATER) == first.status


def test_a_long_message_is_cut_once():
    """The messages of other programs have no limit; a cut one is not reported again either."""
    long = ConditionValue("False", Reason.PROVISIONING, "x" * 40_000)
    made = instance()

    status = reported(made, ProviderReport(available=long), NOW)

    available = find(status.conditions, "Available")
    assert available is not None
    assert len(available.message) == 1024
    again = with_status(made, conditions=status.conditions)
    assert reported(again, ProviderReport(available=long), LATER) == again.status
