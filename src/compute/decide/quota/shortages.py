"""The message for a lack of quota.

A claim, its Instance, the deployment and the Workload all report this message, whatever their reason:
which resource is short, how much of it is requested, how much is left, and what to do.
"""

from collections.abc import Iterable
from typing import Final

from compute.api.quota import ResourceRequest
from compute.decide.quota.claims import MEMORY
from compute.decide.quota.units import unit_of

_ADVICE: Final = "Scale down, delete something, or ask for more quota"


def line(request: ResourceRequest) -> str:
    """What is asked for, where it is not known how much is left."""
    kind = request.resource_type
    return f"{_short(kind)}: {_amount(kind, request.amount)} asked for"


def line_with_rest(request: ResourceRequest, remaining: int, limit: int) -> str:
    """What is asked for, and how much is left of how much."""
    kind = request.resource_type
    return f"{line(request)}, {_number(kind, remaining)} of {_amount(kind, limit)} left"


def sentence(lines: Iterable[str]) -> str:
    """All that is short, and what to do about it."""
    return f"Not enough quota: {'; '.join(lines)}. {_ADVICE}"


def _short(kind: str) -> str:
    return kind.rpartition("/")[2]


def _amount(kind: str, amount: int) -> str:
    """An amount in the displayed unit, which only memory needs to name."""
    unit = f" {unit_of(kind).unit}" if kind == MEMORY else ""
    return _number(kind, amount) + unit


def _number(kind: str, amount: int) -> str:
    return unit_of(kind).text(amount)
