"""Rules applied to documents. The answers are those of Kubernetes 1.34, word for word."""

import pytest

from kubekit.cel import REQUEST_LIMIT, Budget, rules_of

S0 = {
    "type": "object",
    "properties": {
        "spec": {
            "type": "object",
            "properties": {
                "a": {"type": "integer"},
                "b": {"type": "string", "x-kubernetes-validations": [{"rule": "self == oldSelf"}]},
                "l": {
                    "type": "array",
                    "items": {
                        "type": "string",
                        "x-kubernetes-validations": [{"rule": "self.startsWith('x')"}],
                    },
                },
                "m": {
                    "type": "object",
                    "additionalProperties": {
                        "type": "integer",
                        "x-kubernetes-validations": [{"rule": "self > 0"}],
                    },
                },
            },
        }
    },
    "x-kubernetes-validations": [
        {"rule": "self.spec.a > 0"},
        {
            "rule": "self.spec.a < 100",
            "message": "a must be below 100",
            "fieldPath": ".spec.a",
            "reason": "FieldValueForbidden",
        },
        {
            "rule": "self.metadata.name != 'bad'",
            "messageExpression": "'name ' + self.metadata.name + ' is bad'",
        },
    ],
}
S1 = {
    "type": "object",
    "properties": {
        "items": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "name": {"type": "string"},
                    "v": {"type": "integer"},
                    "u": {"type": "string"},
                },
                "x-kubernetes-validations": [
                    {"rule": "self.v >= oldSelf.v"},
                    {
                        "rule": "!oldSelf.hasValue() || self.v > oldSelf.value().v",
                        "optionalOldSelf": True,
                    },
                    {"rule": "self.u != 'bad'"},
                ],
            },
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["name"],
        }
    },
}
S2 = {
    "type": "object",
    "properties": {"x": {"x-kubernetes-int-or-string": True}},
    "x-kubernetes-validations": [{"rule": "self.x + 1 > 2"}, {"rule": "self.x > 2"}],
}
S3 = {
    "type": "object",
    "properties": {"a": {"type": "string"}},
    "x-kubernetes-validations": [
        {"rule": "false", "messageExpression": "self.a"},
        {"rule": "false", "messageExpression": "'a\\nb'"},
        {"rule": "false", "messageExpression": "''", "message": "fallback"},
        {"rule": "false", "messageExpression": "self.a + 'x'", "message": "fallback"},
        {"rule": "false", "reason": "FieldValueRequired"},
        {"rule": "false", "reason": "FieldValueDuplicate", "message": "dup"},
        {"rule": "false", "message": " trimmed "},
    ],
}
S4 = {
    "type": "object",
    "properties": {"l": {"type": "array", "items": {"type": "integer"}}},
    "x-kubernetes-validations": [
        {"rule": "self.l.all(x, self.l.all(y, x + y >= 0))"},
        {"rule": "true"},
    ],
}
S5 = {
    "type": "object",
    "properties": {
        "l": {
            "type": "array",
            "items": {
                "type": "integer",
                "x-kubernetes-validations": [{"rule": "self >= 0"}, {"rule": "self < 100"}],
            },
        }
    },
}
S6 = {
    "type": "object",
    "properties": {
        "s": {"type": "array", "items": {"type": "string"}, "x-kubernetes-list-type": "set"},
        "t": {"type": "array", "items": {"type": "string"}},
        "m": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"name": {"type": "string"}, "v": {"type": "integer"}},
            },
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["name"],
        },
    },
    "x-kubernetes-validations": [
        {"rule": "self.s == ['b','a']"},
        {"rule": "self.t == ['b','a']"},
        {"rule": "['b','a'] == self.s"},
        {"rule": "self.s + ['a','c'] == ['c','b','a']"},
        {"rule": "size(self.s + ['a']) == 2"},
        {"rule": "size(self.t + ['a']) == 3"},
        {"rule": "self.m == self.m"},
        {"rule": "self.m + self.m == self.m"},
        {"rule": "size(self.m + self.m) == 2"},
        {"rule": "self.m == [self.m[1], self.m[0]]"},
        {"rule": "[self.m[1], self.m[0]] == self.m"},
        {"rule": "self.m.map(x, x.name) == ['a','b']"},
    ],
}
S7 = {
    "type": "object",
    "properties": {
        "a": {"type": "string", "nullable": True},
        "l": {"type": "array", "items": {"type": "string", "nullable": True}},
        "m": {"type": "object", "additionalProperties": {"type": "integer", "nullable": True}},
    },
    "x-kubernetes-validations": [
        {"rule": "has(self.a)"},
        {"rule": "self.l[0] == null"},
        {"rule": "self.l[0] == 'a'"},
        {"rule": "self.m['k'] == null"},
        {"rule": "'k' in self.m"},
        {"rule": "self.l.all(x, x.startsWith('a'))"},
    ],
}
S8 = {
    "type": "object",
    "properties": {
        "a": {"type": "string", "nullable": True},
        "l": {"type": "array", "items": {"type": "string", "nullable": True}},
        "m": {"type": "object", "additionalProperties": {"type": "integer", "nullable": True}},
    },
    "x-kubernetes-validations": [
        {"rule": "has(self.a)"},
        {"rule": "self.l[0] == null"},
        {"rule": "self.l[0] == 'a'"},
        {"rule": "self.m['k'] == null"},
        {"rule": "'k' in self.m"},
        {"rule": "self.m.k > 1"},
        {"rule": "self.l.all(x, x.startsWith('a'))"},
    ],
}
S9 = {
    "type": "object",
    "properties": {
        "d": {"type": "string", "format": "duration"},
        "t": {"type": "string", "format": "date-time"},
        "y": {"type": "string", "format": "date"},
        "b": {"type": "string", "format": "byte"},
        "n": {"type": "number"},
    },
    "x-kubernetes-validations": [
        {"rule": "self.d > duration('1h')"},
        {"rule": "self.t > timestamp('2020-01-01T00:00:00Z')"},
        {"rule": "self.y.getFullYear() == 2021"},
        {"rule": "self.b == b'abc'"},
        {"rule": "self.n == 1.0"},
        {"rule": "self.n + 0.5 < 2.0"},
        {"rule": "self.t - duration('1h') < self.t"},
        {"rule": "string(self.t) == '2021-01-01T00:00:00Z'"},
        {"rule": "size(self.b) == 3"},
        {"rule": "self.d.getMinutes() == 90"},
    ],
}
S10 = {
    "type": "object",
    "properties": {
        "o": {
            "type": "object",
            "x-kubernetes-preserve-unknown-fields": True,
            "properties": {"k": {"type": "string"}},
        },
        "p": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
        "e": {
            "type": "object",
            "x-kubernetes-embedded-resource": True,
            "x-kubernetes-preserve-unknown-fields": True,
        },
    },
    "x-kubernetes-validations": [
        {"rule": "self.o == self.o"},
        {"rule": "has(self.o.k)"},
        {"rule": "self.p == self.p"},
        {"rule": "self.e.kind == 'Pod'"},
        {"rule": "self.e.metadata.name == 'n'"},
        {"rule": "has(self.e.metadata)"},
    ],
}
S11 = {
    "type": "object",
    "properties": {
        "a-b": {"type": "string"},
        "c.d": {"type": "string"},
        "e/f": {"type": "string"},
        "namespace": {"type": "string"},
        "x__y": {"type": "string"},
        "in": {"type": "string"},
        "a$b": {"type": "string"},
        "1a": {"type": "string"},
    },
    "x-kubernetes-validations": [
        {"rule": "self.a__dash__b == 'x'"},
        {"rule": "self.c__dot__d == 'x'"},
        {"rule": "self.e__slash__f == 'x'"},
        {"rule": "self.__namespace__ == 'x'"},
        {"rule": "self.namespace == 'x'"},
        {"rule": "self.x__underscores__y == 'x'"},
        {"rule": "self.__in__ == 'x'"},
        {"rule": "has(self.__namespace__)"},
    ],
}
S12 = {
    "type": "object",
    "properties": {"a": {"type": "integer"}},
    "allOf": [
        {
            "x-kubernetes-validations": [{"rule": "self.a > 5"}],
            "properties": {"a": {"x-kubernetes-validations": [{"rule": "self > 7"}]}},
        }
    ],
    "x-kubernetes-validations": [{"rule": "true"}],
}
S13 = {
    "type": "object",
    "properties": {
        "spec": {
            "type": "object",
            "properties": {
                "a": {"type": "object", "properties": {"b": {"type": "string"}}},
                "m": {"type": "object", "additionalProperties": {"type": "string"}},
                "c": {"type": "object", "properties": {"x.y": {"type": "string"}}},
            },
            "x-kubernetes-validations": [
                {"rule": "false", "fieldPath": ".a.b"},
                {"rule": "false", "fieldPath": ".m.k"},
                {"rule": "false", "fieldPath": ".m['k.l']"},
                {"rule": "false", "fieldPath": "['a']['b']"},
                {"rule": "false", "fieldPath": ".c['x.y']"},
            ],
        }
    },
}
S14 = {
    "type": "object",
    "properties": {
        "a": {"type": "object", "properties": {"b": {"type": "string"}}},
        "m": {"type": "object", "additionalProperties": {"type": "string"}},
        "c": {"type": "object", "properties": {"x.y": {"type": "string"}}},
    },
    "x-kubernetes-validations": [
        {"rule": "false", "fieldPath": ".a.b"},
        {"rule": "false", "fieldPath": ".m.k"},
        {"rule": "false", "fieldPath": ".m['k.l']"},
        {"rule": "false", "fieldPath": "['a']['b']"},
        {"rule": "false", "fieldPath": ".c['x.y']"},
    ],
}
CASES = [
    pytest.param(
        S0,
        {
            "apiVersion": "v1",
            "kind": "K",
            "metadata": {"name": "x"},
            "spec": {"a": 0, "l": ["y", "xa"], "m": {"k": 0, "j": 1}},
        },
        None,
        REQUEST_LIMIT,
        [
            '<nil>: Invalid value: "object": failed rule: self.spec.a > 0',
            "spec.l[0]: Invalid value: \"string\": failed rule: self.startsWith('x')",
            'spec.m[k]: Invalid value: "integer": failed rule: self > 0',
        ],
        id="first_three",
    ),
    pytest.param(
        S0,
        {"apiVersion": "v1", "kind": "K", "metadata": {"name": "x"}, "spec": {"a": 200, "b": "q"}},
        {"apiVersion": "v1", "kind": "K", "metadata": {"name": "x"}, "spec": {"a": 200, "b": "p"}},
        REQUEST_LIMIT,
        [
            "spec.a: Forbidden: a must be below 100",
            'spec.b: Invalid value: "string": failed rule: self == oldSelf',
        ],
        id="changed_b",
    ),
    pytest.param(
        S0,
        {"apiVersion": "v1", "kind": "K", "metadata": {"name": "bad"}, "spec": {"a": 1}},
        None,
        REQUEST_LIMIT,
        ['<nil>: Invalid value: "object": name bad is bad'],
        id="named_bad",
    ),
    pytest.param(
        S0,
        {"apiVersion": "v1", "kind": "K", "metadata": {"name": "x"}, "spec": {}},
        None,
        REQUEST_LIMIT,
        [
            '<nil>: Invalid value: "object": no such key: a evaluating rule: self.spec.a > 0',
            '<nil>: Invalid value: "object": no such key: a evaluating rule: a must be below 100',
        ],
        id="nothing",
    ),
    pytest.param(
        S0,
        {"apiVersion": "v1", "kind": "K", "metadata": {"name": "x"}, "spec": {"a": 200, "b": "q"}},
        {"apiVersion": "v1", "kind": "K", "metadata": {"name": "x"}, "spec": {"a": 300, "b": "q"}},
        REQUEST_LIMIT,
        ["spec.a: Forbidden: a must be below 100"],
        id="a_unchanged_b",
    ),
    pytest.param(
        S0,
        {"apiVersion": "v1", "kind": "K", "metadata": {"name": "x"}, "spec": {"a": 0, "l": ["y"]}},
        {"apiVersion": "v1", "kind": "K", "metadata": {"name": "x"}, "spec": {"a": 0, "l": ["y"]}},
        REQUEST_LIMIT,
        ['<nil>: Invalid value: "object": failed rule: self.spec.a > 0'],
        id="all_unchanged",
    ),
    pytest.param(
        S0,
        {
            "apiVersion": "v1",
            "kind": "K",
            "metadata": {"name": "x"},
            "spec": {"a": 0, "l": ["y", "z"]},
        },
        {"apiVersion": "v1", "kind": "K", "metadata": {"name": "x"}, "spec": {"a": 0, "l": ["y"]}},
        REQUEST_LIMIT,
        [
            '<nil>: Invalid value: "object": failed rule: self.spec.a > 0',
            "spec.l[0]: Invalid value: \"string\": failed rule: self.startsWith('x')",
            "spec.l[1]: Invalid value: \"string\": failed rule: self.startsWith('x')",
        ],
        id="list_grew",
    ),
    pytest.param(
        S0,
        {
            "apiVersion": "v1",
            "kind": "K",
            "metadata": {"name": "x"},
            "spec": {"a": 0, "l": ["y"], "m": {"k": 0, "n": 0}},
        },
        {
            "apiVersion": "v1",
            "kind": "K",
            "metadata": {"name": "x"},
            "spec": {"a": 1, "l": ["y"], "m": {"k": 0}},
        },
        REQUEST_LIMIT,
        [
            '<nil>: Invalid value: "object": failed rule: self.spec.a > 0',
            'spec.m[n]: Invalid value: "integer": failed rule: self > 0',
        ],
        id="map_grew",
    ),
    pytest.param(
        S1,
        {"items": [{"name": "a", "v": 1, "u": "x"}, {"name": "b", "v": 5, "u": "bad"}]},
        {"items": [{"name": "b", "v": 6, "u": "bad"}, {"name": "a", "v": 1, "u": "x"}]},
        REQUEST_LIMIT,
        [
            'items[0]: Invalid value: "object": failed rule: !oldSelf.hasValue() || self.v > oldSelf.value().v',
            'items[1]: Invalid value: "object": failed rule: self.v >= oldSelf.v',
            'items[1]: Invalid value: "object": failed rule: !oldSelf.hasValue() || self.v > oldSelf.value().v',
            "items[1]: Invalid value: \"object\": failed rule: self.u != 'bad'",
        ],
        id="keyed_reordered",
    ),
    pytest.param(
        S1,
        {"items": [{"name": "a", "v": 1, "u": "bad"}, {"name": "b", "v": 5, "u": "bad"}]},
        {"items": [{"name": "b", "v": 5, "u": "bad"}, {"name": "a", "v": 1, "u": "bad"}]},
        REQUEST_LIMIT,
        [
            'items[0]: Invalid value: "object": failed rule: !oldSelf.hasValue() || self.v > oldSelf.value().v',
            'items[1]: Invalid value: "object": failed rule: !oldSelf.hasValue() || self.v > oldSelf.value().v',
        ],
        id="keyed_unchanged",
    ),
    pytest.param(
        S1,
        {"items": [{"name": "a", "v": 1, "u": "bad"}]},
        None,
        REQUEST_LIMIT,
        ["items[0]: Invalid value: \"object\": failed rule: self.u != 'bad'"],
        id="keyed_new",
    ),
    pytest.param(
        S1,
        {"items": [{"name": "c", "v": 1, "u": "ok"}]},
        {"items": [{"name": "b", "v": 5, "u": "bad"}]},
        REQUEST_LIMIT,
        [],
        id="keyed_other",
    ),
    pytest.param(
        S2,
        {"x": "a"},
        None,
        REQUEST_LIMIT,
        [
            "<nil>: Invalid value: \"object\": 'no such overload': call arguments did not match a supported operator, function or macro signature for rule: self.x + 1 > 2",
            "<nil>: Invalid value: \"object\": 'no such overload': call arguments did not match a supported operator, function or macro signature for rule: self.x > 2",
        ],
        id="mixed_text",
    ),
    pytest.param(S2, {"x": 5}, None, REQUEST_LIMIT, [], id="mixed_five"),
    pytest.param(
        S2,
        {"x": 1},
        None,
        REQUEST_LIMIT,
        [
            '<nil>: Invalid value: "object": failed rule: self.x + 1 > 2',
            '<nil>: Invalid value: "object": failed rule: self.x > 2',
        ],
        id="mixed_one",
    ),
    pytest.param(
        S3,
        {"a": "hello"},
        None,
        REQUEST_LIMIT,
        [
            '<nil>: Invalid value: "object": hello',
            '<nil>: Invalid value: "object": failed rule: false',
            '<nil>: Invalid value: "object": fallback',
            '<nil>: Invalid value: "object": hellox',
            "<nil>: Required value: failed rule: false",
            '<nil>: Duplicate value: "object"',
            '<nil>: Invalid value: "object": trimmed',
        ],
        id="messages",
    ),
    pytest.param(
        S3,
        {},
        None,
        REQUEST_LIMIT,
        [
            '<nil>: Invalid value: "object": failed rule: false',
            '<nil>: Invalid value: "object": failed rule: false',
            '<nil>: Invalid value: "object": fallback',
            '<nil>: Invalid value: "object": fallback',
            "<nil>: Required value: failed rule: false",
            '<nil>: Duplicate value: "object"',
            '<nil>: Invalid value: "object": trimmed',
        ],
        id="messages_missing",
    ),
    pytest.param(
        S3,
        {"a": "   "},
        None,
        REQUEST_LIMIT,
        [
            '<nil>: Invalid value: "object": failed rule: false',
            '<nil>: Invalid value: "object": failed rule: false',
            '<nil>: Invalid value: "object": fallback',
            '<nil>: Invalid value: "object": x',
            "<nil>: Required value: failed rule: false",
            '<nil>: Duplicate value: "object"',
            '<nil>: Invalid value: "object": trimmed',
        ],
        id="messages_blank",
    ),
    pytest.param(
        S3,
        {"a": "y" * 6000},
        None,
        REQUEST_LIMIT,
        [
            '<nil>: Invalid value: "object": failed rule: false',
            '<nil>: Invalid value: "object": failed rule: false',
            '<nil>: Invalid value: "object": fallback',
            '<nil>: Invalid value: "object": fallback',
            "<nil>: Required value: failed rule: false",
            '<nil>: Duplicate value: "object"',
            '<nil>: Invalid value: "object": trimmed',
        ],
        id="messages_long",
    ),
    pytest.param(
        S4,
        {"l": [*range(2000)]},
        None,
        REQUEST_LIMIT,
        [
            "<nil>: Invalid value: \"object\": 'operation cancelled: actual cost limit exceeded': no further validation rules will be run due to call cost exceeds limit for rule: self.l.all(x, self.l.all(y, x + y >= 0))"
        ],
        id="quadratic_large",
    ),
    pytest.param(S4, {"l": [*range(100)]}, None, REQUEST_LIMIT, [], id="quadratic_small"),
    pytest.param(
        S5,
        {"l": [*range(50)]},
        None,
        100,
        [
            'l[25]: Invalid value: "integer": validation failed due to running out of cost budget, no further validation rules will be run'
        ],
        id="budget_100",
    ),
    pytest.param(S5, {"l": [*range(50)]}, None, 300, [], id="budget_300"),
    pytest.param(S5, {"l": [1, 2]}, None, 12, [], id="budget_12"),
    pytest.param(
        S5,
        {"l": [1, 2]},
        None,
        6,
        [
            'l[1]: Invalid value: "integer": validation failed due to running out of cost budget, no further validation rules will be run'
        ],
        id="budget_6",
    ),
    pytest.param(
        S6,
        {"s": ["a", "b"], "t": ["a", "b"], "m": [{"name": "a", "v": 1}, {"name": "b"}]},
        None,
        REQUEST_LIMIT,
        [
            "<nil>: Invalid value: \"object\": failed rule: self.t == ['b','a']",
            "<nil>: Invalid value: \"object\": failed rule: ['b','a'] == self.s",
            '<nil>: Invalid value: "object": failed rule: [self.m[1], self.m[0]] == self.m',
        ],
        id="collections",
    ),
    pytest.param(
        S7,
        {"a": None, "l": [None, "a"], "m": {"k": None}},
        None,
        REQUEST_LIMIT,
        [
            '<nil>: Invalid value: "object": failed rule: has(self.a)',
            "<nil>: Invalid value: \"object\": rule compile error: compilation failed: ERROR: <input>:1:11: found no matching overload for '_==_' applied to '(string, null)'\n | self.l[0] == null\n | ..........^",
            "<nil>: Invalid value: \"object\": failed rule: self.l[0] == 'a'",
            "<nil>: Invalid value: \"object\": rule compile error: compilation failed: ERROR: <input>:1:13: found no matching overload for '_==_' applied to '(int, null)'\n | self.m['k'] == null\n | ............^",
            "<nil>: Invalid value: \"object\": 'no such overload': call arguments did not match a supported operator, function or macro signature for rule: self.l.all(x, x.startsWith('a'))",
        ],
        id="nulls",
    ),
    pytest.param(
        S8,
        {"l": ["a"], "m": {"k": 2}},
        None,
        REQUEST_LIMIT,
        [
            '<nil>: Invalid value: "object": failed rule: has(self.a)',
            "<nil>: Invalid value: \"object\": rule compile error: compilation failed: ERROR: <input>:1:11: found no matching overload for '_==_' applied to '(string, null)'\n | self.l[0] == null\n | ..........^",
            "<nil>: Invalid value: \"object\": rule compile error: compilation failed: ERROR: <input>:1:13: found no matching overload for '_==_' applied to '(int, null)'\n | self.m['k'] == null\n | ............^",
        ],
        id="not_null",
    ),
    pytest.param(
        S9,
        {"d": "1h30m", "t": "2021-01-01T00:00:00Z", "y": "2021-05-05", "b": "YWJj", "n": 1},
        None,
        REQUEST_LIMIT,
        [],
        id="times",
    ),
    pytest.param(
        S9,
        {"d": "2 hours", "t": "2019-01-01T00:00:00.5+01:00", "y": "2020-01-01", "b": "", "n": 1.5},
        None,
        REQUEST_LIMIT,
        [
            "<nil>: Invalid value: \"object\": failed rule: self.t > timestamp('2020-01-01T00:00:00Z')",
            '<nil>: Invalid value: "object": failed rule: self.y.getFullYear() == 2021',
            "<nil>: Invalid value: \"object\": failed rule: self.b == b'abc'",
            '<nil>: Invalid value: "object": failed rule: self.n == 1.0',
            '<nil>: Invalid value: "object": failed rule: self.n + 0.5 < 2.0',
            "<nil>: Invalid value: \"object\": failed rule: string(self.t) == '2021-01-01T00:00:00Z'",
            '<nil>: Invalid value: "object": failed rule: size(self.b) == 3',
            '<nil>: Invalid value: "object": failed rule: self.d.getMinutes() == 90',
        ],
        id="times_other",
    ),
    pytest.param(
        S10,
        {
            "o": {"k": "a", "z": 1},
            "p": {"q": [1]},
            "e": {
                "apiVersion": "v1",
                "kind": "Pod",
                "metadata": {"name": "n", "labels": {"a": "b"}},
            },
        },
        None,
        REQUEST_LIMIT,
        [],
        id="unknown",
    ),
    pytest.param(
        S10,
        {"o": {"z": 1}, "p": {"q": [1]}, "e": {"apiVersion": "v1", "kind": "Pod"}},
        None,
        REQUEST_LIMIT,
        [
            '<nil>: Invalid value: "object": failed rule: has(self.o.k)',
            "<nil>: Invalid value: \"object\": no such key: metadata evaluating rule: self.e.metadata.name == 'n'",
            '<nil>: Invalid value: "object": failed rule: has(self.e.metadata)',
        ],
        id="unknown_less",
    ),
    pytest.param(
        S11,
        {"a-b": "x", "c.d": "x", "e/f": "x", "namespace": "x", "x__y": "x", "in": "x"},
        None,
        REQUEST_LIMIT,
        [],
        id="escaped",
    ),
    pytest.param(
        S11,
        {"a-b": "y", "c.d": "y", "e/f": "y", "namespace": "y", "x__y": "y", "in": "y"},
        None,
        REQUEST_LIMIT,
        [
            "<nil>: Invalid value: \"object\": failed rule: self.a__dash__b == 'x'",
            "<nil>: Invalid value: \"object\": failed rule: self.c__dot__d == 'x'",
            "<nil>: Invalid value: \"object\": failed rule: self.e__slash__f == 'x'",
            "<nil>: Invalid value: \"object\": failed rule: self.__namespace__ == 'x'",
            "<nil>: Invalid value: \"object\": failed rule: self.namespace == 'x'",
            "<nil>: Invalid value: \"object\": failed rule: self.x__underscores__y == 'x'",
            "<nil>: Invalid value: \"object\": failed rule: self.__in__ == 'x'",
        ],
        id="escaped_wrong",
    ),
    pytest.param(
        S12,
        {"a": 1},
        None,
        REQUEST_LIMIT,
        [
            '<nil>: Invalid value: "object": failed rule: self.a > 5',
            'a: Invalid value: "integer": failed rule: self > 7',
        ],
        id="part_1",
    ),
    pytest.param(
        S12,
        {"a": 6},
        None,
        REQUEST_LIMIT,
        ['a: Invalid value: "integer": failed rule: self > 7'],
        id="part_6",
    ),
    pytest.param(S12, {"a": 9}, None, REQUEST_LIMIT, [], id="part_9"),
    pytest.param(
        S13,
        {"spec": {"a": {}}},
        None,
        REQUEST_LIMIT,
        [
            'spec.a.b: Invalid value: "object": failed rule: false',
            'spec.m[k]: Invalid value: "object": failed rule: false',
            'spec.m[k.l]: Invalid value: "object": failed rule: false',
            'spec.a.b: Invalid value: "object": failed rule: false',
            'spec.c.x.y: Invalid value: "object": failed rule: false',
        ],
        id="paths_nested",
    ),
    pytest.param(
        S14,
        {"a": {}},
        None,
        REQUEST_LIMIT,
        [
            'a.b: Invalid value: "object": failed rule: false',
            'm[k]: Invalid value: "object": failed rule: false',
            'm[k.l]: Invalid value: "object": failed rule: false',
            'a.b: Invalid value: "object": failed rule: false',
            'c.x.y: Invalid value: "object": failed rule: false',
        ],
        id="paths_root",
    ),
]


@pytest.mark.parametrize(("schema", "document", "old", "budget", "errors"), CASES)
def test_rules_answer_as_kubernetes_does(schema, document, old, budget, errors):
    """Every error has the path, the kind and the words that a client of Kubernetes knows."""
    rules = rules_of(schema)
    assert rules is not None
    found = [str(error) for error in rules.errors(document, old, Budget(budget))]
    assert found == errors
