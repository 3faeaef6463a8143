"""Durations and timestamps from text and as text."""

import re
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from decimal import Decimal
from typing import Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from kubekit.cel.errors import EvaluationError
from kubekit.cel.values import INT64, NANOS, Duration, Timestamp

_UNITS: Final = {
    "ns": 1,
    "us": 10**3,
    "\u00b5s": 10**3,  # the micro sign
    "\u03bcs": 10**3,  # the Greek letter, which looks the same
    "ms": 10**6,
    "s": NANOS,
    "m": 60 * NANOS,
    "h": 3600 * NANOS,
}
_PART: Final = re.compile(r"([0-9]{0,40})(?:\.([0-9]{0,40}))?([a-z\u00b5\u03bc]+)")
_INSTANT: Final = re.compile(
    r"([0-9]{4})-([0-9]{2})-([0-9]{2})T([0-9]{2}):([0-9]{2}):([0-9]{2})(?:[.,]([0-9]+))?"
    r"(Z|[+-][0-9]{2}:[0-9]{2})?"
)
_DATE: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_OFFSET: Final = re.compile(r"([+-]?[0-9]{1,4}):([0-9]{1,4})")
_WORDY: Final = re.compile(r"([0-9]{1,18})\s*([A-Za-z\u00b5]+)")
_WORDS: Final = (  # a longer word may start with the last one of a row
    (("ns", "nano"), 1),
    (("us", "\u00b5s", "micro"), 10**3),
    (("ms", "milli"), 10**6),
    (("s", "sec"), NANOS),
    (("m", "min"), 60 * NANOS),
    (("h", "hr", "hour"), 3600 * NANOS),
    (("d", "day"), 24 * 3600 * NANOS),
    (("w", "wk", "week"), 7 * 24 * 3600 * NANOS),
)
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
EARLIEST: Final = -62_135_596_800  # the first second of year 1
LATEST: Final = 253_402_300_799  # the last of year 9999


def parse_duration(text: str) -> Duration | None:
    """The duration in the text, such as ``1h30m``; None if it is invalid."""
    sign, rest = (-1, text[1:]) if text.startswith("-") else (1, text.removeprefix("+"))
    if rest == "0":
        return Duration(0)
    nanos = at = 0
    while at < len(rest):
        part = _PART.match(rest, at)
        if part is None or part[3] not in _UNITS or not (part[1] or part[2]):
            return None
        fraction = part[2] or ""
        unit = _UNITS[part[3]]
        nanos += int(part[1] or "0") * unit + int(fraction or "0") * unit // 10 ** len(fraction)
        at = part.end()
    nanos *= sign
    return Duration(nanos) if rest and nanos in INT64 else None


def parse_wordy_duration(text: str) -> Duration | None:
    """The duration by the format ``duration`` of a schema, which also accepts ``3 weeks``."""
    parsed = parse_duration(text)
    if parsed is not None:
        return parsed
    parts = [
        int(amount) * unit
        for amount, word in _WORDY.findall(text)
        for names, unit in _WORDS
        if word.lower() in names or word.lower().startswith(names[-1])
    ]
    return Duration(sum(parts)) if parts else None


def parse_timestamp(text: str, *, needs_zone: bool = True) -> Timestamp | None:
    """The instant in an RFC 3339 text; None if it is invalid."""
    match = _INSTANT.fullmatch(text)
    if match is None or (needs_zone and match[8] is None):
        return None
    year, month, day, hour, minute, second = (int(match[group]) for group in range(1, 7))
    try:
        local = datetime(year, month, day, hour, minute, second, tzinfo=UTC)
    except ValueError:
        return None
    offset = _zone_offset(match[8] or "Z")
    if offset is None:
        return None
    seconds = _seconds(local) - int(offset.total_seconds())
    if not EARLIEST <= seconds <= LATEST:
        return None
    return Timestamp(seconds * NANOS + int((match[7] or "0")[:9].ljust(9, "0")), offset)


def parse_date(text: str) -> Timestamp | None:
    return parse_timestamp(f"{text}T00:00:00Z") if _DATE.fullmatch(text) else None


def timestamp_text(value: Timestamp) -> str:
    """The instant in the zone it was written in, with no more digits than it needs."""
    seconds, nanos = divmod(value.nanos, NANOS)
    offset = int(value.offset.total_seconds())
    if not EARLIEST <= seconds + offset <= LATEST:
        offset = 0
    local = _EPOCH + timedelta(seconds=seconds + offset)
    fraction = f".{nanos:09d}".rstrip("0").rstrip(".")
    hours, minutes = divmod(abs(offset) // 60, 60)
    zone = f"{'-' if offset < 0 else '+'}{hours:02d}:{minutes:02d}" if offset else "Z"
    return f"{local:%Y-%m-%dT%H:%M:%S}".zfill(19) + fraction + zone


def duration_text(value: Duration) -> str:
    """The duration in seconds, as the nearest float prints without an exponent."""
    return f"{Decimal(repr(value.nanos / NANOS)):f}".removesuffix(".0") + "s"


def checked_timestamp(nanos: int, offset: timedelta) -> Timestamp:
    if not EARLIEST <= nanos // NANOS <= LATEST:
        raise EvaluationError("timestamp overflow")
    return Timestamp(nanos, offset)


def checked_duration(nanos: int) -> Duration:
    if nanos not in INT64:
        raise EvaluationError("integer overflow")
    return Duration(nanos)


def in_zone(value: Timestamp, zone: str = "UTC") -> datetime:
    """The instant as the clocks of the zone show it."""
    try:
        local = _EPOCH + timedelta(microseconds=value.nanos // 1000)
        return local.astimezone(_zone(zone))
    except OverflowError as error:
        raise EvaluationError("timestamp overflow") from error


def _seconds(value: datetime) -> int:
    return (value - _EPOCH) // timedelta(seconds=1)


def _zone_offset(text: str) -> timedelta | None:
    if text == "Z":
        return timedelta(0)
    hours, minutes = int(text[1:3]), int(text[4:6])
    if hours > 24 or minutes > 60:  # noqa: PLR2004 - what Go's parser lets through
        return None
    offset = timedelta(hours=hours, minutes=minutes)
    return -offset if text.startswith("-") else offset


def _zone(name: str) -> tzinfo:
    if ":" in name:
        return _fixed_zone(name)
    if name in ("", "UTC"):
        return UTC
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise EvaluationError(f"unknown time zone {name}") from error


def _fixed_zone(name: str) -> tzinfo:
    match = _OFFSET.fullmatch(name)
    if match is None:
        raise EvaluationError(f"unknown time zone {name}")
    hours, minutes = int(match[1]), int(match[2])
    offset = hours * 60 - minutes if name.startswith("-") else hours * 60 + minutes
    if abs(offset) >= 24 * 60:
        raise EvaluationError(f"unknown time zone {name}")
    return timezone(timedelta(minutes=offset))
