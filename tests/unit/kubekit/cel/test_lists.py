"""Functions on lists. What each expression gives, and costs, is what Kubernetes 1.34 answered."""

import pytest

from kubekit.cel.values import Uint
from tests.support.kubekit.cel_builders import compile_failure, evaluated, failure

VALUES = [
    ("[1,2,3].sum()", 6, 3),
    ("[3, 1, 2].sort()", [1, 2, 3], 29),
    ("['b', 'a'].sort()", ["a", "b"], 19),
    ("[2.5, -1.0].sort()", [-1.0, 2.5], 19),
    ("[true, false].sort()", [False, True], 19),
    ("[duration('2s'), duration('1s')].sort() == [duration('1s'), duration('2s')]", True, 20),
    ("[].sort()", [], 11),
    ("[3, 1, 2].isSorted()", False, 3),
    ("[1, 1, 2].isSorted()", True, 3),
    ("[].isSorted()", True, 0),
    ("['a', 'b'].isSorted()", True, 0),
    ("[1, 2, 3].sum()", 6, 3),
    ("[1.5, 2.5].sum()", 4.0, 2),
    ("[1u, 2u].sum()", Uint(3), 2),
    ("[duration('1s'), duration('1m')].sum() == duration('61s')", True, 3),
    ("[].sum()", 0, 0),
    ("[3, 1, 2].max()", 3, 3),
    ("[3, 1, 2].min()", 1, 3),
    ("['b', 'a'].max()", "b", 0),
    ("[1, 2, 2].indexOf(2)", 1, 3),
    ("[1, 2, 2].lastIndexOf(2)", 2, 3),
    ("[1, 2, 2].indexOf(5)", -1, 3),
    ("[[1], [2]].indexOf([2])", 1, 2),
    ("[1, 2, 3].slice(1, 2)", [2], 12),
    ("[1, 2, 3].slice(0, 0)", [], 11),
    ("[[1], [2]].flatten()", [1, 2], 13),
    ("[[1], [2]].flatten(0)", [[1], [2]], 11),
    ("[1, 2, 1].distinct()", [1, 2], 29),
    ("['a', 'a'].distinct()", ["a"], 19),
    ("[].distinct()", [], 11),
    ("[1, 2, 3].reverse()", [3, 2, 1], 14),
    ("lists.range(4)", [0, 1, 2, 3], 15),
    ("lists.range(0)", [], 11),
    ("lists.range(-1)", [], 11),
    ("['ccc', 'a', 'bb'].sortBy(x, x.size())", ["a", "bb", "ccc"], 74),
    ("[{'a': 2}, {'a': 1}].sortBy(x, x.a)", [{"a": 1}, {"a": 2}], 50),
    ("[3, 1, 2].sortBy(x, -x)", [3, 2, 1], 74),
]
ERRORS = [
    ("[9223372036854775807, 1].sum()", "integer overflow", 2),
    ("[].max()", "max called on empty list", 0),
    ("[].min()", "min called on empty list", 0),
    (
        "[1, 2, 3].slice(2, 1)",
        "cannot slice(2, 1), start index must be less than or equal to end index",
        12,
    ),
    ("[1, 2, 3].slice(-1, 1)", "cannot slice(-1, 1), negative indexes not supported", 12),
    ("[1, 2, 3].slice(0, 4)", "cannot slice(0, 4), list is length 3", 12),
    ("[[1], [2]].flatten(-1)", "level must be non-negative", 9),
]
REFUSALS = [
    (
        "'abc'.reverse()",
        "ERROR: <input>:1:14: found no matching overload for 'reverse' applied to 'string.()'\n | 'abc'.reverse()\n | .............^",
    ),
    (
        "[[1], [2]].sort()",
        "ERROR: <input>:1:16: found no matching overload for 'sort' applied to 'list(list(int)).()'\n | [[1], [2]].sort()\n | ...............^",
    ),
    (
        "dyn([1, 'a']).sort()",
        "ERROR: <input>:1:9: expected type 'int' but found 'string'\n | dyn([1, 'a']).sort()\n | ........^",
    ),
    (
        "['a'].sum()",
        "ERROR: <input>:1:10: found no matching overload for 'sum' applied to 'list(string).()'\n | ['a'].sum()\n | .........^",
    ),
    (
        "[[1], [2, [3]]].flatten()",
        "ERROR: <input>:1:7: expected type 'list(int)' but found 'list(dyn)'\n | [[1], [2, [3]]].flatten()\n | ......^\nERROR: <input>:1:11: expected type 'int' but found 'list(int)'\n | [[1], [2, [3]]].flatten()\n | ..........^",
    ),
    (
        "[1, [2, [3, [4]]]].flatten(2)",
        "ERROR: <input>:1:5: expected type 'int' but found 'list(dyn)'\n | [1, [2, [3, [4]]]].flatten(2)\n | ....^\nERROR: <input>:1:9: expected type 'int' but found 'list(dyn)'\n | [1, [2, [3, [4]]]].flatten(2)\n | ........^\nERROR: <input>:1:13: expected type 'int' but found 'list(int)'\n | [1, [2, [3, [4]]]].flatten(2)\n | ............^",
    ),
    (
        "'abc'.sortBy(x, x)",
        "ERROR: <input>:1:1: sortBy can only be applied to a list, identifier, comprehension, call or select expression\n | 'abc'.sortBy(x, x)\n | ^",
    ),
]


@pytest.mark.parametrize(("expression", "value", "cost"), VALUES)
def test_lists_give(expression, value, cost):
    """The lists give the value, of that very type, at that cost."""
    assert evaluated(expression) == (value, type(value), cost)


@pytest.mark.parametrize(("expression", "words", "cost"), ERRORS)
def test_lists_fail(expression, words, cost):
    """What has no value says why, and is counted all the same."""
    assert failure(expression) == (words, cost)


@pytest.mark.parametrize(("expression", "words"), REFUSALS)
def test_lists_are_refused(expression, words):
    """What can never have a value is refused before it is evaluated."""
    assert compile_failure(expression) == words
