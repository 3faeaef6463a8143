"""Fields that a schema does not know: named, or dropped."""

import difflib
from collections.abc import Iterator
from itertools import islice
from typing import Final

from compute.api.fields import FieldError, Path, forbidden
from compute.api.structural_nodes import Document, Schema, describes_objects, member

_EMBEDDED: Final = "x-kubernetes-embedded-resource"
_OBJECT_FIELDS: Final = frozenset({"apiVersion", "kind", "metadata"})

# A hint costs a search; a document full of rubbish must not buy many of them.
_MOST_HINTS: Final = 20
_LONGEST_HINTED: Final = 64


def unknown_fields(
    document: Document,
    schema: Schema,
    path: Path = Path(),  # noqa: B008 - a path is a text
    *,
    most: int | None = None,
) -> list[FieldError]:
    """Every field that the schema does not know, with the name that was probably meant.

    The metadata of an object, and of objects embedded in it, is not its schema's to know; with a
    ``path``, the document is a part of an object, such as that metadata. Nothing is said of the
    members of a value that should not be an object: `validate` speaks of the value. With ``most``
    the search ends after so many.
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
    path: Path, value: object, schema: Schema | None
) -> Iterator[tuple[Path, str, list[str]]]:
    """The path and name of each unknown field, and the names that are known in its place."""
    if schema is None:
        return
    if isinstance(value, dict) and describes_objects(schema):
        yield from _unknown_members(path, value, schema)
    elif isinstance(value, list) and "items" in schema:
        for position, item in enumerate(value):
            if isinstance(item, dict | list):
                yield from _unknown(path.at(position), item, schema["items"])


def _unknown_members(
    path: Path, value: Document, schema: Schema
) -> Iterator[tuple[Path, str, list[str]]]:
    for name, given in value.items():
        if not _knows(schema, name):
            yield path.child(str(name)), str(name), list(schema.get("properties", ()))
        if isinstance(given, dict | list):  # else nothing lies inside, and no path is needed
            yield from _unknown(path.child(str(name)), given, _inside(schema, name))


def _pruned(value: object, schema: Schema | None) -> object:
    if schema is None:
        return value
    if isinstance(value, dict) and describes_objects(schema):
        return _pruned_object(value, schema)
    if isinstance(value, list) and "items" in schema:
        return [_pruned(item, schema["items"]) for item in value]
    return value


def _pruned_object(value: Document, schema: Schema) -> Document:
    return {
        name: _pruned(given, _inside(schema, name))
        for name, given in value.items()
        if _knows(schema, name)
    }


def _as_root(schema: Schema) -> Schema:
    return {**schema, _EMBEDDED: True}


def _knows(schema: Schema, name: str) -> bool:
    """Whether a field of that name may be there."""
    return bool(
        name in schema.get("properties", ())
        or schema.get("additionalProperties")
        or schema.get("x-kubernetes-preserve-unknown-fields")
        or _is_metadata(schema, name)
    )


def _inside(schema: Schema, name: str) -> Schema | None:
    """The schema that looks further into a member; None for one that is taken, or left, whole."""
    return None if _is_metadata(schema, name) else member(schema, name)


def _is_metadata(schema: Schema, name: str) -> bool:
    return bool(schema.get(_EMBEDDED)) and name in _OBJECT_FIELDS


def _hint(name: str, known: list[str]) -> str:
    if len(name) > _LONGEST_HINTED:
        return ""
    spelled = {word.lower(): word for word in known}
    near = difflib.get_close_matches(name.lower(), spelled, n=1)
    return f'; did you mean "{spelled[near[0]]}"?' if near else ""
