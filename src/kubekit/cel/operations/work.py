"""A limit on the real work of an evaluation.

Kubernetes counts some operations by the top-level size of their arguments: comparing two objects costs
the same whatever is in them. Its counts are used for the limits that users see. In addition, the steps
of Python are counted here, so that an expression with a low cost cannot block other requests.
"""

import threading
from typing import Final

from kubekit.cel.errors import CostExceeded

MOST: Final = 1_000_000  # steps of all evaluations of a request, about half a second
CHARACTERS: Final = 10  # that are copied in one step


class _Meter(threading.local):
    left = MOST


_meter: Final = _Meter()


def start(left: int = MOST) -> None:
    """Start an evaluation with the steps that are left of its request."""
    _meter.left = left


def left() -> int:
    """How many steps are left after the evaluation."""
    return _meter.left


def spend(steps: int) -> None:
    """Count the steps, before they are done."""
    _meter.left -= steps
    if _meter.left < 0:
        raise CostExceeded("operation cancelled: actual cost limit exceeded")
