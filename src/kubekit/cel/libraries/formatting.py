"""The formatting of values in texts: ``'%s has %d'.format([name, count])``.

Numbers with a point come with commas between the thousands, and an exponent as a raised number:
so does Kubernetes, which formats them for readers of English.
"""

import math
import re
from collections.abc import Callable
from typing import Any, Final

from kubekit.cel.errors import EvaluationError
from kubekit.cel.operations import work
from kubekit.cel.operations.comparison import LISTS, MAPS, find
from kubekit.cel.operations.conversions import to_double, to_string
from kubekit.cel.operations.value_types import kind_name
from kubekit.cel.values import Duration, Timestamp, TypeValue, Uint, Value, keys_of

_CLAUSE: Final = re.compile(
    r"%(?:(?P<escape>%)|(?P<point>\.(?P<digits>[0-9]*))?(?P<letter>.)?)", re.DOTALL
)
_PRECISION: Final = 6
_MOST_DIGITS: Final = 1000
_RAISED: Final = str.maketrans(
    "0123456789-", "\u2070\u00b9\u00b2\u00b3\u2074\u2075\u2076\u2077\u2078\u2079\u207b"
)
_NOT_FINITE: Final = ("NaN", "Infinity", "-Infinity")
_PLAIN: Final = frozenset({int, Uint, float, bool, str, Timestamp, bytes, Duration, TypeValue})
_QUOTES: Final = {
    "\a": "\\a", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\v": "\\v",
    "\\": "\\\\", '"': '\\"',
}  # fmt: skip
_STRING_WORDS: Final = (
    "string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, "
    "durations, and timestamps"
)


class FormatError(EvaluationError):
    """The template and its arguments do not match."""


