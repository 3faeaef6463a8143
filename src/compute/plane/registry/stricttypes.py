"""Types out of a schema, for msgspec to check documents by.

A type accepts only what the exact functions of `api.structural` leave unchanged and find no fault
with. It may refuse more: whoever asks then takes the exact way. A node that no type can express
becomes an `Opaque` type: msgspec hands the value of such a node to `check`, which asks the exact
functions about that value alone.

The metadata of an object, and of objects embedded in it, is checked leniently: unknown fields there
are not the schema's to drop.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from operator import attrgetter
from typing import Any, Final, Union

import msgspec
from msgspec import UNSET

from compute.api.fields import Path
from compute.api.structural import Matcher, found, unknown_fields, validate, with_defaults
from compute.api.structural_nodes import Schema
from compute.api.structural_values import own_errors
from compute.plane.registry.scalartypes import (
    Inexpressible,
    Type,
    int_or_string,
    integer,
    limited,
    number,
    one_of,
    text,
)

_EMBEDDED: Final = "x-kubernetes-embedded-resource"
_INT_OR_STRING: Final = "x-kubernetes-int-or-string"
_PRESERVE: Final = "x-kubernetes-preserve-unknown-fields"
_LIST_TYPE: Final = "x-kubernetes-list-type"
_OBJECT_FIELDS: Final = ("apiVersion", "kind", "metadata")

_ANYTHING_BUT_NULL: Final[Type] = bool | int | float | str | list | dict
_COMPARABLE: Final = frozenset({"string", "integer", "boolean"})
_SAYS_NOTHING: Final = frozenset({"description", "nullable", "default", _PRESERVE})

_Tell = Callable[[Any], object]
"""What tells an item of a list apart."""


class Opaque:
    """The type of a node that only the exact functions can judge. Each node has its own class."""

    schema: Schema
    matches: Matcher
    lenient: bool
    accepted: "Opaque"


def check(kind: type[Opaque], value: object) -> Opaque:
    """What msgspec asks about the value of an opaque node."""
    is_leaf = value is not None and not isinstance(value, dict | list)
    faults = own_errors("", value, kind.schema, kind.matches) if is_leaf else _faults(kind, value)
    if next(faults, None) is not None:
        raise ValueError("not as it should be")
    return kind.accepted


def _faults(kind: type[Opaque], value: object) -> Iterator[object]:
    """Whatever the exact functions would change or find wrong."""
    whole, around = {"at": value}, {"properties": {"at": kind.schema}}
    if not kind.lenient:
        yield from unknown_fields(whole, around, Path("value"), most=1)
    if with_defaults(whole, around) != whole:
        yield whole
    yield from validate(whole, around, matches=kind.matches, most=1)


def type_of(schema: Schema, matches: Matcher = found) -> Type:
    """The type of a whole object. Its apiVersion, kind and metadata may always be there."""
    return _Types(matches).node({**schema, _EMBEDDED: True})


@dataclass(frozen=True, slots=True)
class _Types:
    matches: Matcher
    lenient: bool = False

    def node(self, schema: Schema) -> Type:
        try:
            shape = self.shape(schema)
        except (Inexpressible, re.error, TypeError, ValueError):
            shape = self.opaque(schema)
        return Union[shape, None] if schema.get("nullable") else shape  # noqa: UP007 - made at run time

    def opaque(self, schema: Schema) -> type[Opaque]:
        members = {"schema": schema, "matches": staticmethod(self.matches), "lenient": self.lenient}
        kind: type[Opaque] = type("Opaque", (Opaque,), members)
        kind.accepted = kind()
        return kind

    def shape(self, schema: Schema) -> Type:
        if schema.get(_INT_OR_STRING) and not schema.keys() & {"enum", "properties", "items"}:
            return int_or_string(schema, self.matches)
        if schema.keys() <= _SAYS_NOTHING and (schema.get(_PRESERVE) or self.lenient):
            return _ANYTHING_BUT_NULL
        if schema.get(_INT_OR_STRING) or "type" not in schema:
            raise Inexpressible
        return one_of(schema, self.matches) if "enum" in schema else self.typed(schema)

    def typed(self, schema: Schema) -> Type:
        make = _SHAPES.get(schema["type"])
        if make is None:
            raise Inexpressible
        return make(self, schema)

    def array(self, schema: Schema) -> Type:
        """A list; one whose items must differ needs an object around it that asks whether they do."""
        if schema.get(_LIST_TYPE) in ("set", "map"):
            raise Inexpressible
        return _list_of(self.node(schema["items"]) if "items" in schema else Any, schema)

    def object(self, schema: Schema) -> Type:
        others = schema.get("additionalProperties")
        if not others and others != {}:
            return self.struct(schema)
        if schema.keys() & {"properties", "required", _EMBEDDED, _PRESERVE} or others == {}:
            raise Inexpressible
        return dict[str, Any] if others is True else _map_of(self.node(others))

    def struct(self, schema: Schema) -> Type:
        properties, needed = schema.get("properties", {}), set(schema.get("required", ()))
        open_ended = bool(schema.get(_PRESERVE)) or self.lenient
        if not properties and not needed and open_ended:
            return dict[str, Any]
        members = {name: self.member(schema, name) for name in properties}
        unread = (*_OBJECT_FIELDS,) if schema.get(_EMBEDDED) else ()
        for name in (*unread, *(needed if open_ended else ())):
            members.setdefault(name, (Any, None))
        if needed - members.keys():
            raise Inexpressible
        return _struct(members, needed, closed=not open_ended)

    def member(self, schema: Schema, name: str) -> tuple[Type, _Tell | None]:
        """The type of a property, and what tells its items apart if they must differ."""
        inner = schema["properties"][name]
        whole = schema.get(_EMBEDDED) and name in _OBJECT_FIELDS
        types = _Types(self.matches, lenient=True) if whole else self
        item = (
            types.node(inner["items"])
            if inner.get("type") == "array" and "items" in inner
            else None
        )
        tell = _tell(inner, item)
        if tell is None or "enum" in inner:
            return types.node(inner), None
        return types.node_of_list(inner, item), tell

    def node_of_list(self, schema: Schema, item: Type) -> Type:
        made = _list_of(item, schema)
        return Union[made, None] if schema.get("nullable") else made  # noqa: UP007 - made at run time


_SHAPES: Final[Mapping[str, Callable[[_Types, Schema], Type]]] = {
    "array": _Types.array,
    "boolean": lambda _types, _schema: bool,
    "integer": lambda _types, schema: integer(schema),
    "number": lambda _types, schema: number(schema),
    "object": _Types.object,
    "string": lambda types, schema: text(schema, types.matches),
}


def _map_of(value: Type) -> Type:
    return dict[str, value]


def _list_of(item: Type, schema: Schema) -> Type:
    return limited(list[item], min_length=schema.get("minItems"), max_length=schema.get("maxItems"))


def _tell(schema: Schema, item: Type) -> _Tell | None:
    """What tells the items apart, if they must differ and Python's own equality will do."""
    items = schema.get("items", {})
    match schema.get(_LIST_TYPE):
        case "set" if _is_comparable(items):
            return _itself
        case "map" if isinstance(item, type) and issubclass(item, msgspec.Struct):
            keys, known = schema["x-kubernetes-list-map-keys"], items.get("properties", {})
            if all(_is_comparable(known.get(key, {})) for key in keys):
                return attrgetter(*(_field(key) for key in keys))
    return None


