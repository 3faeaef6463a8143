"""One condition on one label: ``app=web``, ``tier in (a,b)``, ``!draft``."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Final, assert_never

import msgspec

from kubekit.api import digits
from kubekit.api.excerpt import excerpt
from kubekit.api.selectors import label_syntax


class SelectorError(ValueError):
    """A text or a typed form is not a selector."""


class Operator(StrEnum):
    """How a label is compared."""

    EXISTS = "exists"
    DOES_NOT_EXIST = "!"
    EQUALS = "="
    DOUBLE_EQUALS = "=="
    NOT_EQUALS = "!="
    IN = "in"
    NOT_IN = "notin"
    GREATER_THAN = ">"
    LESS_THAN = "<"


UNARY: Final = (Operator.EXISTS, Operator.DOES_NOT_EXIST)
OF_SETS: Final = (Operator.IN, Operator.NOT_IN)
OF_NUMBERS: Final = (Operator.GREATER_THAN, Operator.LESS_THAN)


class Requirement(msgspec.Struct, frozen=True):
    """What one label must be. A malformed one is refused when it is made."""

    key: str
    operator: Operator
    values: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        if fault := label_syntax.key_fault(self.key):
            raise SelectorError(f"label key {excerpt(self.key)} is not valid: {fault}")
        if fault := _count_fault(self.operator, len(self.values)):
            raise SelectorError(f"label {self.key}: {fault}")
        for value in sorted(self.values):
            if fault := _value_fault(self.operator, value):
                raise SelectorError(
                    f"label {self.key}: value {excerpt(value)} is not valid: {fault}"
                )

    def __str__(self) -> str:
        match self.operator:
            case Operator.EXISTS:
                return self.key
            case Operator.DOES_NOT_EXIST:
                return f"!{self.key}"
            case Operator.IN | Operator.NOT_IN:
                return f"{self.key} {self.operator} ({','.join(sorted(self.values))})"
            case _:
                return f"{self.key}{self.operator}{''.join(self.values)}"

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Whether the labels satisfy this condition. A negative condition also matches absent labels."""
        value = labels.get(self.key)
        match self.operator:
            case Operator.EXISTS:
                return value is not None
            case Operator.DOES_NOT_EXIST:
                return value is None
            case Operator.EQUALS | Operator.DOUBLE_EQUALS | Operator.IN:
                return value in self.values
            case Operator.NOT_EQUALS | Operator.NOT_IN:
                return value not in self.values
            case Operator.GREATER_THAN | Operator.LESS_THAN:
                return self._compares(_int64(value or ""))
            case _:
                assert_never(self.operator)

    def _compares(self, number: int | None) -> bool:
        if number is None:
            return False
        bound = int("".join(self.values))
        return number > bound if self.operator is Operator.GREATER_THAN else number < bound


def _count_fault(operator: Operator, count: int) -> str | None:
    if operator in UNARY:
        return "a test for presence takes no value" if count else None
    if operator in OF_SETS:
        return None if count else f"operator {operator} takes at least one value"
    return None if count == 1 else f"operator {operator} takes exactly one value"


def _value_fault(operator: Operator, value: str) -> str | None:
    if operator in OF_NUMBERS and _int64(value) is None:
        return f"operator {operator} compares with a 64-bit integer"
    return label_syntax.value_fault(value)


def _int64(text: str) -> int | None:
    """The number that a label value spells, if it is one and fits into 64 bits."""
    sign, unsigned = ("-", text[1:]) if text.startswith("-") else ("", text.removeprefix("+"))
    significant = unsigned.lstrip("0") or "0"
    if not digits.only(unsigned) or len(significant) > len(str(2**63)):
        return None
    number = int(sign + significant)
    return number if -(2**63) <= number < 2**63 else None
