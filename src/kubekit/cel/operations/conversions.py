"""Conversions between types, and the text of a double."""

import math
import re
from decimal import Decimal
from typing import Any, Final

from kubekit.cel.errors import EvaluationError, NoSuchOverload
from kubekit.cel.operations.arithmetic import checked_int, checked_uint
from kubekit.cel.operations.times import (
    EARLIEST,
    LATEST,
    duration_text,
    parse_duration,
    parse_timestamp,
    timestamp_text,
)
from kubekit.cel.values import INT64, NANOS, UINT64, Duration, Timestamp, TypeValue, Uint, Value

_BOOLS: Final = {
    **dict.fromkeys(("1", "t", "T", "true", "TRUE", "True"), True),
    **dict.fromkeys(("0", "f", "F", "false", "FALSE", "False"), False),
}
_INT: Final = re.compile(r"[+-]?[0-9]{1,40}")
_UINT: Final = re.compile(r"[0-9]{1,40}")
_DOUBLE: Final = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,10})?")
_NOT_A_NUMBER: Final = re.compile(r"[+-]?(?:inf|infinity|nan)", re.IGNORECASE)
_SMALLEST_PLAIN: Final = -4  # the powers of ten for which a double is written without an exponent
_LARGEST_PLAIN: Final = 6


def to_int(value: Value) -> int:
    kind = type(value)
    if kind is int or kind is Uint:
        return checked_int(int(value))
    if kind is float:
        return _truncated(value)
    if kind is str:
        if _INT.fullmatch(value) and int(value) in INT64:
            return int(value)
        raise _failed("string", "int")
    if kind is Timestamp:
        return int(value.nanos // NANOS)
    if kind is Duration:
        return int(value.nanos)
    raise NoSuchOverload


def to_uint(value: Value) -> Uint:
    kind = type(value)
    if kind is int or kind is Uint:
        return checked_uint(int(value))
    if kind is float:
        if math.isnan(value) or value < 0 or value >= 2.0**64:
            raise EvaluationError("unsigned integer overflow")
        return checked_uint(int(value))
    if kind is str:
        if _UINT.fullmatch(value) and int(value) in UINT64:
            return Uint(value)
        raise _failed("string", "uint")
    raise NoSuchOverload


def to_double(value: Value) -> float:
    kind = type(value)
    if kind is float:
        return float(value)
    if kind is int or kind is Uint:
        return float(value)
    if kind is str:
        return _parsed_double(value)
    raise NoSuchOverload


def to_bool(value: Value) -> bool:
    if type(value) is bool:
        return value
    if type(value) is not str:
        raise NoSuchOverload
    if value not in _BOOLS:
        raise _failed("string", "bool")
    return _BOOLS[value]


def to_bytes(value: Value) -> bytes:
    if type(value) is bytes:
        return value
    if type(value) is str:
        return value.encode("utf-8", "surrogatepass")
    raise NoSuchOverload


def to_string(value: Value) -> str:
    write = _TEXTS.get(type(value))
    if write is None:
        raise NoSuchOverload
    return str(write(value))


def to_duration(value: Value) -> Duration:
    if type(value) is Duration:
        return value
    parsed = parse_duration(value) if type(value) is str else None
    if parsed is None:
        raise _failed(_source(value), "google.protobuf.Duration")
    return parsed


def to_timestamp(value: Value) -> Timestamp:
    if type(value) is Timestamp:
        return value
    if type(value) is int:
        if not EARLIEST <= value <= LATEST:
            raise EvaluationError("timestamp overflow")
        return Timestamp(value * NANOS)
    parsed = parse_timestamp(value) if type(value) is str else None
    if parsed is None:
        raise _failed(_source(value), "google.protobuf.Timestamp")
    return parsed


def double_text(value: float) -> str:
    """The shortest digits of the double, with an exponent if it is large or small."""
    if not math.isfinite(value):
        return "NaN" if math.isnan(value) else ("+Inf" if value > 0 else "-Inf")
    if value == 0:
        return "-0" if math.copysign(1, value) < 0 else "0"
    sign, digits, exponent = Decimal(repr(value)).normalize().as_tuple()
    assert isinstance(exponent, int)
    power = len(digits) + exponent - 1
    minus = "-" if sign else ""
    text = "".join(map(str, digits))
    if _SMALLEST_PLAIN <= power < _LARGEST_PLAIN:
        return f"{Decimal(repr(value)).normalize():f}"
    fraction = f".{text[1:]}" if len(text) > 1 else ""
    return f"{minus}{text[0]}{fraction}e{'-' if power < 0 else '+'}{abs(power):02d}"


def _truncated(value: float) -> int:
    if math.isnan(value) or not -(2.0**63) < value < 2.0**63:
        raise EvaluationError("integer overflow")
    return int(value)


def _parsed_double(text: str) -> float:
    if _NOT_A_NUMBER.fullmatch(text):
        return float(text)
    if _DOUBLE.fullmatch(text) and math.isfinite(value := float(text)):
        return value
    raise _failed("string", "double")


def _bytes_text(value: bytes) -> str:
    try:
        return value.decode()
    except UnicodeDecodeError as error:
        raise EvaluationError("invalid UTF-8 in bytes, cannot convert to string") from error


def _source(value: Value) -> str:
    if type(value) is str:
        return "string"
    if type(value) is int:
        return "int"
    raise NoSuchOverload


def _failed(source: str, target: str) -> EvaluationError:
    return EvaluationError(f"type conversion error from '{source}' to '{target}'")


_TEXTS: Final[dict[type, Any]] = {
    str: str,
    bool: lambda value: "true" if value else "false",
    bytes: _bytes_text,
    float: double_text,
    Duration: duration_text,
    int: str,
    Timestamp: timestamp_text,
    Uint: lambda value: str(int(value)),
    TypeValue: lambda value: value.name,
}
