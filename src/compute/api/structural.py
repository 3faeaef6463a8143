"""Raw documents against structural schemas: cleaned, completed and judged as Kubernetes would.

A server takes a document through these steps: fields the schema does not know are named or
dropped, defaults are filled in, what is left is judged. Each step walks the schema and follows the
document only as far as the schema reaches, so that no document is nested too deeply for it. No
step changes the document it was given.

The keywords understood are those that `schema.schema_of` writes, and ``nullable``. Rules in CEL are
carried by the schema and evaluated elsewhere.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import islice
from typing import Any

from compute.api.fields import FieldError, Path, duplicate, required
from compute.api.structural_defaults import with_defaults
from compute.api.structural_nodes import Document, Schema, default, is_stray_null, member
from compute.api.structural_pruning import prune, unknown_fields
from compute.api.structural_values import Matcher, is_plain, own_errors

__all__ = [
    "Document",
    "Matcher",
    "Schema",
    "exact",
    "found",
    "prune",
    "unknown_fields",
    "validate",
    "with_defaults",
]


def found(pattern: str, text: str) -> bool:
    """The matcher for patterns that we wrote ourselves.

    A pattern from a stranger's CRD needs one that cannot be made to run for ever. Python's ``$``
    also stands before a last newline; that of Kubernetes does not.
    """
    return re.search(exact(pattern), text, re.ASCII) is not None


@cache
def exact(pattern: str) -> str:
    """The pattern with a true end for each ``$`` that is an anchor: not escaped, not in a class."""
    parts = re.findall(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|.", pattern, re.DOTALL)
    return "".join(r"\Z" if part == "$" else part for part in parts)


def validate(
    document: object, schema: Schema, *, matches: Matcher = found, most: int | None = None
) -> list[FieldError]:
    """Everything that is wrong with the document, in the order of the document.

    A document is judged by what it would become: a field with a default is never missing, and a
    null where none may be is the same as no field at all. With ``most`` the search ends after so
    many errors: a list of a million wrong items takes long to tell, and nobody reads it.
    """
    return list(islice(_Validator(matches).errors(Path(), document, schema), most))


@dataclass(frozen=True, slots=True)
class _Validator:
    matches: Matcher

    def errors(self, path: Path, value: object, schema: Schema) -> Iterator[FieldError]:
        if value is None and schema.get("nullable"):
            return
        yield from own_errors(path, value, schema, self.matches)
        if isinstance(value, dict):
            yield from self.member_errors(path, value, schema)
        elif isinstance(value, list) and "items" in schema:
            yield from self.item_errors(path, value, schema)

    def member_errors(self, path: Path, value: Document, schema: Schema) -> Iterator[FieldError]:
        known = {name: member(schema, name) for name in value}
        present = {name for name in value if not is_stray_null(value[name], known[name])}
        for name in schema.get("required", ()):
            if name not in present and default(member(schema, name)) is None:
                yield required(path.child(name))
        for name, inner in known.items():
            if name in present and inner is not None and not is_plain(value[name], inner):
                yield from self.errors(path.child(str(name)), value[name], inner)

    def item_errors(self, path: Path, value: list[Any], schema: Schema) -> Iterator[FieldError]:
        repeated, items = _repeated(value, schema), schema["items"]
        for position, item in enumerate(value):
            if position in repeated:
                yield duplicate(path.at(position), repeated[position])
            if is_plain(item, items) or (default(items) is not None and is_stray_null(item, items)):
                continue
            yield from self.errors(path.at(position), item, items)


def _repeated(items: list[Any], schema: Schema) -> dict[int, object]:
    """What tells an item apart, for each item that shares it with an earlier one."""
    repeated: dict[int, object] = {}
    if schema.get("x-kubernetes-list-type") not in ("map", "set"):
        return repeated
    seen = set()
    for position, item in enumerate(items):
        identity = _identity(item, schema)
        shown = json.dumps(identity, default=str)  # in JSON, true is not 1
        if identity is not None and shown in seen:
            repeated[position] = identity
        seen.add(shown)
    return repeated


def _identity(item: object, schema: Schema) -> object:
    """What tells an item of a set or a list-map apart; None where nothing does, or it is missing.

    Only scalars are compared: they are what keys and sets are made of, and anything else may be
    nested without end.
    """
    match schema.get("x-kubernetes-list-type"):
        case "set" if _is_scalar(item):
            return item
        case "map" if isinstance(item, dict):
            keys = {key: _key(item, key, schema) for key in schema["x-kubernetes-list-map-keys"]}
            return keys if all(_is_scalar(value) for value in keys.values()) else None
    return None


def _key(item: Document, key: str, schema: Schema) -> object:
    given = item.get(key)
    return default(member(schema["items"], key)) if given is None else given


def _is_scalar(value: object) -> bool:
    return value is not None and not isinstance(value, dict | list)
