"""Amounts of resources. What each expression gives, and costs, is what Kubernetes 1.34 answered."""

import pytest

from tests.support.kubekit.cel_builders import compile_failure, evaluated, failure

VALUES = [
    ("quantity('1.0').isInteger()", False, 2),
    ("quantity('1.50').isInteger()", False, 2),
    ("quantity('1000m').isInteger()", False, 2),
    ("quantity('1k').isInteger()", True, 2),
    ("quantity('1Ki').isInteger()", True, 2),
    ("quantity('1e3').isInteger()", True, 2),
    ("quantity('0.5Gi').isInteger()", False, 2),
    ("quantity('2Gi').isInteger()", True, 2),
    ("quantity('0').isInteger()", True, 2),
    ("quantity('0.0').isInteger()", False, 2),
    ("quantity('100000000000000000000').isInteger()", False, 4),
    ("quantity('9999999999999999999999999999999999999G').isInteger()", False, 5),
    ("quantity('9Ei').isInteger()", False, 2),
    ("quantity('1').add(quantity('500m')).isInteger()", False, 4),
    ("quantity('500m').add(quantity('500m')).isInteger()", False, 4),
    ("quantity('0').add(quantity('1')).isInteger()", True, 4),
    ("quantity('1k').sub(quantity('1')).asInteger()", 999, 4),
    ("quantity('1k').asInteger()", 1000, 2),
    ("quantity('1.5').asApproximateFloat()", 1.5, 2),
    ("quantity('50k').asApproximateFloat()", 50000.0, 2),
    ("quantity('0.1').asApproximateFloat()", 0.1, 2),
    ("quantity('1Gi').asApproximateFloat()", 1073741824.0, 2),
    ("isQuantity('1Ki')", True, 1),
    ("isQuantity('x')", False, 1),
    ("quantity('1').compareTo(quantity('2'))", -1, 3),
    ("quantity('2').isGreaterThan(quantity('1'))", True, 3),
    ("quantity('1').isLessThan(quantity('2'))", True, 3),
    ("quantity('1') == quantity('1.0')", True, 3),
    ("quantity('1').sub(1) == quantity('0')", True, 4),
    ("sign(quantity('0'))", 0, 2),
    ("quantity('1Gi').add(quantity('1Mi')).asInteger()", 1074790400, 4),
    ("quantity('1.5').sub(quantity('500m')).asApproximateFloat()", 1.0, 4),
]
ERRORS = [
    ("quantity('1.5').asInteger()", "cannot convert value to integer", 2),
    (
        "quantity('x')",
        "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
        1,
    ),
    (
        "quantity('')",
        "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
        0,
    ),
    (
        "quantity('1x')",
        "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
        1,
    ),
    ("quantity('1e')", "unable to parse quantity's suffix", 1),
    ("quantity('--1')", "unable to parse quantity's suffix", 1),
    (
        "quantity('1.2.3')",
        "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
        1,
    ),
    ("quantity('1Kii')", "unable to parse quantity's suffix", 1),
]
REFUSALS = [
    (
        "type(quantity('1')) == kubernetes.Quantity",
        "ERROR: <input>:1:24: undeclared reference to 'kubernetes' (in container '')\n | type(quantity('1')) == kubernetes.Quantity\n | .......................^",
    ),
    (
        "string(quantity('1'))",
        "ERROR: <input>:1:7: found no matching overload for 'string' applied to '(kubernetes.Quantity)'\n | string(quantity('1'))\n | ......^",
    ),
]


@pytest.mark.parametrize(("expression", "value", "cost"), VALUES)
def test_quantities_give(expression, value, cost):
    """The quantities give the value, of that very type, at that cost."""
    assert evaluated(expression) == (value, type(value), cost)


@pytest.mark.parametrize(("expression", "words", "cost"), ERRORS)
def test_quantities_fail(expression, words, cost):
    """What has no value says why, and is counted all the same."""
    assert failure(expression) == (words, cost)


@pytest.mark.parametrize(("expression", "words"), REFUSALS)
def test_quantities_are_refused(expression, words):
    """What can never have a value is refused before it is evaluated."""
    assert compile_failure(expression) == words
