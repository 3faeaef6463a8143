"""Bounds of sizes and costs, and the calls that they are computed for."""

import math
from dataclasses import dataclass
from typing import Final, Protocol

from kubekit.cel.syntax.tree import Call, Node
from kubekit.cel.types import Type

MOST: Final = 2**64 - 1


@dataclass(frozen=True, slots=True)
class SizeRange:
    """A lower and an upper bound."""

    low: int
    high: int

    def __add__(self, other: "SizeRange") -> "SizeRange":
        return SizeRange(min(self.low + other.low, MOST), min(self.high + other.high, MOST))

    def __mul__(self, other: "SizeRange") -> "SizeRange":
        return SizeRange(min(self.low * other.low, MOST), min(self.high * other.high, MOST))

    def __or__(self, other: "SizeRange") -> "SizeRange":
        """The smallest range that contains both."""
        return SizeRange(min(self.low, other.low), max(self.high, other.high))

    def times(self, factor: float) -> "SizeRange":
        return SizeRange(_scaled(self.low, factor), _scaled(self.high, factor))


def _scaled(number: int, factor: float) -> int:
    product = math.ceil(float(number) * factor)
    return MOST if product >= 2**64 else product


def fixed(number: int) -> SizeRange:
    return SizeRange(number, number)


ZERO: Final = fixed(0)
ONE: Final = fixed(1)
UNKNOWN: Final = SizeRange(0, MOST)

Path = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Argument:
    """An argument of a call, with what its cost depends on."""

    node: Node | None
    type: Type
    path: Path
    size: SizeRange | None


@dataclass(frozen=True, slots=True)
class Estimate:
    """The cost of a call and the size of its result."""

    cost: SizeRange
    size: SizeRange | None = None


@dataclass(frozen=True, slots=True)
class Called:
    """A call by one of its overloads."""

    node: Call
    id: str
    target: Argument | None
    args: list[Argument]
    costs: list[SizeRange]

    @property
    def argument_cost(self) -> SizeRange:
        total = ZERO
        for cost in self.costs:
            total += cost
        return total

    @property
    def first(self) -> Argument:
        """The target of the call, or else its first argument."""
        return self.target or self.args[0]


class Sizes(Protocol):
    """Knows the sizes of arguments."""

    def size(self, argument: Argument) -> SizeRange:
        """The size of an argument, as far as it is known."""
        ...

    def element(self, argument: Argument) -> Argument | None:
        """The elements of an argument that is a list."""
        ...
