"""Types for the leaves of a schema: texts, numbers, choices. See `stricttypes`."""

import re
from typing import Annotated, Any, Final, Literal, Union

from msgspec import Meta

from compute.api.structural import Matcher, exact, found
from compute.api.structural_nodes import Schema
from compute.api.structural_values import own_errors

Type = Any
"""Anything that msgspec takes for a type."""

_EXACT: Final = 2**53  # beyond it a float no longer tells one integer from the next
_INTEGERS: Final = {"int32": 2**31, "int64": 2**63}

# Every text that this finds is an instant. Some instants, such as leap days, it does not find.
_INSTANT: Final = (
    r"\A(?!0000)[0-9]{4}-"
    r"(?:(?:0[1-9]|1[0-2])-(?:0[1-9]|1[0-9]|2[0-8])"
    r"|(?:0[13-9]|1[0-2])-(?:29|30)|(?:0[13578]|1[02])-31)"
    r"T(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](?:\.[0-9]{1,9})?Z\Z"
)


class Inexpressible(Exception):
    """No type accepts just what this node does."""


def one_of(schema: Schema, matches: Matcher) -> Type:
    """One of the words that the other keywords also accept."""
    judged = {keyword: said for keyword, said in schema.items() if keyword != "enum"}
    words = tuple(
        word
        for word in schema["enum"]
        if type(word) in (str, int) and not [*own_errors("", word, judged, matches)]
    )
    if not words or schema["type"] not in ("string", "integer"):
        raise Inexpressible
    return Literal[words]


def text(schema: Schema, matches: Matcher) -> Type:
    """A text of some length and form."""
    patterns = [_INSTANT] if schema.get("format") == "date-time" else []
    if "pattern" in schema:
        patterns.append(_in_python(schema["pattern"], matches))
    if len(patterns) > 1:
        raise Inexpressible
    return limited(
        str,
        min_length=schema.get("minLength"),
        max_length=schema.get("maxLength"),
        pattern=patterns[0] if patterns else None,
    )


def integer(schema: Schema) -> Type:
    """An integer within the bounds that are given, and always within 64 bits."""
    beyond = _INTEGERS.get(schema.get("format", "int64"))
    least, most = schema.get("minimum"), schema.get("maximum")
    if beyond is None or not all(type(bound) in (int, _NONE) for bound in (least, most)):
        raise Inexpressible
    least = -beyond if least is None else max(least + _excluded(schema), -beyond)
    most = beyond - 1 if most is None else min(most, beyond - 1)
    if least > most:  # msgspec takes no bounds beyond 64 bits
        raise Inexpressible
    return limited(int, ge=least, le=most)


def number(schema: Schema) -> Type:
    """An integer or a float. Their bounds are compared each in its own kind of number."""
    least, most = schema.get("minimum"), schema.get("maximum")
    if any(bound is not None and abs(bound) > _EXACT for bound in (least, most)):
        raise Inexpressible
    whole = integer({**schema, "format": "int64"})
    lower = {"gt" if _excluded(schema) else "ge": least}
    return Union[whole, limited(float, **lower, le=most)]  # noqa: UP007 - made at run time


def int_or_string(schema: Schema, matches: Matcher) -> Type:
    """An integer or a text; each keyword speaks of the one it can speak of."""
    return Union[integer(schema), text(schema, matches)]  # noqa: UP007 - made at run time


def limited(bare: Type, **limits: object) -> Type:
    """The type with those of the limits that are given."""
    given: dict[str, Any] = {name: limit for name, limit in limits.items() if limit is not None}
    return Annotated[bare, Meta(**given)] if given else bare


_NONE: Final = type(None)


def _excluded(schema: Schema) -> bool:
    """Whether the minimum itself is out; for integers that is the same as one more."""
    return bool(schema.get("exclusiveMinimum")) and "minimum" in schema


def _in_python(pattern: str, matches: Matcher) -> str:
    """The pattern so that Python by itself finds what `found` does."""
    if matches is not found:
        raise Inexpressible
    re.compile(exact(pattern))  # else a bracket too many might find its partner around it
    translated = f"(?a:{exact(pattern)})"
    re.compile(translated)  # flags for the whole pattern must stand at its start
    return translated