def _is_comparable(schema: Schema) -> bool:
    return schema.get("type") in _COMPARABLE and not schema.get(_INT_OR_STRING)


def _itself(item: object) -> object:
    return item


def _struct(
    members: dict[str, tuple[Type, _Tell | None]], needed: Iterable[str], *, closed: bool
) -> Type:
    fields: list[Any] = [
        (_field(name), kind) if name in needed else (_field(name), kind, UNSET)
        for name, (kind, _) in members.items()
    ]
    unique = [(_field(name), tell) for name, (_, tell) in members.items() if tell is not None]
    return msgspec.defstruct(
        "Checked",
        fields,
        namespace={"__post_init__": _differing(unique)} if unique else None,
        rename={_field(name): name for name in members},
        forbid_unknown_fields=closed,
        kw_only=True,
        gc=False,
    )


def _field(name: str) -> str:
    """A name that Python takes, for any name that JSON takes."""
    return f"f{name.encode().hex()}"


def _differing(unique: list[tuple[str, _Tell]]) -> Callable[[msgspec.Struct], None]:
    def check_items(made: msgspec.Struct) -> None:
        for field, tell in unique:
            items = getattr(made, field)
            if type(items) is list and len(set(map(tell, items))) != len(items):
                raise ValueError("an item is there twice")

    return check_items
