"""Functions on texts. All count in characters, not in bytes."""

from collections.abc import Iterable
from typing import Any, Final

from kubekit.cel.declarations import Overload, function, method
from kubekit.cel.errors import EvaluationError, NoSuchOverload
from kubekit.cel.libraries.formatting import formatted
from kubekit.cel.operations import work
from kubekit.cel.operations.conversions import to_string
from kubekit.cel.types import DYN, INT, STRING, list_of
from kubekit.cel.values import Value

_SPACES: Final = (
    "\t\n\v\f\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008"
    "\u2009\u200a\u2028\u2029\u202f\u205f\u3000"
)
_LOWER: Final = {code: code + 32 for code in range(ord("A"), ord("Z") + 1)}
_UPPER: Final = {code + 32: code for code in range(ord("A"), ord("Z") + 1)}
_ESCAPES: Final = str.maketrans(
    {
        "\a": "\\a",
        "\b": "\\b",
        "\f": "\\f",
        "\n": "\\n",
        "\r": "\\r",
        "\t": "\\t",
        "\v": "\\v",
        "\\": "\\\\",
        '"': '\\"',
    }
)


def _char_at(text: str, position: int) -> str:
    _within(text, position)
    return text[position : position + 1]


def _index_of(text: str, part: str, start: int = 0) -> int:
    if not part:
        return start
    if start < 0:
        raise _out_of_range(start)
    return text.find(part, start)


def _last_index_of(text: str, part: str, start: int | None = None) -> int:
    if not part:
        return len(text) if start is None else start
    if start is None:
        return text.rfind(part)
    if start < 0:
        raise _out_of_range(start)
    return text.rfind(part, 0, start + len(part)) if start < len(text) else -1


def _replace(text: str, old: str, new: str, most: int = -1) -> str:
    if most < 0 or most > len(text):
        most = len(text) + 1
    times = min(most, text.count(old))
    work.spend((len(text) + times * len(new)) // work.CHARACTERS)
    return text.replace(old, new, most)


def _split(text: str, separator: str, most: int = -1) -> list[str]:
    if most == 0:
        return []
    if separator:
        return text.split(separator, most - 1 if most > 0 else -1)
    if 0 < most < len(text):
        return [*text[: most - 1], text[most - 1 :]]
    return [*text]


def _substring(text: str, start: int, end: int | None = None) -> str:
    if end is None:
        _within(text, start)
        return text[start:]
    if start > end:
        raise EvaluationError(f"invalid substring range. start: {start}, end: {end}")
    _within(text, start)
    _within(text, end)
    return text[start:end]


def _trim(text: str) -> str:
    return text.strip(_SPACES)


def _lower(text: str) -> str:
    return text.translate(_LOWER)


def _upper(text: str) -> str:
    return text.translate(_UPPER)


def _join(parts: Iterable[Any], separator: str = "") -> str:
    texts = list(parts)
    for part in texts:
        if type(part) is not str:
            raise EvaluationError(f"join: invalid input: {_shown(part)}")
    length = sum(map(len, texts)) + len(separator) * len(texts)
    work.spend(length // work.CHARACTERS)
    return separator.join(texts)


def _shown(value: Value) -> str:
    try:
        return to_string(value)
    except NoSuchOverload:
        return "value"


def _quote(text: str) -> str:
    return f'"{text.translate(_ESCAPES)}"'


def _within(text: str, position: int) -> None:
    if not 0 <= position <= len(text):
        raise _out_of_range(position)


def _out_of_range(position: int) -> EvaluationError:
    return EvaluationError(f"index out of range: {position}")


_TEXTS: Final = list_of(STRING)
OVERLOADS: Final[tuple[Overload, ...]] = (
    method("charAt", "string_char_at_int", (STRING, INT), STRING, _char_at),
    method("indexOf", "string_index_of_string", (STRING, STRING), INT, _index_of),
    method("indexOf", "string_index_of_string_int", (STRING, STRING, INT), INT, _index_of),
    method("lastIndexOf", "string_last_index_of_string", (STRING, STRING), INT, _last_index_of),
    method(
        "lastIndexOf", "string_last_index_of_string_int", (STRING, STRING, INT), INT, _last_index_of
    ),
    method("lowerAscii", "string_lower_ascii", (STRING,), STRING, _lower),
    method("upperAscii", "string_upper_ascii", (STRING,), STRING, _upper),
    method("trim", "string_trim", (STRING,), STRING, _trim),
    method("replace", "string_replace_string_string", (STRING,) * 3, STRING, _replace),
    method("replace", "string_replace_string_string_int", (*(STRING,) * 3, INT), STRING, _replace),
    method("split", "string_split_string", (STRING, STRING), _TEXTS, _split),
    method("split", "string_split_string_int", (STRING, STRING, INT), _TEXTS, _split),
    method("substring", "string_substring_int", (STRING, INT), STRING, _substring),
    method("substring", "string_substring_int_int", (STRING, INT, INT), STRING, _substring),
    method("join", "list_join", (_TEXTS,), STRING, _join),
    method("join", "list_join_string", (_TEXTS, STRING), STRING, _join),
    method("format", "string_format", (STRING, list_of(DYN)), STRING, formatted),
    function("strings.quote", "strings_quote", (STRING,), STRING, _quote),
)
