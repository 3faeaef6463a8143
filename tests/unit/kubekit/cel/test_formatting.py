"""Texts with values in them. What each expression gives, and costs, is what Kubernetes 1.34 answered."""

import pytest

from tests.support.kubekit.cel_builders import compile_failure, evaluated, failure

VALUES = [
    ('"%s %d".format(["a", 1])', "a 1", 1),
    ("'%f'.format([1234.5])", "1,234.500000", 1),
    ("'%.2f'.format([1234567.891])", "1,234,567.89", 1),
    ("'%e'.format([1234.5])", "1.234500\u00d710⁰³", 1),
    ("'%.3e'.format([0.00012345])", "1.234500\u00d710⁻⁰⁴", 1),
    ("'%f'.format([double('NaN')])", "NaN", 1),
    ("'%f'.format([double('Infinity')])", "∞", 1),
    ("'%s'.format([1.5])", "1.5", 1),
    ("'%s'.format([1e10])", "1e+10", 1),
    ("'%s'.format([null])", "null", 1),
    ("'%s'.format([true])", "true", 1),
    ("'%s'.format([b'abc'])", "abc", 1),
    ("'%s'.format([duration('1h')])", "3600s", 1),
    ("'%s'.format([timestamp('2020-01-01T00:00:00Z')])", "2020-01-01T00:00:00Z", 1),
    ("'%s'.format([[1,2,3]])", "[1, 2, 3]", 1),
    ("'%s'.format([[1.5, 2.0]])", "[1.500000, 2.000000]", 1),
    ("'%s'.format([['a','b\"']])", '["a", "b\\""]', 1),
    ("'%s'.format([{'a': 1, 'b': 2}])", '{"a":1, "b":2}', 1),
    ("'%s'.format([{'b': 'x', 'a': 'y'}])", '{"a":"y", "b":"x"}', 1),
    ("'%s'.format([[duration('1h')]])", '[duration("3600s")]', 1),
    ("'%s'.format([type(1)])", "int", 1),
    ("'%x'.format([255])", "ff", 1),
    ("'%X'.format([255])", "FF", 1),
    ("'%x'.format([-255])", "-ff", 1),
    ("'%x'.format(['abc'])", "616263", 1),
    ("'%X'.format([b'\\xab'])", "AB", 1),
    ("'%b'.format([5])", "101", 1),
    ("'%b'.format([true])", "1", 1),
    ("'%o'.format([8])", "10", 1),
    ("'%o'.format([8u])", "10", 1),
    ("'%%'.format([])", "%", 1),
    ("'%s'.format(dyn([1]))", "1", 1),
    ("'%.3d'.format([1])", "1", 1),
    ("'%f'.format(['NaN'])", "NaN", 1),
    ("'%.0f'.format([2.5])", "2", 1),
    ("'%.1f'.format([0.05])", "0.1", 1),
    ("'%f'.format([1e20])", "100,000,000,000,000,000,000.000000", 1),
    ("'%.10f'.format([1.0])", "1.0000000000", 1),
]
ERRORS = [
    (
        "'%s'.format([b'\\xff'])",
        'error during formatting: could not convert argument "invalid UTF-8 in bytes, cannot convert to string" to string',
        1,
    ),
    (
        "'%d'.format(dyn(['a']))",
        "error during formatting: decimal clause can only be used on integers, was given string",
        1,
    ),
    ("'%s %s'.format(dyn(['a']))", "index 1 out of range", 1),
    (
        "'%q'.format(dyn([1]))",
        'could not parse formatting clause: unrecognized formatting clause "q"',
        1,
    ),
    (
        "'%f'.format(['x'])",
        "error during formatting: fixed-point clause can only be used on doubles, was given string",
        1,
    ),
]
REFUSALS = [
    (
        "'%s'.format([optional.of(1)])",
        "ERROR: <input>:1:25: error during formatting: string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, durations, and timestamps, was given optional_type\n | '%s'.format([optional.of(1)])\n | ........................^",
    ),
    (
        "'%s'.format([quantity('1')])",
        "ERROR: <input>:1:22: error during formatting: string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, durations, and timestamps, was given kubernetes.Quantity\n | '%s'.format([quantity('1')])\n | .....................^",
    ),
    (
        "'%d'.format([1.5])",
        "ERROR: <input>:1:14: error during formatting: decimal clause can only be used on integers, was given double\n | '%d'.format([1.5])\n | .............^",
    ),
    (
        "'%d'.format(['a'])",
        "ERROR: <input>:1:14: error during formatting: decimal clause can only be used on integers, was given string\n | '%d'.format(['a'])\n | .............^",
    ),
    (
        "'%s %s'.format(['a'])",
        "ERROR: <input>:1:15: index 1 out of range\n | '%s %s'.format(['a'])\n | ..............^",
    ),
    (
        "'%s'.format(['a', 'b'])",
        "ERROR: <input>:1:12: too many arguments supplied to string.format (expected 1, got 2)\n | '%s'.format(['a', 'b'])\n | ...........^",
    ),
    (
        "'%q'.format(['a'])",
        "ERROR: <input>:1:12: could not parse formatting clause: unrecognized formatting clause \"q\"\n | '%q'.format(['a'])\n | ...........^",
    ),
    (
        "'%'.format(['a'])",
        "ERROR: <input>:1:11: unexpected end of string\n | '%'.format(['a'])\n | ..........^",
    ),
    (
        "'100%'.format([])",
        "ERROR: <input>:1:14: unexpected end of string\n | '100%'.format([])\n | .............^",
    ),
    (
        "'%.'.format([1.0])",
        "ERROR: <input>:1:12: could not parse formatting clause: error while parsing precision: could not find end of precision specifier\n | '%.'.format([1.0])\n | ...........^",
    ),
    (
        "'%.xf'.format([1.0])",
        "ERROR: <input>:1:14: could not parse formatting clause: error while parsing precision: error while converting precision to integer: strconv.Atoi: parsing \"\": invalid syntax\n | '%.xf'.format([1.0])\n | .............^",
    ),
    (
        "'%f'.format([1])",
        "ERROR: <input>:1:14: error during formatting: fixed-point clause can only be used on doubles, was given int\n | '%f'.format([1])\n | .............^",
    ),
]


@pytest.mark.parametrize(("expression", "value", "cost"), VALUES)
def test_formatting_give(expression, value, cost):
    """The formats of values give the value, of that very type, at that cost."""
    assert evaluated(expression) == (value, type(value), cost)


@pytest.mark.parametrize(("expression", "words", "cost"), ERRORS)
def test_formatting_fail(expression, words, cost):
    """What has no value says why, and is counted all the same."""
    assert failure(expression) == (words, cost)


@pytest.mark.parametrize(("expression", "words"), REFUSALS)
def test_formatting_are_refused(expression, words):
    """What can never have a value is refused before it is evaluated."""
    assert compile_failure(expression) == words
