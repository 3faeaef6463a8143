"""From the types of a kind to the structural schema of its CRD.

Each field is declared once: its Python type gives the shape, its `Rule` the further constraints, and
its docstring the description. A rule around a list applies to the list, a rule inside it to each
item:

    ports: Annotated[tuple[Annotated[int, Rule(minimum=1)], ...], Rule(max_items=8)]

A rule that does not apply to its type is refused, because Kubernetes would accept it silently and
never enforce it.
"""

from collections.abc import Callable, Mapping
from datetime import datetime
from functools import reduce
from operator import or_
from types import NoneType, UnionType
from typing import Annotated, Any, Final, Literal, Union, get_args, get_origin

import msgspec

from kubekit.api.meta import Object
from kubekit.api.times import MicroTime
from kubekit.api.wire import Rule

Schema = dict[str, Any]
Docs = Callable[[type], Mapping[str, str]]
"""The docstrings of a class's fields, by Python name."""

_ANYTHING: Final = {"x-kubernetes-preserve-unknown-fields": True}
_TIME: Final = {"type": "string", "format": "date-time"}
_SCALARS: Final[Mapping[Any, Schema]] = {
    Any: _ANYTHING,
    MicroTime: _TIME,
    bool: {"type": "boolean"},
    datetime: _TIME,
    float: {"type": "number"},
    int: {"type": "integer"},
    str: {"type": "string"},
}

# Kubernetes defines these three itself, and refuses a schema with more about the metadata.
_OBJECT_FIELDS: Final[Mapping[str, Schema]] = {
    "apiVersion": {
        "description": "The group and version that this object is written in.",
        "type": "string",
    },
    "kind": {"description": "The kind of this object, in CamelCase.", "type": "string"},
    "metadata": {"type": "object"},
}

_KEYWORDS: Final = {
    "format": "format",
    "enum": "enum",
    "default": "default",
    "nullable": "nullable",
    "min_length": "minLength",
    "max_length": "maxLength",
    "pattern": "pattern",
    "minimum": "minimum",
    "maximum": "maximum",
    "min_items": "minItems",
    "max_items": "maxItems",
    "list_type": "x-kubernetes-list-type",
    "list_map_keys": "x-kubernetes-list-map-keys",
    "map_type": "x-kubernetes-map-type",
    "int_or_string": "x-kubernetes-int-or-string",
    "preserve_unknown_fields": "x-kubernetes-preserve-unknown-fields",
    "validations": "x-kubernetes-validations",
}
_ORDER: Final = (
    "description",
    "type",
    "anyOf",
    *_KEYWORDS.values(),
    "exclusiveMinimum",
    "required",
    "properties",
    "items",
    "additionalProperties",
)

_BOUNDS: Final = frozenset({"exclusive_minimum", "format", "maximum", "minimum"})
_TEXT: Final = frozenset({"enum", "format", "max_length", "min_length", "pattern"})
_APPLICABLE: Final[Mapping[str, frozenset[str]]] = {
    "array": frozenset({"list_map_keys", "list_type", "max_items", "min_items"}),
    "boolean": frozenset(),
    "integer": _BOUNDS,
    "number": _BOUNDS,
    "object": frozenset({"map_type", "preserve_unknown_fields"}),
    "string": _TEXT,
    "": _TEXT | _BOUNDS | {"int_or_string", "preserve_unknown_fields"},
}
_ALWAYS_APPLICABLE: Final = frozenset({"default", "nullable", "required", "validations"})


def schema_of(cls: type[msgspec.Struct], docs: Docs) -> Schema:
    """The OpenAPI v3 schema of a class, as in a CRD.

    ``docs`` is a parameter because docstrings of fields exist only in source files. Fields are sorted
    by their JSON name, so that moving one in the class does not change the CRD.
    """
    return _ordered(_Walk(docs).struct(cls))