def formatted(template: str, arguments: Value) -> str:
    """The template with its clauses replaced by the arguments."""
    values = list(arguments)

    def clause(letter: str, precision: int | None, argument: int) -> str:
        text = _FORMATS[letter](values[argument], precision)
        work.spend(len(text) // work.CHARACTERS)
        return text

    return filled(template, len(values), clause)


Clause = Callable[[str, int | None, int], str]


def filled(template: str, count: int, clause: Clause) -> str:
    """The template with each clause replaced by the result of ``clause``."""
    parts: list[str] = []
    used = at = 0
    for match in _CLAUSE.finditer(template):
        parts.append(template[at : match.start()])
        at = match.end()
        if match["escape"]:
            parts.append("%")
            continue
        parts.append(_filled(match, used, count, clause))
        used += 1
    return "".join([*parts, template[at:]])


def arguments_used(template: str) -> int:
    return sum(1 for match in _CLAUSE.finditer(template) if not match["escape"])


def go_quoted(text: str) -> str:
    """The text in quotes, with what cannot be printed escaped."""
    return '"' + "".join(map(_quoted_char, text)) + '"'


def wrong_argument(letter: str, kind: str) -> str:
    """The message for an argument of a type that the clause does not accept."""
    return f"error during formatting: {_LIMITS[letter]}, was given {kind}"


def _filled(match: re.Match[str], used: int, count: int, clause: Clause) -> str:
    letter = match["letter"]
    if letter is None and match["point"] is None:
        raise FormatError("unexpected end of string")
    if used >= count:
        raise FormatError(f"index {used} out of range")
    precision = _precision(match)
    if letter not in _FORMATS:
        raise FormatError(
            f'could not parse formatting clause: unrecognized formatting clause "{letter}"'
        )
    return clause(letter, precision, used)


def _precision(match: re.Match[str]) -> int | None:
    if match["point"] is None:
        return None
    parsing = "could not parse formatting clause: error while parsing precision"
    if match["letter"] is None:
        raise FormatError(f"{parsing}: could not find end of precision specifier")
    digits = match["digits"]
    if not digits:
        raise FormatError(
            f"{parsing}: error while converting precision to integer: "
            'strconv.Atoi: parsing "": invalid syntax'
        )
    if len(digits) > 4 or int(digits) > _MOST_DIGITS:  # noqa: PLR2004 - shorter than the limit
        raise FormatError(f"{parsing}: more than {_MOST_DIGITS} digits are asked for")
    return int(digits)


def _string(value: Value, _precision: int | None) -> str:
    kind = type(value)
    if kind in LISTS:
        work.spend(len(value))
        return "[" + ", ".join(_literal(item) for item in value) + "]"
    if kind in MAPS:
        return _map(value)
    if value is None:
        return "null"
    if kind not in _PLAIN:
        raise FormatError(wrong_argument("s", kind_name(value)))
    try:
        return to_string(value)
    except EvaluationError as error:
        raise FormatError(
            f'error during formatting: could not convert argument "{error}" to string'
        ) from error


def _map(value: Value) -> str:
    work.spend(len(value))
    entries = sorted((_literal(key), _literal(find(value, key))) for key in keys_of(value))
    return "{" + ", ".join(f"{key}:{item}" for key, item in entries) + "}"


def _literal(value: Value) -> str:
    """A value inside a list or a map, as an expression would write it."""
    kind = type(value)
    if kind is float:
        shown = f"{value:.{_PRECISION}f}" if math.isfinite(value) else to_string(value)
        return shown if math.isfinite(value) else f'"{shown}"'
    text = _string(value, None)
    if kind is str:
        return go_quoted(text)
    if kind is bytes:
        return f"b{go_quoted(text)}"
    if kind is Timestamp or kind is Duration:
        name = "timestamp" if kind is Timestamp else "duration"
        return f'{name}("{text}")'
    return text


def _decimal(value: Value, _precision: int | None) -> str:
    return str(int(_typed("d", value, int, Uint)))


def _fixed(value: Value, precision: int | None) -> str:
    number = _number("f", value)
    if not math.isfinite(number):
        return _not_finite(number)
    return f"{number:,.{_PRECISION if precision is None else precision}f}"


def _scientific(value: Value, _precision: int | None) -> str:
    number = _number("e", value)
    if not math.isfinite(number):
        return _not_finite(number)
    digits, _, exponent = f"{number:.{_PRECISION}e}".partition("e")
    sign = "-" if exponent.startswith("-") else ""
    return f"{digits}\u00d710{(sign + exponent[1:]).translate(_RAISED)}"


def _binary(value: Value, _precision: int | None) -> str:
    return f"{int(_typed('b', value, int, Uint, bool)):b}"


def _octal(value: Value, _precision: int | None) -> str:
    return f"{int(_typed('o', value, int, Uint)):o}"


def _hex(value: Value, _precision: int | None) -> str:
    _typed("x", value, int, Uint, str, bytes)
    if type(value) is str:
        return value.encode("utf-8", "surrogatepass").hex()
    return value.hex() if type(value) is bytes else f"{int(value):x}"


def _upper_hex(value: Value, precision: int | None) -> str:
    return _hex(value, precision).upper()


def _typed(letter: str, value: Value, *kinds: type) -> Value:
    if type(value) not in kinds:
        raise FormatError(wrong_argument(letter, kind_name(value)))
    return value


def _number(letter: str, value: Value) -> float:
    if type(value) is not float and value not in _NOT_FINITE:
        raise FormatError(wrong_argument(letter, kind_name(value)))
    return to_double(value)


def _not_finite(number: float) -> str:
    return "NaN" if math.isnan(number) else ("\u221e" if number > 0 else "-\u221e")


def _quoted_char(char: str) -> str:
    if char in _QUOTES:
        return _QUOTES[char]
    if char.isprintable():
        return char
    code = ord(char)
    if code < 0x80:  # noqa: PLR2004 - ASCII
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"  # noqa: PLR2004


_FORMATS: Final[dict[str, Callable[[Any, int | None], str]]] = {
    "s": _string,
    "d": _decimal,
    "f": _fixed,
    "e": _scientific,
    "b": _binary,
    "x": _hex,
    "X": _upper_hex,
    "o": _octal,
}
_LIMITS: Final = {
    "s": _STRING_WORDS,
    "d": "decimal clause can only be used on integers",
    "f": "fixed-point clause can only be used on doubles",
    "e": "scientific clause can only be used on doubles",
    "b": "only integers and bools can be formatted as binary",
    "x": "only integers, byte buffers, and strings can be formatted as hex",
    "X": "only integers, byte buffers, and strings can be formatted as hex",
    "o": "octal clause can only be used on integers",
}
