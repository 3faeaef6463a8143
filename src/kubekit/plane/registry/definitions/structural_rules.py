"""The rules for structural schemas: each value has one type, given at one position.

Schemas in ``allOf``, ``anyOf``, ``oneOf`` and ``not`` restrict values but do not give types, and
apply only to fields that are also described outside of them.
"""

from collections.abc import Iterator, Mapping
from typing import Final

from kubekit.api.fields import FieldError, Path, forbidden, invalid, required
from kubekit.api.structural.nodes import EMBEDDED, INT_OR_STRING, PRESERVE, Schema
from kubekit.plane.registry.schema import patterns
from kubekit.plane.registry.schema.schema_nodes import parts, says_nothing

_UNSUPPORTED: Final = (
    "id", "$schema", "$ref", "patternProperties", "dependencies", "definitions",
)  # fmt: skip
_EITHER: Final = [{"type": "integer"}, {"type": "string"}]
_TYPELESS: Final = {
    "root": "must not be empty at the root",
    "item": "must not be empty for specified array items",
    "field": "must not be empty for specified object fields",
}
_EMPTY: Final = "must be empty to be structural"
_FALSE: Final = "must be false to be structural"
_UNDEFINED: Final = "must be undefined to be structural"
_NESTED: Final = {
    "type": _EMPTY,
    "additionalProperties": _UNDEFINED,
    "default": _UNDEFINED,
    "title": _EMPTY,
    "description": _EMPTY,
    "nullable": _FALSE,
    PRESERVE: _FALSE,
    EMBEDDED: _FALSE,
    INT_OR_STRING: _FALSE,
    "x-kubernetes-list-map-keys": _EMPTY,
    "x-kubernetes-list-type": _UNDEFINED,
    "x-kubernetes-map-type": _UNDEFINED,
    "x-kubernetes-validations": _EMPTY,
}
_METADATA_MAY: Final = frozenset({"default", "example", "externalDocs", "type"})
_IMPLICIT: Final = (
    "must not specify anything other than name and generateName, but metadata is implicitly "
    "specified"
)
_AS_OBJECT: Final = "must be object if x-kubernetes-embedded-resource is true"


def is_convertible(schema: Schema) -> bool:
    """Whether the structural rules can check the schema. If not, other rules refuse it."""
    unsupported = (schema.get(keyword) for keyword in _UNSUPPORTED)
    if any(unsupported) or "additionalItems" in schema or schema.get(PRESERVE) is False:
        return False
    return not isinstance(schema.get("items"), list) and all(map(is_convertible, parts(schema)))


def structural_errors(schema: Schema, path: Path) -> Iterator[FieldError]:
    """Why the schema is not structural, sorted."""
    errors = [*_invariant_errors(schema, path, "root"), *_missing(schema, schema, path, path)]
    yield from sorted(errors, key=str)


def _invariant_errors(schema: Schema, path: Path, level: str) -> Iterator[FieldError]:
    others, items = schema.get("additionalProperties"), schema.get("items")
    if schema.get("type") == "array" and items is None:
        yield required(path.child("items"), "must be specified")
    if items is not None:
        yield from _invariant_errors(items, path.child("items"), "item")
    for name, inner in schema.get("properties", {}).items():
        yield from _invariant_errors(inner, path.child("properties").key(name), "field")
    if others is not None and level == "root":
        yield forbidden(path.child("additionalProperties"), "must not be used at the root")
    if isinstance(others, Mapping):
        yield from _invariant_errors(others, path.child("additionalProperties"), "field")
    yield from _flag_errors(schema, path)
    yield from _value_errors(schema, path, is_either=_is_either(schema))
    yield from _type_errors(schema, path, level)
    yield from _object_errors(schema, path, level)


def _flag_errors(schema: Schema, path: Path) -> Iterator[FieldError]:
    for keyword in (PRESERVE, EMBEDDED):
        if schema.get(INT_OR_STRING) and schema.get(keyword):
            message = "must be false if x-kubernetes-int-or-string is true"
            yield invalid(path.child(keyword), True, message)  # noqa: FBT003 - it is the value
    if schema.get(EMBEDDED) and "additionalProperties" in schema:
        message = "must not be used if x-kubernetes-embedded-resource is set"
        yield forbidden(path.child("additionalProperties"), message)


def _type_errors(schema: Schema, path: Path, level: str) -> Iterator[FieldError]:
    kind, here = schema.get("type"), path.child("type")
    if schema.get(EMBEDDED) and kind != "object":
        yield invalid(here, kind, _AS_OBJECT) if kind else required(here, _AS_OBJECT)
    elif not kind and not schema.get(INT_OR_STRING) and not schema.get(PRESERVE):
        yield required(here, _TYPELESS[level])
    if level == "root" and kind and kind != "object":
        yield invalid(here, kind, "must be object at the root")


