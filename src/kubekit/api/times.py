"""Instants and durations, in the formats of the API and for users.

Kubernetes has two formats of an instant: `Time` (whole seconds) in almost every field, and
`MicroTime` (exactly six decimals, or the server refuses it) in leases and events. Durations are
written as Go writes them: ``1h30m0s``.

A datetime without a zone is refused everywhere: its meaning would depend on the machine.
"""

from datetime import UTC, datetime, time, timedelta
from typing import Final, NewType

from kubekit.api import digits
from kubekit.api.excerpt import excerpt

MicroTime = NewType("MicroTime", str)

_CLOCK_SHAPE: Final = "0000-00-00T00:00:00"
_CLOCK_FIELDS: Final = ((0, 4), (5, 7), (8, 10), (11, 13), (14, 16), (17, 19))
_OFFSET_SHAPES: Final = ("+00:00", "-00:00")

_NANOS: Final = {
    "ns": 1,
    "us": 10**3,
    "\N{MICRO SIGN}s": 10**3,
    "\N{GREEK SMALL LETTER MU}s": 10**3,
    "ms": 10**6,
    "s": 10**9,
    "m": 60 * 10**9,
    "h": 3600 * 10**9,
}
_LONGEST_DURATION: Final = 2**63 - 1  # nanoseconds; what Go can hold, about 292 years
_LONGEST_TEXT: Final = 128
_MICROS_PER_MILLI: Final = 1000

_AGES: Final = (
    (timedelta(minutes=1), timedelta(seconds=1), "s"),
    (timedelta(hours=1), timedelta(minutes=1), "m"),
    (timedelta(days=1), timedelta(hours=1), "h"),
    (timedelta.max, timedelta(days=1), "d"),
)


class TimeError(ValueError):
    """The text is no instant or duration, or the datetime has no zone."""


def parse(text: str) -> datetime:
    """The instant in UTC that an RFC 3339 text names, cut to microseconds.

    ``T`` and ``Z`` must be capitals: RFC 3339 leaves the case open, Kubernetes does not.
    """
    try:
        return _instant(text)
    except (ValueError, OverflowError) as error:
        raise TimeError(
            f"{excerpt(text)} is not a time: {error}; write it as 2024-05-01T12:00:00Z"
        ) from error


def format_time(when: datetime) -> str:
    """The instant as `metav1.Time` writes it: ``2024-05-01T12:00:00Z``."""
    return _in_utc(when).isoformat(timespec="seconds").replace("+00:00", "Z")


def format_micro(when: datetime) -> MicroTime:
    """The instant as `metav1.MicroTime` writes it: ``2024-05-01T12:00:00.000000Z``."""
    return MicroTime(_in_utc(when).isoformat(timespec="microseconds").replace("+00:00", "Z"))


def seconds(when: datetime) -> datetime:
    """The instant as a server gives it back: in UTC, without the fraction of a second.

    Comparing what we meant to write with what is stored must not differ by that fraction.
    """
    return _in_utc(when).replace(microsecond=0)


def age(since: datetime, now: datetime) -> str:
    """The time since then, in the largest unit of which at least one has passed: ``5m``, ``3d``.

    An instant in the future is ``0s`` old: the clocks of two machines always differ a little.
    """
    passed = max(_in_utc(now) - _in_utc(since), timedelta(0))
    return next(f"{passed // unit}{name}" for limit, unit, name in _AGES if passed < limit)


