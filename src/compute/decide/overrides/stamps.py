"""The times in annotations of restarts and replacements."""

from datetime import datetime, timedelta
from typing import Final

from kubekit.api import times
from kubekit.api.meta import EPOCH

_SECOND: Final = timedelta(seconds=1)
_LAST: Final = datetime.max.replace(tzinfo=EPOCH.tzinfo) - _SECOND


def is_stamp(text: object) -> bool:
    """Whether a value is a time that can be read."""
    return isinstance(text, str) and _read(text) is not None


def latest(*texts: str) -> str:
    """The latest of the times, as it is written; the first of equal ones. Empty if none can be read."""
    known = [(instant, text) for text in texts if (instant := _read(text)) is not None]
    return max(known, key=lambda pair: pair[0])[1] if known else ""


def following(now: datetime, *texts: str) -> str:
    """A stamp for ``now`` that is later than all of these, although clocks may differ."""
    last = _read(latest(*texts))
    return times.format_time(now if last is None else max(now, min(last, _LAST) + _SECOND))


def _read(text: str) -> datetime | None:
    try:
        return times.parse(text)
    except times.TimeError:
        return None
