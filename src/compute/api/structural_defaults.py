"""Defaults: the document as it is stored, with what its author left to the schema."""

from compute.api.structural_nodes import (
    Document,
    Schema,
    default,
    describes_objects,
    is_stray_null,
    member,
)


def with_defaults(document: Document, schema: Schema) -> Document:
    """The document with every default filled in, also where a null stood that may not stand there.

    Such a null without a default is dropped. A default is filled in before its own members are
    looked at, so a default of ``{}`` brings the defaults inside it along.
    """
    members = document | _missing(document, schema)
    return {
        name: _filled(given, member(schema, name))
        for name, given in members.items()
        if not is_stray_null(given, member(schema, name))
    }


def _filled(value: object, schema: Schema | None) -> object:
    if schema is None:
        return value
    if isinstance(value, dict) and describes_objects(schema):
        return with_defaults(value, schema)
    if isinstance(value, list) and "items" in schema:
        return [_filled_item(item, schema["items"]) for item in value]
    return value


def _filled_item(item: object, schema: Schema) -> object:
    return _filled(_copied(default(schema)) if is_stray_null(item, schema) else item, schema)


def _missing(value: Document, schema: Schema) -> Document:
    """The defaults of members that are not there, or are there as a null that may not be."""
    return {
        name: _copied(known["default"])
        for name, known in schema.get("properties", {}).items()
        if default(known) is not None and (name not in value or is_stray_null(value[name], known))
    }


def _copied(value: object) -> object:
    """A copy, so that nobody who edits the document edits the schema's default."""
    if isinstance(value, dict):
        return {name: _copied(part) for name, part in value.items()}
    return [_copied(part) for part in value] if isinstance(value, list) else value
