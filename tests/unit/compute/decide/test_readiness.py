"""Whether an Instance is Ready, and why not."""

from datetime import timedelta

import msgspec
import pytest
from hypothesis import given, strategies as st

from compute.api.compute import NEW_INSTANCE_STATUS
from compute.api.reasons import Reason
from compute.decide import readiness
from compute.decide.conditions import find
from compute.decide.ranking import Candidate
from tests.support.compute.builders import NOW, condition, instance

LATER = NOW + timedelta(hours=1)
PROGRAMMED = condition("Programmed", "True", "Programmed")
AVAILABLE = condition("Available", "True", "Available")
GRANTED = condition("QuotaGranted", "True", "QuotaAvailable")
DENIED = condition("QuotaGranted", "False", "QuotaExceeded", "10 of 10 instances used")
NO_SUBNET = Candidate("", "NetworkFailedToCreate", "no subnet left")
RUNNING = (PROGRAMMED, AVAILABLE, GRANTED)


def ready(*conditions, gates=(), network_failure=None):
    """Status, reason and message of Ready."""
    subject = instance(conditions=conditions, gates=gates)
    got = find(readiness.conditions(subject, network_failure=network_failure, now=NOW), "Ready")
    return got and (got.status, got.reason, got.message)


def verdict(*conditions, **world):
    return ready(*conditions, **world)[:2]


def pending(kind):
    return condition(kind, "Unknown", "Pending", "Waiting for controller")


@pytest.mark.parametrize(
    ("conditions", "expected"),
    [
        ((), ("False", "PendingProgramming")),
        (NEW_INSTANCE_STATUS.conditions, ("False", "PendingProgramming")),
        (
            (condition("Programmed", "Unknown", "PendingProgramming"),),
            ("False", "PendingProgramming"),
        ),
        ((condition("Programmed", "Unknown", "Waking"),), ("Unknown", "Waking")),
        (
            (
                condition("Programmed", "Unknown", "Waking"),
                condition("Available", "False", "ImageUnavailable"),
            ),
            ("False", "ImageUnavailable"),
        ),
        (
            (
                condition("Programmed", "Unknown", "ImageUnavailable"),
                condition("Available", "False", "Provisioning"),
            ),
            ("Unknown", "ImageUnavailable"),
        ),
        (
            (condition("Programmed", "Unknown", "Waking"), pending("Available")),
            ("Unknown", "Waking"),
        ),
        (
            (pending("Programmed"), condition("Available", "Unknown", "Starting")),
            ("False", "PendingProgramming"),
        ),
        (
            (pending("Programmed"), condition("QuotaGranted", "Unknown", "QuotaNoBudget")),
            ("False", "PendingProgramming"),
        ),
        ((PROGRAMMED,), ("False", "Pending")),
        ((PROGRAMMED, pending("Available")), ("False", "Pending")),
        ((PROGRAMMED, condition("Available", "False", "Stopped")), ("False", "Stopped")),
        (
            (PROGRAMMED, condition("Available", "Unknown", "InstanceCrashing")),
            ("Unknown", "InstanceCrashing"),
        ),
        ((PROGRAMMED, AVAILABLE), ("True", "Available")),
        (RUNNING, ("True", "Available")),
        (
            (*RUNNING[:2], condition("QuotaGranted", "Unknown", "QuotaNoBudget")),
            ("True", "Available"),
        ),
        (
            (PROGRAMMED, AVAILABLE, condition("ReferencedDataReady", "False", "SourceNotFound")),
            ("True", "Available"),
        ),
    ],
    ids=[
        "no conditions",
        "a new instance",
        "programming pending",
        "a provider's own word passes through",
        "a ranked cause beats a provider's own word",
        "Programmed competes by rank",
        "Pending competes with nothing",
        "an unranked condition beside Programmed explains nothing",
        "quota unknown explains nothing",
        "programmed, nothing known of availability",
        "programmed, availability pending",
        "programmed, stopped",
        "programmed, crashing",
        "running without quota enforcement",
        "running",
        "quota unknown does not block",
        "data lost after the start does not block",
    ],
)
def test_ready_without_gates(conditions, expected):
    """With all gates open Ready follows from what the provider says."""
    assert verdict(*conditions) == expected


