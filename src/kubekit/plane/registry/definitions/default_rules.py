"""Checks that the defaults in a schema are valid themselves."""

from collections.abc import Callable, Iterator
from typing import Any, Final

from msgspec.structs import replace

from kubekit.api.fields import FieldError, Path, invalid
from kubekit.api.structural import Judge, coerced, unknown_fields
from kubekit.api.structural.embedded_objects import embedded_errors
from kubekit.api.structural.nodes import EMBEDDED, OBJECT_FIELDS, Document, Schema
from kubekit.api.structural.validation import NOWHERE
from kubekit.plane.registry.schema import patterns

_Surround = Callable[[object], Document]
"""Wraps a value in an object that has only this value, at the same path."""

_JUDGE: Final = Judge(patterns.matches, most=10)
_IDENTITY: Final = {"apiVersion": "validation/v1", "kind": "Validation"}


def default_errors(schema: Schema, path: Path) -> Iterator[FieldError]:
    """The errors of each default, except in maps: defaults are not applied there."""
    yield from _errors({**schema, EMBEDDED: True}, path, _Resource(schema))


class _Resource:
    """The object that a default is part of, as seen from one path in it."""

    def __init__(
        self, schema: Schema, surround: _Surround | None = None, *, in_metadata: bool = False
    ) -> None:
        self.schema = schema
        self.surround = surround or _as_object
        self.in_metadata = in_metadata

    def member(self, name: str, *, in_metadata: bool) -> "_Resource":
        inside = self.in_metadata or in_metadata
        return _Resource(self.schema, lambda v: self.surround({name: v}), in_metadata=inside)

    def item(self) -> "_Resource":
        inside = self.in_metadata
        return _Resource(self.schema, lambda v: self.surround([v]), in_metadata=inside)


def _as_object(value: Any) -> Document:  # noqa: ANN401 - any JSON
    return {**_IDENTITY, **value}


def _errors(schema: Schema, path: Path, resource: _Resource) -> Iterator[FieldError]:
    if schema.get(EMBEDDED):
        resource = _Resource(schema)
    if schema.get("default") is not None:
        judged = _in_metadata if resource.in_metadata else _plain
        yield from judged(schema, path.child("default"), resource)
    if "items" in schema:
        yield from _errors(schema["items"], path.child("items"), resource.item())
    for name, inner in schema.get("properties", {}).items():
        is_metadata = bool(schema.get(EMBEDDED)) and name in OBJECT_FIELDS
        there = resource.member(name, in_metadata=is_metadata)
        yield from _errors(inner, path.child("properties").key(name), there)


def _plain(schema: Schema, path: Path, _resource: _Resource) -> Iterator[FieldError]:
    value, around = schema["default"], {"properties": {"at": schema}}
    whole = {"at": value}
    if unknown_fields(whole, around, Path("default"), most=1):
        yield invalid(path, value, "must not have unknown fields")
    read = coerced(whole, around)
    if read.fault is not None:
        yield _moved(read.fault, path)
        return
    wrong = [_moved(error, path) for error in embedded_errors(whole, around)]
    yield from wrong or _value_errors(schema, path)


def _in_metadata(schema: Schema, path: Path, resource: _Resource) -> Iterator[FieldError]:
    value, known = schema["default"], {**resource.schema, EMBEDDED: True}
    whole = resource.surround(value)
    read = coerced(whole, known)
    wrong = [read.fault] if read.fault else [*embedded_errors(whole, known)]
    if wrong:
        errors = ", ".join(map(str, wrong))
        errors = errors if len(wrong) == 1 else f"[{errors}]"
        yield invalid(path, value, f"must result in valid metadata: {errors}")
    else:
        yield from _value_errors(schema, path)


def _value_errors(schema: Schema, path: Path) -> Iterator[FieldError]:
    for error in _JUDGE.errors(schema["default"], schema):
        nowhere = error.path in ("", NOWHERE)
        yield replace(error, path=path if nowhere else f"{path}.{error.path}")


def _moved(error: FieldError, path: Path) -> FieldError:
    """The error of the wrapped value, with the path of the default."""
    return replace(error, path=path + error.path.removeprefix("at"))