def parse_duration(text: str) -> timedelta:
    """The duration that a Go text such as ``1h30m`` or ``300ms`` names, cut to microseconds."""
    unsigned = text[1:] if text.startswith(("+", "-")) else text
    nanos = 0 if unsigned == "0" else _sum_of_parts(text, unsigned)
    if nanos > _LONGEST_DURATION:
        raise _no_duration(text, "it is longer than 292 years")
    micros = timedelta(microseconds=nanos // 1000)
    return -micros if text.startswith("-") else micros


def format_duration(duration: timedelta) -> str:
    """The duration as Go prints it: ``1h30m0s``, ``1.5s``, ``300ms``."""
    micros = abs(duration) // timedelta(microseconds=1)
    sign = "-" if duration < timedelta(0) else ""
    return sign + (_long(micros) if micros >= 10**6 or micros == 0 else _short(micros))


def _instant(text: str) -> datetime:
    clock, rest = text[: len(_CLOCK_SHAPE)], text[len(_CLOCK_SHAPE) :]
    fraction, zone = digits.leading(rest[1:]) if rest.startswith(".") else ("0", rest)
    if _shape(clock) != _CLOCK_SHAPE or not fraction:
        raise ValueError("it does not have the form of RFC 3339")
    year, month, day, hour, minute, second = (int(clock[start:end]) for start, end in _CLOCK_FIELDS)
    micros = int(f"{fraction[:6]:0<6}")
    local = datetime(year, month, day, hour, minute, second, micros, UTC)
    return local - _offset(zone)


def _offset(zone: str) -> timedelta:
    """How far the zone's clocks are ahead of UTC."""
    if zone == "Z":
        return timedelta(0)
    if _shape(zone) not in _OFFSET_SHAPES:
        raise ValueError("it does not end in Z or in an offset such as +02:00")
    shift = time(int(zone[1:3]), int(zone[4:6]))  # refuses 24 hours and 60 minutes
    ahead = timedelta(hours=shift.hour, minutes=shift.minute)
    return -ahead if zone.startswith("-") else ahead


def _shape(text: str) -> str:
    return "".join("0" if digits.only(character) else character for character in text)


def _in_utc(when: datetime) -> datetime:
    if when.utcoffset() is None:
        raise TimeError(f"{when.isoformat()} has no time zone; give it one, such as UTC")
    return when.astimezone(UTC)


def _sum_of_parts(text: str, unsigned: str) -> int:
    if len(text) > _LONGEST_TEXT:
        raise _no_duration(text, f"it is longer than {_LONGEST_TEXT} characters")
    if not unsigned:
        raise _no_duration(text, "it is empty")
    nanos, rest = 0, unsigned
    while rest:
        part, rest = _first_part(text, rest)
        nanos += part
    return nanos


def _first_part(text: str, rest: str) -> tuple[int, str]:
    """The nanoseconds of the first number with its unit, and what follows."""
    whole, rest = digits.leading(rest)
    fraction, rest = digits.leading(rest[1:]) if rest.startswith(".") else ("", rest)
    if not whole and not fraction:
        raise _no_duration(text, f"a number is missing before {excerpt(rest)}")
    unit = _leading_unit(rest)
    if unit not in _NANOS:
        raise _no_duration(text, f"{excerpt(unit)} is not a unit")
    nanos = int(whole + fraction) * _NANOS[unit] // 10 ** len(fraction)
    return nanos, rest[len(unit) :]


def _leading_unit(text: str) -> str:
    ends = (at for at, character in enumerate(text) if character == "." or digits.only(character))
    return text[: next(ends, len(text))]


def _long(micros: int) -> str:
    minutes, rest = divmod(micros, 60 * 10**6)
    hours, minutes = divmod(minutes, 60)
    larger = f"{hours}h{minutes}m" if hours else f"{minutes}m" if minutes else ""
    return f"{larger}{_decimal(rest, 6)}s"


def _short(micros: int) -> str:
    whole_millis = micros >= _MICROS_PER_MILLI
    return f"{_decimal(micros, 3)}ms" if whole_millis else f"{micros}\N{MICRO SIGN}s"


def _decimal(number: int, places: int) -> str:
    whole, fraction = divmod(number, 10**places)
    return f"{whole}.{fraction:0{places}}".rstrip("0").rstrip(".")


def _no_duration(text: str, why: str) -> TimeError:
    return TimeError(f"{excerpt(text)} is not a duration: {why}; write it as 300ms, 10m or 1h30m")
