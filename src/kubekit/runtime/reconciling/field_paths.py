"""The fields that a write sets, and whether an entry of managedFields owns a field."""

import re
import zlib
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final

import msgspec

from kubekit.api.json_pointer import PAST_THE_END, parse
from kubekit.client.options import PatchType

FieldPath = tuple[str, ...]
Fields = tuple[FieldPath, ...]

CREATION: Final[Fields] = (("+",),)
DELETION: Final[Fields] = (("-",),)
FINALIZERS: Final[Fields] = (("metadata", "finalizers"),)

_WORDS: Final = {CREATION[0]: "its creation", DELETION[0]: "its deletion"}
_MOST: Final = 16  # paths of one write; the first ones are enough to identify a larger write
_DEEPEST: Final = 8
_KINDS_OF_WRITES: Final = 1024  # field sets that are shared
_TOP: Final = 2  # levels of a whole document, which also states what it does not change
# Fields that identify the object and its version are not writes.
_ADDRESS: Final[Mapping[FieldPath, None]] = {
    ("apiVersion",): None,
    ("kind",): None,
    ("metadata", "name"): None,
    ("metadata", "namespace"): None,
    ("metadata", "uid"): None,
    ("metadata", "resourceVersion"): None,
    ("metadata", "managedFields"): None,
}
_MAPS: Final = ("annotations", "labels", "matchLabels", "data", "binaryData", "stringData")
_IGNORED: Final = re.compile(
    rb'"resourceVersion":"[^"]*"|"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+(Z|[+-][0-9:]+)"'
)
_PLAIN: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def of_patch(kind: PatchType, patch: object) -> Fields:
    """The fields that a patch writes, as far as it shows."""
    if kind is PatchType.JSON:
        return _shared(_of_operations(patch))
    return _shared(_of_document(patch, _TOP if kind is PatchType.APPLY else _DEEPEST))


def of_whole(document: object) -> Fields:
    """The top-level fields of a document that replaces another."""
    return _shared(_of_document(document, _TOP))


def content(document: object) -> int:
    """A hash of the content of a write. The same content gives the same number.

    Resource versions and times do not count.
    """
    return zlib.crc32(_IGNORED.sub(b"", msgspec.json.encode(document)))


def shown(path: FieldPath) -> str:
    """The field as users write it: ``.metadata.annotations["a"]``."""
    if path in _WORDS:
        return _WORDS[path]
    parents = ("", *path)
    return "".join(map(_step, parents, path)) or "."


def owns(fields: Mapping[str, Any], path: FieldPath) -> bool:
    """Whether an entry's fieldsV1 covers a field.

    A list is one field here, and so is everything below the path where the entry ends.
    """
    for name in path:
        below = fields.get(f"f:{name}")
        if below is None:
            return False
        if not below:
            return True
        fields = below
    return True


@lru_cache(_KINDS_OF_WRITES)
def _shared(fields: Fields) -> Fields:
    """The fields, as one shared tuple: thousands of writes set the same fields."""
    return fields


def _of_document(document: object, deepest: int) -> Fields:
    paths: list[FieldPath] = []
    if isinstance(document, dict):
        _collect(document, (), deepest, paths)
    return tuple(paths)


def _collect(
    node: Mapping[str, Any], above: FieldPath, deepest: int, paths: list[FieldPath]
) -> None:
    for name, value in node.items():
        path = (*above, name)
        if path in _ADDRESS or name.startswith("$"):  # a directive of a strategic merge patch
            continue
        if isinstance(value, dict) and value and len(path) < deepest:
            _collect(value, path, deepest, paths)
        elif len(paths) < _MOST:
            paths.append(path)


def _of_operations(patch: object) -> Fields:
    operations = patch if isinstance(patch, list) else []
    written = [operation for operation in operations if operation.get("op") != "test"]
    return tuple(_field(parse(operation.get("path", ""))) for operation in written[:_MOST])


def _field(tokens: FieldPath) -> FieldPath:
    """The field that a pointer leads to: the whole list where it leads into one."""
    for depth, part in enumerate(tokens):
        if part == PAST_THE_END or part.isdecimal():
            return tokens[:depth]
    return tokens


def _step(parent: str, name: str) -> str:
    plain = parent not in _MAPS and _PLAIN.fullmatch(name)
    return f".{name}" if plain else f'["{name}"]'
