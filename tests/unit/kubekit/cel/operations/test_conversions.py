"""Conversions between types. What each expression gives, and costs, is what Kubernetes 1.34 answered."""

import pytest

from kubekit.cel.values import Uint
from tests.support.kubekit.cel_builders import compile_failure, evaluated, failure

VALUES = [
    ("string(1.5)", "1.5", 0),
    ("string(100000000.0)", "1e+08", 0),
    ("string(1e21)", "1e+21", 0),
    ('double("1.5")', 1.5, 0),
    ("int(1.9)", 1, 0),
    ("int(-1.9)", -1, 0),
    ("uint('5')", Uint(5), 0),
    ("bool('t')", True, 0),
    ("bool('TRUE')", True, 0),
    ("string(b'abc')", "abc", 0),
    ("bytes('é')", b"\xc3\xa9", 0),
    ("type('a') == string", True, 1),
    ("type(1) == type(2)", True, 1),
    ("string(1e5)", "100000", 0),
    ("string(1e6)", "1e+06", 0),
    ("string(123456789.0)", "1.23456789e+08", 0),
    ("string(0.0001)", "0.0001", 0),
    ("string(0.00001)", "1e-05", 0),
    ("string(1.0)", "1", 0),
    ("string(-0.0)", "-0", 0),
    ("string(double('NaN'))", "NaN", 0),
    ("string(double('-inf'))", "-Inf", 0),
    ("string(1.7976931348623157e308)", "1.7976931348623157e+308", 0),
    ("string(3.14159)", "3.14159", 0),
    ("double('infinity')", float("inf"), 0),
    ("int('+5')", 5, 0),
    ("int('-5')", -5, 0),
    ("bool('1')", True, 0),
    ("bool('True')", True, 0),
    ("int(9223372036854774784.0)", 9223372036854774784, 0),
    ("uint(1.9)", Uint(1), 0),
    ("string('a')", "a", 0),
    ("string(true)", "true", 0),
    ("bytes('a')", b"a", 0),
    ("bytes(b'a')", b"a", 0),
    ("dyn(int(1u)) == dyn(1.0)", True, 1),
    ("double('NaN') == double('NaN')", False, 1),
    ("double('NaN') != double('NaN')", True, 1),
    ("type([]) == list", True, 1),
    ("type({}) == map", True, 1),
    ("type(type(1)) == type", True, 1),
    ("type(1) == type('a')", False, 1),
    ("type(1)  ==  int // comment", True, 1),
]
ERRORS = [
    ("double('NaN') < 1.0", "NaN values cannot be ordered", 1),
]
REFUSALS = [
    ('int("0x10")', "type conversion error from 'string' to 'int'"),
    ("int(1e30)", "integer overflow"),
    ("int('abc')", "type conversion error from 'string' to 'int'"),
    ("uint(-1)", "unsigned integer overflow"),
    ("double('x')", "type conversion error from 'string' to 'double'"),
    ("bool('x')", "type conversion error from 'string' to 'bool'"),
    ("string(b'\\xff')", "invalid UTF-8 in bytes, cannot convert to string"),
    ("double(' 1')", "type conversion error from 'string' to 'double'"),
    ("double('1e400')", "type conversion error from 'string' to 'double'"),
    ("int(' 5')", "type conversion error from 'string' to 'int'"),
    ("int('5_0')", "type conversion error from 'string' to 'int'"),
    ("int('99999999999999999999')", "type conversion error from 'string' to 'int'"),
    ("uint('-5')", "type conversion error from 'string' to 'uint'"),
    ("uint('+5')", "type conversion error from 'string' to 'uint'"),
    ("bool('tRue')", "type conversion error from 'string' to 'bool'"),
    ("int(9223372036854775807.0)", "integer overflow"),
    ("int(double('NaN'))", "integer overflow"),
    ("uint(18446744073709551615.0)", "unsigned integer overflow"),
    ("uint(-0.5)", "unsigned integer overflow"),
    ("int(18446744073709551615u)", "integer overflow"),
    (
        "string(type(1))",
        "ERROR: <input>:1:7: found no matching overload for 'string' applied to '(type(int))'\n | string(type(1))\n | ......^",
    ),
    (
        "int(true)",
        "ERROR: <input>:1:4: found no matching overload for 'int' applied to '(bool)'\n | int(true)\n | ...^",
    ),
    (
        "type(dyn(1)) == dyn",
        "ERROR: <input>:1:17: undeclared reference to 'dyn' (in container '')\n | type(dyn(1)) == dyn\n | ................^",
    ),
]


@pytest.mark.parametrize(("expression", "value", "cost"), VALUES)
def test_conversions_give(expression, value, cost):
    """The conversions give the value, of that very type, at that cost."""
    assert evaluated(expression) == (value, type(value), cost)


@pytest.mark.parametrize(("expression", "words", "cost"), ERRORS)
def test_conversions_fail(expression, words, cost):
    """What has no value says why, and is counted all the same."""
    assert failure(expression) == (words, cost)


@pytest.mark.parametrize(("expression", "words"), REFUSALS)
def test_conversions_are_refused(expression, words):
    """What can never have a value is refused before it is evaluated."""
    assert compile_failure(expression) == words
