"""Regular expressions, by an engine that no pattern can make slow."""

from functools import lru_cache
from typing import Final

import re2  # type: ignore[import-untyped] # it has no types

from kubekit.cel.declarations import Overload, method
from kubekit.cel.errors import EvaluationError
from kubekit.cel.types import INT, STRING, list_of
from kubekit.cel.values import Value

_OPTIONS: Final = re2.Options()
_OPTIONS.log_errors = False


class BadPattern(ValueError):
    """The text is not a regular expression."""


@lru_cache(maxsize=512)
def pattern(text: str) -> Value:
    """The compiled pattern. Raises `BadPattern`."""
    try:
        return re2.compile(text, _OPTIONS)
    except (re2.error, UnicodeError) as error:
        raise BadPattern(f"error parsing regexp: {_reason(error)}") from error


def matched(text: str, expression: str) -> bool:
    """Whether the expression matches anywhere in the text."""
    try:
        return pattern(expression).search(text) is not None
    except BadPattern as error:
        raise EvaluationError(str(error)) from error


def find(text: str, expression: str) -> str:
    """The first match, or nothing."""
    found = _compiled(expression).search(text)
    return "" if found is None else str(found[0])


def find_all(text: str, expression: str, most: int = -1) -> list[str]:
    """The matches, at most so many. An empty one that touches the one before does not count."""
    found: list[str] = []
    end = -1
    for match in _compiled(expression).finditer(text):
        if 0 <= most <= len(found):
            break
        if match.end() > match.start() or match.start() != end:
            found.append(str(match[0]))
        end = match.end()
    return found


def _compiled(expression: str) -> Value:
    try:
        return pattern(expression)
    except BadPattern as error:
        raise EvaluationError(f"Illegal regex: {error}") from error


def _reason(error: Exception) -> str:
    reason = error.args[0] if error.args else ""
    return reason.decode("utf-8", "replace") if isinstance(reason, bytes) else str(reason)


OVERLOADS: Final[tuple[Overload, ...]] = (
    method("find", "string_find_string", (STRING, STRING), STRING, find),
    method("findAll", "string_find_all_string", (STRING, STRING), list_of(STRING), find_all),
    method(
        "findAll", "string_find_all_string_int", (STRING, STRING, INT), list_of(STRING), find_all
    ),
)
