"""Definitions with rules. The answers are those of a Kubernetes 1.34 server, word for word."""

import pytest

from kubekit.api.fields import Path
from kubekit.cel import definition_errors

CASES = [
    pytest.param(
        {
            "type": "object",
            "properties": {
                "spec": {
                    "type": "object",
                    "properties": {"a": {"type": "integer"}},
                    "x-kubernetes-validations": [{"rule": "self.b > 1"}],
                }
            },
        },
        [
            'spec.properties[spec].x-kubernetes-validations[0].rule: Invalid value: {"Rule":"self.b > 1","Message":"","MessageExpression":"","Reason":null,"FieldPath":"","OptionalOldSelf":null}: compilation failed: ERROR: <input>:1:5: undefined field \'b\'\n | self.b > 1\n | ....^'
        ],
        id="undefined_field",
    ),
    pytest.param(
        {
            "type": "object",
            "properties": {
                "spec": {
                    "type": "object",
                    "properties": {"a": {"type": "integer"}},
                    "x-kubernetes-validations": [
                        {"rule": "self.a + 'x' == 'y'"},
                        {"rule": "self.a"},
                        {"rule": "self.a >"},
                    ],
                }
            },
        },
        [
            'spec.properties[spec].x-kubernetes-validations[0].rule: Invalid value: {"Rule":"self.a + \'x\' == \'y\'","Message":"","MessageExpression":"","Reason":null,"FieldPath":"","OptionalOldSelf":null}: compilation failed: ERROR: <input>:1:8: found no matching overload for \'_+_\' applied to \'(int, string)\'\n | self.a + \'x\' == \'y\'\n | .......^',
            'spec.properties[spec].x-kubernetes-validations[1].rule: Invalid value: {"Rule":"self.a","Message":"","MessageExpression":"","Reason":null,"FieldPath":"","OptionalOldSelf":null}: cel expression must evaluate to a bool',
            "spec.properties[spec].x-kubernetes-validations[2].rule: Invalid value: {\"Rule\":\"self.a >\",\"Message\":\"\",\"MessageExpression\":\"\",\"Reason\":null,\"FieldPath\":\"\",\"OptionalOldSelf\":null}: compilation failed: ERROR: <input>:1:9: Syntax error: mismatched input '<EOF>' expecting {'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}\n | self.a >\n | ........^",
        ],
        id="wrong_types",
    ),
    pytest.param(
        {
            "type": "object",
            "properties": {
                "spec": {
                    "type": "object",
                    "properties": {"a": {"type": "integer"}},
                    "x-kubernetes-validations": [{"rule": "int('abc') == self.a"}],
                }
            },
        },
        [
            'spec.properties[spec].x-kubernetes-validations[0].rule: Invalid value: {"Rule":"int(\'abc\') == self.a","Message":"","MessageExpression":"","Reason":null,"FieldPath":"","OptionalOldSelf":null}: program instantiation failed: type conversion error from \'string\' to \'int\''
        ],
        id="constant_fails",
    ),
    pytest.param(
        {
            "type": "object",
            "properties": {
                "spec": {
                    "type": "object",
                    "properties": {"a": {"type": "integer"}},
                    "x-kubernetes-validations": [
                        {"rule": "true", "messageExpression": "1"},
                        {"rule": "true", "messageExpression": "self.b"},
                        {"rule": "true", "messageExpression": "string(int('x'))"},
                    ],
                }
            },
        },
        [
            'spec.properties[spec].x-kubernetes-validations[0].messageExpression: Invalid value: {"Rule":"true","Message":"","MessageExpression":"1","Reason":null,"FieldPath":"","OptionalOldSelf":null}: messageExpression must evaluate to a string',
            'spec.properties[spec].x-kubernetes-validations[1].messageExpression: Invalid value: {"Rule":"true","Message":"","MessageExpression":"self.b","Reason":null,"FieldPath":"","OptionalOldSelf":null}: messageExpression compilation failed: ERROR: <input>:1:5: undefined field \'b\'\n | self.b\n | ....^',
            'spec.properties[spec].x-kubernetes-validations[2].messageExpression: Invalid value: {"Rule":"true","Message":"","MessageExpression":"string(int(\'x\'))","Reason":null,"FieldPath":"","OptionalOldSelf":null}: messageExpression instantiation failed: type conversion error from \'string\' to \'int\'',
        ],
        id="message_expressions",
    ),
    pytest.param(
        {
            "type": "object",
            "properties": {
                "spec": {
                    "type": "object",
                    "properties": {"a": {"type": "integer"}},
                    "x-kubernetes-validations": [
                        {"rule": " "},
                        {"rule": "true", "message": "  "},
                        {"rule": "true", "message": "a\nb"},
                        {"rule": "true\n&& true"},
                        {"rule": "true", "messageExpression": " "},
                        {"rule": "true", "reason": "Foo"},
                        {"rule": "true", "fieldPath": " "},
                        {"rule": "true", "fieldPath": ".b"},
                        {"rule": "true", "fieldPath": ".a\n"},
                        {"rule": "true", "optionalOldSelf": True},
                        {"rule": "true", "optionalOldSelf": False},
                    ],
                }
            },
        },
        [
            "spec.properties[spec].x-kubernetes-validations[0].rule: Required value: rule is not specified",
            'spec.properties[spec].x-kubernetes-validations[1].message: Invalid value: "  ": must be non-empty if specified',
            'spec.properties[spec].x-kubernetes-validations[2].message: Invalid value: "a\\nb": must not contain line breaks',
            "spec.properties[spec].x-kubernetes-validations[3].message: Required value: message must be specified if rule contains line breaks",
            "spec.properties[spec].x-kubernetes-validations[4].messageExpression: Required value: messageExpression must be non-empty if specified",
            'spec.properties[spec].x-kubernetes-validations[5].reason: Unsupported value: "Foo": supported values: "FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired"',
            'spec.properties[spec].x-kubernetes-validations[6].fieldPath: Invalid value: " ": must be non-empty if specified',
            'spec.properties[spec].x-kubernetes-validations[6].fieldPath: Invalid value: " ": must be a valid path',
            'spec.properties[spec].x-kubernetes-validations[7].fieldPath: Invalid value: ".b": must be a valid path',
            'spec.properties[spec].x-kubernetes-validations[8].fieldPath: Invalid value: ".a\\n": must not contain line breaks',
            'spec.properties[spec].x-kubernetes-validations[8].fieldPath: Invalid value: ".a\\n": must be a valid path',
        ],
        id="forms",
    ),
    pytest.param(
        {
            "type": "object",
            "properties": {
                "spec": {
                    "type": "object",
                    "properties": {
                        "l": {
                            "type": "array",
                            "items": {
                                "type": "string",
                                "x-kubernetes-validations": [{"rule": "self == oldSelf"}],
                            },
                        }
                    },
                }
            },
        },
        [
            "spec.properties[spec].properties[l].items.x-kubernetes-validations[0].rule: Forbidden: estimated rule cost exceeds budget by factor of more than 100x (try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)",
            'spec.properties[spec].properties[l].items.x-kubernetes-validations[0].rule: Invalid value: "self == oldSelf": oldSelf cannot be used on the uncorrelatable portion of the schema within spec.properties[spec].properties[l]',
            "spec.properties[spec].properties[l].items.x-kubernetes-validations[0].rule: Forbidden: contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema",
            "spec: Forbidden: x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema exceeds budget by factor of more than 100x (try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)",
        ],
        id="old_in_atomic_list",
    ),
    pytest.param(
        {
            "type": "object",
            "properties": {
                "spec": {
                    "type": "object",
                    "properties": {
                        "l": {
                            "type": "array",
                            "items": {
                                "type": "object",
                                "required": ["name"],
                                "properties": {
                                    "name": {"type": "string"},
                                    "v": {"type": "integer"},
                                },
                                "x-kubernetes-validations": [{"rule": "self.v == oldSelf.v"}],
                            },
                            "x-kubernetes-list-type": "map",
                            "x-kubernetes-list-map-keys": ["name"],
                        }
                    },
                }
            },
        },
        [],
        id="old_in_list_map",
    ),
    pytest.param(
        {
            "type": "object",
            "properties": {
                "spec": {
                    "type": "object",
                    "properties": {
                        "l": {
                            "type": "array",
                            "items": {
                                "type": "object",
                                "properties": {
                                    "x": {
                                        "type": "array",
                                        "items": {
                                            "type": "string",
                                            "x-kubernetes-validations": [
                                                {"rule": "self == oldSelf"}
                                            ],
                                        },
                                    }
                                },
                            },
                        }
                    },
                }
            },
        },
        [
            "spec.properties[spec].properties[l].items.properties[x].items.x-kubernetes-validations[0].rule: Forbidden: estimated rule cost exceeds budget by factor of more than 100x (try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)",
            'spec.properties[spec].properties[l].items.properties[x].items.x-kubernetes-validations[0].rule: Invalid value: "self == oldSelf": oldSelf cannot be used on the uncorrelatable portion of the schema within spec.properties[spec].properties[l]',
            "spec.properties[spec].properties[l].items.properties[x].items.x-kubernetes-validations[0].rule: Forbidden: contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema",
            "spec: Forbidden: x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema exceeds budget by factor of more than 100x (try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)",
        ],
        id="old_in_nested_list",
    ),
    pytest.param(
        {
            "type": "object",
            "properties": {
                "spec": {
                    "type": "object",
                    "properties": {
                        "l": {
                            "type": "array",
                            "items": {
                                "type": "string",
                                "x-kubernetes-validations": [{"rule": "self == oldSelf"}],
                            },
                            "x-kubernetes-list-type": "set",
                        }
                    },
                }
            },
        },
        [
            "spec.properties[spec].properties[l].items.x-kubernetes-validations[0].rule: Forbidden: estimated rule cost exceeds budget by factor of more than 100x (try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)",
            'spec.properties[spec].properties[l].items.x-kubernetes-validations[0].rule: Invalid value: "self == oldSelf": oldSelf cannot be used on the uncorrelatable portion of the schema within spec.properties[spec].properties[l]',
            "spec.properties[spec].properties[l].items.x-kubernetes-validations[0].rule: Forbidden: contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema",
            "spec: Forbidden: x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema exceeds budget by factor of more than 100x (try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)",
        ],
        id="old_in_set",
    ),
    pytest.param(
        {
            "type": "object",
            "properties": {
                "spec": {
                    "type": "object",
                    "properties": {"l": {"type": "array", "items": {"type": "string"}}},
                    "x-kubernetes-validations": [{"rule": "self.l.all(x, self.l.all(y, x == y))"}],
                }
            },
        },
        [
            "spec.properties[spec].x-kubernetes-validations[0].rule: Forbidden: estimated rule cost exceeds budget by factor of more than 100x (try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)",
            "spec.properties[spec].x-kubernetes-validations[0].rule: Forbidden: contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema",
            "spec: Forbidden: x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema exceeds budget by factor of more than 100x (try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)",
        ],
        id="quadratic",
    ),
    pytest.param(
        {
            "type": "object",
            "properties": {
                "spec": {
                    "type": "object",
                    "properties": {
                        "l": {
                            "type": "array",
                            "items": {
                                "type": "string",
                                "x-kubernetes-validations": [
                                    {"rule": "self.matches('a+b+c+d+e+')"}
                                ],
                            },
                        }
                    },
                }
            },
        },
        [
            "spec.properties[spec].properties[l].items.x-kubernetes-validations[0].rule: Forbidden: estimated rule cost exceeds budget by factor of more than 100x (try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)",
            "spec.properties[spec].properties[l].items.x-kubernetes-validations[0].rule: Forbidden: contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema",
            "spec: Forbidden: x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema exceeds budget by factor of more than 100x (try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)",
        ],
        id="unbounded_pattern",
    ),
    pytest.param(
        {
            "type": "object",
            "properties": {
                "spec": {
                    "type": "object",
                    "properties": {
                        "l": {"type": "array", "items": {"type": "string"}, "maxItems": 100}
                    },
                    "x-kubernetes-validations": [
                        {
                            "rule": "self.l.all(x, x.startsWith('abc') && x.contains('defghijklmnopqrst'))"
                        }
                    ],
                }
            },
        },
        [
            "spec.properties[spec].x-kubernetes-validations[0].rule: Forbidden: estimated rule cost exceeds budget by factor of 6.3x (try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)"
        ],
        id="factor_6",
    ),
    pytest.param(
        {
            "type": "object",
            "properties": {
                "spec": {
                    "type": "object",
                    "properties": {
                        "l": {
                            "type": "array",
                            "items": {"type": "string", "maxLength": 10},
                            "maxItems": 1000,
                        }
                    },
                    "x-kubernetes-validations": [
                        {"rule": "self.l.all(x, self.l.exists(y, x == y))"}
                    ],
                }
            },
        },
        [
            "spec.properties[spec].x-kubernetes-validations[0].rule: Forbidden: estimated rule cost exceeds budget by factor of 1.000600x (try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)"
        ],
        id="barely_over",
    ),
    pytest.param(
        {
            "type": "object",
            "properties": {
                "spec": {
                    "type": "object",
                    "properties": {
                        "l": {
                            "type": "array",
                            "items": {"type": "string", "maxLength": 10},
                            "maxItems": 1050,
                        }
                    },
                    "x-kubernetes-validations": [
                        {"rule": "self.l.all(x, self.l.exists(y, x == y))"}
                    ],
                }
            },
        },
        [
            "spec.properties[spec].x-kubernetes-validations[0].rule: Forbidden: estimated rule cost exceeds budget by factor of 1.103130x (try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)"
        ],
        id="more_over",
    ),
    pytest.param(
        {
            "type": "object",
            "properties": {"spec": {"type": "object", "properties": {"a": {"type": "integer"}}}},
            "x-kubernetes-validations": [
                {"rule": "self.spec.a > 0 && self.metadata.labels.size() > 0"}
            ],
        },
        [
            'spec.x-kubernetes-validations[0].rule: Invalid value: {"Rule":"self.spec.a > 0 && self.metadata.labels.size() > 0","Message":"","MessageExpression":"","Reason":null,"FieldPath":"","OptionalOldSelf":null}: compilation failed: ERROR: <input>:1:33: undefined field \'labels\'\n | self.spec.a > 0 && self.metadata.labels.size() > 0\n | ................................^'
        ],
        id="metadata_labels",
    ),
    pytest.param(
        {
            "type": "object",
            "properties": {"spec": {"type": "object", "properties": {"a": {"type": "integer"}}}},
            "x-kubernetes-validations": [{"rule": "self.status.a > 0"}],
        },
        [
            'spec.x-kubernetes-validations[0].rule: Invalid value: {"Rule":"self.status.a > 0","Message":"","MessageExpression":"","Reason":null,"FieldPath":"","OptionalOldSelf":null}: compilation failed: ERROR: <input>:1:5: undefined field \'status\'\n | self.status.a > 0\n | ....^'
        ],
        id="no_status",
    ),
    pytest.param(
        {
            "type": "object",
            "properties": {
                "spec": {
                    "type": "object",
                    "properties": {"a": {"type": "integer"}},
                    "x-kubernetes-validations": [
                        {
                            "rule": "self.a > 0",
                            "messageExpression": "'x'.split('').map(x, x).join(',')",
                        }
                    ],
                }
            },
        },
        [
            "spec.properties[spec].x-kubernetes-validations[0].messageExpression: Forbidden: estimated messageExpression cost exceeds budget by factor of more than 100x (try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)",
            "spec.properties[spec].x-kubernetes-validations[0].messageExpression: Forbidden: contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema",
            "spec: Forbidden: x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema exceeds budget by factor of more than 100x (try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)",
        ],
        id="message_cheap",
    ),
    pytest.param(
        {
            "type": "object",
            "properties": {
                "spec": {
                    "type": "object",
                    "properties": {"a": {"type": "string"}},
                    "x-kubernetes-validations": [
                        {
                            "rule": "self.a > 'a'",
                            "messageExpression": "self.a.split('').map(x, self.a.split('').map(y, y+x).join('')).join('')",
                        }
                    ],
                }
            },
        },
        [
            "spec.properties[spec].x-kubernetes-validations[0].messageExpression: Forbidden: estimated messageExpression cost exceeds budget by factor of more than 100x (try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)",
            "spec.properties[spec].x-kubernetes-validations[0].messageExpression: Forbidden: contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema",
            "spec: Forbidden: x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema exceeds budget by factor of more than 100x (try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)",
        ],
        id="message_expensive",
    ),
    pytest.param(
        {
            "type": "object",
            "properties": {
                "spec": {
                    "type": "object",
                    "properties": {
                        "m": {
                            "type": "object",
                            "additionalProperties": {
                                "type": "string",
                                "x-kubernetes-validations": [{"rule": "self.contains(self)"}],
                            },
                        }
                    },
                }
            },
        },
        [
            "spec.properties[spec].properties[m].additionalProperties.x-kubernetes-validations[0].rule: Forbidden: estimated rule cost exceeds budget by factor of more than 100x (try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)",
            "spec.properties[spec].properties[m].additionalProperties.x-kubernetes-validations[0].rule: Forbidden: contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema",
            "spec: Forbidden: x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema exceeds budget by factor of more than 100x (try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)",
        ],
        id="unbounded_map",
    ),
    pytest.param(
        {
            "type": "object",
            "properties": {
                "spec": {
                    "type": "object",
                    "properties": {
                        "m": {
                            "type": "object",
                            "maxProperties": 10,
                            "additionalProperties": {
                                "type": "array",
                                "items": {"type": "string"},
                                "maxItems": 10,
                                "x-kubernetes-validations": [
                                    {"rule": "self.all(x, x.contains('a'))"}
                                ],
                            },
                        }
                    },
                }
            },
        },
        [
            "spec.properties[spec].properties[m].additionalProperties.x-kubernetes-validations[0].rule: Forbidden: estimated rule cost exceeds budget by factor of 3.1x (try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)"
        ],
        id="bounded_map",
    ),
    pytest.param(
        {
            "type": "object",
            "properties": {
                "spec": {
                    "type": "object",
                    "x-kubernetes-preserve-unknown-fields": True,
                    "properties": {
                        "p": {
                            "x-kubernetes-preserve-unknown-fields": True,
                            "x-kubernetes-validations": [{"rule": "true"}],
                        }
                    },
                }
            },
        },
        [
            'spec.properties[spec].properties[p].x-kubernetes-validations: Invalid value: "": failed to construct type information for x-kubernetes-validations rules: unable to convert structural schema to CEL declarations'
        ],
        id="untyped",
    ),
    pytest.param(
        {
            "type": "object",
            "properties": {
                "spec": {
                    "type": "object",
                    "properties": {"a": {"type": "integer"}, "b-c": {"type": "string"}},
                    "x-kubernetes-validations": [{"rule": "self.b-c == 'x'"}],
                }
            },
        },
        [
            'spec.properties[spec].x-kubernetes-validations[0].rule: Invalid value: {"Rule":"self.b-c == \'x\'","Message":"","MessageExpression":"","Reason":null,"FieldPath":"","OptionalOldSelf":null}: compilation failed: ERROR: <input>:1:5: undefined field \'b\'\n | self.b-c == \'x\'\n | ....^\nERROR: <input>:1:8: undeclared reference to \'c\' (in container \'\')\n | self.b-c == \'x\'\n | .......^'
        ],
        id="dash_in_name",
    ),
    pytest.param(
        {
            "type": "object",
            "properties": {
                "spec": {
                    "type": "object",
                    "properties": {"a": {"type": "integer"}},
                    "x-kubernetes-validations": [{"rule": "self.a > 0 ? true : 'x'"}],
                }
            },
        },
        [
            'spec.properties[spec].x-kubernetes-validations[0].rule: Invalid value: {"Rule":"self.a > 0 ? true : \'x\'","Message":"","MessageExpression":"","Reason":null,"FieldPath":"","OptionalOldSelf":null}: compilation failed: ERROR: <input>:1:12: found no matching overload for \'_?_:_\' applied to \'(bool, bool, string)\'\n | self.a > 0 ? true : \'x\'\n | ...........^'
        ],
        id="choice_of_two",
    ),
    pytest.param(
        {
            "type": "object",
            "properties": {
                "spec": {
                    "type": "object",
                    "properties": {"a": {"type": "integer"}},
                    "x-kubernetes-validations": [{"rule": "self.a.all(x, true)"}],
                }
            },
        },
        [
            'spec.properties[spec].x-kubernetes-validations[0].rule: Invalid value: {"Rule":"self.a.all(x, true)","Message":"","MessageExpression":"","Reason":null,"FieldPath":"","OptionalOldSelf":null}: compilation failed: ERROR: <input>:1:5: expression of type \'int\' cannot be range of a comprehension (must be list, map, or dynamic)\n | self.a.all(x, true)\n | ....^'
        ],
        id="range_of_int",
    ),
    pytest.param(
        {
            "type": "object",
            "properties": {
                "spec": {
                    "type": "object",
                    "properties": {"a": {"type": "integer"}},
                    "x-kubernetes-validations": [{"rule": "self.a.lowerAscii() == 'x'"}],
                }
            },
        },
        [
            'spec.properties[spec].x-kubernetes-validations[0].rule: Invalid value: {"Rule":"self.a.lowerAscii() == \'x\'","Message":"","MessageExpression":"","Reason":null,"FieldPath":"","OptionalOldSelf":null}: compilation failed: ERROR: <input>:1:18: found no matching overload for \'lowerAscii\' applied to \'int.()\'\n | self.a.lowerAscii() == \'x\'\n | .................^'
        ],
        id="text_function_on_int",
    ),
    pytest.param(
        {
            "type": "object",
            "properties": {
                "spec": {
                    "type": "object",
                    "properties": {"a": {"type": "integer"}},
                    "x-kubernetes-validations": [
                        {"rule": "a.b.c"},
                        {"rule": "foo(1)"},
                        {"rule": "'a'.matches('[')"},
                        {"rule": "duration('x') == duration('1h')"},
                    ],
                }
            },
        },
        [
            'spec.properties[spec].x-kubernetes-validations[0].rule: Invalid value: {"Rule":"a.b.c","Message":"","MessageExpression":"","Reason":null,"FieldPath":"","OptionalOldSelf":null}: compilation failed: ERROR: <input>:1:1: undeclared reference to \'a\' (in container \'\')\n | a.b.c\n | ^',
            'spec.properties[spec].x-kubernetes-validations[1].rule: Invalid value: {"Rule":"foo(1)","Message":"","MessageExpression":"","Reason":null,"FieldPath":"","OptionalOldSelf":null}: compilation failed: ERROR: <input>:1:4: undeclared reference to \'foo\' (in container \'\')\n | foo(1)\n | ...^',
            'spec.properties[spec].x-kubernetes-validations[2].rule: Invalid value: {"Rule":"\'a\'.matches(\'[\')","Message":"","MessageExpression":"","Reason":null,"FieldPath":"","OptionalOldSelf":null}: compilation failed: ERROR: <input>:1:13: invalid matches argument\n | \'a\'.matches(\'[\')\n | ............^',
            'spec.properties[spec].x-kubernetes-validations[3].rule: Invalid value: {"Rule":"duration(\'x\') == duration(\'1h\')","Message":"","MessageExpression":"","Reason":null,"FieldPath":"","OptionalOldSelf":null}: compilation failed: ERROR: <input>:1:10: invalid duration argument\n | duration(\'x\') == duration(\'1h\')\n | .........^',
        ],
        id="several",
    ),
    pytest.param(
        {
            "type": "object",
            "properties": {
                "spec": {
                    "type": "object",
                    "properties": {"x": {"x-kubernetes-int-or-string": True}},
                    "x-kubernetes-validations": [{"rule": "self.x > 5 && self.x.contains('a')"}],
                }
            },
        },
        [],
        id="dynamic",
    ),
]


@pytest.mark.parametrize(("schema", "errors"), CASES)
def test_definitions_are_judged_as_kubernetes_does(schema, errors):
    """A rule that cannot be used is refused when it is defined, with what would help."""
    assert [str(error) for error in definition_errors(schema, Path("spec"))] == errors