def _object_errors(schema: Schema, path: Path, level: str) -> Iterator[FieldError]:
    """The errors in fields that every object has, at the root or embedded."""
    properties, here = schema.get("properties", {}), path.child("properties")
    is_object = level == "root" or schema.get(EMBEDDED)
    for name, kind in (("kind", "string"), ("apiVersion", "string"), ("metadata", "object")):
        given = properties.get(name, {}).get("type", "")
        if is_object and name in properties and given != kind:
            yield invalid(here.key(name).child("type"), given, f"must be {kind}")
    if level == "root" and _says_more(properties.get("metadata", {})):
        yield forbidden(here.key("metadata"), _IMPLICIT)
    if schema.get(EMBEDDED) and not schema.get(PRESERVE) and not properties:
        message = (
            "must not be empty if x-kubernetes-embedded-resource is true without "
            "x-kubernetes-preserve-unknown-fields"
        )
        yield required(here, message)


def _says_more(metadata: Schema) -> bool:
    """Whether the schema restricts more of the metadata than the name."""
    if set(metadata.get("properties", ())) - {"name", "generateName"}:
        return True
    others = set(metadata) - _METADATA_MAY - {"properties"}
    return any(not says_nothing(metadata[keyword]) for keyword in others)


def _is_either(schema: Schema) -> bool:
    return bool(schema.get("anyOf") == _EITHER)


def _value_errors(
    schema: Schema, path: Path, *, is_either: bool, first_is_either: bool | None = None
) -> Iterator[FieldError]:
    """The errors in alternatives.

    An int-or-string may repeat its types in ``anyOf`` or ``allOf``.
    """
    if first_is_either is None:
        first_is_either = any(map(_is_either, schema.get("allOf", ())[:1]))
    for position, inner in enumerate(() if is_either else schema.get("anyOf", ())):
        yield from _nested_errors(inner, path.child("anyOf").at(position))
    for position, inner in enumerate(schema.get("allOf", ())):
        skipped = first_is_either and position == 0
        yield from _nested_errors(inner, path.child("allOf").at(position), is_either=skipped)
    for position, inner in enumerate(schema.get("oneOf", ())):
        yield from _nested_errors(inner, path.child("oneOf").at(position))
    if "not" in schema:
        yield from _nested_errors(schema["not"], path.child("not"))
    if fault := patterns.fault_of(schema.get("pattern", "")):
        message = f"must be a valid regular expression, but isn't: {fault}"
        yield invalid(path.child("pattern"), schema["pattern"], message)


def _nested_errors(schema: Schema, path: Path, *, is_either: bool = False) -> Iterator[FieldError]:
    yield from _value_errors(schema, path, is_either=is_either, first_is_either=False)
    if "items" in schema:
        yield from _nested_errors(schema["items"], path.child("items"))
    for name, inner in schema.get("properties", {}).items():
        yield from _nested_errors(inner, path.child("properties").key(name))
    for keyword, message in _NESTED.items():
        if _says_anything(schema, keyword):
            yield forbidden(path.child(keyword), message)
    if "metadata" in schema.get("properties", {}):
        here = path.child("properties").key("metadata")
        yield forbidden(here, "must not be specified in a nested context")


def _says_anything(schema: Schema, keyword: str) -> bool:
    """Whether the keyword is present; for additionalProperties, with any value but false."""
    value = schema.get(keyword)
    if keyword == "additionalProperties":
        return value is not None and value is not False
    return value is not None if keyword == "default" else bool(value)


def _missing(values: Schema, schema: Schema, there: Path, here: Path) -> Iterator[FieldError]:
    """The fields that alternatives restrict and the enclosing schema does not describe."""
    for location, inner in _alternatives(values, here):
        yield from _missing_part(inner, schema, there, location)


def _missing_part(
    values: Schema, schema: Schema | None, there: Path, here: Path
) -> Iterator[FieldError]:
    if schema is None:
        yield required(there, f"because it is defined in {here}")
        return
    yield from _missing(values, schema, there, here)
    if "items" in values:
        items, location = schema.get("items"), here.child("items")
        yield from _missing_part(values["items"], items, there.child("items"), location)
    known = schema.get("properties", {})
    for name, inner in values.get("properties", {}).items():
        location = here.child("properties").key(name)
        yield from _missing_part(
            inner, known.get(name), there.child("properties").key(name), location
        )


def _alternatives(schema: Schema, path: Path) -> Iterator[tuple[Path, Schema]]:
    if "not" in schema:
        yield path.child("not"), schema["not"]
    for keyword in ("allOf", "anyOf", "oneOf"):
        for position, inner in enumerate(schema.get(keyword, ())):
            yield path.child(keyword).at(position), inner
