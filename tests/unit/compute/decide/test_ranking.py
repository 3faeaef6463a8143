"""The order in which causes are reported."""

import pytest
from hypothesis import given, strategies as st

from compute.api.reasons import Reason
from compute.decide.ranking import Candidate, rank, ranked, worst
from tests.support.compute.builders import NOW, condition

RANKS = {
    0: ["NoAvailablePlacements", "NoAvailableDeployments", "SchedulingGatesPresent", "Pending"],
    1: ["Provisioning", "InstancesProvisioning"],
    2: ["NetworkProvisioning", "NoMatchingLocation"],
    3: [
        "PendingQuota",
        "QuotaBackendUnavailable",
        "QuotaExceeded",
        "QuotaMisconfigured",
        "QuotaNamespaceNotFound",
        "QuotaNoBudget",
        "QuotaNotGranted",
        "QuotaProjectIDUnresolvable",
        "QuotaProjectNotFound",
        "ValidationFailed",
    ],
    4: ["AwaitingPropagation", "ReferencedDataNotReady", "Resolving"],
    5: [
        "ConfigurationError",
        "Failed",
        "ImageUnavailable",
        "InstanceCrashing",
        "SourceNotFound",
        "SourceTooLarge",
        "SourceUnauthorized",
    ],
    6: [
        "CityWithdrawn",
        "DeploymentNameTaken",
        "NetworkNotFound",
        "NetworkTerminating",
        "NoMatchingLocations",
    ],
    7: ["NetworkFailedToCreate", "NoCellForCity", "PropagationSuspended", "RefusedByCell"],
    8: ["CellUnreachable", "Suspended"],
}

candidates = st.lists(
    st.builds(
        Candidate,
        st.sampled_from(("", "a", "b")),
        st.sampled_from([str(reason) for reason in Reason]),
        st.sampled_from(("", "one", "two")),
        st.sampled_from(("False", "Unknown")),
    )
)


@pytest.mark.parametrize(
    ("reason", "level"), [(reason, level) for level, each in RANKS.items() for reason in each]
)
def test_the_rank_table(reason, level):
    """Every reason has the same rank wherever it is given."""
    assert rank(reason) == level


def test_an_unknown_reason_explains_nothing():
    """An unknown reason ranks below every known one."""
    assert rank("SomethingNew") == 0


def test_reasons_of_health_explain_nothing():
    """A reason that no list names ranks 0, so that health never hides a cause."""
    listed = {reason for each in RANKS.values() for reason in each}

    assert {rank(reason) for reason in Reason if reason not in listed} == {0}


def test_the_highest_rank_is_reported():
    """The cause furthest from ordinary progress wins."""
    image = Candidate("b", Reason.IMAGE_UNAVAILABLE)

    assert worst([Candidate("a", Reason.PROVISIONING), image]) == image


def test_between_equals_the_first_by_name_is_reported():
    """A tie goes to the first name, whatever order the list has."""
    first, second = (
        Candidate("a", Reason.INSTANCE_CRASHING),
        Candidate("b", Reason.IMAGE_UNAVAILABLE),
    )

    assert worst([second, first]) == first
    assert ranked([second, first]) == [first, second]


def test_nothing_explains_nothing():
    """Without candidates there is no worst one."""
    assert worst([]) is None


@given(candidates.flatmap(lambda found: st.tuples(st.just(found), st.permutations(found))))
def test_the_order_of_the_input_does_not_matter(lists):
    """The same candidates give the same answer in any order, and the worst comes first."""
    found, shuffled = lists

    assert ranked(shuffled) == ranked(found)
    assert worst(shuffled) == next(iter(ranked(found)), None)


@pytest.mark.parametrize(
    ("candidate", "expected"),
    [
        (Candidate("web-0", "Failed", "exit code 1"), "web-0: exit code 1"),
        (Candidate("", "Failed", "exit code 1"), "exit code 1"),
        (Candidate("web-0", "Failed"), "web-0: Failed"),
    ],
    ids=["of another", "of itself", "without a message"],
)
def test_a_cause_is_reported_with_its_subject(candidate, expected):
    """In the message of an owner, a cause has its subject and its message, or at least the reason."""
    assert candidate.summary == expected


def test_a_candidate_becomes_a_condition():
    """The condition has the candidate's message, the time and the generation."""
    got = Candidate("x", "Failed", "exit code 1", "Unknown").condition("Ready", 3, NOW)

    assert got == condition("Ready", "Unknown", "Failed", "exit code 1", since=NOW, generation=3)


def test_long_messages_are_cut():
    """No message exceeds the limit of the API, however many owners repeat it."""
    cause = Candidate("web-0", "Failed", "x" * 40_000)

    assert cause.summary == "web-0: " + "x" * 502 + "..."
    assert cause.condition("Ready", 1, NOW).message == "x" * 1021 + "..."
