"""Checks that the keywords of a schema are allowed in definitions and fit together."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from kubekit.api.fields import FieldError, Path, forbidden, invalid, not_supported, required
from kubekit.api.structural.nodes import (
    EMBEDDED,
    LIST_KEYS,
    LIST_TYPE,
    OBJECT_FIELDS,
    PRESERVE,
    Schema,
)

_TYPES: Final = ("array", "boolean", "integer", "number", "object", "string")
_MAP_TYPE: Final = "x-kubernetes-map-type"
_OF_METADATA: Final = "must not be set inside additionalProperties applying to object metadata"
_QUADRATIC: Final = (
    "uniqueItems cannot be set to true since the runtime complexity becomes quadratic"
)
_KEYED: Final = "this property is in x-kubernetes-list-map-keys, so it"


@dataclass(frozen=True, slots=True)
class _SchemaContext:
    """The context of a schema in a definition: whether defaults are allowed, and why not."""

    no_default: str = ""
    in_metadata: bool = False


def keyword_errors(schema: Schema, path: Path) -> Iterator[FieldError]:
    """The errors in the keywords of the schema, and of all schemas in it."""
    yield from _errors(schema, path, _SchemaContext(), root=True)


def _errors(
    schema: Schema, path: Path, context: _SchemaContext, *, root: bool = False
) -> Iterator[FieldError]:
    yield from _own_errors(schema, path, context)
    yield from _other_errors(schema, path, context)
    for name, inner in schema.get("properties", {}).items():
        is_metadata = (root or schema.get(EMBEDDED)) and name in OBJECT_FIELDS
        there = replace(context, in_metadata=True) if is_metadata else context
        if is_metadata and root:
            there = replace(there, no_default=f"must not be set in top-level {name}")
        yield from _errors(inner, path.child("properties").key(name), there)
    for here, inner in _branches(schema, path):
        yield from _errors(inner, here, context)
    yield from _flag_errors(schema, path)
    yield from _map_errors(schema, path)
    yield from _list_errors(schema, path)


def _own_errors(schema: Schema, path: Path, context: _SchemaContext) -> Iterator[FieldError]:
    kind = schema.get("type", "object")
    if kind not in _TYPES:
        yield not_supported(path.child("type"), kind, _TYPES)
    if "default" in schema and context.no_default:
        yield forbidden(path.child("default"), context.no_default)
    yield from _unsupported_errors(schema, path)
    if kind == "null":
        message = "type cannot be set to null, use nullable as an alternative"
        yield forbidden(path.child("type"), message)
    if context.in_metadata and schema.get(EMBEDDED):
        yield forbidden(path.child(EMBEDDED), "must not be used inside of resource meta")
    if schema.get("uniqueItems"):
        yield forbidden(path.child("uniqueItems"), _QUADRATIC)


def _unsupported_errors(schema: Schema, path: Path) -> Iterator[FieldError]:
    for keyword in ("id", "additionalItems", "patternProperties", "definitions", "$ref"):
        if keyword in schema and schema[keyword] != {}:
            yield forbidden(path.child(keyword), f"{keyword} is not supported")
    if "dependencies" in schema:
        yield forbidden(path.child("dependencies"), "dependencies is not supported")
    if isinstance(schema.get("items"), list) and schema["items"]:
        message = "items must be a schema object and not an array"
        yield forbidden(path.child("items"), message)


def _other_errors(schema: Schema, path: Path, context: _SchemaContext) -> Iterator[FieldError]:
    """The errors in additionalProperties."""
    others, here = schema.get("additionalProperties"), path.child("additionalProperties")
    if others is not None and others is not True and schema.get("properties"):
        yield forbidden(here, "additionalProperties and properties are mutual exclusive")
    if isinstance(others, Mapping):
        there = replace(context, no_default=_OF_METADATA) if context.in_metadata else context
        yield from _errors(others, here, there)


def _branches(schema: Schema, path: Path) -> Iterator[tuple[Path, Schema]]:
    if "not" in schema:
        yield path.child("not"), schema["not"]
    for keyword in ("allOf", "oneOf", "anyOf"):
        for position, inner in enumerate(schema.get(keyword, ())):
            yield path.child(keyword).at(position), inner
    items: Any = schema.get("items", [])
    if isinstance(items, Mapping):
        yield path.child("items"), items
    else:
        yield from ((path.child("items").at(at), inner) for at, inner in enumerate(items))


def _flag_errors(schema: Schema, path: Path) -> Iterator[FieldError]:
    if schema.get(PRESERVE) is False:
        yield invalid(path.child(PRESERVE), False, "must be true or undefined")  # noqa: FBT003 - it is the value


def _map_errors(schema: Schema, path: Path) -> Iterator[FieldError]:
    given = schema.get(_MAP_TYPE)
    if given is None:
        return
    yield from _kind_errors(schema, path, "object", _MAP_TYPE)
    if given not in ("atomic", "granular"):
        yield not_supported(path.child(_MAP_TYPE), given, ("atomic", "granular"))


def _kind_errors(schema: Schema, path: Path, kind: str, keyword: str) -> Iterator[FieldError]:
    given, message = schema.get("type"), f"must be {kind} if {keyword} is specified"
    if given != kind:
        here = path.child("type")
        yield invalid(here, given, message) if given else required(here, message)


def _list_errors(schema: Schema, path: Path) -> Iterator[FieldError]:
    given, keys = schema.get(LIST_TYPE), schema.get(LIST_KEYS)
    items = schema.get("items")
    item: Schema | None = items if isinstance(items, Mapping) else None
    if given is not None:
        wrong_kind = [*_kind_errors(schema, path, "array", LIST_TYPE)]
        yield from wrong_kind
        if given == "set" and item is not None and not wrong_kind:
            yield from _set_errors(item, path.child("items"))
        if given not in ("atomic", "set", "map"):
            yield not_supported(path.child(LIST_TYPE), given, ("atomic", "set", "map"))
    if keys and given != "map":
        here, message = path.child(LIST_TYPE), f"must be map if {LIST_KEYS} is non-empty"
        yield required(here, message) if given is None else invalid(here, given, message)
    if given == "map":
        yield from _list_map_errors(schema, path)
    if given in ("set", "map") and item is not None and item.get("nullable"):
        message = f"cannot be nullable when x-kubernetes-list-type is {given}"
        yield forbidden(path.child("items", "nullable"), message)
    if given == "map" and item is not None:
        yield from _key_errors(item, keys or [], path.child("items"))


def _set_errors(item: Schema, path: Path) -> Iterator[FieldError]:
    """Items of a set must be one value each."""
    message = "must be atomic as item of a list with x-kubernetes-list-type=set"
    if item.get("type") == "array" and item.get(LIST_TYPE, "atomic") != "atomic":
        yield invalid(path.child(LIST_TYPE), item[LIST_TYPE], message)
    if item.get("type") == "object" and item.get(_MAP_TYPE) != "atomic":
        yield invalid(path.child(_MAP_TYPE), item.get(LIST_TYPE), message)


def _list_map_errors(schema: Schema, path: Path) -> Iterator[FieldError]:
    keys, items, here = schema.get(LIST_KEYS), schema.get("items"), path.child("items")
    if not keys:
        message = "must not be empty if x-kubernetes-list-type is map"
        yield required(path.child(LIST_KEYS), message)
    if items is None:
        yield required(here, "must have a schema if x-kubernetes-list-type is map")
    elif not isinstance(items, Mapping):
        yield invalid(
            here, items, "must only have a single schema if x-kubernetes-list-type is map"
        )
    elif items.get("type") != "object":
        message = "must be object if parent array's x-kubernetes-list-type is map"
        yield invalid(here.child("type"), items.get("type", ""), message)
    else:
        yield from _key_name_errors(items, keys or [], path)


def _key_name_errors(item: Schema, keys: list[str], path: Path) -> Iterator[FieldError]:
    known, here = item.get("properties", {}), path.child(LIST_KEYS)
    seen: set[str] = set()
    for key in keys:
        if key not in known:
            yield invalid(here, keys, "entries must all be names of item properties")
        elif known[key].get("type") in ("array", "object"):
            message = "must be a scalar type if parent array's x-kubernetes-list-type is map"
            there = path.child("items", "properties").key(key).child("type")
            yield invalid(there, item["type"], message)
        if key in seen:
            yield invalid(here, keys, "must not contain duplicate entries")
        seen.add(key)


def _key_errors(item: Schema, keys: list[str], path: Path) -> Iterator[FieldError]:
    """The errors in list map keys: each key must always be present, to identify items."""
    known, needed = item.get("properties", {}), frozenset(item.get("required", ()))
    for key in keys:
        here = path.child("properties").key(key)
        if key not in known:
            continue
        if key not in needed and "default" not in known[key]:
            message = f"{_KEYED} must have a default or be a required property"
            yield required(here.child("default"), message)
        if known[key].get("nullable"):
            yield forbidden(here.child("nullable"), f"{_KEYED} cannot be nullable")
