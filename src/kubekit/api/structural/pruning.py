"""Fields that a schema does not know: reported, or dropped.

A schema knows the fields that it names, and every field if it has additionalProperties. Where it
preserves unknown fields these are kept whole, but named fields are still pruned. Below a value without
a schema there is none either: an object there has only unknown fields.
"""

import difflib
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any, Final

from kubekit.api.fields import FieldError, Path, forbidden
from kubekit.api.structural.nodes import EMBEDDED, OBJECT_FIELDS, PRESERVE, Document, Schema

# Each hint costs a search, so their number is limited for a document with many unknown fields.
_MOST_HINTS: Final = 20
_LONGEST_HINTED: Final = 64
_MOST_SEARCHED: Final = 100  # names among which one is looked for

_NOTHING: Final[Schema] = {}
_ANYTHING: Final[Schema] = {PRESERVE: True}
"""The schema of a value that is kept whole: no field inside it is unknown."""


def unknown_fields(
    document: Document,
    schema: Schema,
    path: Path = Path(),  # noqa: B008 - a path is a text
    *,
    most: int | None = None,
) -> list[FieldError]:
    """Every field that the schema does not know, with the name that was probably meant.

    The metadata of an object, and of objects embedded in it, is not part of its schema. With a
    ``path``, the document is a part of an object, such as its metadata. With ``most`` the search ends
    after so many fields.
    """
    found = _unknown(path, document, schema if path else _as_root(schema))
    unknown = list(islice(found, most))
    hints = [_hint(name, known) for _, name, known in unknown[:_MOST_HINTS]]
    hints += [""] * (len(unknown) - len(hints))
    return [
        forbidden(path, f'unknown field "{path}"{hint}')
        for (path, _, _), hint in zip(unknown, hints, strict=True)
    ]


def prune(document: Document, schema: Schema) -> Document:
    """The document without the fields that `unknown_fields` lists."""
    return _pruned_object(document, _as_root(schema))


def _unknown(
    path: Path, value: Document | list[Any], schema: Schema
) -> Iterator[tuple[Path, str, list[str]]]:
    """The path and name of each unknown field, and the known names beside it."""
    if isinstance(value, dict):
        for name, given in value.items():
            inner = _inside(schema, name)
            if inner is None:
                yield path.child(str(name)), str(name), list(schema.get("properties", ()))
            elif inner is not _ANYTHING and isinstance(given, dict | list):
                yield from _unknown(path.child(str(name)), given, inner)
    else:
        yield from _unknown_in_items(path, value, _items(schema))


def _unknown_in_items(
    path: Path, value: list[Any], items: Schema
) -> Iterator[tuple[Path, str, list[str]]]:
    if items is _NOTHING:
        yield from _unknown_beyond(path, value)
    elif items is not _ANYTHING:
        for position, item in enumerate(value):
            if isinstance(item, dict | list):
                yield from _unknown(path.at(position), item, items)


def _unknown_beyond(path: Path, value: list[Any]) -> Iterator[tuple[Path, str, list[str]]]:
    """The fields in lists that no schema describes, which may hold lists without end."""
    todo: list[tuple[Path, Any]] = [(path, value)]
    while todo:
        here, node = todo.pop()
        if isinstance(node, dict):
            yield from ((here.child(str(name)), str(name), []) for name in node)
        else:
            holding = [(at, item) for at, item in enumerate(node) if isinstance(item, dict | list)]
            todo += [(here.at(position), item) for position, item in reversed(holding)]


def _pruned(value: object, schema: Schema) -> object:
    if schema is _ANYTHING or not isinstance(value, dict | list):
        return value
    if isinstance(value, dict):
        return _pruned_object(value, schema)
    items = _items(schema)
    return _emptied(value) if items is _NOTHING else [_pruned(item, items) for item in value]


def _pruned_object(value: Document, schema: Schema) -> Document:
    inside = ((name, given, _inside(schema, name)) for name, given in value.items())
    return {name: _pruned(given, inner) for name, given, inner in inside if inner is not None}


def _emptied(value: list[Any]) -> list[Any]:
    """The list with nothing in its objects, nor in those of lists inside it."""
    result: list[Any] = []
    todo = [(value, result)]
    while todo:
        source, target = todo.pop()
        for item in source:
            target.append({} if isinstance(item, dict) else [] if isinstance(item, list) else item)
            if isinstance(item, list):
                todo.append((item, target[-1]))
    return result


def _as_root(schema: Schema) -> Schema:
    return {**schema, EMBEDDED: True}


def _inside(schema: Schema, name: str) -> Schema | None:
    """The schema of a member's own fields; None if the member is unknown."""
    if schema.get(EMBEDDED) and name in OBJECT_FIELDS:
        return _ANYTHING
    known: Schema | None = schema.get("properties", {}).get(name)
    if known is not None:
        return known
    others = schema.get("additionalProperties")
    if others is not None:
        return others if isinstance(others, Mapping) else _NOTHING
    return _ANYTHING if schema.get(PRESERVE) else None


def _items(schema: Schema) -> Schema:
    """The schema of the items of a list. A list that preserves unknown fields passes that on."""
    items: Schema | None = schema.get("items")
    if schema.get(PRESERVE):
        return _ANYTHING if items is None else {**items, PRESERVE: True}
    return _NOTHING if items is None else items


def _hint(name: str, known: list[str]) -> str:
    if len(name) > _LONGEST_HINTED or len(known) > _MOST_SEARCHED:
        return ""
    spelled = {word.lower(): word for word in known}
    near = difflib.get_close_matches(name.lower(), spelled, n=1)
    return f'; did you mean "{spelled[near[0]]}"?' if near else ""
