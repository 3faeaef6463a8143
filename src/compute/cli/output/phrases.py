"""Ages, counts and bars, as people read them."""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Final

from kubekit.api import times
from kubekit.api.meta import EPOCH

NONE: Final = "-"
_MINUTE: Final = 60
_HOUR: Final = 60 * _MINUTE
_DAY: Final = 24 * _HOUR
_FULL: Final = "#"
_EMPTY: Final = "-"


def age(since: datetime | None, now: datetime) -> str:
    """How long ago it was: ``12s``, ``5m``, ``3h``, ``4d``; a dash where that is not known."""
    if since is None or since <= EPOCH:
        return NONE
    return duration(now - since)


def ago(at: str, now: datetime) -> str:
    """The same of a time in RFC 3339: ``5m ago``. A text that is no time is shown as it is."""
    try:
        return f"{age(times.parse(at), now)} ago"
    except times.TimeError:
        return f"at {at}"


def duration(length: timedelta) -> str:
    """The length in its largest unit. A clock that is ahead counts as no time at all."""
    seconds = max(0, int(length.total_seconds()))
    for unit, letter in ((_DAY, "d"), (_HOUR, "h"), (_MINUTE, "m")):
        if seconds >= unit:
            return f"{seconds // unit}{letter}"
    return f"{seconds}s"


def long_duration(length: timedelta) -> str:
    """The length with minutes and seconds: ``1m 5s``."""
    seconds = max(0, int(length.total_seconds()))
    minutes, rest = divmod(seconds, _MINUTE)
    return f"{minutes}m {rest}s" if minutes else f"{rest}s"


def counted(number: int, noun: str) -> str:
    """A number of things: ``1 city``, ``2 cities``."""
    if number == 1:
        return f"1 {noun}"
    plural = f"{noun[:-1]}ies" if noun.endswith("y") and noun[-2:-1] not in "aeiou" else f"{noun}s"
    return f"{number} {plural}"


def listed(words: Iterable[str], most: int = 3) -> str:
    """The first words, and how many more there are."""
    known = list(words)
    more = len(known) - most
    return ",".join(known[:most]) + (f" (+{more})" if more > 0 else "") if known else NONE


def bar(share: float, width: int = 20) -> str:
    """A share as a bar of ASCII: ``[########------------]``."""
    filled = round(min(max(share, 0.0), 1.0) * width)
    return f"[{_FULL * filled}{_EMPTY * (width - filled)}]"
