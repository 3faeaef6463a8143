"""Types for the leaves of a schema: strings, numbers, enums. See `strict_types`."""

from collections.abc import Callable
from typing import Annotated, Any, Final, Literal, Union

from msgspec import Meta

from kubekit.api.structural import Judge
from kubekit.api.structural.formats import check_of
from kubekit.api.structural.nodes import Schema
from kubekit.api.structural.values import bound_for, is_integer

Type = Any
"""Anything that msgspec accepts as a type."""

Test = Callable[[Any], bool]
"""Whether a value is accepted."""

_MOST_WORDS: Final = 1000  # checking more of them takes long
_EXACT: Final = 2**53  # beyond it a float cannot represent every integer
_BITS: Final = {"int32": 2**31}
_BOUNDS: Final = ("exclusiveMaximum", "exclusiveMinimum", "maximum", "minimum", "multipleOf")

# Every match is a valid instant. Some valid instants, such as leap days, do not match.
_INSTANT: Final = (
    r"\A(?!0000)[0-9]{4}-"
    r"(?:(?:0[1-9]|1[0-2])-(?:0[1-9]|1[0-9]|2[0-8])"
    r"|(?:0[13-9]|1[0-2])-(?:29|30)|(?:0[13578]|1[02])-31)"
    r"T(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](?:\.[0-9]{1,9})?Z\Z"
)


class Inexpressible(Exception):
    """No type accepts exactly what this node does."""


def one_of(schema: Schema, judge: Judge) -> Type:
    """One of the enum values that the other keywords also accept."""
    if len(schema["enum"]) > _MOST_WORDS:
        raise Inexpressible
    others = {keyword: value for keyword, value in schema.items() if keyword != "enum"}
    choices = tuple(
        word for word in schema["enum"] if type(word) in (str, int) and judge.accepts(word, others)
    )
    if not choices or schema["type"] not in ("string", "integer"):
        raise Inexpressible
    return Literal[choices]


def text(schema: Schema) -> Type:
    """A string with length limits. With a pattern, or most formats, it needs a `text_test`."""
    form = schema.get("format", "").replace("-", "")
    if schema.get("pattern") or (form != "datetime" and check_of(form)):
        raise Inexpressible
    return limited(
        str,
        min_length=_size(schema, "minLength"),
        max_length=_size(schema, "maxLength"),
        pattern=_INSTANT if form == "datetime" else None,
    )


def text_test(schema: Schema, judge: Judge) -> Test:
    """A test that accepts strings with this length, pattern and format, and nothing else."""
    least, most = schema.get("minLength", 0), schema.get("maxLength", float("inf"))
    pattern, matches = schema.get("pattern"), judge.matches
    check = check_of(schema.get("format"))

    def test(value: object) -> bool:
        return (
            type(value) is str
            and least <= len(value) <= most
            and (not pattern or matches(pattern, value))
            and (check is None or check(value))
        )

    return test


def integer(schema: Schema, *, native: bool) -> Type:
    """An integer within the given bounds, and always within 64 bits."""
    beyond = _BITS.get(schema.get("format", ""), 2**63) if native else 2**63
    least, most = -beyond, beyond - 1
    if "minimum" in schema:
        least = max(least, int(bound_for(0, schema["minimum"])) + _is_out(schema, "Minimum"))
    if "maximum" in schema:
        most = min(most, int(bound_for(0, schema["maximum"])) - _is_out(schema, "Maximum"))
    factor = int(bound_for(0, schema.get("multipleOf", 1)))
    if least > most or factor <= 0:  # msgspec accepts no bounds beyond 64 bits
        raise Inexpressible
    return limited(int, ge=least, le=most, multiple_of=factor if factor > 1 else None)


def number(schema: Schema, *, native: bool) -> Type:
    """An integer or a float. Bounds are compared in the type of the value."""
    least, most = schema.get("minimum"), schema.get("maximum")
    if "multipleOf" in schema or any(abs(bound or 0) > _EXACT for bound in (least, most)):
        raise Inexpressible
    whole = integer({**schema, "format": ""}, native=native)
    bounds = {
        "gt" if _is_out(schema, "Minimum") else "ge": least,
        "lt" if _is_out(schema, "Maximum") else "le": most,
    }
    return Union[whole, limited(float, **bounds)]  # noqa: UP007 - made at run time


def int_or_string(schema: Schema, *, native: bool) -> Type:
    """An integer or a string; each keyword applies to one of them."""
    return Union[integer(schema, native=native), text(schema)]  # noqa: UP007 - made at run time


def int_or_string_test(schema: Schema, judge: Judge) -> Test:
    """A test that accepts an integer or a string with a format."""
    is_text = text_test(schema, judge)
    bounds = {name: schema[name] for name in _BOUNDS if name in schema}

    def test(value: object) -> bool:
        if type(value) is not int:
            return is_text(value)
        return is_integer(value) and (not bounds or judge.accepts(value, bounds))

    return test


def limited(bare: Type, **limits: object) -> Type:
    """The type with the limits that are set."""
    given: dict[str, Any] = {name: limit for name, limit in limits.items() if limit is not None}
    return Annotated[bare, Meta(**given)] if given else bare


def _is_out(schema: Schema, bound: str) -> bool:
    """Whether the bound is exclusive; for integers that is the same as one more or less."""
    return bool(schema.get(f"exclusive{bound}"))


def _size(schema: Schema, keyword: str) -> int | None:
    """The limit; a negative minimum counts as zero."""
    size: int | None = schema.get(keyword)
    return 0 if size is not None and size < 0 and keyword.startswith("min") else size
