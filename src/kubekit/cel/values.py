"""The values of expressions.

Most are Python's own: bool, int, float, str, bytes, list, dict and None. The other types are below.
Since a bool is an int in Python and not in CEL, values are distinguished by their
exact type, never by isinstance.

A dict that represents a map has the same keys, except for true and false: they are replaced by a
`BoolKey`, because to a dict they would be the keys 1 and 0.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final

Value = Any  # of an expression

INT64: Final = range(-(2**63), 2**63)
UINT64: Final = range(2**64)
NANOS: Final = 10**9


class Uint(int):
    """An unsigned integer. Arithmetic on it gives an int, which the operators wrap again."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Duration:
    nanos: int


@dataclass(frozen=True, slots=True)
class Timestamp:
    """An instant. ``offset`` is the zone it was written in, which matters only to its text."""

    nanos: int
    offset: timedelta = timedelta(0)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Timestamp) and self.nanos == other.nanos

    def __hash__(self) -> int:
        return hash(self.nanos)


@dataclass(frozen=True, slots=True)
class TypeValue:
    """A type as a value, the result of ``type(x)``."""

    name: str


@dataclass(frozen=True, slots=True)
class Optional:
    """A value that may be missing."""

    has_value: bool
    value: Value = None


NONE: Final = Optional(has_value=False)


@dataclass(frozen=True, slots=True)
class BoolKey:
    """A bool as a key of a dict."""

    value: bool


_KEYS: Final = {True: BoolKey(value=True), False: BoolKey(value=False)}


def key_of(value: Value) -> Value:
    """The value as a key: numbers that are equal are one key, whatever their type."""
    if type(value) is bool:
        return _KEYS[value]
    return value


def key_value(key: Value) -> Value:
    """The value that the key of a dict represents."""
    return key.value if type(key) is BoolKey else key


def keys_of(mapping: Value) -> Iterator[Any]:
    """The keys of a map: a dict, or a view of an object."""
    return map(key_value, mapping)


def some(value: Value) -> Optional:
    return Optional(has_value=True, value=value)
