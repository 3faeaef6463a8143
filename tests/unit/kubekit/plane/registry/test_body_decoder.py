"""Bodies of requests, as strict as they must be."""

import contextlib
import json

import pytest
from hypothesis import given, strategies as st

from kubekit.api.errors import BadRequest
from kubekit.plane.registry.body_decoder import DEPTH_LIMIT, YAML_NODE_LIMIT, read_json, read_yaml
from tests.support.generated.structural_strategies import VALUES


@pytest.mark.parametrize(
    ("body", "value"),
    [
        (b'{"a":1}\n', {"a": 1}),
        (b' {"a" : [1, 2.5, true, null]} ', {"a": [1, 2.5, True, None]}),
        (b"9223372036854775807", 2**63 - 1),
        (b"-9223372036854775808", -(2**63)),
        (b"0.1234567890123456789012", 0.1234567890123456789012),
        (b"1234567890123456789012.5", 1234567890123456789012.5),
        (b"1e-1234567890123456789012", 0.0),
        (b'"12345678901234567890"', "12345678901234567890"),
        (rb'"\ud83d\ude00"', "\N{GRINNING FACE}"),
        (rb'"\\u0000 \\ud800"', r"\u0000 \ud800"),
        (rb'{"a":"\u0022\u0022","b":"\"a\":"}', {"a": '""', "b": '"a":'}),
        (b'["' + b"[" * 600 + b'"]', ["[" * 600]),
        (b"[" + b"[]," * 600 + b"1]", [[]] * 600 + [1]),
        (b"[" * DEPTH_LIMIT + b"]" * DEPTH_LIMIT, None),
    ],
)  # fmt: skip
def test_sound_bodies_are_read(body, value):
    """What is JSON and can be kept as it stands is taken."""
    got = read_json(body)

    assert value is None or got == value


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b"", "the body is empty"),
        (b" \n", "the body is empty"),
        (b"\xef\xbb\xbf{}", "byte order mark"),
        (b"{} x", "trailing characters"),
        (b'{"a":1,}', "trailing comma"),
        (b'"\xff"', "not encoded in UTF-8"),
        (b'"\xed\xa0\x80"', "not encoded in UTF-8"),
        (b"[NaN]", r"invalid character \(byte 1\)"),
        (b"[Infinity]", r"invalid character \(byte 1\)"),
        (b"[1e400]", "a number that cannot be kept"),
        (b"[-1E400]", "a number that cannot be kept"),
        (b"9" * 5000, "a number that cannot be kept"),
        (b"[99999999999999999999]", r"the integer '99999999999999999999' \(byte 1\)"),
        (b"[-9223372036854775809]", r"the integer '-9223372036854775809' \(byte 1\)"),
        (b'["9", 9223372036854775808]', r"'9223372036854775808' \(byte 6\)"),
        (rb'"\ud800"', r"half a character, a lone surrogate \(byte 1\)"),
        (rb'"\udc00"', "surrogate"),
        (b'"a\x00"', "invalid character"),
        (rb'["a\u0000"]', r"the character NUL \(byte 3\)"),
        (b'{"a":1,"a":2}', "the key 'a' 2 times"),
        (b'{"x":[{"a": 1, "a": {"b": 3}}]}', "the key 'a' 2 times"),
        (rb'{"a":1,"\u0061":2}', "the key 'a' 2 times"),
        (rb'{"a":1,"a":"\u0022\u0022"}', "the key 'a' 2 times"),
        (b"[" * 3000, "nested deeper than 500 levels"),
        (b'{"a":' * 501 + b"1" + b"}" * 501, "nested deeper than 500 levels"),
        (b"[" * 1_000_000, "nested deeper than 500 levels"),
    ],
)  # fmt: skip
def test_d3_bad_bodies_are_refused_by_name(body, words):
    """A value that readers cannot keep, or would keep differently, is refused with its position."""
    with pytest.raises(BadRequest, match=words):
        read_json(body)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1.0", 1),
        ("-0.0", 0),
        ("1e3", 1000),
        ("9007199254740991.0", 2**53 - 1),
        ("9007199254740992.0", 2.0**53),
        ("1e20", 1e20),
        ("1.5", 1.5),
    ],
)
@pytest.mark.parametrize("read", [read_json, read_yaml], ids=["json", "yaml"])
def test_a_whole_number_is_an_integer_however_it_is_written(read, text, value):
    """It is stored and served as Kubernetes does, wherever it stands."""
    (got,) = read(f"[{text}]".encode())

    assert (got, type(got)) == (value, type(value))


