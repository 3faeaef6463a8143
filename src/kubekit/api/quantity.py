"""Amounts of a resource, as Kubernetes writes them: ``500m``, ``1.5Gi``, ``12e6``.

A quantity is a whole number of nanos, so all arithmetic is exact, and a notation that says how to
print it. Printing gives the canonical form: the largest suffix that leaves no fraction.
"""

from dataclasses import dataclass, field
from enum import Enum
from fractions import Fraction
from math import ceil
from typing import Final

from kubekit.api import digits
from kubekit.api.excerpt import excerpt

_ALLOWED: Final = (
    "write a number such as 2, 0.5 or -1, then nothing, or one of n u m k M G T P E, "
    "or one of Ki Mi Gi Ti Pi Ei, or an exponent such as e3"
)
_DECIMAL_SUFFIXES: Final = ("n", "u", "m", "", "k", "M", "G", "T", "P", "E")  # times 1000 each
_BINARY_SUFFIXES: Final = ("", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei")  # times 1024 each
_LOWEST_EXPONENT: Final = -9
_NANOS: Final = 10**9

# Far beyond any use, and small enough that no text can cost much time or memory.
_LONGEST_TEXT: Final = 128
_HIGHEST_EXPONENT: Final = 100
_LIMIT: Final = 10**_HIGHEST_EXPONENT * _NANOS
_BINARY_LIMIT: Final = (2**63 - 1) * _NANOS


class QuantityError(ValueError):
    """The text is not a quantity."""


class Notation(Enum):
    """How a quantity was written, and so how it is printed."""

    BINARY_SI = "BinarySI"
    DECIMAL_SI = "DecimalSI"
    DECIMAL_EXPONENT = "DecimalExponent"


@dataclass(frozen=True, slots=True, order=True, repr=False)
class Quantity:
    """An exact amount. Quantities are equal when their values are: ``1024Mi`` equals ``1Gi``."""

    nanos: int
    notation: Notation = field(default=Notation.DECIMAL_SI, compare=False)

    @staticmethod
    def parse(text: int | str) -> "Quantity":
        """The quantity that the text spells.

        As in Kubernetes, an amount finer than a nano is rounded away from zero, so that a very small
        request is not zero; and a binary quantity is limited to 2^63-1.
        """
        return _parsed(_bounded(text))

    def __str__(self) -> str:
        """The canonical form."""
        if self.nanos == 0:
            return "0"
        if self._prints_binary():
            number, power = _reduced(self.nanos // _NANOS, 1024, len(_BINARY_SUFFIXES) - 1)
            return f"{number}{_BINARY_SUFFIXES[power]}"
        if self.notation is Notation.DECIMAL_EXPONENT:
            number, power = _reduced(self.nanos, 1000, _HIGHEST_EXPONENT)
            exponent = _LOWEST_EXPONENT + 3 * power
            return f"{number}e{exponent}" if exponent else str(number)
        number, power = _reduced(self.nanos, 1000, len(_DECIMAL_SUFFIXES) - 1)
        return f"{number}{_DECIMAL_SUFFIXES[power]}"

    def __repr__(self) -> str:
        return f"Quantity.parse({str(self)!r})"

    def __add__(self, other: "Quantity") -> "Quantity":
        """The sum, in the notation of the left operand unless that is zero."""
        notation = self.notation if self.nanos else other.notation
        return Quantity(self.nanos + other.nanos, notation)

    def __sub__(self, other: "Quantity") -> "Quantity":
        return self + -other

    def __neg__(self) -> "Quantity":
        return Quantity(-self.nanos, self.notation)

    def __mul__(self, times: int) -> "Quantity":
        return Quantity(self.nanos * times, self.notation)

    __rmul__ = __mul__

    def value(self) -> int:
        """The amount in whole units, rounded away from zero."""
        return _divided_away(self.nanos, _NANOS)

    def milli_value(self) -> int:
        """The amount in whole thousandths, rounded away from zero."""
        return _divided_away(self.nanos, _NANOS // 1000)

    def floor_units(self, unit: "Quantity") -> int:
        """How many whole units fit in, for example mebibytes in a memory size."""
        return self.nanos // unit.nanos

    def _prints_binary(self) -> bool:
        """Whether to print with a binary suffix. A small or fractional amount is printed in decimal."""
        large = abs(self.nanos) >= 1024 * _NANOS
        return self.notation is Notation.BINARY_SI and large and self.nanos % _NANOS == 0


ZERO: Final = Quantity(0)

_SUFFIXES: Final = {  # only the empty suffix is in both tables: a bare number is decimal
    **{s: (Notation.BINARY_SI, Fraction(1024**i * _NANOS)) for i, s in enumerate(_BINARY_SUFFIXES)},
    **{s: (Notation.DECIMAL_SI, Fraction(1000**i)) for i, s in enumerate(_DECIMAL_SUFFIXES)},
}


def _bounded(text: int | str) -> str:
    """The text to parse. A text that would be expensive to parse is refused."""
    if isinstance(text, int):
        if abs(text) >= _LIMIT:  # Python refuses to print much larger integers
            raise QuantityError(f"a quantity must stay below 1e{_HIGHEST_EXPONENT}")
        return str(text)
    if len(text) > _LONGEST_TEXT:
        raise _refusal(text, f"it is longer than {_LONGEST_TEXT} characters")
    return text


def _parsed(text: str) -> Quantity:
    whole, rest = digits.leading(_unsigned(text))
    fraction, suffix = digits.leading(rest[1:]) if rest.startswith(".") else ("", rest)
    if not whole and not fraction:
        raise _refusal(text, "it does not start with a number")
    notation, unit = _unit(text, suffix)
    magnitude = ceil(Fraction(int(whole + fraction), 10 ** len(fraction)) * unit)
    if magnitude >= _LIMIT:
        raise _refusal(text, f"it is not below 1e{_HIGHEST_EXPONENT}")
    if notation is Notation.BINARY_SI:
        magnitude = min(magnitude, _BINARY_LIMIT)
        notation = Notation.DECIMAL_SI if 0 < magnitude < _NANOS else notation
    return Quantity(-magnitude if text.startswith("-") else magnitude, notation)


def _unit(text: str, suffix: str) -> tuple[Notation, Fraction]:
    """The notation of a suffix, and its unit in nanos."""
    if suffix in _SUFFIXES:
        return _SUFFIXES[suffix]
    exponent = _unsigned(suffix[1:])
    if not suffix.startswith(("e", "E")) or not digits.only(exponent):
        raise _refusal(text, f"its suffix {excerpt(suffix)} is not known")
    if int(exponent) > _HIGHEST_EXPONENT:
        raise _refusal(text, f"its exponent is not within {_HIGHEST_EXPONENT} of zero")
    return Notation.DECIMAL_EXPONENT, Fraction(10) ** int(suffix[1:]) * _NANOS


def _unsigned(text: str) -> str:
    return text[1:] if text.startswith(("+", "-")) else text


def _reduced(number: int, factor: int, most: int) -> tuple[int, int]:
    """The number divided by the factor as often as possible, up to ``most`` times, and how often."""
    power = 0
    while power < most and number % factor == 0:
        number //= factor
        power += 1
    return number, power


def _divided_away(number: int, by: int) -> int:
    return -(-number // by) if number > 0 else number // by


def _refusal(text: str, why: str) -> QuantityError:
    return QuantityError(f"{excerpt(text)} is not a quantity: {why}; {_ALLOWED}")
