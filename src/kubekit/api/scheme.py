"""The registry of kinds: from an apiVersion and a kind, or a plural, to the class that reads them.

Reading is lenient, as described in `wire`. The remaining errors name the object and the field, so that
a user finds them in a file. Writing is `encode`.
"""

from collections.abc import Mapping
from difflib import SequenceMatcher
from functools import cache
from typing import Any, Final, TypeVar

import msgspec

from kubekit.api.excerpt import excerpt
from kubekit.api.meta import Object
from kubekit.api.status import Status
from kubekit.api.table import Table
from kubekit.api.wire import Wire

T = TypeVar("T", bound=Object | Status | Table)
W = TypeVar("W", bound=Wire)
_Key = TypeVar("_Key", tuple[str, str], tuple[str, str, str])

_BY_KIND: Final[dict[tuple[str, str], type[Object]]] = {}
_BY_PLURAL: Final[dict[tuple[str, str, str], type[Object]]] = {}
_COMPARED: Final = 80  # characters; comparing takes the square of the length
_LONGEST: Final = 200  # characters of an explanation, which may quote the document
_MISSING: Final = "Object missing required field "
_UNREADABLE: Final = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
_ENCODER: Final = msgspec.json.Encoder()


class UnknownKind(ValueError):
    """No class reads this apiVersion and kind."""

    def __init__(self, api_version: str, kind: str) -> None:
        nearest = _nearest(api_version, kind).RESOURCE
        super().__init__(
            f"there is no kind {excerpt(kind)} in apiVersion {excerpt(api_version)}; "
            f"the nearest is {nearest.kind} in {nearest.api_version}"
        )
        self.api_version = api_version
        self.kind = kind


class DecodeError(ValueError):
    """A document that its class cannot read. ``path`` is the field; empty for the whole."""

    def __init__(self, subject: str, path: str, why: str) -> None:
        super().__init__(": ".join(filter(None, (subject, path, why))))
        self.path = path
        self.why = why


class _Head(Wire, frozen=True, kw_only=True):
    api_version: str
    kind: str


def register(*kinds: type[Object]) -> None:
    """Add kinds to the registry. Two classes for one kind, or for one plural, are an error."""
    for kind in kinds:
        resource = kind.RESOURCE
        by_kind = resource.api_version, resource.kind
        by_plural = resource.group, resource.version, resource.plural
        _check_free(_BY_KIND, by_kind, kind)
        _check_free(_BY_PLURAL, by_plural, kind)
        _BY_KIND[by_kind] = _BY_PLURAL[by_plural] = kind


def kinds() -> tuple[type[Object], ...]:
    """Every registered kind, in the order of registration."""
    return tuple(_BY_KIND.values())


def lookup(api_version: str, kind: str) -> type[Object] | None:
    """The class of a kind, such as ``v1`` and ``Secret``; None if there is none."""
    return _BY_KIND.get((api_version, kind))


def by_plural(group: str, version: str, plural: str) -> type[Object] | None:
    """The class of a kind by its names in a URL; the core group is empty."""
    return _BY_PLURAL.get((group, version, plural))


def decode(document: bytes | Mapping[str, Any]) -> Object:
    """The object in a document of any known kind, as JSON or already parsed."""
    head = _decoded(_Head, document, "document")
    kind = lookup(head.api_version, head.kind)
    if kind is None:
        raise UnknownKind(head.api_version, head.kind)
    return decode_as(kind, document)


def decode_as(kind: type[T], document: bytes | Mapping[str, Any]) -> T:
    """The object in a document that is known to be of this kind.

    The items of a list have no apiVersion and kind if the kind is built-in.
    """
    return _decoded(kind, document, kind.RESOURCE.kind)


def decode_wire(shape: type[W], document: bytes | Mapping[str, Any]) -> W:
    """The value of a type that is not a kind, such as the envelope of an admission review."""
    return _decoded(shape, document, shape.__name__)


def encode(obj: Wire) -> bytes:
    """The object as JSON."""
    return _ENCODER.encode(obj)


@cache
def _decoder(shape: type[W]) -> msgspec.json.Decoder[W]:
    return msgspec.json.Decoder(shape)


def _decoded(shape: type[W], document: bytes | Mapping[str, Any], subject: str) -> W:
    try:
        if isinstance(document, bytes):
            decoder: msgspec.json.Decoder[W] = _decoder(shape)
            return decoder.decode(document)
        return msgspec.convert(document, type=shape)
    except _UNREADABLE:
        return _decoded_without_nulls(shape, document, subject)


def _decoded_without_nulls(shape: type[W], document: bytes | Mapping[str, Any], subject: str) -> W:
    """The value in a document that could not be read as it stands.

    Go writes null for an empty list or map and for an unset time; it means absent.
    """
    parsed: object = None
    try:
        parsed = msgspec.json.decode(document) if isinstance(document, bytes) else document
        return msgspec.convert(_without_nulls(parsed), type=shape)
    except _UNREADABLE as error:
        path, why = _explained(error)
        raise DecodeError(f"{subject}{_name_in(parsed)}", path, why) from error


def _without_nulls(value: object) -> object:
    match value:
        case Mapping():
            return {key: _without_nulls(v) for key, v in value.items() if v is not None}
        case list():
            return [_without_nulls(item) for item in value]
        case _:
            return value


def _name_in(document: object) -> str:
    match document:
        case {"metadata": {"name": str(name)}}:
            return f" {excerpt(name)}"
        case _:
            return ""


def _explained(error: Exception) -> tuple[str, str]:
    """The field that is wrong, and what is wrong with it."""
    match error:
        case msgspec.ValidationError():
            return _located(str(error))
        case RecursionError():
            return "", "it is nested too deeply"
        case _:
            return "", f"it is not JSON: {error}"


def _located(text: str) -> tuple[str, str]:
    """The path as users write it, ``spec.x[0].y`` where msgspec says ``$.spec.x[0].y``."""
    why, _, where = text.rpartition(" - at `") if " - at `" in text else (text, "", "")
    path = where.rpartition("$")[2].strip(".`")
    why = why.replace("`", "")
    field = why.removeprefix(_MISSING)
    if field != why:
        return f"{path}.{field}".lstrip("."), "it is required"
    role = "a key: " if where.startswith("key") else ""
    return path, f"{role}{why[:1].lower()}{why[1:_LONGEST]}"


def _check_free(registry: dict[_Key, type[Object]], key: _Key, kind: type[Object]) -> None:
    owner = registry.get(key, kind)
    if owner is not kind:
        raise ValueError(f"{'/'.join(filter(None, key))} is registered by {owner.__name__}")


def _nearest(api_version: str, kind: str) -> type[Object]:
    """The known kind with the most similar name; of several, the most similar apiVersion."""

    def likeness(known: type[Object]) -> tuple[float, float]:
        resource = known.RESOURCE
        return _alike(kind, resource.kind), _alike(api_version, resource.api_version)

    return max(kinds(), key=likeness)


def _alike(wanted: str, known: str) -> float:
    return SequenceMatcher(None, wanted[:_COMPARED].lower(), known.lower()).ratio()