@pytest.mark.parametrize(
    ("conditions", "network_failure", "expected"),
    [
        ((), None, ("False", "SchedulingGatesPresent")),
        (RUNNING, None, ("False", "SchedulingGatesPresent")),
        ((DENIED,), None, ("False", "PendingQuota")),
        ((), NO_SUBNET, ("False", "NetworkFailedToCreate")),
        ((DENIED,), NO_SUBNET, ("False", "NetworkFailedToCreate")),
        (
            (condition("ReferencedDataReady", "Unknown", "Resolving"),),
            None,
            ("Unknown", "Resolving"),
        ),
        (
            (DENIED, condition("ReferencedDataReady", "False", "SourceNotFound")),
            None,
            ("False", "SourceNotFound"),
        ),
        (
            (condition("ReferencedDataReady", "Unknown", "Waking"),),
            None,
            ("False", "SchedulingGatesPresent"),
        ),
        (
            (condition("ReferencedDataReady", "True", "Ready"),),
            None,
            ("False", "SchedulingGatesPresent"),
        ),
    ],
    ids=[
        "nothing but a gate",
        "a gate before a running provider",
        "quota denied",
        "network failed",
        "network failed outranks quota",
        "data resolving, status and all",
        "data missing outranks quota",
        "data in words we do not know",
        "data there",
    ],
)
def test_ready_behind_gates(conditions, network_failure, expected):
    """An Instance with a closed gate is never Ready, and the worst cause behind it is reported."""
    assert verdict(*conditions, gates=("Quota",), network_failure=network_failure) == expected


def test_gates_are_named_with_what_they_wait_for():
    """The message lists every closed gate, and what the one who opens it says."""
    asked = condition("QuotaGranted", "Unknown", "PendingEvaluation", "Quota is being asked for")

    got = ready(asked, gates=("Network", "Quota", "ReferencedData"))

    assert got == (
        "False",
        "SchedulingGatesPresent",
        "Waiting for Network, Quota (Quota is being asked for), ReferencedData",
    )


def test_a_gate_whose_condition_is_met_waits_only_to_be_opened():
    """A gate does not wait for a condition that is True, so its message is left out."""
    granted = condition("QuotaGranted", "True", "QuotaAvailable", "Quota is granted")

    assert ready(granted, gates=("Quota",))[2] == "Waiting for Quota"


def test_a_network_failure_is_reported_with_its_own_message():
    """What the network says of its failure, and why, reaches the user."""
    for reason in ("NetworkFailedToCreate", "NetworkNotFound", "NetworkTerminating"):
        failure = Candidate("", reason, "no subnet left")
        reported = ready(gates=("Network",), network_failure=failure)
        assert reported == ("False", reason, "no subnet left")


def test_a_network_failure_leaves_a_started_instance_alone():
    """Once the gates are open, what runs is judged by what runs."""
    assert verdict(*RUNNING, network_failure=NO_SUBNET) == ("True", "Available")


def test_a_condition_without_a_message_gets_one():
    """A reason without a message still gives the user a sentence."""
    got = ready(PROGRAMMED, condition("Available", "False", "Stopped"))

    assert got == ("False", "Stopped", "Available is False: Stopped")


def test_a_reason_left_empty_is_no_reason():
    """The API refuses an empty reason, so an empty one never passes through."""
    assert verdict(condition("Programmed", "Unknown", "")) == ("False", "PendingProgramming")
    assert verdict(PROGRAMMED, condition("Available", "False", "")) == ("False", "Pending")


@pytest.mark.parametrize(
    "reason",
    [
        Reason.QUOTA_EXCEEDED,
        Reason.VALIDATION_FAILED,
        Reason.QUOTA_MISCONFIGURED,
        Reason.QUOTA_BACKEND_UNAVAILABLE,
    ],
)
@pytest.mark.parametrize("gates", [(), ("Quota",)], ids=["started", "gated"])
def test_a_quota_refusal_replaces_the_providers_conditions(reason, gates):
    """Whatever the reason, quota that is False makes all three False with the quota message."""
    refused = condition("QuotaGranted", "False", reason, "ask for more")
    subject = instance(conditions=(PROGRAMMED, AVAILABLE, refused), gates=gates)

    got = readiness.conditions(subject, network_failure=None, now=NOW)

    assert got == (
        condition("Programmed", "False", "PendingQuota", "ask for more", since=NOW, generation=1),
        condition("Available", "False", "PendingQuota", "ask for more", since=NOW, generation=1),
        refused,
        condition("Ready", "False", "PendingQuota", "ask for more", since=NOW, generation=1),
    )


def test_a_quota_refusal_without_a_message_names_its_reason():
    """A silent refusal still says which."""
    got = ready(condition("QuotaGranted", "False", "QuotaExceeded"))

    assert got == ("False", "PendingQuota", "Quota is not granted: QuotaExceeded")


