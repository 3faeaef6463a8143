"""Expressions on the fields of a document. Values and costs are those of Kubernetes 1.34."""

import pytest

from tests.support.kubekit.cel_builders import compile_failure, evaluated, failure, typed

SCHEMA = {
    "type": "object",
    "properties": {
        "a": {"type": "object", "properties": {"b": {"type": "integer"}, "c": {"type": "string"}}},
        "m": {"type": "object", "additionalProperties": {"type": "string"}},
        "k": {"type": "string"},
        "l": {"type": "array", "items": {"type": "integer"}},
        "n": {"type": "integer"},
        "t": {"type": "boolean"},
        "x": {"x-kubernetes-int-or-string": True},
        "ll": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"n": {"type": "integer"}, "s": {"type": "string"}},
            },
        },
    },
}
DOCUMENT = {
    "a": {"b": 1, "c": "xyz"},
    "m": {"k": "v"},
    "k": "k",
    "l": [1, 2, 3],
    "n": 1,
    "t": True,
    "x": 5,
    "ll": [{"n": 1, "s": "a"}, {"n": 2}],
}

VALUES = [
    ("self.a.b", 1, 3),
    ("self.a.b == 1", True, 4),
    ("self.m['k']", "v", 3),
    ("self.m[self.k]", "v", 4),
    ("self.m.k", "v", 3),
    ("self.l[0]", 1, 3),
    ("self.l[self.n]", 2, 4),
    ("self.l[self.n + 0]", 2, 6),
    ("self.l[size(self.k)]", 2, 6),
    ("self.l[self.l[0]]", 2, 5),
    ("self.ll[self.n].n", 2, 5),
    ("self.ll[0].n", 1, 4),
    ("has(self.a.b)", True, 2),
    ("has(self.a)", True, 1),
    ("has(self.ll[0].s)", True, 3),
    ("has(self.m.k)", True, 2),
    ("has(self.ll[self.n].s)", False, 4),
    ("self.t ? self.a.b : self.n", 1, 4),
    ("self.t ? 1 : 2", 1, 2),
    ("(self.t ? self.a : self.a).b", 1, 4),
    ("(self.t ? self : self).a.b", 1, 4),
    ("self.t ? (self.t ? self.a.b : 1) : 2", 1, 6),
    ("self.t ? self.a.b + 1 : 2", 2, 6),
    ("(self.t ? self.n : 1) + 1", 2, 4),
    ("self.l[self.t ? 0 : 1]", 1, 5),
    ("self.l[self.t ? self.n : 1]", 2, 6),
    ("self.a.?b.orValue(1)", 1, 3),
    ("self.?a.?b.orValue(1)", 1, 3),
    ("self.m[?'zz'].orValue('x')", "x", 2),
    ("self.?a.b.hasValue()", True, 4),
    ("self.l.all(x, x > 0)", True, 18),
    ("self.l.all(x, x == self.n)", False, 19),
    ("self.ll.all(e, has(e.s) && e.s == 'a')", False, 14),
    ("self.ll.map(e, e.n)", [1, 2], 31),
    ("self.ll.exists(e, e.n > 1)", True, 17),
    ("self.ll.exists_one(e, e.n > 1)", True, 12),
    ("self.l.map(x, x > 1, x * 2)", [4, 6], 37),
    ("self.m.all(k, self.m[k] == 'v')", True, 10),
    ("self.m.all(k, v, v == 'v')", True, 8),
    ("self.n in self.l", True, 7),
    ("self.n in [1,2,3]", True, 2),
    ("'k' in self.m", True, 3),
    ("self.x == 5", True, 3),
    ("self.x == '5'", False, 3),
    ("self.x + 1 > 3", True, 4),
    ("self.k + 'abc'", "kabc", 3),
    ("self.k + 'abcdefghijklmnopqrstuvwxyz'", "kabcdefghijklmnopqrstuvwxyz", 5),
    ("self.k.startsWith('abc')", False, 3),
    ("self.k.contains('abc')", False, 3),
    ("self.k.matches('a.*b+')", False, 4),
    ("size(self.l)", 3, 3),
    ("self.l.size()", 3, 3),
    ("self.l.sum()", 6, 5),
    ("self.l + [4]", [1, 2, 3, 4], 3),
    ("self.l == [1,2,3]", True, 3),
    ("self.ll[0] == self.ll[1]", False, 7),
    ("self.a == self.a", True, 5),
    ("[self.n, 2]", [1, 2], 12),
    ("{'a': self.n}", {"a": 1}, 32),
    ("[1,2,self.n]", [1, 2, 1], 12),
    ("self.l.isSorted()", True, 5),
    ("self.l.max()", 3, 5),
    ("self.k.indexOf('a')", -1, 2),
    ("self.l.indexOf(1)", 0, 5),
    ("self.k.split('')", ["k"], 3),
    ("[self.k].join(',')", "k", 13),
    ("self.n > 0 && self.t", True, 5),
    ("self.n > 0 || self.t", True, 3),
    ("!self.t", False, 3),
    ("-self.n", -1, 3),
    ("dyn(self.n) == 1", True, 4),
    ("string(self.n)", "1", 3),
    ("duration('1h') == duration('1h')", True, 1),
    ("self.l.filter(x, x > 1).size()", 2, 36),
    ("self.l.map(x, [x])[0][0]", 1, 75),
    ("self.l.map(x, x)[0]", 1, 44),
    ("self.ll.map(e, e.n)[self.n]", 2, 34),
    ("self.l.first().value()", 1, 4),
    ("[1,2,3].all(x, self.l.all(y, x + y > 0))", True, 82),
    ("self.m.map(k, k)", ["k"], 16),
    ("self.m.transformMap(k, v, v + 'x')", {"k": "vx"}, 8),
    ("self.l.transformList(i, v, i + v)", [1, 3, 5], 48),
    ("self.l.transformList(i, v, v > 1, i + v)", [3, 5], 39),
    ("self.l.sort()", [1, 2, 3], 31),
    ("self.l.sortBy(x, -x)", [3, 2, 1], 76),
    ("self.l.distinct()", [1, 2, 3], 31),
    ("self.l.reverse()", [3, 2, 1], 16),
    ("self.l.slice(0,2)", [1, 2], 15),
    ("[[1],[2]].flatten()", [1, 2], 13),
    ("lists.range(3)", [0, 1, 2], 14),
    ("sets.contains(self.l, [1])", True, 6),
    ("sets.equivalent(self.l, [1,2,3])", True, 21),
    ("sets.intersects(self.l, [1])", True, 6),
    ("self.l.first().orValue(3) == 1", True, 4),
    ("self.?a.?b.optMap(q, q + 1).orValue(0)", 2, 11),
    ("type(self.n) == int", True, 4),
    ("self.a.c < 'b'", False, 4),
    ("self.a.c == 'xyz'", True, 4),
    ("self.x < 6", True, 3),
    ("self.ll == self.ll", True, 5),
    ("self == self", True, 3),
    ("bytes(self.k)", b"k", 3),
    ("'%s'.format([self.l])", "[1, 2, 3]", 13),
    ("'%d-%s'.format([self.n, self.a.c])", "1-xyz", 16),
    ("strings.quote(self.k)", '"k"', 3),
    ("url('http://a.b/c?d=e').getHost()", "a.b", 3),
    ("quantity('1Gi').compareTo(quantity('1G'))", 1, 3),
    ("ip('1.2.3.4').family()", 4, 2),
    ("cidr('10.0.0.0/8').containsIP('10.1.2.3')", True, 3),
    ("cidr('10.0.0.0/8').containsCIDR('10.1.2.0/24')", True, 6),
    ("cidr('10.0.0.0/8').containsIP(ip('10.1.2.3'))", True, 3),
    ("format.dns1123Label().validate('a').hasValue()", False, 10),
    ("semver('1.2.3').major()", 1, 2),
    ("isSemver('1.2')", False, 1),
    ("'abc'.find('b+')", "b", 1),
    ("'abcbc'.findAll('b')", ["b", "b"], 1),
    ("'abcbc'.findAll('b', 1)", ["b"], 1),
    ("isURL('http://a')", True, 1),
    ("isQuantity('1')", True, 1),
    ("isIP('1.2.3.4')", True, 1),
    ("ip.isCanonical('::1')", True, 1),
    ("quantity('1') == quantity('1000m')", True, 3),
    ("sign(quantity('-1'))", -1, 2),
]
ERRORS = [
    ("int(self.k)", "type conversion error from 'string' to 'int'", 3),
    ("self.l[5]", "index out of bounds: 5", 3),
    ("self.m['zz']", "no such key: zz", 3),
    ("self.x.size()", "no such overload: size", 3),
    ("self.a.b / 0", "division by zero", 4),
    ("timestamp(self.k)", "type conversion error from 'string' to 'google.protobuf.Timestamp'", 3),
]
REFUSALS = [
    ("has(self.a.d)", "ERROR: <input>:1:4: undefined field 'd'\n | has(self.a.d)\n | ...^"),
    (
        "has(self.m[self.k].k)",
        "ERROR: <input>:1:4: type 'string' does not support field selection\n | has(self.m[self.k].k)\n | ...^",
    ),
    ("self.?a.?d", "ERROR: <input>:1:8: undefined field 'd'\n | self.?a.?d\n | .......^"),
    ("self.?zz", "ERROR: <input>:1:5: undefined field 'zz'\n | self.?zz\n | ....^"),
    ("self.zz", "ERROR: <input>:1:5: undefined field 'zz'\n | self.zz\n | ....^"),
    ("self.a.zz", "ERROR: <input>:1:7: undefined field 'zz'\n | self.a.zz\n | ......^"),
    (
        "self.l.all(x, y)",
        "ERROR: <input>:1:15: undeclared reference to 'y' (in container '')\n | self.l.all(x, y)\n | ..............^",
    ),
    (
        "self.n + 'a'",
        "ERROR: <input>:1:8: found no matching overload for '_+_' applied to '(int, string)'\n | self.n + 'a'\n | .......^",
    ),
    (
        "self.ll.all(e, e.q == 1)",
        "ERROR: <input>:1:17: undefined field 'q'\n | self.ll.all(e, e.q == 1)\n | ................^",
    ),
    (
        "self.k.foo()",
        "ERROR: <input>:1:11: undeclared reference to 'foo' (in container '')\n | self.k.foo()\n | ..........^",
    ),
    (
        "self.m[1]",
        "ERROR: <input>:1:7: found no matching overload for '_[_]' applied to '(map(string, string), int)'\n | self.m[1]\n | ......^",
    ),
    (
        "self.l['a']",
        "ERROR: <input>:1:7: found no matching overload for '_[_]' applied to '(list(int), string)'\n | self.l['a']\n | ......^",
    ),
    (
        "quantity('1').sign()",
        "ERROR: <input>:1:19: found no matching overload for 'sign' applied to 'kubernetes.Quantity.()'\n | quantity('1').sign()\n | ..................^",
    ),
]


ENVIRONMENT, VIEW = typed(SCHEMA)


@pytest.mark.parametrize(("expression", "value", "cost"), VALUES)
def test_fields_give(expression, value, cost):
    """A path costs one and one for each step; what it gives is counted by its size."""
    expected = (value, type(value), cost)
    assert evaluated(expression, ENVIRONMENT, self=VIEW(DOCUMENT)) == expected


@pytest.mark.parametrize(("expression", "words", "cost"), ERRORS)
def test_fields_fail(expression, words, cost):
    """What is not there is an error, which is counted too."""
    assert failure(expression, ENVIRONMENT, self=VIEW(DOCUMENT)) == (words, cost)


@pytest.mark.parametrize(("expression", "words"), REFUSALS)
def test_fields_are_refused(expression, words):
    """What the schema does not have, or has with another type, is refused."""
    assert compile_failure(expression, ENVIRONMENT) == words
