"""Decimal digits as protocols mean them: the ten ASCII ones.

`str.isdigit` and `int` also accept other scripts, underscores and blanks. A server that accepted these
would read a text differently from every other implementation.
"""

from typing import Final

_DIGITS: Final = "0123456789"


def leading(text: str) -> tuple[str, str]:
    """The digits that the text starts with, and what follows them."""
    rest = text.lstrip(_DIGITS)
    return text[: len(text) - len(rest)], rest


def only(text: str) -> bool:
    """Whether the text is digits, at least one, and nothing else."""
    return bool(text) and not text.strip(_DIGITS)
