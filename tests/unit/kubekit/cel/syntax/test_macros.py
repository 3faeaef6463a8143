"""Macros with variables. What each expression gives, and costs, is what Kubernetes 1.34 answered."""

import pytest

from tests.support.kubekit.cel_builders import compile_failure, evaluated, failure

VALUES = [
    ("[1,2,3].all(x, x > 0)", True, 16),
    ("[1,2,3].map(x, x*2)", [2, 4, 6], 43),
    ("{'a':1, 'b':2}.map(k, k)", ["a", "b"], 27),
    ("[1,2,3].filter(x, x>1)", [2, 3], 33),
    ("[1,2].exists_one(x, x==1)", True, 8),
    ("[1,0].exists(x, 1/x == 1)", True, 11),
    ("[0,1].exists(x, 1/x == 1)", True, 15),
    ("[1,2,3].all(i, x, x > i)", True, 19),
    ("{'a':1}.exists(k, v, v==1)", True, 7),
    ("[1,2].transformList(i, v, v*2)", [2, 4], 29),
    ("{'a':1}.transformMap(k, v, v*2)", {"a": 2}, 6),
    ("{'a':1}.transformList(k,v,k)", ["a"], 14),
    ("[1,2,3].map(x, x>1, x*2)", [4, 6], 35),
    ("[].map(x, x)", [], 1),
    ("[1, 2, 3].all(x, x < 4)", True, 16),
    ("[1, 2, 3].exists(x, x > 2)", True, 19),
    ("[1, 2, 3].exists_one(x, x > 2)", True, 10),
    ("[1, 2, 3].exists_one(x, x > 1)", False, 12),
    ("[].all(x, x > 1)", True, 1),
    ("[].exists(x, x > 1)", False, 1),
    ("{'a': 1, 'b': 2}.all(k, k < 'c')", True, 11),
    ("{'a': 1, 'b': 2}.exists(k, k == 'b')", True, 13),
    ("{'a': 1, 'b': 2}.filter(k, k == 'b')", ["b"], 18),
    ("[1, 2, 3].map(x, x % 2 == 1, x * 10)", [10, 30], 38),
    ("[[1, 2], [3]].map(l, l.map(x, x + 1))", [[2, 3], [4]], 71),
    ("[1, 2].map(x, 5)", [5, 5], 5),
    ("[1, 2].all(x, [3, 4].all(y, x < y))", True, 33),
    ("[1, 2].all(x, [3].exists(x, x == 3))", True, 21),
    ("[1, 2, 3].all(i, v, v == i + 1)", True, 22),
    ("[1, 2, 3].exists(i, v, i == v)", False, 22),
    ("[1, 2, 3].exists_one(i, v, i == 0)", True, 10),
    ("[1, 2, 3].existsOne(i, v, i == 0)", True, 10),
    ("{'a': 1}.all(k, v, k == 'a' && v == 1)", True, 8),
    ("[4, 5].transformList(i, v, i + v)", [4, 6], 31),
    ("[4, 5].transformList(i, v, i > 0, v)", [5], 18),
    ("{'a': 1}.transformMap(k, v, v + 1)", {"a": 2}, 6),
    ("{'a': 1, 'b': 2}.transformMap(k, v, v > 1, v + 1)", {"b": 3}, 10),
    ("{'a': 'b'}.transformMapEntry(k, v, {v: k})", {"b": "a"}, 35),
]
ERRORS = [
    ("[1,2].exists(x, x/0 == 1)", "division by zero", 15),
    ("[0,1].all(x, 1/x == 1)", "division by zero", 13),
    (
        "{'a': 'x', 'b': 'x'}.transformMapEntry(k, v, {v: k})",
        "insert failed: key x already exists",
        69,
    ),
    ("[1, 2].all(x, dyn(x))", "no such overload", 11),
    ("[1].filter(x, dyn(1))", "no such overload", 1),
    ("[1/0].all(x, true)", "division by zero", 11),
]
REFUSALS = [
    (
        "[1,2].existsOne(x, x==1)",
        "ERROR: <input>:1:16: undeclared reference to 'existsOne' (in container '')\n | [1,2].existsOne(x, x==1)\n | ...............^\nERROR: <input>:1:17: undeclared reference to 'x' (in container '')\n | [1,2].existsOne(x, x==1)\n | ................^\nERROR: <input>:1:20: undeclared reference to 'x' (in container '')\n | [1,2].existsOne(x, x==1)\n | ...................^",
    ),
    (
        "[1].all(1, true)",
        "ERROR: <input>:1:9: argument must be a simple name\n | [1].all(1, true)\n | ........^",
    ),
    (
        "[1].all(a.b, true)",
        "ERROR: <input>:1:10: argument must be a simple name\n | [1].all(a.b, true)\n | .........^",
    ),
    (
        "[1].map(1, 1)",
        "ERROR: <input>:1:9: argument is not an identifier\n | [1].map(1, 1)\n | ........^",
    ),
    (
        "[1].all(x)",
        "ERROR: <input>:1:8: undeclared reference to 'all' (in container '')\n | [1].all(x)\n | .......^\nERROR: <input>:1:9: undeclared reference to 'x' (in container '')\n | [1].all(x)\n | ........^",
    ),
    (
        "1.all(x, true)",
        "ERROR: <input>:1:1: expression of type 'int' cannot be range of a comprehension (must be list, map, or dynamic)\n | 1.all(x, true)\n | ^",
    ),
    (
        "[1].all(__result__, true)",
        "ERROR: <input>:1:9: iteration variable overwrites accumulator variable\n | [1].all(__result__, true)\n | ........^",
    ),
    (
        "[1].all(x, x, x > 0)",
        "ERROR: <input>:1:12: duplicate variable name: x\n | [1].all(x, x, x > 0)\n | ...........^",
    ),
    (
        "[1].all(1, x, x > 0)",
        "ERROR: <input>:1:9: argument must be a simple name\n | [1].all(1, x, x > 0)\n | ........^",
    ),
]


@pytest.mark.parametrize(("expression", "value", "cost"), VALUES)
def test_macros_give(expression, value, cost):
    """The macros give the value, of that very type, at that cost."""
    assert evaluated(expression) == (value, type(value), cost)


@pytest.mark.parametrize(("expression", "words", "cost"), ERRORS)
def test_macros_fail(expression, words, cost):
    """What has no value says why, and is counted all the same."""
    assert failure(expression) == (words, cost)


@pytest.mark.parametrize(("expression", "words"), REFUSALS)
def test_macros_are_refused(expression, words):
    """What can never have a value is refused before it is evaluated."""
    assert compile_failure(expression) == words
