"""Objects as rows of text, for clients that only print: meta.k8s.io Table.

The columns of a kind are those of its definition, after the name; built-in kinds have their own
(`builtin_columns`). Wide columns are always sent, and the client omits them by priority.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Final, Literal

import msgspec

from kubekit.api.resource import AGE, Column, Resource
from kubekit.client.transport import Document
from kubekit.plane.registry import json_path
from kubekit.plane.registry.printing import ages, builtin_columns
from kubekit.plane.registry.printing.builtin_columns import Cell, Printed, definition

Version = Literal["v1", "v1beta1"]

_LARGEST: Final = 2**63  # the limit of integers on the wire


@dataclass(frozen=True, slots=True, kw_only=True)
class TableFormat:
    """The requested Table version, and how much of its object each row includes."""

    version: Version = "v1"
    include: Literal["None", "Metadata", "Object"] = "Metadata"


def columns(resource: Resource) -> list[Document]:
    """The column definitions."""
    return [column.definition for column in _printed(resource)]


def table(
    resource: Resource,
    served: Iterable[bytes],
    metadata: Document,
    form: TableFormat,
    now: datetime,
) -> bytes:
    """The objects, as they are served (`Record.data`), in one Table.

    ``metadata`` is that of the list: resourceVersion, continue, remainingItemCount.
    """
    printed = _printed(resource)
    rows = [_row(printed, data, form, now) for data in served]
    return msgspec.json.encode(_document(form.version, metadata, columns(resource), rows))


def row(
    resource: Resource, served: bytes, form: TableFormat, now: datetime, *, first: bool
) -> bytes:
    """One object as a Table of one row, for a watch or a get.

    Only the first Table of a watch has column definitions. A bookmark has a row as well, which
    includes its metadata whatever the client requested: the caller sets that in ``form``.
    """
    printed = _printed(resource)
    version = msgspec.json.decode(served, type=_Versioned).metadata.resource_version
    definitions = columns(resource) if first else None
    rows = [_row(printed, served, form, now)]
    return msgspec.json.encode(
        _document(form.version, {"resourceVersion": version}, definitions, rows)
    )


def partial(served: bytes, version: Version = "v1") -> bytes:
    """The object reduced to its metadata: a PartialObjectMetadata."""
    return msgspec.json.encode(
        _partial(msgspec.json.decode(served, type=_Headed).metadata, version)
    )


class _Headed(msgspec.Struct):
    metadata: msgspec.Raw


class _Version(msgspec.Struct):
    resource_version: str = msgspec.field(name="resourceVersion", default="")


class _Versioned(msgspec.Struct):
    metadata: _Version


def _document(
    version: Version, metadata: Document, definitions: list[Document] | None, rows: list[Document]
) -> Document:
    return {
        "kind": "Table",
        "apiVersion": f"meta.k8s.io/{version}",
        "metadata": metadata,
        "columnDefinitions": definitions,
        "rows": rows,
    }


def _row(
    printed: tuple[Printed, ...], served: bytes, form: TableFormat, now: datetime
) -> dict[str, object]:
    document = msgspec.json.decode(served)
    cells = [column.cell(document, now) for column in printed]
    return {"cells": cells, "object": _included(document, served, form)}


def _included(document: Document, served: bytes, form: TableFormat) -> object:
    """The part of its object that a row includes."""
    if form.include == "Object":
        return msgspec.Raw(served)
    return _partial(document["metadata"], form.version) if form.include == "Metadata" else None


def _partial(metadata: object, version: Version) -> dict[str, object]:
    return {
        "kind": "PartialObjectMetadata",
        "apiVersion": f"meta.k8s.io/{version}",
        "metadata": metadata,
    }


def _printed(resource: Resource) -> tuple[Printed, ...]:
    return builtin_columns.find(resource) or _custom(resource.columns)


@lru_cache(maxsize=1024)
def _custom(given: tuple[Column, ...]) -> tuple[Printed, ...]:
    return builtin_columns.NAME, *(_column(column) for column in given or (AGE,))


def _column(column: Column) -> Printed:
    described = f"Taken from {column.path} of the object."
    return Printed(
        definition(column.name, described, type_=column.type, wide=column.wide),
        _cell(column),
    )


def _cell(column: Column) -> Cell:
    """The function that finds the column's value in an object. A missing value is not shown."""
    path = json_path.compile(column.path)
    shown = _SHOWN.get(column.type, _text)

    def cell(document: Document, now: datetime) -> object:
        values = path.values(document)
        return shown(values[0], now) if values else None

    return cell


def _text(value: object, _: datetime) -> object:
    match value:
        case str():
            return value
        case None:
            return "<no value>"
        case float() if value.is_integer() and abs(value) < _LARGEST:
            return f"{value:.0f}"
    return msgspec.json.encode(value, order="sorted").decode()


def _integer(value: object, _: datetime) -> object:
    number = _number(value, _)
    return None if number is None or abs(number) >= _LARGEST else int(number)


def _number(value: object, _: datetime) -> int | float | None:
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def _boolean(value: object, _: datetime) -> object:
    return value if isinstance(value, bool) else None


def _date(value: object, now: datetime) -> object:
    return ages.since(value, now) if isinstance(value, str) else None


_SHOWN = {"integer": _integer, "number": _number, "boolean": _boolean, "date": _date}
