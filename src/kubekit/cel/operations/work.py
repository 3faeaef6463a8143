"""How much an evaluation has really done.

Kubernetes counts some operations by the size of what they are given at the top, however much hangs
below it: comparing two objects costs the same whatever is in them. Its counts are kept for what
users see. Beside them, what Python does is counted here, so that nothing small on the outside
keeps everybody else waiting.
"""

import threading
from typing import Final

from kubekit.cel.errors import CostExceeded

MOST: Final = 1_000_000  # steps of all evaluations of a request, about half a second
CHARACTERS: Final = 10  # that are copied in one step


class _Meter(threading.local):
    left = MOST


_meter: Final = _Meter()


def begin(left: int = MOST) -> None:
    """An evaluation starts, with what others of the same request left of the steps."""
    _meter.left = left


def left() -> int:
    """How many steps are left after the evaluation."""
    return _meter.left


def spend(steps: int) -> None:
    """Count the steps, before they are done."""
    _meter.left -= steps
    if _meter.left < 0:
        raise CostExceeded("operation cancelled: actual cost limit exceeded")
