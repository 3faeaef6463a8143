"""The values of literals."""

import math
from collections.abc import Callable
from typing import Final

from kubekit.cel.errors import Issue
from kubekit.cel.syntax import text
from kubekit.cel.syntax.lexer import Token
from kubekit.cel.syntax.tree import Literal
from kubekit.cel.values import INT64, UINT64, Uint, Value

CONSTANTS: Final = {"true": True, "false": False, "null": None}


class _Wrong(ValueError):
    """The literal has no value."""


def literal(word: Token, issues: list[Issue]) -> Literal:
    """The literal with its value. A literal without a value is an issue."""
    try:
        return Literal(value=LITERALS[word.kind](word.text), offset=word.offset)
    except (_Wrong, text.BadEscape) as wrong:
        issues.append(Issue(word.offset, str(wrong)))
        return Literal(value=None, offset=word.offset)


def _integer(spelled: str) -> int:
    value = text.whole_number(spelled)
    if value not in INT64:
        raise _Wrong("invalid int literal")
    return value


def _unsigned(spelled: str) -> Uint:
    value = text.whole_number(spelled[:-1])
    if value not in UINT64:
        raise _Wrong("invalid uint literal")
    return Uint(value)


def _double(spelled: str) -> float:
    value = float(spelled)
    if not math.isfinite(value):
        raise _Wrong("invalid double literal")
    return value


LITERALS: Final[dict[str, Callable[[str], Value]]] = {
    "NUM_INT": _integer,
    "NUM_UINT": _unsigned,
    "NUM_FLOAT": _double,
    "STRING": text.string_value,
    "BYTES": text.bytes_value,
    **dict.fromkeys(CONSTANTS, CONSTANTS.__getitem__),
}
