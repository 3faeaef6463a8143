"""The time budget for the validation of one document, which blocks the event loop.

The time of most checks is proportional to the size of the document. Some take longer: a value may
have many alternatives, a large enum, a pattern of many steps, or many defaults. An untrusted client
may write both the schema and the document. So the cost of these checks is counted in microseconds,
and validation stops when it exceeds the budget.
"""

import math
import threading
from typing import Final

MOST: Final = 800_000  # microseconds


class BudgetExceeded(Exception):
    """The document takes too long under its schema."""


class _Meter(threading.local):
    left: float = math.inf


_meter: Final = _Meter()


def start() -> None:
    """Start counting."""
    _meter.left = MOST


def stop() -> None:
    """Stop counting."""
    _meter.left = math.inf


def spend(microseconds: float) -> None:
    """Count this time. Raises `BudgetExceeded`. Call it before the work, if its time is known."""
    _meter.left -= microseconds
    if _meter.left < 0:
        raise BudgetExceeded
