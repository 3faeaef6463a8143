"""The state of an Instance as one word with its cause."""

from datetime import timedelta

import pytest
from msgspec.structs import replace

from compute.api import annotations
from compute.decide.instance_state import InstanceStanding, InstanceState, standing
from compute.decide.progress.city import last_report
from kubekit.api import times
from tests.support.compute.builders import NOW, condition, deployment
from tests.support.compute.explain_builders import binding
from tests.support.compute.progress_builders import given, running

PROGRAMMED = condition("Programmed", "True", "Programmed")
MINUTE = timedelta(minutes=1)


def ready(status, reason, message="why"):
    return condition("Ready", status, reason, message, since=NOW)


def text(*conditions, gates=()):
    """The state of an Instance with these conditions, in words."""
    return standing(running(0, *conditions, gates=gates), now=NOW).text


@pytest.mark.parametrize(
    ("reason", "words"),
    [
        ("QuotaExceeded", "Pending (quota exceeded)"),
        ("ValidationFailed", "Pending (quota validation failed)"),
        ("PendingEvaluation", "Pending (quota evaluation)"),
        ("ImageUnavailable", "Failed (image unavailable)"),
        ("InstanceCrashing", "Failed (crashing)"),
        ("ConfigurationError", "Failed (configuration error)"),
        ("PendingProgramming", "Starting"),
        ("ProgrammingInProgress", "Starting"),
        ("NetworkProvisioning", "Pending (network provisioning)"),
        ("QuotaProjectIDUnresolvable", "Pending (quota project id unresolvable)"),
        ("Pending", "Pending"),
        ("Stopped", "Stopped"),
        ("VendorSaysNo", "Pending (VendorSaysNo)"),
    ],
)
def test_the_words_of_the_original(reason, words):
    """Each reason has its words; one that is not known here passes through as it is."""
    assert text(ready("False", reason)) == words


def test_ready_is_available():
    """Nothing is said about whether the process runs."""
    assert text(ready("True", "Available")) == "Available"


def test_an_instance_without_conditions_is_pending():
    """Nothing is reported, so nothing is claimed."""
    assert text(condition("Programmed", "Unknown", "Pending")) == "Pending"


def test_programmed_unknown_counts_as_not_programmed():
    """The provider has not reported; Starting must not be claimed once it has set the machine up."""
    waiting = ready("False", "PendingProgramming")

    assert text(waiting, condition("Programmed", "Unknown", "Pending")) == "Starting"
    assert text(waiting, PROGRAMMED) == "Pending (pending programming)"


def test_a_closed_gate_is_never_starting():
    """An Instance that waits at a gate has not begun to start."""
    assert text(ready("False", "PendingProgramming"), gates=("Quota",)) == (
        "Pending (pending programming)"
    )


def test_a_pointer_is_followed_to_the_cause():
    """Ready only refers to the condition of the quota."""
    judged = standing(
        running(
            0,
            ready("False", "PendingQuota"),
            condition("QuotaGranted", "False", "QuotaExceeded", "8 vCPU needed", since=NOW),
            gates=("Quota",),
        ),
        now=NOW,
    )

    assert (judged.text, judged.message, judged.since) == (
        "Pending (quota exceeded)",
        "8 vCPU needed",
        NOW,
    )


def test_the_binding_explains_a_closed_network_gate():
    """Only the binding knows why the network is not ready."""
    waits = running(0, ready("False", "SchedulingGatesPresent"), gates=("Network",))
    refused = binding("NetworkFailedToCreate", "no addresses left")

    judged = standing(waits, None, refused, now=NOW)

    assert (judged.text, judged.message) == (
        "Pending (network failed to create)",
        "no addresses left",
    )


def test_an_instance_that_is_deleted():
    """That it still serves is no news any more."""
    leaving = running(0, deletion_timestamp=NOW, finalizers=("x",))

    assert standing(leaving, now=NOW) == InstanceStanding(InstanceState.DELETING, since=NOW)


def test_a_cell_that_does_not_report_leaves_only_the_last_state():
    """A dead cell must not show Available indefinitely."""
    lost = given(1, condition("Available", "Unknown", "CellUnreachable", "no report", since=NOW))

    judged = standing(running(), lost, now=NOW + MINUTE)

    assert judged.text == "Unreachable (was available)"
    assert (judged.message, judged.last_report) == ("no report", NOW)


def test_the_last_report_of_the_cell_is_more_exact_than_the_condition():
    """The annotation has the time of the report itself."""
    before = NOW - MINUTE
    lost = given(
        1,
        condition("Available", "Unknown", "CellUnreachable", "no report", since=NOW),
        annotations={annotations.LAST_REPORT: times.format_time(before)},
    )

    assert standing(running(), lost, now=NOW).last_report == before


def test_a_silent_cell_is_unreachable_before_the_platform_says_so():
    """The age of the last report alone is enough after two minutes."""
    silent = given(annotations={annotations.LAST_REPORT: times.format_time(NOW)})

    assert standing(running(), silent, now=NOW + MINUTE).text == "Available"
    judged = standing(running(), silent, now=NOW + 3 * MINUTE)
    assert judged.text == "Unreachable (was available)"
    assert judged.message == "The cell last reported at 2026-06-01T12:00:00Z"


def test_a_cell_that_reports():
    """Other conditions of the deployment say nothing about its cell."""
    blocked = given(1, condition("Available", "False", "QuotaNotGranted"))

    assert standing(running(), blocked, now=NOW).text == "Available"


def test_a_report_that_cannot_be_read_is_not_known():
    """Another writer may have written anything into the annotation."""
    of = deployment()
    odd = replace(of.metadata, annotations={annotations.LAST_REPORT: "yesterday"})

    assert last_report(of) is None
    assert last_report(replace(of, metadata=odd)) is None
