"""The formats of strings that Kubernetes checks, exactly as leniently as it does.

A format that is not here is not checked, such as those of numbers and the names of 1.35. Dashes in
its name are ignored: ``date-time`` is ``datetime``. Every check takes time linear in the text.
"""

import re
from calendar import monthrange
from collections.abc import Callable, Mapping
from typing import Final

from kubekit.api.structural import addresses
from kubekit.api.structural.mail_addresses import is_email

Check = Callable[[str], bool]

_DATE: Final = re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2})")
_TIME: Final = re.compile(
    r"([0-9]{2}):([0-9]{2}):([0-9]{2})(?:.[0-9]+)?(?:z|[+-][0-9]{2}:[0-9]{2})"
)
_DURATION: Final = re.compile(
    r"[-+]?(?:0|(?:(?:[0-9]++(?:\.[0-9]*+)?|\.[0-9]++)(?:ns|us|\u00b5s|\u03bcs|ms|s|m|h))+)"
)
_SPAN: Final = re.compile(r"(?<![0-9])([0-9]++)[\t\n\f\r ]*+([A-Za-z\u00b5]+)")
_UNITS: Final = frozenset(
    [
        "ns",
        "nano",
        "us",
        "µs",
        "micro",
        "ms",
        "milli",
        "s",
        "sec",
        "m",
        "min",
        "h",
        "hr",
        "hour",
        "d",
        "day",
        "w",
        "wk",
        "week",
    ]
)
_LONG_UNITS: Final = ("nano", "micro", "milli", "sec", "min", "hour", "day", "week")
_BLANKS: Final = str.maketrans("", "", "\t\n\f\r -")
_CARD: Final = re.compile(
    r"4[0-9]{12}(?:[0-9]{3})?|5[1-5][0-9]{14}|6(?:011|5[0-9]{2})[0-9]{12}|3[47][0-9]{13}"
    r"|3(?:0[0-5]|[68][0-9])[0-9]{11}|(?:2131|1800|35[0-9]{3})[0-9]{11}"
)
_COLOUR: Final = r"[\t\n\f\r ]*(?:0|[1-9][0-9]?|1[0-9]{1,2}|2[0-4][0-9]|25[0-5])[\t\n\f\r ]*"
_LARGEST: Final = 2**63 - 1
_MONTHS: Final = 12


def check_of(name: object) -> Check | None:
    """The check of a format; None if there is none."""
    return _CHECKS.get(name.replace("-", "")) if isinstance(name, str) else None


def _shaped(pattern: str) -> Check:
    form = re.compile(pattern)
    return lambda text: form.fullmatch(text) is not None


def _is_date(text: str) -> bool:
    match = _DATE.fullmatch(text)
    if match is None:
        return False
    year, month, day = map(int, match.groups())
    return 1 <= month <= _MONTHS and 1 <= day <= monthrange(year or 2000, month)[1]


def _is_instant(text: str) -> bool:
    """A date and a time; the text after another `t` is ignored."""
    date, *rest = text.lower().split("t")
    match = _TIME.fullmatch(rest[0]) if rest and _is_date(date) else None
    return match is not None and match[1] <= "23" and match[2] <= "59" and match[3] <= "59"


def _is_duration(text: str) -> bool:
    """A duration as Go spells it, or else any number in the text with a unit of time after it."""
    wholes = re.findall(r"(?<![0-9.])[0-9]+", text)
    if _DURATION.fullmatch(text) and not any(map(_is_beyond, wholes)):
        return True
    spans = _SPAN.findall(text)
    countable = not any(_is_beyond(number) for number, _ in spans)
    return countable and any(_is_unit(unit.lower()) for _, unit in spans)


def _is_beyond(digits: str) -> bool:
    digits = digits.lstrip("0")
    return len(digits) > len(str(_LARGEST)) or int(digits or "0") > _LARGEST


def _is_unit(unit: str) -> bool:
    return unit in _UNITS or unit.startswith(_LONG_UNITS)


def _is_card(text: str) -> bool:
    digits = "".join(re.findall("[0-9]+", text))
    if _CARD.fullmatch(digits) is None:
        return False
    doubled = [sum(divmod(2 * int(digit), 10)) for digit in digits[-2::-2]]
    return (sum(map(int, digits[-1::-2])) + sum(doubled)) % 10 == 0


def _is_isbn10(text: str) -> bool:
    digits = text.translate(_BLANKS)
    if re.fullmatch("[0-9]{9}[0-9X]", digits) is None:
        return False
    values = [10 if digit == "X" else int(digit) for digit in digits]
    return sum(place * value for place, value in enumerate(values, 1)) % 11 == 0


def _is_isbn13(text: str) -> bool:
    digits = text.translate(_BLANKS)
    if re.fullmatch("[0-9]{13}", digits) is None:
        return False
    return sum(int(digit) * (1, 3)[at % 2] for at, digit in enumerate(digits)) % 10 == 0


def _is_isbn(text: str) -> bool:
    return _is_isbn10(text) or _is_isbn13(text)


def _is_base64(text: str) -> bool:
    """With its padding, and never empty."""
    whole = bool(text) and len(text) % 4 == 0
    return whole and re.fullmatch("[A-Za-z0-9+/]*={0,2}", text) is not None


def _uuid(third: str, fourth: str) -> Check:
    return _shaped(rf"(?ai)[0-9a-f]{{8}}-?[0-9a-f]{{4}}-?{third}-?{fourth}-?[0-9a-f]{{12}}")


_HEX4: Final = "[0-9a-f]{4}"
_CHECKS: Final[Mapping[str, Check]] = {
    "bsonobjectid": _shaped("[0-9a-fA-F]{24}"),
    "byte": _is_base64,
    "cidr": addresses.is_cidr,
    "creditcard": _is_card,
    "date": _is_date,
    "datetime": _is_instant,
    "duration": _is_duration,
    "email": is_email,
    "hexcolor": _shaped("#?(?:[0-9a-fA-F]{3}|[0-9a-fA-F]{6})"),
    "hostname": addresses.is_hostname,
    "ipv4": addresses.is_ipv4,
    "ipv6": addresses.is_ipv6,
    "isbn": _is_isbn,
    "isbn10": _is_isbn10,
    "isbn13": _is_isbn13,
    "mac": addresses.is_mac,
    "password": lambda _text: True,
    "rgbcolor": _shaped(rf"rgb\({_COLOUR},{_COLOUR},{_COLOUR}\)"),
    "ssn": _shaped("[0-9]{3}[- ][0-9]{2}[- ][0-9]{4}"),
    "uri": addresses.is_request_uri,
    "uuid": _uuid(_HEX4, _HEX4),
    "uuid3": _uuid("3[0-9a-f]{3}", _HEX4),
    "uuid4": _uuid("4[0-9a-f]{3}", "[89ab][0-9a-f]{3}"),
    "uuid5": _uuid("5[0-9a-f]{3}", "[89ab][0-9a-f]{3}"),
}
