"""Counts that may also be percentages: ``1`` or ``"25%"`` of the replicas."""

from typing import Final

from kubekit.api import digits
from kubekit.api.excerpt import excerpt

_LONGEST_PERCENTAGE: Final = 10


class IntOrStringError(ValueError):
    """The value is neither a count nor a percentage."""


def scaled(value: int | str, total: int, *, round_up: bool) -> int:
    """The count; a percentage is taken of the total.

    The rounding matters for a small percentage of a small total: a quarter of three replicas, rounded
    down, is zero.
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
