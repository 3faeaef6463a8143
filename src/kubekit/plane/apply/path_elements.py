r"""The format of one step of a field path.

    f:replicas               a field of an object, or a key of a map
    k:{"name":"a"}           the entry of a list whose key fields have these values
    v:"a"                    the entry of a list that has this value
    i:0                      the entry at this index

Each step has one canonical form, so steps from clients are encoded again: keys in order, integers
without a fraction, and ``<``, ``>`` and ``&`` escaped, as in Kubernetes.
"""

import re
from collections.abc import Mapping
from decimal import Decimal
from functools import lru_cache
from typing import Any, Final

import msgspec

SELF: Final = "."

_decode: Final = msgspec.json.Decoder().decode
_encode: Final = msgspec.json.Encoder().encode
_WHOLE: Final = re.compile(r"[+-]?[0-9]{1,18}", re.ASCII)
_ESCAPED: Final = str.maketrans(
    {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}
)
_LONGEST_KEPT: Final = 128  # characters of a string whose encoding is cached
_LARGEST_PLAIN: Final = 1e21
_SMALLEST_PLAIN: Final = 1e-6
_SHORT: Final = {
    **{
        character: f"\\{letter}"
        for character, letter in zip("\a\b\f\n\r\t\v", "abfnrtv", strict=True)
    },
    '"': '\\"',
    "\\": "\\\\",
}


class BadElement(ValueError):
    """A step that cannot be decoded."""


def spelled(value: object) -> str:
    """A value as JSON inside a step."""
    if type(value) is str:
        return _kept(value) if len(value) <= _LONGEST_KEPT else _quoted(value)
    if type(value) is float:
        return _number(value)
    if isinstance(value, list):
        return f"[{','.join(map(spelled, value))}]"
    if isinstance(value, dict):
        return _object(value)
    return _encode(value).decode()


def keyed(fields: Mapping[str, object]) -> str:
    """The step to a list entry with these keys, which are in order."""
    return f"k:{_object(fields)}"


def canonical(element: str) -> str | None:
    """The canonical form of a step; None for an unknown type of step."""
    if element[1:2] != ":":
        raise BadElement(f"{element!r} must start with f:, k:, v: or i:")
    kind, rest = element[0], element[2:]
    if kind == "f":
        return element
    if kind == "i":
        if not _WHOLE.fullmatch(rest):
            raise BadElement(f"{element!r} must have an index")
        return f"i:{int(rest)}"
    if kind not in "kv":
        return None
    value = _read(element, rest)
    if kind == "v":
        return f"v:{spelled(value)}"
    if not isinstance(value, dict):
        raise BadElement(f"{element!r} must hold the key fields as a JSON object")
    return keyed(dict(sorted(value.items())))


def shown(element: str) -> str:
    """The step as in error messages."""
    kind, rest = element[0], element[2:]
    if kind == "f":
        return f".{rest}"
    if kind == "i":
        return f"[{rest}]"
    value = _decode(rest)
    if kind == "v":
        return f"[={shown_value(value)}]"
    return f"[{','.join(f'{name}={shown_value(inner)}' for name, inner in value.items())}]"


def shown_value(value: Any) -> str:  # noqa: ANN401 -- whatever JSON holds
    if isinstance(value, str):
        return f'"{"".join(map(_shown_character, value))}"'
    if isinstance(value, list):
        return f"[{','.join(map(shown_value, value))}]"
    if isinstance(value, dict):
        return "".join(f"{name}={shown_value(inner)}" for name, inner in value.items())
    return spelled(value)


def _read(element: str, rest: str) -> object:
    try:
        return _decode(rest)
    except (msgspec.DecodeError, RecursionError) as error:
        raise BadElement(f"{element!r} must hold JSON: {error}") from error


def _object(fields: Mapping[str, object]) -> str:
    return f"{{{','.join(f'{spelled(name)}:{spelled(value)}' for name, value in fields.items())}}}"


def _quoted(text: str) -> str:
    return _encode(text).decode().translate(_ESCAPED)


_kept: Final = lru_cache(4096)(_quoted)


def _number(value: float) -> str:
    """A number as Go prints it: plain unless it is very large or very small."""
    if value.is_integer() and abs(value) < _LARGEST_PLAIN:
        return str(int(value))
    if _SMALLEST_PLAIN <= abs(value) < _LARGEST_PLAIN:
        return format(Decimal(repr(value)), "f")
    return repr(value).replace("e-0", "e-")


def _shown_character(character: str) -> str:
    if short := _SHORT.get(character):
        return short
    if character.isprintable():
        return character
    if character.isascii():
        return f"\\x{ord(character):02x}"
    return f"\\u{ord(character):04x}" if character <= "\uffff" else f"\\U{ord(character):08x}"
