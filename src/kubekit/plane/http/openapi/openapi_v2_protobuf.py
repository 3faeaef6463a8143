"""OpenAPI v2 as protobuf: the only form of it that kubectl reads.

The numbers are those of the public message definitions of gnostic (``openapiv2.proto``). Each
table names the keywords of its message; extensions that start with ``x-`` are added as text.
"""

import struct
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final

import msgspec

Document = Mapping[str, Any]
Writer = Callable[[Any], bytes]
Table = Mapping[str, Writer]

ACCEPTED: Final = (
    "application/com.github.proto-openapi.spec.v2@v1.0+protobuf",
    "application/com.github.proto-openapi.spec.v2.v1.0+protobuf",
)
CONTENT_TYPE: Final = ACCEPTED[1]

_VARINT, _DOUBLE, _BYTES = 0, 1, 2
_SEVEN_BITS: Final = 0x7F


def encode(document: Document) -> bytes:
    """The bytes of a whole v2 document."""
    return _message(_DOCUMENT, 16, document)


def _message(table: Table, extension: int, node: Document) -> bytes:
    """One message. ``extension`` is the number of its field for vendor extensions."""
    parts = [table[word](value) for word, value in node.items() if word in table]
    parts += [
        _nested(extension, _text(1, word) + _nested(2, _anything(value)))
        for word, value in node.items()
        if word.startswith("x-")
    ]
    return b"".join(parts)


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > _SEVEN_BITS:
        out.append(value & _SEVEN_BITS | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def _key(number: int, wire_type: int) -> bytes:
    return _varint(number << 3 | wire_type)


def _nested(number: int, payload: bytes) -> bytes:
    return _key(number, _BYTES) + _varint(len(payload)) + payload


def _text(number: int, value: str) -> bytes:
    return _nested(number, value.encode())


def _texts(number: int, value: list[str]) -> bytes:
    return b"".join(_text(number, each) for each in value)


def _count(number: int, value: int) -> bytes:
    return _key(number, _VARINT) + _varint(int(value))


def _double(number: int, value: float) -> bytes:
    return _key(number, _DOUBLE) + struct.pack("<d", value)


def _anything(value: object) -> bytes:
    """A value of any type, as YAML; JSON is YAML too."""
    return _nested(2, msgspec.json.encode(value))


def _each(number: int, write: Writer, value: list[Any]) -> bytes:
    return b"".join(_nested(number, write(each)) for each in value)


def _named(number: int, write: Writer, value: Document) -> bytes:
    """A map, which is a message of entries, each with a name and a value."""
    entries = (_text(1, name) + _nested(2, write(entry)) for name, entry in value.items())
    return _nested(number, b"".join(_nested(1, entry) for entry in entries))


def _one(number: int, write: Writer, value: object) -> bytes:
    return _nested(number, write(value))


def _schema(node: Document) -> bytes:
    return _message(_SCHEMA, 31, node)


def _schema_item(node: Document) -> bytes:
    """A schema in a position that also allows other values."""
    return _nested(1, _schema(node))


def _additional(value: Document | bool) -> bytes:  # noqa: FBT001 - the keyword takes either
    return _count(2, value) if isinstance(value, bool) else _schema_item(value)


def _type(value: str) -> bytes:
    return _text(1, value)


def _parameter(node: Document) -> bytes:
    """A parameter. It is one of three messages, depending on its location."""
    if node["in"] == "body":
        return _nested(1, _nested(1, _message(_BODY, 6, node)))
    number, table = (3, _QUERY) if node["in"] == "query" else (4, _IN_PATH)
    return _nested(1, _nested(2, _nested(number, _message(table, 23, node))))


def _response(node: Document) -> bytes:
    return _nested(1, _message(_RESPONSE, 5, node))


def _operation(node: Document) -> bytes:
    return _message(_OPERATION, 13, node)


def _path(node: Document) -> bytes:
    return _message(_PATH, 10, node)


def _info(node: Document) -> bytes:
    return _message(_INFO, 7, node)


def _paths(value: Document) -> bytes:
    """The only map whose entries have another field number."""
    entries = (_text(1, name) + _nested(2, _path(item)) for name, item in value.items())
    return _nested(8, b"".join(_nested(2, entry) for entry in entries))


_SCHEMA: Final[Table] = {
    "$ref": partial(_text, 1),
    "format": partial(_text, 2),
    "title": partial(_text, 3),
    "description": partial(_text, 4),
    "maximum": partial(_double, 7),
    "exclusiveMaximum": partial(_count, 8),
    "minimum": partial(_double, 9),
    "exclusiveMinimum": partial(_count, 10),
    "maxLength": partial(_count, 11),
    "minLength": partial(_count, 12),
    "pattern": partial(_text, 13),
    "maxItems": partial(_count, 14),
    "minItems": partial(_count, 15),
    "uniqueItems": partial(_count, 16),
    "maxProperties": partial(_count, 17),
    "minProperties": partial(_count, 18),
    "required": partial(_texts, 19),
    "enum": partial(_each, 20, _anything),
    "additionalProperties": partial(_one, 21, _additional),
    "type": partial(_one, 22, _type),
    "items": partial(_one, 23, _schema_item),
    "properties": partial(_named, 25, _schema),
}
_BODY: Final[Table] = {
    "description": partial(_text, 1),
    "name": partial(_text, 2),
    "in": partial(_text, 3),
    "required": partial(_count, 4),
    "schema": partial(_one, 5, _schema),
}
_PLACED: Final[Table] = {
    "required": partial(_count, 1),
    "in": partial(_text, 2),
    "description": partial(_text, 3),
    "name": partial(_text, 4),
}
_QUERY: Final[Table] = {**_PLACED, "type": partial(_text, 6), "uniqueItems": partial(_count, 20)}
_IN_PATH: Final[Table] = {**_PLACED, "type": partial(_text, 5), "uniqueItems": partial(_count, 19)}
_RESPONSE: Final[Table] = {
    "description": partial(_text, 1),
    "schema": partial(_one, 2, _schema_item),
}
_OPERATION: Final[Table] = {
    "description": partial(_text, 3),
    "operationId": partial(_text, 5),
    "produces": partial(_texts, 6),
    "consumes": partial(_texts, 7),
    "parameters": partial(_each, 8, _parameter),
    "responses": partial(_named, 9, _response),
    "schemes": partial(_texts, 10),
}
_PATH: Final[Table] = {
    "get": partial(_one, 2, _operation),
    "put": partial(_one, 3, _operation),
    "post": partial(_one, 4, _operation),
    "delete": partial(_one, 5, _operation),
    "patch": partial(_one, 8, _operation),
    "parameters": partial(_each, 9, _parameter),
}
_INFO: Final[Table] = {"title": partial(_text, 1), "version": partial(_text, 2)}
_DOCUMENT: Final[Table] = {
    "swagger": partial(_text, 1),
    "info": partial(_one, 2, _info),
    "paths": _paths,
    "definitions": partial(_named, 9, _schema),
}
