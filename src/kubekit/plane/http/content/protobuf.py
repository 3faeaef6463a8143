r"""Reading the protobuf that typed Kubernetes clients send for built-in kinds.

`kubectl create configmap` sends nothing else. Only reading is needed: every such client also accepts
JSON responses. An object comes in an envelope that names its kind:

    "k8s\0", then the message Unknown: 1 = TypeMeta (1 = apiVersion, 2 = kind), 2 = the object

The tables of `protobuf_kinds` map field numbers to field names.
"""

from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any, Final

from kubekit.api.errors import BadRequest, UnsupportedMediaType
from kubekit.plane.http.content.protobuf_kinds import ENVELOPE, KINDS, Field, Message

MEDIA_TYPE: Final = "application/vnd.kubernetes.protobuf"
_MAGIC: Final = b"k8s\0"
_LONGEST_VARINT: Final = 10
_SIZES: Final = {1: 8, 5: 4}  # fixed-size wire types, which no field of ours has
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_VARINT, _BYTES = 0, 2

Raw = tuple[int, int | bytes]


def read_protobuf(body: bytes) -> object:
    """The object in a body, as decoded JSON."""
    if not body.startswith(_MAGIC):
        raise BadRequest("the body is not protobuf of Kubernetes: it does not start with k8s")
    envelope = _message(body[len(_MAGIC) :], ENVELOPE)
    kind = envelope.get("typeMeta", {})
    found = KINDS.get((kind.get("apiVersion", ""), kind.get("kind", "")))
    if found is None or envelope.get("contentEncoding") or envelope.get("contentType"):
        raise UnsupportedMediaType(f"objects of this kind are not read as {MEDIA_TYPE}: use JSON")
    return kind | _message(envelope.get("raw", b""), found)


def _message(data: bytes, message: Message) -> dict[str, Any]:
    document: dict[str, Any] = {}
    for number, value in _fields(data):
        field = message.get(number)
        if field is not None:
            _put(document, field, value)
    return document


def _put(document: dict[str, Any], field: Field, value: int | bytes) -> None:
    """Add one field. An empty value is dropped, unless the field is optional."""
    if field.type == "map":
        entry = _message(_bytes(value), {1: Field("key"), 2: Field("value", field.entries)})
        document.setdefault(field.name, {})[entry.get("key", "")] = entry.get("value", "")
        return
    read = _value(field, value)
    if field.repeated:
        document.setdefault(field.name, []).append(read)
    elif read or field.optional:
        document[field.name] = read


def _value(field: Field, value: int | bytes) -> object:
    if field.type == "message":
        return _message(_bytes(value), field.message)
    return _READERS[field.type](value)


def _time(value: int | bytes, *, micro: bool = False) -> str:
    data = _bytes(value)
    parts = _message(data, {1: Field("seconds", "number"), 2: Field("nanos", "number")})
    if not data:
        return ""
    try:
        moment = _EPOCH + timedelta(
            seconds=parts.get("seconds", 0), microseconds=parts.get("nanos", 0) // 1000
        )
    except OverflowError as problem:
        raise BadRequest("the body is broken protobuf: a time is out of range") from problem
    return moment.strftime("%Y-%m-%dT%H:%M:%S" + (".%fZ" if micro else "Z"))


def _fields(data: bytes) -> Iterator[Raw]:
    """The numbered fields of a message, in order."""
    position, end = 0, len(data)
    while position < end:
        tag, position = _varint(data, position)
        number, wire_type = tag >> 3, tag & 7
        if wire_type == _VARINT:
            value, position = _varint(data, position)
            yield number, value
            continue
        if wire_type == _BYTES:
            size, position = _varint(data, position)
        elif wire_type in _SIZES:
            size = _SIZES[wire_type]
        else:
            raise BadRequest(f"the body is broken protobuf: wire type {wire_type}")
        if size > end - position:
            raise BadRequest("the body is broken protobuf: it ends within a field")
        yield number, data[position : position + size]
        position += size


def _varint(data: bytes, position: int) -> tuple[int, int]:
    value = 0
    for shift, byte in enumerate(data[position : position + _LONGEST_VARINT]):
        value |= (byte & 0x7F) << (7 * shift)
        if byte < 0x80:  # noqa: PLR2004 - the highest bit says that more follows
            return value & (2**64 - 1), position + shift + 1
    raise BadRequest("the body is broken protobuf: a number has no end")


def _number(value: int | bytes) -> int:
    if not isinstance(value, int):
        raise BadRequest("the body is broken protobuf: text where a number belongs")
    return value - 2**64 if value >= 2**63 else value


def _bytes(value: int | bytes) -> bytes:
    if not isinstance(value, bytes):
        raise BadRequest("the body is broken protobuf: a number where text belongs")
    return value


def _text(value: int | bytes) -> str:
    try:
        text = _bytes(value).decode()
    except UnicodeDecodeError as problem:
        raise BadRequest("the body is broken protobuf: a text is not UTF-8") from problem
    if "\0" in text:
        raise BadRequest("a text of the object holds a NUL")
    return text


_TEXTS: Final[Message] = {1: Field("items", repeated=True)}
_READERS: Final[Mapping[str, Callable[[int | bytes], object]]] = {
    "text": _text,
    "number": _number,
    "flag": lambda value: bool(_number(value)),
    "base64": lambda value: b64encode(_bytes(value)).decode(),
    "raw": _bytes,
    "texts": lambda value: _message(_bytes(value), _TEXTS).get("items", []),
    "time": _time,
    "microtime": partial(_time, micro=True),
}
