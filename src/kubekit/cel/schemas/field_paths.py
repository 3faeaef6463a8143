"""The path of the field that a rule reports its error for: ``.spec.ports['http']``."""

import re
from collections.abc import Mapping
from typing import Any, Final

from kubekit.api.fields import Path

_WORDS: Final = re.compile(r"'(?:[^'\\]|\\.)*'|[.\[\]]|[^.\[\]]+", re.DOTALL)
_ESCAPE: Final = re.compile(r"\\(.)", re.DOTALL)
_ESCAPES: Final = {
    "a": "\a",
    "b": "\b",
    "f": "\f",
    "n": "\n",
    "r": "\r",
    "t": "\t",
    "v": "\v",
    "'": "'",
    "\\": "\\",
}

Schema = Mapping[str, Any]


class BadPath(ValueError):
    """The text is not a path, or the schema has no such field."""


def field_path(text: str, schema: Schema) -> Path:
    """The path in the text, which must be that of a field. Raises `BadPath`."""
    words = _WORDS.findall(text)
    path = Path()
    at = 0
    while at < len(words):
        name, used = _step(words[at:])
        path, schema = _followed(path, schema, name)
        at += used
    return path


def _step(words: list[str]) -> tuple[str, int]:
    """The name of the next field, and the number of tokens in it."""
    match words:
        case [".", name, *_]:
            return name, 2
        case ["[", quoted, "]", *_] if len(quoted) > 1 and quoted[0] == quoted[-1] == "'":
            return _ESCAPE.sub(_unescaped, quoted[1:-1]), 3
        case _:
            raise BadPath(f"expected [ or . but got: {words[0]}")


def _followed(path: Path, schema: Schema, name: str) -> tuple[Path, Schema]:
    properties = schema.get("properties")
    if properties is not None:
        if name not in properties:
            raise BadPath("does not refer to a valid field")
        return path.child(name), properties[name]
    values = schema.get("additionalProperties")
    if not isinstance(values, Mapping):
        raise BadPath("does not refer to a valid field")
    return path.key(name), values


def _unescaped(match: re.Match[str]) -> str:
    if match[1] not in _ESCAPES:
        raise BadPath(f"invalid escape char {match[0]}")
    return _ESCAPES[match[1]]
