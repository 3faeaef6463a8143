"""Lists seen as sets. What each expression gives, and costs, is what Kubernetes 1.34 answered."""

import pytest

from tests.support.kubekit.cel_builders import compile_failure, evaluated

VALUES = [
    ("sets.contains([1, 2, 3], [2, 3])", True, 7),
    ("sets.contains([1, 2, 3], [4])", False, 4),
    ("sets.contains([], [])", True, 1),
    ("sets.equivalent([1, 2], [2, 1, 1])", True, 13),
    ("sets.equivalent([1], [1, 2])", False, 5),
    ("sets.intersects([1, 2], [2, 3])", True, 5),
    ("sets.intersects([1], [2])", False, 2),
]
REFUSALS = [
    (
        "sets.contains([1], ['a'])",
        "ERROR: <input>:1:14: found no matching overload for 'sets.contains' applied to '(list(int), list(string))'\n | sets.contains([1], ['a'])\n | .............^",
    ),
]


@pytest.mark.parametrize(("expression", "value", "cost"), VALUES)
def test_sets_give(expression, value, cost):
    """The sets give the value, of that very type, at that cost."""
    assert evaluated(expression) == (value, type(value), cost)


@pytest.mark.parametrize(("expression", "words"), REFUSALS)
def test_sets_are_refused(expression, words):
    """What can never have a value is refused before it is evaluated."""
    assert compile_failure(expression) == words
