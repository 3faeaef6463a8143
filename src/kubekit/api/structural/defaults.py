"""Defaults: the document as it is stored, with the defaults of the schema."""

from collections.abc import Mapping
from typing import Final

from kubekit.api.structural.nodes import (
    Document,
    Schema,
    Spend,
    default,
    describes_objects,
    is_stray_null,
    member,
    unlimited,
)

_NAMES: Final = 8  # of a schema that are visited in a microsecond
_CHARACTERS: Final = (
    8  # of a text per microsecond; it is only referenced here, but written out later
)


def with_defaults(document: Document, schema: Schema, spend: Spend = unlimited) -> Document:
    """The document with every default filled in, also in place of a null that is not allowed.

    Such a null without a default is dropped. A default is filled in before its own members are
    visited, so a default of ``{}`` includes the defaults inside it. A small document may become a very
    large one; ``spend`` is called with the time.
    """
    members = document | _missing(document, schema, spend)
    return {
        name: _filled(value, member(schema, name), spend)
        for name, value in members.items()
        if not is_stray_null(value, member(schema, name))
    }


def _filled(value: object, schema: Schema | None, spend: Spend) -> object:
    if schema is None:
        return value
    if isinstance(value, dict) and describes_objects(schema):
        return with_defaults(value, schema, spend)
    if isinstance(value, list) and "items" in schema:
        return [_filled_item(item, schema["items"], spend) for item in value]
    return value


def _filled_item(item: object, schema: Schema, spend: Spend) -> object:
    given = _copied(default(schema), spend) if is_stray_null(item, schema) else item
    return _filled(given, schema, spend)


def _missing(value: Document, schema: Schema, spend: Spend) -> Document:
    """The defaults of members that are missing, or null where that is not allowed."""
    spend(len(schema.get("properties", ())) / _NAMES)
    missing = {
        name: _copied(known["default"], spend)
        for name, known in schema.get("properties", {}).items()
        if default(known) is not None and (name not in value or is_stray_null(value[name], known))
    }
    others = schema.get("additionalProperties")
    if isinstance(others, Mapping) and default(others) is not None:
        named = schema.get("properties", {})
        strays = (n for n in value if n not in named and is_stray_null(value[n], others))
        missing |= {name: _copied(others["default"], spend) for name in strays}
    return missing


def _copied(value: object, spend: Spend) -> object:
    """A copy, so that a change of the document does not change the default in the schema."""
    spend(1 + len(value) / _CHARACTERS if isinstance(value, str) else 1)
    if isinstance(value, dict):
        return {name: _copied(part, spend) for name, part in value.items()}
    return [_copied(part, spend) for part in value] if isinstance(value, list) else value
