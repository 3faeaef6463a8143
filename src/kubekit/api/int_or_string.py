"""Counts that may be written as a share: ``1`` or ``"25%"`` of the replicas."""

from typing import Final

from kubekit.api import digits
from kubekit.api.excerpt import excerpt

_LONGEST_PERCENTAGE: Final = 10


class IntOrStringError(ValueError):
    """The value is neither a count nor a percentage."""


def scaled(value: int | str, total: int, *, round_up: bool) -> int:
    """The count that is meant, where a percentage is taken of the total.

    Which way to round decides what a small share of a small total means: rounded down, a quarter
    of three replicas is none of them.
    """
    if isinstance(value, str):
        part = _percentage(value) * total
        return -(-part // 100) if round_up else part // 100
    if value < 0:
        raise IntOrStringError(f"{value} is negative; write a count of 0 or more")
    return value


def _percentage(text: str) -> int:
    number = text.removesuffix("%")
    if number == text or not digits.only(number):
        raise IntOrStringError(
            f'{excerpt(text)} must be a number such as 1, or a share such as "25%"'
        )
    if len(number) > _LONGEST_PERCENTAGE:
        raise IntOrStringError(f"{excerpt(text)} is too large a share")
    return int(number)
