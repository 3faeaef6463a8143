"""Amounts of resources, such as ``500m`` or ``1Gi``."""

import re
from typing import Final

from kubekit.api.quantity import Quantity, QuantityError
from kubekit.cel.declarations import Overload, function, method
from kubekit.cel.errors import EvaluationError
from kubekit.cel.operations.opaques import Amount
from kubekit.cel.types import BOOL, DOUBLE, INT, QUANTITY, STRING
from kubekit.cel.values import NANOS

_FORM: Final = re.compile(r"[+-]?[0-9.]+[eEinumkKMGTP]*[-+]?[0-9]*")
_SCALES: Final = {
    "n": -9,
    "u": -6,
    "m": -3,
    "": 0,
    "k": 3,
    "M": 6,
    "G": 9,
    "T": 12,
    "P": 15,
    "E": 18,
}
_PARTS: Final = re.compile(r"[+-]?0*([0-9]*)(?:\.([0-9]*))?(.*)")
_BINARY: Final = "KMGTPE"
_MOST_BINARY_DIGITS: Final = 14
_MOST_DIGITS: Final = 18  # of a number that Kubernetes keeps as an integer and a scale


def parse(text: str) -> Amount:
    """The amount that the text spells. Raises `EvaluationError`."""
    try:
        return Amount(Quantity.parse(text), _scale(text))
    except QuantityError as error:
        is_formed = text.count(".") <= 1 and (_FORM.fullmatch(text) or text.startswith(("+", "-")))
        wrong = "unable to parse quantity's suffix" if is_formed else _FORM_WORDS
        raise EvaluationError(wrong) from error


_FORM_WORDS: Final = (
    "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
)


def _scale(text: str) -> int | None:
    whole, fraction, suffix = _PARTS.fullmatch(text).groups()  # type: ignore[union-attr] # a quantity
    fraction = fraction or ""
    if suffix.endswith("i"):
        power = 10 * (_BINARY.index(suffix[0]) + 1)
        is_short = not fraction and len(whole or "0") + power * 3 // 10 <= _MOST_BINARY_DIGITS
        return 0 if is_short else None
    if len(whole) + len(fraction) > _MOST_DIGITS:
        return None
    scale = _SCALES[suffix] if suffix in _SCALES else int(suffix[1:])
    return scale - len(fraction)


def _is_quantity(text: str) -> bool:
    try:
        parse(text)
    except EvaluationError:
        return False
    return True


def _of_int(number: int) -> Amount:
    return Amount(Quantity(number * NANOS), 0)


def _add(first: Amount, second: "Amount | int") -> Amount:
    other = second if isinstance(second, Amount) else _of_int(second)
    return Amount(first.quantity + other.quantity, _joined_scale(first, other))


def _sub(first: Amount, second: "Amount | int") -> Amount:
    other = second if isinstance(second, Amount) else _of_int(second)
    return Amount(first.quantity - other.quantity, _joined_scale(first, other))


def _joined_scale(first: Amount, second: Amount) -> int | None:
    if first.scale is None or second.scale is None:
        return None
    if second.quantity.nanos == 0:
        return first.scale
    return second.scale if first.quantity.nanos == 0 else min(first.scale, second.scale)


def _compare(first: Amount, second: Amount) -> int:
    return (first > second) - (first < second)


def _sign(amount: Amount) -> int:
    return (amount.quantity.nanos > 0) - (amount.quantity.nanos < 0)


def _as_integer(amount: Amount) -> int:
    if amount.integer is None:
        raise EvaluationError("cannot convert value to integer")
    return amount.integer


_TWO: Final = (QUANTITY, QUANTITY)
OVERLOADS: Final[tuple[Overload, ...]] = (
    function("quantity", "string_to_quantity", (STRING,), QUANTITY, parse),
    function("isQuantity", "is_quantity_string", (STRING,), BOOL, _is_quantity),
    function("sign", "quantity_sign", (QUANTITY,), INT, _sign),
    method("isGreaterThan", "quantity_is_greater_than", _TWO, BOOL, lambda a, b: a > b),
    method("isLessThan", "quantity_is_less_than", _TWO, BOOL, lambda a, b: a < b),
    method("compareTo", "quantity_compare_to", _TWO, INT, _compare),
    method(
        "asApproximateFloat",
        "quantity_get_float",
        (QUANTITY,),
        DOUBLE,
        lambda amount: amount.quantity.nanos / NANOS,
    ),
    method("asInteger", "quantity_get_int", (QUANTITY,), INT, _as_integer),
    method("isInteger", "quantity_is_integer", (QUANTITY,), BOOL, lambda a: a.integer is not None),
    method("add", "quantity_add", _TWO, QUANTITY, _add),
    method("add", "quantity_add_int", (QUANTITY, INT), QUANTITY, _add),
    method("sub", "quantity_sub", _TWO, QUANTITY, _sub),
    method("sub", "quantity_sub_int", (QUANTITY, INT), QUANTITY, _sub),
)
