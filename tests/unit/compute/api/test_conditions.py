import re

import pytest

from compute.api.compute import NEW_INSTANCE_STATUS
from compute.api.conditions import ConditionType, NeighbourCondition, describe

KNOWN = [*ConditionType, *NeighbourCondition]
SPOKEN_OF = {
    "Instance": "Programmed Available Running Ready QuotaGranted ReferencedDataReady",
    "WorkloadDeployment": "Available ReplicasReady ReferencedDataReady",
    "Workload": "Available Paused",
    "networks": "Ready Programmed Allocated Bound Prepared IPAMAllocated",
    "quota": "Active Granted",
    "Karmada": "Scheduled FullyApplied Applied",
    "projects": "Ready Suspended ResourceCleanup Provisioned",
    "runtime classes": "Accepted",
}


@pytest.mark.parametrize("kind", KNOWN)
def test_a_type_says_what_it_means_and_who_sets_it(kind):
    """A reader learns what it means, and who sets it."""
    assert re.fullmatch(r"[A-Z][^\n]{8,118}\.", kind.meaning)
    assert re.fullmatch(r"[a-zK][^\n]{2,98}[^.]", kind.writer)


@pytest.mark.parametrize("names", SPOKEN_OF.values(), ids=SPOKEN_OF)
def test_every_type_of_the_api_is_known(names):
    """No condition of an object that we read is left unexplained."""
    assert [name for name in names.split() if describe(name) is None] == []


def test_a_type_is_explained_once():
    """A type that two kinds use has one meaning here."""
    assert len({str(kind) for kind in KNOWN}) == len(KNOWN)


def test_a_type_is_its_own_text():
    """A type compares and looks up as the text in conditions."""
    words: list[str] = [ConditionType.QUOTA_GRANTED]

    assert words == ["QuotaGranted"]
    assert ConditionType("QuotaGranted") is ConditionType.QUOTA_GRANTED
    assert describe("QuotaGranted") is ConditionType.QUOTA_GRANTED


def test_a_new_instance_has_only_conditions_of_known_types():
    """What the CRD writes on creation is explained like everything else."""
    said = [condition.type for condition in NEW_INSTANCE_STATUS.conditions]

    assert [describe(kind) for kind in said] == said


def test_an_unknown_type_has_no_description():
    """An unknown type is not given one of our meanings."""
    assert describe("Sunny") is None
