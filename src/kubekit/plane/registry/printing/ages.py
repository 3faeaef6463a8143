"""Ages as kubectl shows them: ``45s``, ``5m12s``, ``3h``, ``2d4h``, ``3y15d``."""

from datetime import datetime, timedelta
from typing import Final

from kubekit.api import times

UNKNOWN: Final = "<unknown>"
INVALID: Final = "<invalid>"

_COMMON: Final = "2024-05-01T12:00:00Z"
_MARKS: Final = (4, 7, 10, 13, 16, 19)

_SECOND: Final = timedelta(seconds=1)
_MINUTE: Final = timedelta(minutes=1)
_HOUR: Final = timedelta(hours=1)
_DAY: Final = timedelta(days=1)
_YEAR: Final = timedelta(days=365)

# The limit, and the units of ages below it. The second unit is None if there is only one.
_SHAPES: Final = (
    (120 * _SECOND, (_SECOND, "s"), None),
    (10 * _MINUTE, (_MINUTE, "m"), (_SECOND, "s")),
    (180 * _MINUTE, (_MINUTE, "m"), None),
    (8 * _HOUR, (_HOUR, "h"), (_MINUTE, "m")),
    (48 * _HOUR, (_HOUR, "h"), None),
    (8 * _DAY, (_DAY, "d"), (_HOUR, "h")),
    (2 * _YEAR, (_DAY, "d"), None),
    (8 * _YEAR, (_YEAR, "y"), (_DAY, "d")),
    (timedelta.max, (_YEAR, "y"), None),
)


def since(text: object, now: datetime) -> str:
    """The time that has passed since an instant on the wire.

    Nothing there is ``<unknown>``; what is no instant, or is in the future, is ``<invalid>``.
    """
    if not text:
        return UNKNOWN
    try:
        passed = now - _instant(str(text))
    except ValueError:
        return INVALID
    return _shown(passed)


def _instant(text: str) -> datetime:
    """The instant. The common format takes a fast path: each object of a list has one."""
    common = len(text) == len(_COMMON) and all(text[at] == _COMMON[at] for at in _MARKS)
    return datetime.fromisoformat(text) if common else times.parse(text)


def _shown(passed: timedelta) -> str:
    if passed <= -2 * _SECOND:
        return INVALID
    passed = max(passed, timedelta(0))
    _, (unit, name), smaller = next(shape for shape in _SHAPES if passed < shape[0])
    whole, rest = divmod(passed, unit)
    text = f"{whole}{name}"
    if smaller is None or rest < smaller[0]:
        return text
    return f"{text}{rest // smaller[0]}{smaller[1]}"
