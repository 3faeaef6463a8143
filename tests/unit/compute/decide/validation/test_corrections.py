"""A Workload once the advice of its errors is followed."""

import pytest

from compute.decide.validation import corrected, validate
from tests.support.compute.validation_builders import CITIES, decoded, machine, sandbox

CODES = "spec/placements/0/cityCodes"
RUNTIME = "spec/template/spec/runtime"


@pytest.mark.parametrize("document", [sandbox(), machine()], ids=["sandbox", "machine"])
def test_what_is_right_stays_as_it_is(document):
    """There is no advice to follow."""
    assert corrected(decoded(document), CITIES) == decoded(document)


def test_sizes_beside_the_instance_type_are_removed():
    """The type alone decides: limits of containers and requests of the Instance are refused."""
    amounts = {"cpu": "8", "memory": "9Gi"}
    sized = {
        f"{RUNTIME}/sandbox/containers/0/resources": {"limits": amounts},
        f"{RUNTIME}/resources/requests": amounts,
    }

    assert corrected(decoded(sandbox(sized)), CITIES) == decoded(sandbox())


@pytest.mark.parametrize(
    ("codes", "meant"),
    [
        (["DWF"], ["DFW"]),
        (["dfw", "DFW"], ["DFW"]),
        (["DFW", "DWF", "LHR"], ["DFW", "LHR"]),
        (["XYZ", "LHR"], ["LHR"]),
        (["XYZ"], []),
        (["LHR", "LHR"], ["LHR"]),
    ],
)
def test_a_city_is_the_one_that_was_meant(codes, meant):
    """Once; what is like no city that is offered is left out."""
    got = corrected(decoded(sandbox({CODES: codes})), CITIES)

    assert got == decoded(sandbox({CODES: meant}))
    assert len(validate(got, cities=CITIES).errors) == (0 if meant else 1)
