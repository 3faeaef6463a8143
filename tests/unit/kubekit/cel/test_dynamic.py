"""Values whose types are known only when they come. What each expression gives, and costs, is what Kubernetes 1.34 answered."""

import pytest

from tests.support.kubekit.cel_builders import compile_failure, evaluated, failure

VALUES = [
    ("type(null) == null_type", True, 1),
    ("-dyn(1.5)", -1.5, 1),
    ("0.0 / 0.0 == 0.0", False, 2),
    ("-1.0 / 0.0", float("-inf"), 1),
    ("1.0 / -0.0", float("-inf"), 1),
    ("timestamp(timestamp(0)) == timestamp(0)", True, 1),
    ("duration(duration('1s')) == duration('1s')", True, 1),
    ("bool(true)", True, 0),
    ("double(1.5)", 1.5, 0),
    ("dyn([[1]]).flatten()", [1], 12),
    ("dyn([1, 2]).max()", 2, 2),
    ("dyn([1, 2]).sum()", 3, 2),
    ("dyn(['a']).join('-')", "a", 1),
    ("dyn(duration('1h')).getHours()", 1, 1),
    ("dyn(timestamp(0)).getHours()", 0, 1),
    ("dyn(timestamp(0)).getHours('UTC')", 0, 1),
    ("sets.contains(dyn([1]), dyn([1]))", True, 2),
    ("dyn(quantity('1')).add(1).asInteger()", 2, 4),
    ("dyn(quantity('2')).isGreaterThan(dyn(quantity('1')))", True, 5),
    ("dyn(semver('2.0.0')).isGreaterThan(dyn(semver('1.0.0')))", True, 5),
    ("dyn(ip('1.1.1.1')) == dyn(ip('1.1.1.1'))", True, 5),
    ("string(dyn(ip('1.1.1.1')))", "1.1.1.1", 3),
    ("string(dyn(cidr('1.1.1.1/8')))", "1.1.1.1/8", 3),
    ("dyn(cidr('10.0.0.0/8')).containsIP(dyn('10.0.0.1'))", True, 3),
    ("dyn(cidr('10.0.0.0/8')).containsIP(dyn(ip('10.0.0.1')))", True, 5),
    ("dyn(cidr('10.0.0.0/8')).ip() == ip('10.0.0.0')", True, 5),
    ("dyn(url('http://a')).getHost()", "a", 3),
    ("dyn(format.uuid()).validate('x').hasValue()", True, 21),
    ("dyn(optional.of(1)).value()", 1, 3),
    ("dyn(optional.of(1)).hasValue()", True, 3),
    ("dyn(1).orValue(2)", 1, 0),
    ("dyn(optional.none()).orValue(2)", 2, 2),
    ("dyn({'a': 1}).a", 1, 2),
    ("dyn({'a': 1}).?a.value()", 1, 3),
    ("dyn({'a': 1}).?b.hasValue()", False, 2),
    ("dyn([1])[?0].value()", 1, 3),
    ("dyn(1)[?0].hasValue()", False, 2),
    ("dyn(1).?a.hasValue()", False, 2),
    ("optional.ofNonZeroValue(timestamp('0001-01-01T00:00:00Z')).hasValue()", False, 2),
    ("optional.ofNonZeroValue(optional.none()).hasValue()", True, 3),
    ("optional.ofNonZeroValue(ip('0.0.0.0')).hasValue()", True, 3),
    ("dyn({1: 2}).all(k, k == 1)", True, 6),
    ("dyn({true: 2}).all(k, k == true)", True, 6),
    ("dyn({true: 2}).all(k, v, v == 2)", True, 6),
    ("dyn([1, 2]).all(i, v, i < v)", True, 13),
    ("dyn({'a': 1}).map(k, k)", ["a"], 14),
    ("dyn([3, 1]).sortBy(x, x)", [1, 3], 30),
    ("dyn('a') in dyn({'a': 1})", True, 1),
    ("dyn(1) in dyn([1, 2])", True, 1),
    ("dyn([1]) in dyn([[1]])", True, 1),
    ("dyn([1]) in dyn({'a': 1})", False, 1),
    ("dyn(1) == dyn(1u)", True, 1),
    ("dyn(9223372036854775807) < dyn(9223372036854775808u)", True, 1),
    ("dyn(1.5) < dyn(2u)", True, 1),
    ("dyn(b'a') < dyn(b'b')", True, 1),
    ("dyn(true) < dyn(false)", False, 1),
    ("dyn(timestamp(0)) < dyn(timestamp(1))", True, 1),
    (
        "'%s'.format([[b'a', timestamp(0), true, null]])",
        '[b"a", timestamp("1970-01-01T00:00:00Z"), true, null]',
        1,
    ),
    ("'%s'.format([{1: true}])", "{1:true}", 1),
    ("'%s'.format([['\\n\\u0001é']])", '["\\n\\x01é"]', 1),
    ("'%s'.format([[double('inf')]])", '["+Inf"]', 1),
    ("'%X'.format(['é'])", "C3A9", 1),
    ("'%d %% %s'.format([1, 'a'])", "1 % a", 1),
    ("strings.quote('\\a\\b\\f\\n\\r\\t\\v')", '"\\a\\b\\f\\n\\r\\t\\v"', 1),
    ("type(dyn(1u)) == uint", True, 1),
    ("type(1.5) == double", True, 1),
    ("type(b'a') == bytes", True, 1),
    ("type(true) == bool", True, 1),
    ("type(duration('1s')) == google.protobuf.Duration", True, 1),
    ("type(optional.none()) == optional_type", True, 3),
    ("type(int) == type", True, 1),
]
ERRORS = [
    ("dyn(1) - dyn('a')", "no such overload", 1),
    ("dyn('a') - dyn(1)", "no such overload", 1),
    ("dyn(null) + dyn(1)", "no such overload: _+_", 1),
    ("dyn(null) < dyn(1)", "no such overload: _<_", 1),
    ("dyn([1]) < dyn([2])", "no such overload: _<_", 1),
    ("dyn(true) + dyn(true)", "no such overload: _+_", 1),
    ("dyn('a') * dyn(2)", "no such overload", 1),
    ("dyn(1) / dyn(2.0)", "no such overload", 1),
    ("dyn(1.5) % dyn(1.0)", "no such overload: _%_", 1),
    ("dyn(1u) - dyn(1)", "no such overload", 1),
    ("-dyn(1u)", "no such overload: -_", 1),
    ("-dyn(true)", "no such overload", 1),
    ("-9223372036854775808 % -1", "integer overflow", 1),
    ("dyn('abc').charAt(dyn('x'))", "no such overload: charAt(string, string)", 1),
    ("dyn(1).substring(0)", "no such overload: substring(int, int)", 1),
    ("dyn('a').replace(dyn(1), 'b')", "no such overload: replace(string, int, string)", 1),
    ("dyn([1]).contains('a')", "no such overload", 1),
    ("dyn(1).contains('a')", "no such overload", 1),
    ("dyn('a').startsWith(dyn(1))", "no such overload", 1),
    ("dyn(1).matches('a')", "no such overload", 1),
    ("dyn('a').matches(dyn(1))", "no such overload", 1),
    ("dyn(1).lowerAscii()", "no such overload: lowerAscii(int)", 1),
    ("dyn('x').slice(0, 1)", "no such overload: slice(string, int, int)", 12),
    ("dyn(1).reverse()", "no such overload: reverse(int)", 12),
    ("dyn(1).isSorted()", "no such overload: isSorted(int)", 1),
    ("dyn(1).getHours()", "no such overload: getHours(int)", 1),
    ("sets.contains(dyn(1), [1])", "no such overload: sets.contains(int, list)", 2),
    ("lists.range(dyn('a'))", "no such overload: lists.range(string)", 12),
    (
        "dyn(quantity('2')).isGreaterThan(dyn(semver('1.0.0')))",
        "no such overload: isGreaterThan(kubernetes.Quantity, kubernetes.Semver)",
        5,
    ),
    ("dyn(1).ip()", "no such overload: ip(int)", 1),
    ("dyn(1).validate('x')", "no such overload: validate(int, string)", 1),
    ("dyn(1).value()", "no such overload: value(int)", 1),
    ("dyn(1).hasValue()", "no such overload: hasValue(int)", 1),
    ("dyn([1]).?a.hasValue()", "unsupported index type 'string' in list", 2),
    ("dyn('a') in dyn('abc')", "no such overload", 1),
    ("dyn(double('NaN')) < dyn(1)", "NaN values cannot be ordered", 1),
    (
        "'%s'.format([dyn(optional.of(1))])",
        "error during formatting: string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, durations, and timestamps, was given optional_type",
        13,
    ),
    (
        "'%x'.format([dyn(true)])",
        "error during formatting: only integers, byte buffers, and strings can be formatted as hex, was given bool",
        1,
    ),
]
REFUSALS = [
    ("int(dyn(true))", "no such overload: int(bool)"),
    ("int(dyn([1]))", "no such overload: int(list)"),
    ("uint(dyn(null))", "no such overload: uint(null_type)"),
    ("uint(dyn(true))", "no such overload: uint(bool)"),
    ("double(dyn(true))", "no such overload: double(bool)"),
    ("double(dyn([]))", "no such overload: double(list)"),
    ("bool(dyn(1))", "no such overload: bool(int)"),
    ("bytes(dyn(1))", "no such overload: bytes(int)"),
    ("string(dyn([1]))", "no such overload: string(list)"),
    ("string(dyn(null))", "no such overload: string(null_type)"),
    ("duration(dyn(1.5))", "no such overload: duration(double)"),
    ("timestamp(dyn(1.5))", "no such overload: timestamp(double)"),
    ("timestamp(dyn(true))", "no such overload: timestamp(bool)"),
    (
        "dyn([1]).slice('a', 1)",
        "ERROR: <input>:1:15: found no matching overload for 'slice' applied to 'dyn.(string, int)'\n | dyn([1]).slice('a', 1)\n | ..............^",
    ),
    (
        "dyn([1, 'a']).isSorted()",
        "ERROR: <input>:1:9: expected type 'int' but found 'string'\n | dyn([1, 'a']).isSorted()\n | ........^",
    ),
    (
        "dyn(['a', 1]).max()",
        "ERROR: <input>:1:11: expected type 'string' but found 'int'\n | dyn(['a', 1]).max()\n | ..........^",
    ),
    (
        "dyn(timestamp(0)).getHours(1)",
        "ERROR: <input>:1:27: found no matching overload for 'getHours' applied to 'dyn.(int)'\n | dyn(timestamp(0)).getHours(1)\n | ..........................^",
    ),
    (
        "dyn([3, 'a']).sortBy(x, x)",
        "ERROR: <input>:1:9: expected type 'int' but found 'string'\n | dyn([3, 'a']).sortBy(x, x)\n | ........^",
    ),
    (
        "'a'.join()",
        "ERROR: <input>:1:9: found no matching overload for 'join' applied to 'string.()'\n | 'a'.join()\n | ........^",
    ),
    (
        "dyn(['a', 1]).join()",
        "ERROR: <input>:1:11: expected type 'string' but found 'int'\n | dyn(['a', 1]).join()\n | ..........^",
    ),
]


@pytest.mark.parametrize(("expression", "value", "cost"), VALUES)
def test_dynamic_give(expression, value, cost):
    """The values give the value, of that very type, at that cost."""
    assert evaluated(expression) == (value, type(value), cost)


@pytest.mark.parametrize(("expression", "words", "cost"), ERRORS)
def test_dynamic_fail(expression, words, cost):
    """What has no value says why, and is counted all the same."""
    assert failure(expression) == (words, cost)


@pytest.mark.parametrize(("expression", "words"), REFUSALS)
def test_dynamic_are_refused(expression, words):
    """What can never have a value is refused before it is evaluated."""
    assert compile_failure(expression) == words
