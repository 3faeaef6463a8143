"""Hints for values of the wrong type."""

import pytest

from compute.decide.validation import review_document
from compute.decide.validation.document import hinted
from kubekit.api.fields import Problem, required
from tests.support.compute.validation_builders import CITIES, sandbox

CONTAINER = "spec/template/spec/runtime/sandbox/containers/0"
SCALE = "spec/placements/0/scaleSettings/minReplicas"


@pytest.mark.parametrize(
    ("changes", "hint"),
    [
        ({SCALE: "2"}, "; write it without quotes: 2"),
        ({SCALE: "two"}, 'of type integer: "string"'),
        ({SCALE: [2]}, 'of type integer: "array"'),
        ({"spec/placements/0/cityCodes": "DFW"}, '; write a list: ["DFW"]'),
        ({f"{CONTAINER}/env": [{"name": "PORT", "value": 8080}]}, '; write it in quotes: "8080"'),
        ({f"{CONTAINER}/args": [True]}, '; write it in quotes: "true"'),
        ({f"{CONTAINER}/args": "x" * 90}, 'of type array: "string"'),
    ],
    ids=["quotes", "a word", "a list", "no list", "no quotes", "in a list", "too long to repeat"],
)
def test_slips_of_type_are_shown_as_they_should_be(changes, hint):
    """A value that only lacks quotes or brackets, or has too many, is shown in its right form."""
    (error,) = review_document(sandbox(changes), cities=CITIES).errors

    assert error.problem is Problem.TYPE_INVALID
    assert str(error).endswith(hint)


def test_other_errors_stay_as_they_are():
    """What is missing, or cannot be found again, has no value to say anything of."""
    missing = required("spec.placements")
    (lost,) = review_document(sandbox({SCALE: "2"}), cities=CITIES).errors

    assert hinted(missing, {}) == missing
    assert hinted(lost, {"spec": {"placements": []}}) == lost
