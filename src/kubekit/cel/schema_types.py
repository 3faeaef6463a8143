"""Schemas as types: the fields that an expression may select, their largest sizes, and their views.

The sizes are bounds for the estimate of a rule's cost. Without a limit in the schema a size is
as large as fits in a request.
"""

import base64
import binascii
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

from kubekit.cel.declarations import Fields
from kubekit.cel.errors import EvaluationError
from kubekit.cel.operations.times import parse_date, parse_timestamp, parse_wordy_duration
from kubekit.cel.operations.views import Entries, Items, ListShape, ObjectShape, Wrap, itself
from kubekit.cel.syntax.tree import RESERVED
from kubekit.cel.types import (
    BOOL,
    BYTES,
    DOUBLE,
    DURATION,
    DYN,
    INT,
    STRING,
    TIMESTAMP,
    Type,
    list_of,
    map_of,
    struct,
)
from kubekit.cel.values import Value

Schema = Mapping[str, Any]

REQUEST_BYTES: Final = 3 * 1024 * 1024
_ROOT: Final = "selfType"
_QUOTES: Final = 2
_TIME_CHARACTERS: Final = 32
_DATE_CHARACTERS: Final = 12
_TEXT: Final = {"type": "string"}
_IDENTIFIER: Final = re.compile(r"[a-zA-Z_][a-zA-Z0-9_]*")
_PARTS: Final = re.compile(r"__|[-./]")
_ALLOWED: Final = re.compile(r"[a-zA-Z0-9_./-]+")
_ESCAPES: Final = {
    "__": "__underscores__",
    ".": "__dot__",
    "-": "__dash__",
    "/": "__slash__",
}


@lru_cache(maxsize=4096)
def escaped(name: str) -> str | None:
    """The name of a property as an identifier of CEL; None if it cannot be escaped."""
    if name in RESERVED:
        return f"__{name}__"
    if _IDENTIFIER.fullmatch(name) and "__" not in name:
        return name
    if not _ALLOWED.fullmatch(name) or name[0].isdigit():
        return None
    return _PARTS.sub(lambda part: _ESCAPES[part[0]], name)


@dataclass(frozen=True, slots=True)
class Declared:
    """The type of a schema node. ``size`` is the most elements or characters that it may have.

    ``smallest`` is the least number of bytes that its JSON takes.
    """

    type: Type
    wrap: Wrap
    smallest: int
    size: int = 0
    fields: "Mapping[str, Declared] | None" = None
    element: "Declared | None" = None

    def member(self, key: str) -> "Declared | None":
        """The type of a property, if its name can be escaped for expressions."""
        spelled = escaped(key)
        return (self.fields or {}).get(spelled) if spelled is not None else None

    def structs(self) -> dict[str, Fields]:
        """The fields of this type and of all below it, by the names of the types."""
        structs: dict[str, Fields] = {}
        pending = [self]
        while pending:
            node = pending.pop()
            if node.fields is not None:
                structs[node.type.name] = {name: inner.type for name, inner in node.fields.items()}
                pending += node.fields.values()
            if node.element is not None:
                pending.append(node.element)
        return structs


def declared(schema: Schema, *, is_root: bool = False, name: str = _ROOT) -> Declared | None:
    """The type of the schema; None if expressions cannot access it."""
    if schema.get("x-kubernetes-int-or-string"):
        return Declared(DYN, _int_or_string, 1, _text_size(schema))
    make = _TYPES.get(schema.get("type", ""))
    if make is None:
        return None
    return make(with_metadata(schema) if is_root else schema, name)


def with_metadata(schema: Schema) -> Schema:
    """The schema of an object, with the fields that all objects have."""
    properties = schema.get("properties", {})
    metadata = properties.get("metadata", {})
    known = metadata.get("properties", {})
    if (
        _is_text(properties.get("kind"))
        and _is_text(properties.get("apiVersion"))
        and metadata.get("type") == "object"
        and _is_text(known.get("name"))
        and _is_text(known.get("generateName"))
    ):
        return schema
    names = {"type": "object", "properties": {"name": _TEXT, "generateName": _TEXT}}
    return {
        **schema,
        "properties": {**properties, "kind": _TEXT, "apiVersion": _TEXT, "metadata": names},
    }


def is_embedded(schema: Schema) -> bool:
    return bool(schema.get("x-kubernetes-embedded-resource"))


def _is_text(schema: Schema | None) -> bool:
    return schema is not None and schema.get("type") == "string"


def _list(schema: Schema, name: str) -> Declared | None:
    items = schema.get("items")
    if items is None:
        return None
    element = declared(items, is_root=is_embedded(items), name=f"{name}.@idx")
    if element is None:
        return None
    size = _limit(schema, "maxItems")
    if size is None:
        size = (REQUEST_BYTES - 2) // (element.smallest + 1)
    wrap = _nullable(schema, _list_wrap(schema, element, items))
    return Declared(list_of(element.type), wrap, 2, size, element=element)


def _list_wrap(schema: Schema, element: Declared, items: Schema) -> Wrap:
    kind = schema.get("x-kubernetes-list-type")
    item = _not_null(items, element.wrap)
    keys = tuple(schema.get("x-kubernetes-list-map-keys", ())) if kind == "map" else ()
    if item is itself and kind not in ("map", "set"):
        return itself
    shape = ListShape(item, kind == "set", keys)
    return lambda value: Items(value, shape)


