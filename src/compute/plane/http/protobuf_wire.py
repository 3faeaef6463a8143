"""Messages of protobuf, read by tables of their fields into what JSON would hold.

Go writes a text or a number that is not set as an empty one. Those are left out again, except where
a field is optional by itself and a zero means something: such a field is ``kept``. Fields that a
table does not name are passed over.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from compute.api.errors import BadRequest

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_LENGTH: Final = 2  # the wire type of what says its length
_FIXED: Final = {1: 8, 5: 4}  # wire type -> bytes
_MORE: Final = 0x80  # the bit that says that more of a number follows
_UNSIGNED: Final = (1 << 64) - 1
_SIGN: Final = 1 << 63

Value = int | bytes


@dataclass(frozen=True, slots=True)
class Field:
    """One field: its name in JSON, how one value of it is read, and how values come together."""

    name: str
    read: Callable[[Value], Any]
    kept: bool = False
    many: bool = False
    pairs: bool = False


Message = Mapping[int, Field]


def text(name: str, *, kept: bool = False) -> Field:
    return Field(name, _text, kept)


def raw(name: str) -> Field:
    """Bytes, which JSON holds as base64."""
    return Field(name, _bytes)


def number(name: str, *, kept: bool = False) -> Field:
    return Field(name, _number, kept)


def flag(name: str) -> Field:
    return Field(name, lambda value: _number(value) != 0, kept=True)


def time(name: str) -> Field:
    return Field(name, lambda value: _time(value, "%Y-%m-%dT%H:%M:%SZ"))


def micro_time(name: str) -> Field:
    return Field(name, lambda value: _time(value, "%Y-%m-%dT%H:%M:%S.%fZ"))


def part(name: str, fields: Message) -> Field:
    """A message within a message."""
    return Field(name, lambda value: read_message(fields, _bytes(value)))


def many(name: str, each: Field) -> Field:
    return Field(name, each.read, many=True)


def texts(name: str, each: Field | None = None) -> Field:
    """A map from texts to texts, or to what ``each`` reads."""
    entry = {1: text("key"), 2: each or text("")}
    return Field(name, lambda value: read_message(entry, _bytes(value)), pairs=True)


def read_message(fields: Message, data: bytes) -> dict[str, Any]:
    """What a message says, by the names of its fields."""
    found: dict[str, Any] = {}
    for at, entry in _entries(data):
        field = fields.get(at)
        if field is None:
            continue
        value = field.read(entry)
        if field.pairs:
            found.setdefault(field.name, {})[value.get("key", "")] = value.get("", "")
        elif field.many:
            found.setdefault(field.name, []).append(value)
        elif value or field.kept:
            found[field.name] = value
    return found


def _entries(data: bytes) -> Iterator[tuple[int, Value]]:
    """The fields as they stand there: number and value."""
    at = 0
    while at < len(data):
        tag, at = _varint(data, at)
        wire_type = tag & 7
        if wire_type == 0:
            value, at = _varint(data, at)
            yield tag >> 3, value
            continue
        length, at = _varint(data, at) if wire_type == _LENGTH else (_FIXED.get(wire_type), at)
        if length is None:
            raise BadRequest(f"the body is not protobuf: there is no wire type {wire_type}")
        if length > len(data) - at:
            raise BadRequest("the body is not protobuf: it ends too early")
        yield tag >> 3, data[at : at + length]
        at += length


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = 0
    for shift in range(0, 70, 7):
        if at >= len(data):
            raise BadRequest("the body is not protobuf: it ends too early")
        value |= (data[at] & ~_MORE) << shift
        at += 1
        if data[at - 1] < _MORE:
            return value & _UNSIGNED, at
    raise BadRequest("the body is not protobuf: a number has more than ten bytes")


def _bytes(value: Value) -> bytes:
    if isinstance(value, int):
        raise BadRequest("the body does not fit its kind: a number where bytes must be")
    return value


def _text(value: Value) -> str:
    try:
        return _bytes(value).decode()
    except UnicodeDecodeError as problem:
        raise BadRequest(f"the body has a text that is not UTF-8: {problem.reason}") from problem


def _number(value: Value) -> int:
    if isinstance(value, bytes):
        raise BadRequest("the body does not fit its kind: bytes where a number must be")
    return value - 2 * _SIGN if value >= _SIGN else value


def _time(value: Value, form: str) -> str:
    """A moment, or "" for the one that Go writes when there is none."""
    said = read_message(_TIME, _bytes(value))
    if not said:
        return ""
    seconds, nanoseconds = said.get("seconds", 0), said.get("nanos", 0)
    try:
        moment = _EPOCH + timedelta(seconds=seconds, microseconds=nanoseconds // 1000)
    except OverflowError as problem:
        raise BadRequest("the body has a time that no calendar knows") from problem
    return moment.strftime(form)


_TIME: Final[Message] = {1: number("seconds"), 2: number("nanos")}