ALL = 3 * 1024 * 1024
HOSTILE = {
    "brackets": b"[" * ALL,
    "objects": b"[" + b'{"a":{"a":{"a":{"a":1}}}},' * (ALL // 27) + b"1]",
    "an open string of escaped quotes": b"[" * 600 + b'"' + b'\\"' * (ALL // 2 - 400),
    "an open string that ends in an escape": b"[" * 600 + b'"' + b"a" * (ALL - 700) + b"\\",
    "quotes": b'"' * ALL,
    "backslashes": b'["' + b"\\\\" * (ALL // 2 - 8) + b'\\u0000"]',
    "escaped quotes": b'["' + rb"\u0022" * (ALL // 6 - 4) + b'"]',
    "lone surrogates": b'["' + rb"\ud83d\ude00" * (ALL // 12 - 4) + rb'\ud800"]',
    "long integers": b"[" + b"1234567890123456789," * (ALL // 20 - 4) + b"1]",
    "decimals": b"[" + b"1.0," * (ALL // 4 - 4) + b"1]",
    "digits": b"[" + b"1" * (ALL - 2) + b"]",
    "one key": b"{" + b'"":1,' * (ALL // 5 - 4) + b'"":1}',
}


@pytest.mark.timeout(60)
@pytest.mark.parametrize("body", HOSTILE.values(), ids=list(HOSTILE))
def test_whatever_three_megabytes_hold_they_are_read_in_a_moment(body):
    """No other request is served meanwhile."""
    with contextlib.suppress(BadRequest):
        read_json(body)


HOSTILE_YAML = {
    "text": b"a" * ALL,
    "dashes": b"- " * (ALL // 2),
    "braces": b"{" * ALL,
    "items": b"[" + b"1," * (ALL // 2 - 4) + b"]",
    "names of tags": b"".join(b"%%TAG !a%d! tag:x\n" % n for n in range(120_000)) + b"--- 1",
    "names of tags, UTF-16": "".join(f"\n%TAG !a{n}! tag:x" for n in range(60_000)).encode(
        "utf-16"
    ),
    "pairs of escapes": b'{"a":"' + rb"\ud83d\ude00" * (ALL // 12 - 4) + b'"}',
    "blank lines": b"a: >\n" + b"\n" * (ALL - 10) + b"  x",
    "numbers": b"[" + b",".join([b"0." + b"1" * 150] * 19_000) + b"]",
}


@pytest.mark.timeout(60)
@pytest.mark.parametrize("body", HOSTILE_YAML.values(), ids=list(HOSTILE_YAML))
def test_whatever_three_megabytes_of_yaml_hold_they_are_read_in_a_moment(body):
    """No other request is served meanwhile."""
    with contextlib.suppress(BadRequest):
        read_yaml(body)


@given(VALUES, st.sampled_from((None, 1)), st.booleans())
def test_any_json_is_read_as_it_was_written(value, indent, ascii_only):
    """However it is spaced and escaped, JSON without repeated keys comes through unchanged."""
    body = json.dumps(value, indent=indent, ensure_ascii=ascii_only).encode()

    assert read_json(body) == value


@given(st.text(max_size=8), st.text(max_size=8), st.booleans())
def test_a_key_given_twice_is_always_found(key, text, ascii_only):
    """No text beside it, quotes and escapes included, hides it."""
    name, other = (json.dumps(t, ensure_ascii=ascii_only) for t in (key, text))
    body = f'{{{name}: {other}, "other{key == "other"}": {other}, {name}: 1}}'

    with pytest.raises(BadRequest):
        read_json(body.encode())


def test_yaml_is_read_as_json():
    """A YAML body means what the same words mean in JSON."""
    assert read_yaml(b"a: {b: [1, 'x', NO, null]}\n") == {"a": {"b": [1, "x", "NO", None]}}
    assert read_yaml(b'{"a": 1.5}') == {"a": 1.5}


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b"", "holds no documents; send one"),
        (b"a: 1\n---\nb: 2", "holds 2 documents; send one"),
        (b"a: [", "line 2, column 1"),
        (b"a: 1\na: 2", "line 2, column 1: the key 'a' is given twice"),
        (b"[" * 25_000, "nested deeper than 100 levels"),
        (b"a: &x [1]\nb: [*x, *x]", "line 2, column 5: aliases are not supported"),
        (b"a: !!python/name:os.system ''", "tags are not supported"),
        (b'a: "\\0"', "the character NUL"),
        (b"a: 99999999999999999999", "does not fit in 64 bits"),
        (b"a: 1e400", "too large"),
        (b"a: \xff", "not readable as text"),
        (
            b"[" + b"1," * YAML_NODE_LIMIT + b"]",
            "larger than 20000 keys and values; send it as JSON",
        ),
        (b"a" * (3 * 1024 * 1024 + 1), "larger than 3 MiB"),
    ],
)
def test_d2_bad_yaml_is_refused(body, words):
    """The limits come before the parser, and what JSON refuses is refused here too."""
    with pytest.raises(BadRequest, match=words):
        read_yaml(body)