def _object(schema: Schema, name: str) -> Declared | None:
    values = schema.get("additionalProperties")
    if isinstance(values, Mapping):
        return _map(schema, values, name)
    fields: dict[str, Declared] = {}
    shapes: dict[str, tuple[str, Wrap]] = {}
    smallest = 2
    for key, inner in schema.get("properties", {}).items():
        spelled = escaped(key)
        inner_type = declared(inner, is_root=is_embedded(inner), name=f"{name}.{spelled}")
        if inner_type is None:
            continue
        if spelled is not None:
            fields[spelled] = inner_type
            shapes[spelled] = (key, inner_type.wrap)
        if key in schema.get("required", ()) and inner.get("default") is None:
            smallest += len(key.encode()) + inner_type.smallest + 4
    shape = ObjectShape(shapes)
    wrap = _nullable(schema, lambda value: Entries(value, shape))
    return Declared(struct(name), wrap, smallest, fields=fields)


def _map(schema: Schema, values: Schema, name: str) -> Declared | None:
    element = declared(values, is_root=is_embedded(values), name=f"{name}.@elem")
    if element is None:
        return None
    size = _limit(schema, "maxProperties")
    if size is None:
        size = (REQUEST_BYTES - 2) // (element.smallest + 6)
    value_view = _not_null(values, element.wrap)
    shape = ObjectShape({}, value_view)
    wrap = (
        itself if value_view is itself else _nullable(schema, lambda value: Entries(value, shape))
    )
    return Declared(map_of(STRING, element.type), wrap, 2, size, element=element)


def _string(schema: Schema, _name: str) -> Declared:
    known = _FORMATS.get(schema.get("format", ""))
    if known is None:
        return Declared(STRING, itself, _QUOTES, _string_size(schema))
    kind, smallest, size, wrap = known
    if kind is BYTES:
        limit = _limit(schema, "maxLength")
        size = REQUEST_BYTES - _QUOTES if limit is None else limit
    return Declared(kind, wrap, smallest, size)


def _string_size(schema: Schema) -> int:
    words = [word for word in schema.get("enum", ()) if isinstance(word, str)]
    if _limit(schema, "maxLength") is None and schema.get("enum"):
        return max((len(word.encode()) for word in words), default=0)
    return _text_size(schema)


def _text_size(schema: Schema) -> int:
    limit = _limit(schema, "maxLength")
    return REQUEST_BYTES - _QUOTES if limit is None else limit * 4


def _limit(schema: Schema, keyword: str) -> int | None:
    value = schema.get(keyword)
    return None if value is None else max(int(value), 0)


def _boolean(_schema: Schema, _name: str) -> Declared:
    return Declared(BOOL, itself, 4)


def _integer(_schema: Schema, _name: str) -> Declared:
    return Declared(INT, itself, 1)


def _number(_schema: Schema, _name: str) -> Declared:
    return Declared(DOUBLE, _as_double, 1)


def _nullable(schema: Schema, wrap: Wrap) -> Wrap:
    """The view of a value that may be null."""
    if not schema.get("nullable") or wrap is itself:
        return wrap
    return lambda value: None if value is None else wrap(value)


def _not_null(schema: Schema, wrap: Wrap) -> Wrap:
    """The view of an item or a value of a map. A null is refused unless the schema allows it.

    The document was validated before, so a value that needs no view is not checked again.
    """
    if wrap is itself or schema.get("nullable"):
        return _nullable(schema, wrap)

    def view(value: Value) -> Value:
        if value is None:
            raise EvaluationError("invalid data, got null for schema with nullable=false")
        return wrap(value)

    return view


def _int_or_string(value: Value) -> Value:
    if type(value) is int or type(value) is str or value is None:
        return value
    raise EvaluationError(
        "invalid data, expected XIntOrString value to be either a string or integer"
    )


def _as_double(value: Value) -> Value:
    return float(value) if type(value) is int else value


def _parsed(parse: Callable[[str], Any], words: str) -> Wrap:
    def view(value: Value) -> Value:
        parsed = parse(value) if type(value) is str else value
        if parsed is None and value is not None:
            raise EvaluationError(f"Invalid {words} {value}")
        return parsed

    return view


def _bytes(text: str) -> bytes | None:
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return None


def _date_time(text: str) -> Value:
    return parse_timestamp(text.upper(), needs_zone=False)


_TYPES: Final[dict[str, Callable[[Schema, str], Declared | None]]] = {
    "array": _list,
    "object": _object,
    "string": _string,
    "boolean": _boolean,
    "number": _number,
    "integer": _integer,
}
_FORMATS: Final[dict[str, tuple[Type, int, int, Wrap]]] = {
    "byte": (BYTES, _QUOTES, 0, _parsed(_bytes, "byte formatted string")),
    "duration": (DURATION, 3, _TIME_CHARACTERS, _parsed(parse_wordy_duration, "duration")),
    "date": (TIMESTAMP, 12, _DATE_CHARACTERS, _parsed(parse_date, "date formatted string")),
    "date-time": (
        TIMESTAMP,
        21,
        _TIME_CHARACTERS,
        _parsed(_date_time, "date-time formatted string"),
    ),
}
