"""Whether the paths in a version of a CustomResourceDefinition lead somewhere.

They are read here once, so that whoever wrote one wrongly hears of it when the definition is
loaded, and not when somebody scales, selects or lists.
"""

from collections.abc import Iterator
from typing import Final

from compute.api.apiextensions import CrdScale, CrdVersion
from compute.api.fields import FieldError, Path, duplicate, invalid, not_supported, required
from compute.api.structural_nodes import Schema, member
from compute.plane.registry import jsonpath

_COLUMN_TYPES: Final = ("boolean", "date", "integer", "number", "string")
_SELECTABLE: Final = ("boolean", "integer", "string")


def path_errors(version: CrdVersion, schema: Schema, path: Path) -> Iterator[FieldError]:
    """What is wrong with the paths of columns, selectable fields and the scale."""
    yield from _column_errors(version, path.child("additionalPrinterColumns"))
    yield from _selectable_errors(version, schema, path.child("selectableFields"))
    if version.subresources and version.subresources.scale:
        yield from _scale_errors(version.subresources.scale, path.child("subresources", "scale"))


def _column_errors(version: CrdVersion, path: Path) -> Iterator[FieldError]:
    for position, column in enumerate(version.additional_printer_columns):
        here = path.at(position)
        if not column.name:
            yield required(here.child("name"))
        if column.type not in _COLUMN_TYPES:
            yield not_supported(here.child("type"), column.type, _COLUMN_TYPES)
        try:
            jsonpath.compile(column.json_path)
        except jsonpath.JsonPathError as error:
            yield invalid(here.child("jsonPath"), column.json_path, str(error))


def _selectable_errors(version: CrdVersion, schema: Schema, path: Path) -> Iterator[FieldError]:
    seen = set()
    for position, field in enumerate(version.selectable_fields):
        here, text = path.at(position).child("jsonPath"), field.json_path
        found: Schema | None = schema
        for name in _names(text):
            found = None if found is None else member(found, name)
        if text in seen:
            yield duplicate(here, text)
        elif found is None or found.get("type") not in _SELECTABLE:
            words = "must lead to a field whose type is " + ", ".join(_SELECTABLE)
            yield invalid(here, text, words)
        seen.add(text)


def _scale_errors(scale: CrdScale, path: Path) -> Iterator[FieldError]:
    for name, text, roots in (
        ("specReplicasPath", scale.spec_replicas_path, ("spec",)),
        ("statusReplicasPath", scale.status_replicas_path, ("status",)),
        ("labelSelectorPath", scale.label_selector_path or ".status.any", ("spec", "status")),
    ):
        root, *below = _names(text) or ("",)
        if root not in roots or not below:
            words = " or ".join(f".{name}" for name in roots)
            yield invalid(path.child(name), text, f"must name one field under {words}")


def _names(text: str) -> tuple[str, ...]:
    """The names of a path that has nothing else; none if it is no such path."""
    try:
        return jsonpath.compile(text).fields
    except jsonpath.JsonPathError:
        return ()
