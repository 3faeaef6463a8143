"""Durations and timestamps. What each expression gives, and costs, is what Kubernetes 1.34 answered."""

import pytest

from tests.support.kubekit.cel_builders import compile_failure, evaluated, failure

VALUES = [
    ("duration('1h').getHours()", 1, 1),
    ("string(timestamp('2020-01-01T00:00:00.120+01:00'))", "2020-01-01T00:00:00.12+01:00", 0),
    ("timestamp('2020-01-01T00:00:00Z').getHours('US/Central')", 18, 1),
    ("timestamp('2020-01-01T00:00:00Z').getHours('+02:30')", 2, 1),
    ("timestamp('2020-01-01T05:00:00+01:00').getHours()", 4, 1),
    ("duration('1h30m').getMinutes()", 90, 1),
    ("string(duration('1h30m'))", "5400s", 0),
    ("string(duration('1.5s'))", "1.5s", 0),
    ("int(timestamp('2020-01-01T00:00:00Z'))", 1577836800, 0),
    ("duration('1h') > duration('1m')", True, 1),
    ("string(duration('0'))", "0s", 0),
    ("string(duration('-1.5s'))", "-1.5s", 0),
    ("string(duration('1ns'))", "0.000000001s", 0),
    ("string(duration('100000000s'))", "100000000s", 0),
    ("int(duration('1s'))", 1000000000, 0),
    ("duration('1s') < duration('2s')", True, 1),
    ("timestamp(1) < timestamp(2)", True, 1),
    ("type(timestamp(0)) == google.protobuf.Timestamp", True, 1),
    ("string(timestamp('2020-01-01T00:00:00Z') + duration('36h'))", "2020-01-02T12:00:00Z", 2),
    ("string(timestamp('2020-01-01T00:00:00Z') - duration('1ms'))", "2019-12-31T23:59:59.999Z", 2),
    ("timestamp('2020-03-01T10:20:30.456Z').getFullYear()", 2020, 1),
    ("timestamp('2020-03-01T10:20:30.456Z').getMonth()", 2, 1),
    ("timestamp('2020-03-01T10:20:30.456Z').getDayOfYear()", 60, 1),
    ("timestamp('2020-03-01T10:20:30.456Z').getDayOfMonth()", 0, 1),
    ("timestamp('2020-03-01T10:20:30.456Z').getDate()", 1, 1),
    ("timestamp('2020-03-01T10:20:30.456Z').getDayOfWeek()", 0, 1),
    ("timestamp('2020-03-01T10:20:30.456Z').getHours()", 10, 1),
    ("timestamp('2020-03-01T10:20:30.456Z').getMinutes()", 20, 1),
    ("timestamp('2020-03-01T10:20:30.456Z').getSeconds()", 30, 1),
    ("timestamp('2020-03-01T10:20:30.456Z').getMilliseconds()", 456, 1),
    ("timestamp('2020-03-01T10:20:30.456Z').getDate('-11:00')", 29, 1),
    ("timestamp('2020-03-01T10:20:30.456Z').getMinutes('Asia/Kolkata')", 50, 1),
    ("duration('-90m').getHours()", -1, 1),
    ("duration('-90m').getMinutes()", -90, 1),
    ("duration('1500ms').getMilliseconds()", 1500, 1),
    ("duration('1500ms').getSeconds()", 1, 1),
]
ERRORS = [
    ("timestamp('2020-01-01T00:00:00Z').getHours('x')", "unknown time zone x", 1),
    ("timestamp('9999-12-31T23:59:59Z') + duration('1h')", "timestamp overflow", 1),
    ("duration('2562047h') + duration('2562047h')", "integer overflow", 1),
    ("duration('-2562047h') - duration('2562047h')", "integer overflow", 1),
    ("timestamp('0001-01-01T00:00:00Z') - duration('1s')", "timestamp overflow", 1),
    (
        "timestamp('9999-12-31T23:59:59Z') - timestamp('0001-01-01T00:00:00Z')",
        "integer overflow",
        1,
    ),
]
REFUSALS = [
    ("duration(dyn('x'))", "type conversion error from 'string' to 'google.protobuf.Duration'"),
    ("timestamp(dyn('x'))", "type conversion error from 'string' to 'google.protobuf.Timestamp'"),
    (
        "timestamp('x')",
        "ERROR: <input>:1:11: invalid timestamp argument\n | timestamp('x')\n | ..........^",
    ),
    (
        "duration('x')",
        "ERROR: <input>:1:10: invalid duration argument\n | duration('x')\n | .........^",
    ),
    (
        "duration('9999999h')",
        "ERROR: <input>:1:10: invalid duration argument\n | duration('9999999h')\n | .........^",
    ),
    (
        "-duration('1h')",
        "ERROR: <input>:1:1: found no matching overload for '-_' applied to '(duration)'\n | -duration('1h')\n | ^",
    ),
    (
        "timestamp('2020-01-01t00:00:00z')",
        "ERROR: <input>:1:11: invalid timestamp argument\n | timestamp('2020-01-01t00:00:00z')\n | ..........^",
    ),
    (
        "timestamp('2020-01-01T00:00:00')",
        "ERROR: <input>:1:11: invalid timestamp argument\n | timestamp('2020-01-01T00:00:00')\n | ..........^",
    ),
    (
        "timestamp('2020-01-01 00:00:00Z')",
        "ERROR: <input>:1:11: invalid timestamp argument\n | timestamp('2020-01-01 00:00:00Z')\n | ..........^",
    ),
    (
        "timestamp('2020-1-01T00:00:00Z')",
        "ERROR: <input>:1:11: invalid timestamp argument\n | timestamp('2020-1-01T00:00:00Z')\n | ..........^",
    ),
    (
        "timestamp('2020-01-01T24:00:00Z')",
        "ERROR: <input>:1:11: invalid timestamp argument\n | timestamp('2020-01-01T24:00:00Z')\n | ..........^",
    ),
    (
        "timestamp('2020-02-30T00:00:00Z')",
        "ERROR: <input>:1:11: invalid timestamp argument\n | timestamp('2020-02-30T00:00:00Z')\n | ..........^",
    ),
    (
        "timestamp('0000-01-01T00:00:00Z')",
        "ERROR: <input>:1:11: invalid timestamp argument\n | timestamp('0000-01-01T00:00:00Z')\n | ..........^",
    ),
    (
        "timestamp('2020-01-01T00:00:60Z')",
        "ERROR: <input>:1:11: invalid timestamp argument\n | timestamp('2020-01-01T00:00:60Z')\n | ..........^",
    ),
    (
        "duration('')",
        "ERROR: <input>:1:10: invalid duration argument\n | duration('')\n | .........^",
    ),
    (
        "duration('1')",
        "ERROR: <input>:1:10: invalid duration argument\n | duration('1')\n | .........^",
    ),
    (
        "duration('1.5.5h')",
        "ERROR: <input>:1:10: invalid duration argument\n | duration('1.5.5h')\n | .........^",
    ),
    (
        "duration('1h 2m')",
        "ERROR: <input>:1:10: invalid duration argument\n | duration('1h 2m')\n | .........^",
    ),
    (
        "duration('1d')",
        "ERROR: <input>:1:10: invalid duration argument\n | duration('1d')\n | .........^",
    ),
    (
        "duration('1h-2m')",
        "ERROR: <input>:1:10: invalid duration argument\n | duration('1h-2m')\n | .........^",
    ),
    (
        "timestamp(253402300800)",
        "ERROR: <input>:1:11: invalid timestamp argument\n | timestamp(253402300800)\n | ..........^",
    ),
    (
        "duration(1000)",
        "ERROR: <input>:1:10: invalid duration argument\n | duration(1000)\n | .........^",
    ),
]


@pytest.mark.parametrize(("expression", "value", "cost"), VALUES)
def test_times_give(expression, value, cost):
    """The times give the value, of that very type, at that cost."""
    assert evaluated(expression) == (value, type(value), cost)


@pytest.mark.parametrize(("expression", "words", "cost"), ERRORS)
def test_times_fail(expression, words, cost):
    """What has no value says why, and is counted all the same."""
    assert failure(expression) == (words, cost)


@pytest.mark.parametrize(("expression", "words"), REFUSALS)
def test_times_are_refused(expression, words):
    """What can never have a value is refused before it is evaluated."""
    assert compile_failure(expression) == words
