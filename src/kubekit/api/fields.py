"""Field errors: what is wrong with which field of an object, in the wording of Kubernetes."""

import json
from collections.abc import Iterable
from enum import StrEnum
from itertools import islice
from typing import Final, Self

import msgspec


class Path(str):
    """The path of a field, such as ``spec.placements[0].name``.

    A name that is longer than any valid one is cut, because each error about its members repeats it.
    """

    __slots__ = ()

    def child(self, *names: str) -> "Path":
        shown = ".".join(map(_cut, names))
        return Path(f"{self}.{shown}" if self else shown)

    def at(self, position: int) -> "Path":
        return Path(f"{self}[{position}]")

    def key(self, key: str) -> "Path":
        return Path(f"{self}[{_cut(key)}]")


class Problem(StrEnum):
    """What is wrong with a field; the value is the cause's reason on the wire."""

    label: str

    def __new__(cls, reason: str, label: str) -> Self:
        member = str.__new__(cls, reason)
        member._value_ = reason
        member.label = label
        return member

    DUPLICATE = "FieldValueDuplicate", "Duplicate value"
    FORBIDDEN = "FieldValueForbidden", "Forbidden"
    INVALID = "FieldValueInvalid", "Invalid value"
    NOT_FOUND = "FieldValueNotFound", "Not found"
    NOT_SUPPORTED = "FieldValueNotSupported", "Unsupported value"
    REQUIRED = "FieldValueRequired", "Required value"
    TOO_LONG = "FieldValueTooLong", "Too long"
    TOO_MANY = "FieldValueTooMany", "Too many"
    TYPE_INVALID = "FieldValueTypeInvalid", "Invalid value"


_LONGEST_NAME: Final = 512  # characters; a label's key has at most 317
_LONGEST_VALUE: Final = 256
_MOST_VALUES: Final = 100  # more would not be read
_WITHOUT_VALUE = frozenset({Problem.FORBIDDEN, Problem.REQUIRED, Problem.TOO_LONG})


class FieldError(msgspec.Struct, frozen=True):
    """One error in a field of an object, and what would be valid."""

    path: str
    problem: Problem
    detail: str = ""
    value: object = None

    @property
    def message(self) -> str:
        """The error without its path, as in the cause of a Status."""
        parts = [self.problem.label]
        if self.problem not in _WITHOUT_VALUE:
            parts.append(_shown(self.value))
        if self.detail:
            parts.append(self.detail)
        return ": ".join(parts)

    def __str__(self) -> str:
        return f"{self.path}: {self.message}"


def required(path: str, detail: str = "") -> FieldError:
    return FieldError(path, Problem.REQUIRED, detail)


def invalid(path: str, value: object, detail: str) -> FieldError:
    return FieldError(path, Problem.INVALID, detail, value)


def duplicate(path: str, value: object, detail: str = "") -> FieldError:
    return FieldError(path, Problem.DUPLICATE, detail, value)


def not_found(path: str, value: object, detail: str = "") -> FieldError:
    return FieldError(path, Problem.NOT_FOUND, detail, value)


def forbidden(path: str, detail: str) -> FieldError:
    return FieldError(path, Problem.FORBIDDEN, detail)


def not_supported(path: str, value: object, supported: Iterable[str], hint: str = "") -> FieldError:
    """The value is not one of those allowed; ``hint`` says what was probably meant."""
    values = [*islice(supported, _MOST_VALUES + 1)]
    allowed = ", ".join(_shown(supported_value) for supported_value in values[:_MOST_VALUES])
    allowed += ", ..." if len(values) > _MOST_VALUES else ""
    detail = f"supported values: {allowed}" if allowed else "no value is supported"
    return FieldError(path, Problem.NOT_SUPPORTED, f"{detail}; {hint}" if hint else detail, value)


def too_long(path: str, value: object, limit: int) -> FieldError:
    return FieldError(path, Problem.TOO_LONG, f"may not be more than {limit} bytes", value)


def _cut(name: str) -> str:
    return name if len(name) <= _LONGEST_NAME else f"{name[:_LONGEST_NAME]}..."


def _shown(value: object) -> str:
    """The value as JSON, because that is what the user wrote; cut when it is long.

    A message goes into logs, conditions and responses, and the value may be a megabyte.
    """
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)
    return text if len(text) <= _LONGEST_VALUE else f"{text[:_LONGEST_VALUE]}..."