class _Walk(msgspec.Struct, frozen=True):
    docs: Docs
    within: tuple[type, ...] = ()

    def struct(self, cls: type[msgspec.Struct]) -> Schema:
        if cls in self.within:
            raise TypeError(f"{cls.__name__} contains itself; a structural schema is finite")
        inner, docs = _Walk(self.docs, (*self.within, cls)), self.docs(cls)
        properties: dict[str, Schema] = {}
        required = []
        for field in sorted(msgspec.structs.fields(cls), key=lambda field: field.encode_name):
            name, where = field.encode_name, f"{cls.__name__}.{field.name}"
            if issubclass(cls, Object) and name in _OBJECT_FIELDS:
                properties[name] = dict(_OBJECT_FIELDS[name])
                continue
            properties[name] = inner.node(field.type, where, docs.get(field.name, ""))
            if _required(field):
                required.append(name)
        parts = {
            "description": _first_paragraph(cls),
            "type": "object",
            "required": required,
            "properties": properties,
        }
        return {keyword: part for keyword, part in parts.items() if part}

    def node(self, annotation: object, where: str, doc: str = "") -> Schema:
        bare, rule, _ = _unwrapped(annotation)
        shape = self.shape(bare, rule, where)
        _refuse_inapplicable_rules(rule, shape, where)
        return _ordered(shape | ({"description": doc} if doc else {}) | _keywords(rule))

    def shape(self, bare: object, rule: Rule, where: str) -> Schema:
        if rule.int_or_string:
            return {"anyOf": [{"type": "integer"}, {"type": "string"}]}
        if bare in _SCALARS:
            return dict(_SCALARS[bare])
        if isinstance(bare, type) and issubclass(bare, msgspec.Struct):
            return self.struct(bare)
        return self.composed(bare, where)

    def composed(self, bare: object, where: str) -> Schema:
        match get_origin(bare), get_args(bare):
            case (origin, (item, *more)) if origin is list or (origin is tuple and more == [...]):
                return {"type": "array", "items": self.node(item, f"{where}[]")}
            case (origin, (key, value)) if origin is dict and key is str:
                return _map_of(self.node(value, f"{where}{{}}"))
            case (origin, words) if origin is Literal and all(isinstance(w, str) for w in words):
                return {"type": "string", "enum": list(words)}
        raise TypeError(f"{where}: no schema can be made of {bare!r}")


def _map_of(value: Schema) -> Schema:
    """A map. In CRDs a map of any values is an object with unknown fields."""
    return {"type": "object"} | (value if value == _ANYTHING else {"additionalProperties": value})


def _unwrapped(annotation: object) -> tuple[object, Rule, bool]:
    """The type without annotations, its rules, and whether None is allowed."""
    rule, optional = Rule(), False
    while True:
        if get_origin(annotation) is Annotated:
            annotation, *layers = get_args(annotation)
            for layer in reversed(layers):  # the outermost comes last
                rule = rule.over(layer) if isinstance(layer, Rule) else rule
        elif get_origin(annotation) in (Union, UnionType) and NoneType in get_args(annotation):
            annotation = reduce(or_, (a for a in get_args(annotation) if a is not NoneType))
            optional = True
        else:
            return annotation, rule, optional


def _required(field: msgspec.structs.FieldInfo) -> bool:
    _, rule, optional = _unwrapped(field.type)
    return field.required and not optional if rule.required is None else rule.required


def _refuse_inapplicable_rules(rule: Rule, shape: Schema, where: str) -> None:
    kind = shape.get("type", "")
    applicable = _APPLICABLE[kind] | _ALWAYS_APPLICABLE
    for name in Rule.__struct_fields__:
        if getattr(rule, name) is not None and name not in applicable:
            raise TypeError(f"{where}: the rule {name} does not apply to {kind} values")


def _keywords(rule: Rule) -> Schema:
    """The schema keywords that the rule adds to the shape."""
    keywords = {
        keyword: msgspec.json.decode(msgspec.json.encode(getattr(rule, name)))
        for name, keyword in _KEYWORDS.items()
        if getattr(rule, name) is not None
    }
    if rule.exclusive_minimum is not None:  # OpenAPI 3.0: a flag beside the bound
        keywords |= {"minimum": rule.exclusive_minimum, "exclusiveMinimum": True}
    if rule.list_map_keys is not None:
        keywords["x-kubernetes-list-type"] = "map"
    return keywords


def _first_paragraph(cls: type) -> str:
    return " ".join((cls.__doc__ or "").split("\n\n")[0].split())


def _ordered(shape: Schema) -> Schema:
    """The keywords in reading order: deeply nested ones come last."""
    return {key: shape[key] for key in _ORDER if key in shape}
