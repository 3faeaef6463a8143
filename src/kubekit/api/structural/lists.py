"""Lists whose items must differ: sets by themselves, list-maps by their keys."""

from collections.abc import Iterator, Mapping
from typing import Any

from kubekit.api.fields import FieldError, Path, duplicate, invalid
from kubekit.api.structural.nodes import LIST_KEYS, LIST_TYPE, Document, Schema, showable, tokens


def list_errors(document: object, schema: Schema, path: Path = Path()) -> Iterator[FieldError]:  # noqa: B008 - a path is a text
    """Each duplicate item. A missing key is a value of its own when keys are compared."""
    if isinstance(document, list):
        yield from _repeated(document, schema, path)
        for position, item in enumerate(document):
            if isinstance(item, dict | list) and "items" in schema:
                yield from list_errors(item, schema["items"], path.at(position))
    elif isinstance(document, dict):
        yield from _in_members(document, schema, path)


def _in_members(value: Document, schema: Schema, path: Path) -> Iterator[FieldError]:
    named, others = schema.get("properties", {}), schema.get("additionalProperties")
    for name, given in value.items():
        if not isinstance(given, dict | list):
            continue
        if name in named:
            yield from list_errors(given, named[name], path.child(str(name)))
        elif isinstance(others, Mapping):
            yield from list_errors(given, others, path.key(str(name)))


def _repeated(items: list[Any], schema: Schema, path: Path) -> Iterator[FieldError]:
    match schema.get(LIST_TYPE):
        case "set":
            identities = items
        case "map":
            for position, item in enumerate(items):
                if not isinstance(item, dict | None):
                    words = "must be an object for an array of list-type map"
                    yield invalid(path.at(position), showable(item), words)
                    return
            identities = [_keys(item, schema) for item in items]
        case _:
            return
    yield from _duplicates(identities, path)


def _duplicates(identities: list[Any], path: Path) -> Iterator[FieldError]:
    """Each duplicate value, at its second occurrence."""
    seen, reported = set(), set()
    for position, identity in enumerate(identities):
        shown = (*tokens(identity),)
        if shown in seen and shown not in reported:
            reported.add(shown)
            yield duplicate(path.at(position), showable(identity))
        seen.add(shown)


def _keys(item: Document | None, schema: Schema) -> Document:
    present = item or {}
    return {key: present[key] for key in sorted(schema[LIST_KEYS]) if key in present}
