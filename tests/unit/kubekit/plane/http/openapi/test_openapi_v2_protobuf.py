import struct

import pytest

from kubekit.plane.http.openapi import openapi_v2, openapi_v2_protobuf
from tests.support.kubekit.described_kinds import KINDS

DEFINITIONS, PATHS = 9, 8


def fields(message):
    """The fields of a message, as numbers and raw values."""
    at = 0
    while at < len(message):
        key, at = varint(message, at)
        if key & 7 == 0:
            value, at = varint(message, at)
        else:
            size, at = (8, at) if key & 7 == 1 else varint(message, at)
            value, at = message[at : at + size], at + size
            assert len(value) == size
        yield key >> 3, value


def varint(message, at):
    value = shift = 0
    while True:
        value |= (message[at] & 0x7F) << shift
        shift, at = shift + 7, at + 1
        if message[at - 1] < 0x80:
            return value, at


def within(message, *numbers):
    """Everything that stands below this chain of field numbers."""
    found = [message]
    for number in numbers:
        found = [value for each in found for n, value in fields(each) if n == number]
    return found


def schema(node):
    """The fields of one schema after its way through the encoder."""
    whole = openapi_v2_protobuf.encode({"definitions": {"X": node}})
    return dict(fields(within(whole, DEFINITIONS, 1, 2)[0]))


def test_every_definition_and_path_is_there():
    """The document has the entries of its JSON form, by name and in order."""
    document = openapi_v2.document(KINDS)
    whole = openapi_v2_protobuf.encode(document)
    assert [n.decode() for n in within(whole, DEFINITIONS, 1, 1)] == [*document["definitions"]]
    assert [n.decode() for n in within(whole, PATHS, 2, 1)] == [*document["paths"]]
    assert within(whole, 1) == [b"2.0"]


def test_patches_say_that_they_validate_fields():
    """Older clients look for this parameter before they ask for strict validation."""
    whole = openapi_v2_protobuf.encode(openapi_v2.document(KINDS))
    queries = within(whole, PATHS, 2, 2, 8, 8, 1, 2, 3, 4)
    assert b"fieldValidation" in queries


def test_parameters_by_their_place():
    """A body, a query parameter and a part of the path are three different messages."""
    whole = openapi_v2_protobuf.encode(openapi_v2.document(KINDS))
    assert set(within(whole, PATHS, 2, 2, 3, 8, 1, 1, 2)) == {b"body"}
    assert set(within(whole, PATHS, 2, 2, 9, 1, 2, 4, 4)) == {b"name", b"namespace"}


@pytest.mark.parametrize(
    ("keyword", "said", "number", "expected"),
    [
        ("$ref", "#/definitions/Y", 1, b"#/definitions/Y"),
        ("format", "int32", 2, b"int32"),
        ("description", "Größe", 4, "Größe".encode()),
        ("maximum", 1.5, 7, struct.pack("<d", 1.5)),
        ("minimum", 0, 9, struct.pack("<d", 0)),
        ("exclusiveMinimum", True, 10, 1),
        ("maxLength", 300, 11, 300),
        ("pattern", "^a$", 13, b"^a$"),
        ("minItems", 1, 15, 1),
        ("required", ["a"], 19, b"a"),
        ("enum", ["a"], 20, b'\x12\x03"a"'),
        ("additionalProperties", True, 21, b"\x10\x01"),
        ("additionalProperties", {"type": "string"}, 21, b"\x0a\x0b\xb2\x01\x08\x0a\x06string"),
        ("type", "object", 22, b"\x0a\x06object"),
        ("items", {"format": "x"}, 23, b"\x0a\x03\x12\x01x"),
        ("properties", {"a": {"format": "x"}}, 25, b"\x0a\x08\x0a\x01a\x12\x03\x12\x01x"),
        (
            "x-kubernetes-map-type",
            "atomic",
            31,
            b'\x0a\x15x-kubernetes-map-type\x12\x0a\x12\x08"atomic"',
        ),
    ],
)
def test_keywords_have_their_numbers(keyword, said, number, expected):
    """Each keyword is the field that the public message definition gives it."""
    assert schema({keyword: said}) == {number: expected}


def test_what_has_no_field_is_left_out():
    """A keyword that the message does not know is not sent."""
    assert schema({"unknown": 1}) == {}
