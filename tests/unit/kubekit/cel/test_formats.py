"""Named formats. What each expression gives, and costs, is what Kubernetes 1.34 answered."""

import pytest

from tests.support.kubekit.cel_builders import compile_failure, evaluated

VALUES = [
    ("format.named('uuid').hasValue()", True, 2),
    ("format.uuid() == format.uuid()", True, 3),
    ("format.uuid() == format.byte()", False, 3),
    ("format.dns1123Label().validate('a-b').orValue([])", [], 9),
    (
        "format.dns1123Label().validate('A').orValue([])",
        [
            "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')"
        ],
        9,
    ),
    (
        "format.dns1123Label().validate('').orValue([])",
        [
            "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')"
        ],
        9,
    ),
    (
        "format.dns1123Subdomain().validate('a..b').orValue([])",
        [
            "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
        ],
        16,
    ),
    ("format.dns1123Subdomain().validate('a.b').orValue([])", [], 16),
    (
        "format.dns1035Label().validate('1a').orValue([])",
        [
            "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')"
        ],
        9,
    ),
    ("format.dns1035Label().validate('a1').orValue([])", [], 9),
    (
        "format.qualifiedName().validate('a/b/c').orValue([])",
        [
            "a qualified name must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]') with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"
        ],
        16,
    ),
    ("format.qualifiedName().validate('/b').orValue([])", ["prefix part must be non-empty"], 16),
    (
        "format.qualifiedName().validate('A/b').orValue([])",
        [
            "prefix part a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
        ],
        16,
    ),
    (
        "format.qualifiedName().validate('a/').orValue([])",
        [
            "name part must be non-empty",
            "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')",
        ],
        16,
    ),
    (
        "format.qualifiedName().validate('').orValue([])",
        [
            "name part must be non-empty",
            "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')",
        ],
        16,
    ),
    ("format.qualifiedName().validate('a.b/c_d.E').orValue([])", [], 16),
    ("format.dns1123LabelPrefix().validate('a-').orValue([])", [], 9),
    (
        "format.dns1123LabelPrefix().validate('-').orValue([])",
        [
            "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')"
        ],
        9,
    ),
    (
        "format.dns1123SubdomainPrefix().validate('a.').orValue([])",
        [
            "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
        ],
        16,
    ),
    ("format.dns1035LabelPrefix().validate('a-').orValue([])", [], 9),
    (
        "format.labelValue().validate('a b').orValue([])",
        [
            "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
        ],
        11,
    ),
    ("format.labelValue().validate('').orValue([])", [], 11),
    (
        "format.labelValue().validate('aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa').orValue([])",
        ["must be no more than 63 characters"],
        71,
    ),
    ("format.uri().validate('x').orValue([])", ['parse "x": invalid URI for request'], 277),
    ("format.uri().validate('http://a').orValue([])", [], 277),
    ("format.uuid().validate('x').orValue([])", ["does not match the UUID format"], 19),
    ("format.uuid().validate('550e8400-e29b-41d4-a716-446655440000').orValue([])", [], 73),
    ("format.byte().validate('YQ==').orValue([])", [], 22),
    ("format.byte().validate('YQ').orValue([])", ["invalid base64"], 22),
    ("format.date().validate('2020-13-01').orValue([])", ["invalid date"], 37),
    ("format.date().validate('2020-12-01').orValue([])", [], 37),
    ("format.datetime().validate('2020-01-01t00:00:00z').orValue([])", [], 55),
    ("format.datetime().validate('2020-01-01T25:00:00Z').orValue([])", ["invalid datetime"], 55),
    (
        "format.named('dns1123Label').value().validate('-').orValue([])",
        [
            "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')"
        ],
        10,
    ),
    ("format.named('nope').hasValue()", False, 2),
    ("format.uuid() == format.named('uuid').value()", True, 4),
]
REFUSALS = [
    (
        "type(format.uuid()) == kubernetes.NamedFormat",
        "ERROR: <input>:1:24: undeclared reference to 'kubernetes' (in container '')\n | type(format.uuid()) == kubernetes.NamedFormat\n | .......................^",
    ),
]


@pytest.mark.parametrize(("expression", "value", "cost"), VALUES)
def test_formats_give(expression, value, cost):
    """The named formats give the value, of that very type, at that cost."""
    assert evaluated(expression) == (value, type(value), cost)


@pytest.mark.parametrize(("expression", "words"), REFUSALS)
def test_formats_are_refused(expression, words):
    """What can never have a value is refused before it is evaluated."""
    assert compile_failure(expression) == words
