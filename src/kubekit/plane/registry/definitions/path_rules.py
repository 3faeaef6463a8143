"""Checks the paths in a version of a CustomResourceDefinition.

A wrong path is reported when the definition is written, and not when an object is scaled, selected
or listed.
"""

from collections.abc import Iterator
from typing import Final

from kubekit.api.fields import FieldError, Path, Problem, duplicate, invalid, required
from kubekit.api.kinds.apiextensions import CrdColumn, CrdScale, CrdVersion, SelectableField
from kubekit.api.structural.nodes import Schema, member
from kubekit.plane.registry import json_path

_COLUMN_TYPES: Final = ("boolean", "date", "integer", "number", "string")
_COLUMN_FORMATS: Final = (
    "byte", "date", "date-time", "double", "float", "int32", "int64", "password",
)  # fmt: skip
_SELECTABLE: Final = ("boolean", "integer", "string")
_MOST_SELECTABLE: Final = 8
_OF_ALL_OBJECTS: Final = frozenset({"apiVersion", "kind", "metadata"})


def path_errors(version: CrdVersion, schema: Schema, path: Path) -> Iterator[FieldError]:
    """The errors in the paths of columns, selectable fields and the scale."""
    for position, column in enumerate(version.additional_printer_columns):
        yield from _column_errors(column, path.child("additionalPrinterColumns").at(position))
    yield from _selectable_errors(version, schema, path.child("selectableFields"))
    if version.subresources and version.subresources.scale:
        yield from _scale_errors(version.subresources.scale, path.child("subresources", "scale"))


def _column_errors(column: CrdColumn, path: Path) -> Iterator[FieldError]:
    if not column.name:
        yield required(path.child("name"))
    types = f"must be one of {','.join(_COLUMN_TYPES)}"
    if not column.type:
        yield required(path.child("type"), types)
    elif column.type not in _COLUMN_TYPES:
        yield invalid(path.child("type"), column.type, types)
    if column.format and column.format not in _COLUMN_FORMATS:
        formats = f"must be one of {','.join(_COLUMN_FORMATS)}"
        yield invalid(path.child("format"), column.format, formats)
    yield from _json_path_errors(column.json_path, path.child("jsonPath"))


def _json_path_errors(text: str, path: Path) -> Iterator[FieldError]:
    if not text:
        yield required(path)
    elif not text.startswith("."):
        yield invalid(path, text, "must be a simple json path starting with .")
    else:
        try:
            json_path.compile(text)
        except json_path.JsonPathError as error:
            yield invalid(path, text, str(error))


def _selectable_errors(version: CrdVersion, schema: Schema, path: Path) -> Iterator[FieldError]:
    fields = version.selectable_fields
    if len(fields) > _MOST_SELECTABLE:
        message = f"must have at most {_MOST_SELECTABLE} items"
        yield FieldError(path, Problem.TOO_MANY, message, len(fields))
    seen = set()
    for position, field in enumerate(fields):
        here, text = path.at(position).child("jsonPath"), field.json_path
        if not text:
            yield required(here)
        elif text in seen:
            yield duplicate(here, text)
        elif fault := _selectable_fault(field, schema):
            yield invalid(here, text, fault)
        seen.add(text)


def _selectable_fault(field: SelectableField, schema: Schema) -> str:
    """The reason why a field selector cannot use the field; empty if it can."""
    if not field.json_path.startswith("."):
        got = field.json_path.partition(".")[0]
        return f"is an invalid path: expected [ or . but got: {got}"
    if "[" in field.json_path:
        return "is an invalid path: array notation is not allowed"
    names = _names(field.json_path)
    field_schema: Schema | None = schema if names and names[0] not in _OF_ALL_OBJECTS else None
    for name in names:
        field_schema = None if field_schema is None else member(field_schema, name)
    if field_schema is None:
        return "is an invalid path: does not refer to a valid field"
    if field_schema.get("type") not in _SELECTABLE:
        return (
            "must point to a field of type string, boolean or integer. Enum string fields and "
            "strings with formats are allowed."
        )
    return ""


def _scale_errors(scale: CrdScale, path: Path) -> Iterator[FieldError]:
    for name, text, roots, allowed in (
        ("specReplicasPath", scale.spec_replicas_path, ("spec",), ".spec"),
        ("statusReplicasPath", scale.status_replicas_path, ("status",), ".status"),
        (
            "labelSelectorPath",
            scale.label_selector_path or ".status.any",
            ("spec", "status"),
            "either .spec or .status",
        ),
    ):
        here = path.child(name)
        root, *below = _names(text) or ("",)
        if not text:
            yield required(here)
        elif not text.startswith("."):
            yield invalid(here, text, "must be a simple json path starting with .")
        elif root not in roots or not below:
            yield invalid(here, text, f"should be a json path under {allowed}")


def _names(text: str) -> tuple[str, ...]:
    """The names of a path that consists of names only; empty for any other path."""
    try:
        return json_path.compile(text).fields
    except json_path.JsonPathError:
        return ()
