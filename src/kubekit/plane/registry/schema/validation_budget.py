"""How long a schema may keep everybody waiting with one document.

Most of what a schema asks takes time in proportion to the document. Some of it does not: each value
may have many alternatives, an enum of many words, a pattern of many steps, or bring many defaults
along. Both the schema and the document may come from one stranger, so what they cost together is
counted, in microseconds as they were measured, and ended when it is too much.
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
    """From here on it is counted."""
    _meter.left = MOST


def stop() -> None:
    """From here on nothing is counted any more."""
    _meter.left = math.inf


def spend(microseconds: float) -> None:
    """Count the time; before it is spent, if that can be told."""
    _meter.left -= microseconds
    if _meter.left < 0:
        raise BudgetExceeded
