"""Generations on several planes."""

import pytest

from compute.decide.generations import is_reported, translated
from tests.support.compute.builders import condition, deployment
from tests.support.compute.federation_builders import with_status

REPORT = with_status(
    deployment(generation=7), condition("Available", generation=7), ready_replicas=2
)


def test_a_report_of_the_present_spec_is_of_the_present_generation():
    """Of the plane that it is propagated to, in every condition too; counts are as reported."""
    here = deployment(generation=3)
    got = translated(REPORT.status, here, current=True)
    assert got.observed_generation == 3
    assert [said.observed_generation for said in got.conditions] == [3]
    assert got.ready_replicas == 2


def test_a_report_of_an_older_spec_moves_no_generation():
    """What was known to be seen before still is, and nothing more."""
    here = with_status(deployment(generation=3), observed_generation=2)
    got = translated(REPORT.status, here, current=False)
    assert got.observed_generation == 2
    assert [said.observed_generation for said in got.conditions] == [2]


@pytest.mark.parametrize(("observed", "reported"), [(3, True), (2, False), (0, False)])
def test_a_status_is_of_the_present_spec_or_not(observed, reported):
    """Only one that names the present generation is."""
    here = with_status(deployment(generation=3), observed_generation=observed)
    assert is_reported(here) is reported
