"""Builds types from a schema, with which msgspec validates documents.

A type accepts only what the exact functions of `api.structural` leave unchanged and find valid,
except for the checks of `alternatives`. It may refuse more: then the caller takes the exact path. A
node that no type can express becomes an `Opaque` type: msgspec passes the value of such a node to
`check`, which runs a test on that value alone.

The metadata of an object is checked leniently: the schema does not drop unknown fields there.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import Any, Final, Union

import msgspec
from msgspec import UNSET

from kubekit.api.fields import Path
from kubekit.api.structural import Judge, coerced, faults, unknown_fields, with_defaults
from kubekit.api.structural.nodes import (
    EMBEDDED,
    INT_OR_STRING,
    LIST_KEYS,
    LIST_TYPE,
    OBJECT_FIELDS,
    PRESERVE,
    Document,
    Schema,
)
from kubekit.plane.registry.schema.scalar_types import (
    Inexpressible,
    Test,
    Type,
    int_or_string,
    int_or_string_test,
    integer,
    limited,
    number,
    one_of,
    text,
    text_test,
)

_SCALAR: Final[Type] = bool | int | float | str | None
_ANYTHING_BUT_NULL: Final[Type] = bool | int | float | str | list | dict
_COMPARABLE: Final = frozenset({"string", "integer", "boolean"})
_SAYS_NOTHING: Final = frozenset(
    {"default", "description", "example", "externalDocs", "nullable", "title", PRESERVE}
)
_WIDE: Final = 16  # fields; an object takes the memory of all fields that it may have
_PRICE: Final = 4  # microseconds for a wide object, and one more per so many fields
_FIELDS: Final = 100
_NOT_AT_ROOT: Final = (EMBEDDED, INT_OR_STRING, "additionalProperties", "enum", "nullable")

_Tell = Callable[[Any], object]
"""Returns the identity of a list item."""


class Opaque:
    """The type of a node that no type can express. Each node has its own class."""

    test: Test
    build: Callable[[Any], "Opaque"]


class Wide(Opaque):
    """The type of wide objects inside lists and maps. Their structs are dropped to save memory."""

    __slots__ = ("value",)

    def __init__(self, value: Document) -> None:
        self.value = value


def check(kind: type[Opaque], value: object) -> Opaque:
    """The hook that msgspec calls with the value of an opaque node."""
    if not kind.test(value):
        raise ValueError("not as it should be")
    return kind.build(value)


def type_of(schema: Schema, judge: Judge) -> Type:
    """The type of a whole object. Its apiVersion, kind and metadata are always allowed.

    `Inexpressible` if the schema restricts the object beyond its named fields.
    """
    if schema.get("type") != "object" or not schema.keys().isdisjoint(_NOT_AT_ROOT):
        raise Inexpressible
    return _Types(judge).struct({**schema, EMBEDDED: True})


@dataclass(frozen=True, slots=True)
class _Types:
    judge: Judge
    lenient: bool = False
    many: bool = False  # whether this is somewhere inside of a list or map

    def node(self, schema: Schema) -> Type:
        try:
            shape = self.shape(schema)
        except (Inexpressible, TypeError, ValueError):
            shape = self.opaque(schema)
        return Union[shape, None] if _may_be_null(schema) else shape  # noqa: UP007 - made at run time

    def opaque(self, schema: Schema) -> type[Opaque]:
        """A new opaque class. A string stays a string, since it may be a list map key."""
        if schema.get("type") == "string" and not schema.get("enum"):
            test = text_test(schema, self.judge)
            kind: type[Opaque] = type("Text", (Opaque, str), {"test": staticmethod(test)})
            kind.build = kind
            return kind
        is_either = schema.get(INT_OR_STRING) and not _is_odd(schema) and not schema.get(EMBEDDED)
        either = int_or_string_test(schema, self.judge) if is_either else None
        kind = type("Opaque", (Opaque,), {"test": staticmethod(either or self.test(schema))})
        accepted = kind()
        kind.build = staticmethod(lambda _value: accepted)
        return kind

    def test(self, schema: Schema) -> Test:
        """A test with the exact functions: whether they change nothing and find no error."""
        judge, around = replace(self.judge, most=1), {"properties": {"at": schema}}

        def test(value: object) -> bool:
            whole = {"at": value}
            if isinstance(value, dict | list | None) and not self.is_left(whole, around):
                return False
            return not faults(whole, around, judge)

        return test

    def is_left(self, whole: Document, around: Schema) -> bool:
        """Whether the exact functions would leave it unchanged."""
        if not self.lenient and unknown_fields(whole, around, Path("value"), most=1):
            return False
        read = coerced(whole, around)
        is_read = read.fault is None and not read.unknown and read.document == whole
        return is_read and with_defaults(whole, around, self.judge.spend) == whole

    def shape(self, schema: Schema) -> Type:
        if schema.get(EMBEDDED) or (schema.get(INT_OR_STRING) and _is_odd(schema)):
            raise Inexpressible
        if schema.get(INT_OR_STRING):
            return int_or_string(schema, native=self.judge.native)
        if schema.keys() <= _SAYS_NOTHING and (schema.get(PRESERVE) or self.lenient):
            return _ANYTHING_BUT_NULL
        if not schema.get("type"):
            raise Inexpressible
        return one_of(schema, self.judge) if schema.get("enum") else self.typed(schema)

    def typed(self, schema: Schema) -> Type:
        make = _SHAPES.get(schema["type"])
        if make is None:
            raise Inexpressible
        return make(self, schema)

    def array(self, schema: Schema) -> Type:
        """A list. Unique items are checked by the enclosing object."""
        if schema.get(LIST_TYPE) in ("set", "map") or _is_kept_or_unique(schema):
            raise Inexpressible
        if "items" in schema:
            return _list_of(replace(self, many=True).node(schema["items"]), schema)
        return _list_of(Any if self.lenient else _SCALAR, schema)

    def object(self, schema: Schema) -> Type:
        others = schema.get("additionalProperties")
        if others is None or others is False:
            return self.struct(schema)
        if schema.keys() & {"properties", "required", PRESERVE} or others == {}:
            raise Inexpressible
        if others is True:
            return dict[str, Any] if self.lenient else dict[str, _SCALAR]
        return _map_of(replace(self, many=True).node(others))

    def struct(self, schema: Schema) -> Type:
        properties, needed = schema.get("properties", {}), set(schema.get("required", ()))
        open_ended = bool(schema.get(PRESERVE)) or self.lenient
        if schema.get("additionalProperties") is False and open_ended:
            raise Inexpressible
        if not properties and not needed and open_ended and not schema.get(EMBEDDED):
            return dict[str, Any]
        members = {name: self.member(schema, name) for name in properties}
        unread = (*OBJECT_FIELDS,) if schema.get(EMBEDDED) else ()
        for name in (*unread, *(needed if open_ended else ())):
            members.setdefault(name, (Any, None))
        if needed - members.keys():
            raise Inexpressible
        made = _struct(members, needed, closed=not open_ended)
        return self.passing(made, len(members)) if self.many and len(members) > _WIDE else made

    def passing(self, struct: Type, width: int) -> type[Wide]:
        """A type that checks an object with the struct, and drops the struct at once."""
        price, spend = _PRICE + width / _FIELDS, self.judge.spend

        def test(value: object) -> bool:
            spend(price)
            try:
                msgspec.convert(value, struct, dec_hook=check)
            except msgspec.ValidationError:
                return False
            return True

        kind: type[Wide] = type("Wide", (Wide,), {"test": staticmethod(test)})
        kind.build = kind
        return kind

    def member(self, schema: Schema, name: str) -> tuple[Type, _Tell | None]:
        """The type of a property, and the identity of its items if they must be unique."""
        inner = schema["properties"][name]
        whole = schema.get(EMBEDDED) and name in OBJECT_FIELDS
        types = replace(self, lenient=True) if whole else self
        is_list = inner.get("type") == "array" and "items" in inner
        if not is_list or inner.get("enum") or _is_kept_or_unique(inner):
            return types.node(inner), None
        item = replace(types, many=True).node(inner["items"])
        tell = _tell(inner, item)
        if tell is None:
            return types.node(inner), None
        return types.node_of_list(inner, item), tell

    def node_of_list(self, schema: Schema, item: Type) -> Type:
        made = _list_of(item, schema)
        return Union[made, None] if _may_be_null(schema) else made  # noqa: UP007 - made at run time


_SHAPES: Final[Mapping[str, Callable[[_Types, Schema], Type]]] = {
    "array": _Types.array,
    "boolean": lambda _types, _schema: bool,
    "integer": lambda types, schema: integer(schema, native=types.judge.native),
    "number": lambda types, schema: number(schema, native=types.judge.native),
    "object": _Types.object,
    "string": lambda _types, schema: text(schema),
}


def _may_be_null(schema: Schema) -> bool:
    """Whether null is allowed; an enum never contains it."""
    return bool(schema.get("nullable")) and not schema.get("enum")


def _is_odd(schema: Schema) -> bool:
    """Whether an int-or-string has keywords that its types cannot express."""
    return bool(schema.get("enum") or schema.get("format")) or bool(
        schema.keys() & {"items", "properties"}
    )


def _is_kept_or_unique(schema: Schema) -> bool:
    return bool(schema.get(PRESERVE) or schema.get("uniqueItems"))


def _map_of(value: Type) -> Type:
    return dict[str, value]


def _list_of(item: Type, schema: Schema) -> Type:
    return limited(list[item], min_length=schema.get("minItems"), max_length=schema.get("maxItems"))


def _tell(schema: Schema, item: Type) -> _Tell | None:
    """The identity of items, if they must be unique and Python's equality is right for them."""
    items = schema.get("items", {})
    match schema.get(LIST_TYPE):
        case "set" if _is_comparable(items):
            return _itself
        case "map" if isinstance(item, type) and issubclass(item, msgspec.Struct | Wide):
            keys, known = schema[LIST_KEYS], items.get("properties", {})
            if all(_is_comparable(known.get(key, {})) for key in keys):
                return _by_keys(keys, item)
    return None


def _by_keys(keys: list[str], item: type) -> _Tell:
    if issubclass(item, Wide):
        return lambda entry: (*map(entry.value.get, keys),)
    return attrgetter(*(_field(key) for key in keys))


def _is_comparable(schema: Schema) -> bool:
    return schema.get("type") in _COMPARABLE and not schema.get(INT_OR_STRING)


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
    """A valid Python identifier for any JSON name."""
    return f"f{name.encode().hex()}"


def _differing(unique: list[tuple[str, _Tell]]) -> Callable[[msgspec.Struct], None]:
    def check_items(made: msgspec.Struct) -> None:
        for field, tell in unique:
            items = getattr(made, field)
            if type(items) is list and len(set(map(tell, items))) != len(items):
                raise ValueError("an item is there twice")

    return check_items
