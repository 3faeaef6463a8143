"""Values that may be missing. What each expression gives, and costs, is what Kubernetes 1.34 answered."""

import pytest

from tests.support.kubekit.cel_builders import compile_failure, evaluated, failure

VALUES = [
    ("optional.of(1).orValue(2)", 1, 1),
    ("{'a':1}.?b.orValue(3)", 3, 1),
    ("[1,2][?5].hasValue()", False, 2),
    ("optional.none().hasValue()", False, 2),
    ("optional.of(1).value()", 1, 2),
    ("optional.ofNonZeroValue(0).hasValue()", False, 2),
    ("optional.of(1).or(optional.of(2)).value()", 1, 2),
    ("[?optional.of(1), ?optional.none()]", [1], 12),
    ("{?'a': optional.of(1)}", {"a": 1}, 31),
    ("optional.unwrap([optional.of(1)])", [1], 12),
    ("[optional.of(1)].unwrapOpt()", [1], 12),
    ("type(optional.of(1)) == optional_type", True, 3),
    ("optional.of(1).hasValue()", True, 2),
    ("optional.of('a').value()", "a", 2),
    ("optional.none().orValue(5)", 5, 1),
    ("optional.of(1).orValue(1/0)", 1, 1),
    ("optional.none().or(optional.of(2)).value()", 2, 3),
    ("optional.none().or(optional.none()).hasValue()", False, 3),
    ("optional.of(2).optMap(x, x * 2).value()", 4, 8),
    ("optional.none().optMap(x, x).hasValue()", False, 4),
    ("optional.of([1]).optFlatMap(l, l[?0]).value()", 1, 7),
    ("optional.of([1]).optFlatMap(l, l[?1]).hasValue()", False, 6),
    ("optional.ofNonZeroValue('').hasValue()", False, 2),
    ("optional.ofNonZeroValue('a').hasValue()", True, 2),
    ("optional.ofNonZeroValue([]).hasValue()", False, 2),
    ("optional.ofNonZeroValue({}).hasValue()", False, 2),
    ("optional.ofNonZeroValue(null).hasValue()", False, 2),
    ("optional.ofNonZeroValue(false).hasValue()", False, 2),
    ("optional.ofNonZeroValue(0u).hasValue()", False, 2),
    ("optional.ofNonZeroValue(0.0).hasValue()", False, 2),
    ("optional.ofNonZeroValue(duration('0')).hasValue()", False, 2),
    ("optional.ofNonZeroValue(b'').hasValue()", False, 2),
    ("optional.of(1) == optional.of(1)", True, 3),
    ("optional.of(1) == optional.none()", False, 3),
    ("optional.none() == optional.none()", True, 3),
    ("[?optional.of(1), ?optional.none(), 3]", [1, 3], 12),
    ("{?'a': optional.of(1), ?'b': optional.none()}", {"a": 1}, 32),
    ("{'a': {'b': 1}}.?a.b.value()", 1, 4),
    ("{'a': {'b': 1}}.?x.b.hasValue()", False, 2),
    ("{'a': {'b': 1}}.?a.?x.hasValue()", False, 3),
    ("{'a': {'b': 1}}[?'a'].b.value()", 1, 4),
    ("{'a': [1]}.?a[0].value()", 1, 4),
    ("{'a': [1]}.?a[?3].hasValue()", False, 3),
    ("has({'a': {'b': 1}}.?a.b)", True, 2),
    ("has({'a': {'b': 1}}.?x.b)", False, 0),
    ("[1, 2].first().value()", 1, 2),
    ("[].first().hasValue()", False, 2),
    ("[1, 2].last().value()", 2, 2),
    ("optional.unwrap([optional.of(1), optional.none()])", [1], 13),
    ("[optional.of(1), optional.none()].unwrapOpt()", [1], 13),
]
ERRORS = [
    ("optional.none().value()", "optional.none() dereference", 2),
]
REFUSALS = [
    (
        "optional",
        "ERROR: <input>:1:1: undeclared reference to 'optional' (in container '')\n | optional\n | ^",
    ),
    (
        "[?1]",
        "ERROR: <input>:1:3: expected type 'optional_type(int)' but found 'int'\n | [?1]\n | ..^",
    ),
    (
        "{?'a': 1}",
        "ERROR: <input>:1:8: expected type 'optional_type(int)' but found 'int'\n | {?'a': 1}\n | .......^",
    ),
    (
        "optional.of(1).optMap(1, 2)",
        "ERROR: <input>:1:23: optMap() variable name must be a simple identifier\n | optional.of(1).optMap(1, 2)\n | ......................^",
    ),
    (
        "optional.of(1).foo",
        "ERROR: <input>:1:15: type 'int' does not support field selection\n | optional.of(1).foo\n | ..............^",
    ),
    (
        "optional.of(1) + 1",
        "ERROR: <input>:1:16: found no matching overload for '_+_' applied to '(optional_type(int), int)'\n | optional.of(1) + 1\n | ...............^",
    ),
]


@pytest.mark.parametrize(("expression", "value", "cost"), VALUES)
def test_optionals_give(expression, value, cost):
    """The optionals give the value, of that very type, at that cost."""
    assert evaluated(expression) == (value, type(value), cost)


@pytest.mark.parametrize(("expression", "words", "cost"), ERRORS)
def test_optionals_fail(expression, words, cost):
    """What has no value says why, and is counted all the same."""
    assert failure(expression) == (words, cost)


@pytest.mark.parametrize(("expression", "words"), REFUSALS)
def test_optionals_are_refused(expression, words):
    """What can never have a value is refused before it is evaluated."""
    assert compile_failure(expression) == words