@pytest.mark.parametrize("status", ["True", "Unknown"])
def test_a_lifted_refusal_leaves_nothing_behind(status):
    """Once quota is no longer refused, the provider's conditions are its own to say again."""
    subject = instance(conditions=(PROGRAMMED, AVAILABLE, DENIED))
    refused = readiness.conditions(subject, network_failure=None, now=NOW)
    answer = condition("QuotaGranted", status, "QuotaAvailable")
    lifted = instance(conditions=tuple(answer if c.type == "QuotaGranted" else c for c in refused))

    got = readiness.conditions(lifted, network_failure=None, now=LATER)

    assert [(c.type, c.status, c.reason) for c in got] == [
        ("Programmed", "Unknown", "Pending"),
        ("Available", "Unknown", "Pending"),
        ("QuotaGranted", status, "QuotaAvailable"),
        ("Ready", "False", "PendingProgramming"),
    ]


def test_w14_the_observed_generation_is_refreshed():
    """Ready has the newest generation even where its answer is the old one."""
    old = instance(conditions=RUNNING)
    first = readiness.conditions(old, network_failure=None, now=NOW)
    grown = instance(conditions=first, generation=2)

    got = readiness.conditions(grown, network_failure=None, now=LATER)

    expected = condition(
        "Ready",
        reason="Available",
        message="The instance is programmed and available",
        since=NOW,
        generation=2,
    )
    assert find(got, "Ready") == expected


def test_the_provider_need_not_state_a_generation():
    """A provider's report of an older generation stands: what runs did not change with it."""
    subject = instance(conditions=RUNNING, generation=5)

    got = find(readiness.conditions(subject, network_failure=None, now=NOW), "Ready")

    assert got is not None
    assert got.status == "True"


def test_a_deleting_instance_is_ready_while_it_serves():
    """Deletion alone does not change what the provider says."""
    subject = instance(conditions=RUNNING, deletion_timestamp=NOW)

    got = find(readiness.conditions(subject, network_failure=None, now=NOW), "Ready")

    assert got is not None
    assert got.status == "True"


def test_an_instance_without_a_controller_has_no_gates():
    """An Instance that no deployment made is judged by its provider alone."""
    made = instance(conditions=RUNNING)
    bare = msgspec.structs.replace(made, spec=msgspec.structs.replace(made.spec, controller=None))

    got = find(readiness.conditions(bare, network_failure=None, now=NOW), "Ready")

    assert got is not None
    assert got.status == "True"


reasons = st.sampled_from(["Pending", "PendingQuota", "Waking", *(str(r) for r in Reason)])
worlds = st.builds(
    instance,
    conditions=st.tuples(
        *(
            st.none()
            | st.builds(
                condition, st.just(kind), st.sampled_from(("True", "False", "Unknown")), reasons
            )
            for kind in ("Programmed", "Available", "Ready", "QuotaGranted", "ReferencedDataReady")
        )
    ).map(lambda found: tuple(c for c in found if c)),
    gates=st.sets(st.sampled_from(("Network", "Quota", "ReferencedData"))).map(tuple),
    generation=st.integers(1, 3),
)


@given(worlds, st.none() | st.just(NO_SUBNET))
def test_ready_is_true_exactly_when_everything_is(subject, network_failure):
    """Ready is True iff no gate is left, quota is not refused, and the provider says both."""
    said = {c.type: c.status for c in subject.status.conditions}
    expected = (
        not subject.spec.controller.scheduling_gates
        and said.get("QuotaGranted") != "False"
        and said.get("Programmed") == said.get("Available") == "True"
    )

    got = find(readiness.conditions(subject, network_failure=network_failure, now=NOW), "Ready")

    assert got is not None
    assert (got.status == "True") == expected
    assert got.observed_generation == subject.metadata.generation
    assert got.reason
    assert got.message


@given(worlds, st.none() | st.just(NO_SUBNET))
def test_w1_readiness_comes_to_rest(subject, network_failure):
    """Deriving Ready again, later, from what was derived changes nothing."""
    once = readiness.conditions(subject, network_failure=network_failure, now=NOW)
    status = msgspec.structs.replace(subject.status, conditions=once)
    written = msgspec.structs.replace(subject, status=status)

    assert readiness.conditions(written, network_failure=network_failure, now=LATER) == once


def test_the_message_of_the_provider_is_kept():
    """Ready repeats the provider's message; without one, the condition and its reason."""
    reported = condition("Available", "False", "ImageUnavailable", "no such tag")
    mute = condition("Available", "False", "ImageUnavailable")
    programmed = condition("Programmed", "True", "Programmed")

    assert ready(programmed, reported)[2] == "no such tag"
    assert ready(programmed, mute)[2] == "Available is False: ImageUnavailable"


def test_what_is_true_explains_nothing():
    """A condition that is met is no cause, whatever reason it gives."""
    met = condition("Available", "True", "ImageUnavailable")

    assert verdict(pending("Programmed"), met) == ("False", "PendingProgramming")
