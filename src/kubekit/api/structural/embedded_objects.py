"""Objects inside objects: where a schema says that a whole resource is embedded.

Such a resource has an apiVersion, a kind and metadata like any other, whatever its schema says. They
are read into the right types before validation: a document in which they cannot be read is not a
document of its kind.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from kubekit.api.fields import FieldError, Path, forbidden, invalid
from kubekit.api.structural.embedded_metadata import (
    MetadataTypeError,
    metadata_errors,
    read_metadata,
    type_errors,
)
from kubekit.api.structural.nodes import EMBEDDED, Document, Schema, showable

__all__ = ["Coerced", "coerced", "embedded_errors"]


@dataclass(slots=True)
class Coerced:
    """The document with the metadata of all embedded objects read.

    ``unknown`` are the unknown fields of such metadata, ``fault`` is the first error of reading.
    """

    document: Any
    unknown: list[FieldError] = field(default_factory=list)
    fault: FieldError | None = None


def coerced(document: Document, schema: Schema) -> Coerced:
    """The document as it is validated; the input is not changed."""
    reader = _Reader()
    result = Coerced(document)
    try:
        result.document = reader.value(Path(), document, schema)
    except _Fault as fault:
        result.fault = fault.error
    result.unknown = [forbidden(p, f'unknown field "{p}"') for p in sorted(reader.unknown)]
    return result


def embedded_errors(
    document: object,
    schema: Schema,
    path: Path = Path(),  # noqa: B008 - a path is a text
) -> Iterator[FieldError]:
    """The errors in the identity and metadata of embedded objects."""
    if isinstance(document, dict):
        if schema.get(EMBEDDED):
            yield from type_errors(path, document)
            yield from _metadata_errors(path.child("metadata"), document.get("metadata"))
        for name, inner, here in _members(document, schema, path):
            yield from embedded_errors(document[name], inner, here)
    elif isinstance(document, list) and "items" in schema:
        for position, item in enumerate(document):
            if isinstance(item, dict | list):
                yield from embedded_errors(item, schema["items"], path.at(position))


def _metadata_errors(path: Path, given: object) -> Iterator[FieldError]:
    try:
        metadata, _ = read_metadata(given)
    except MetadataTypeError as error:
        yield invalid(path, showable(given), str(error))
    else:
        yield from metadata_errors(path, metadata)


class _Fault(Exception):
    def __init__(self, error: FieldError) -> None:
        super().__init__(str(error))
        self.error = error


class _Reader:
    def __init__(self) -> None:
        self.unknown: list[str] = []

    def value(self, path: Path, value: object, schema: Schema) -> object:
        """A copy of the value with all embedded objects read."""
        if isinstance(value, dict):
            return self._object(path, value, schema)
        if isinstance(value, list) and "items" in schema:
            items = schema["items"]
            return [self.value(path.at(at), item, items) for at, item in enumerate(value)]
        return value

    def _object(self, path: Path, value: Document, schema: Schema) -> Document:
        made = self._resource(path, value) if schema.get(EMBEDDED) else dict(value)
        for name, inner, here in _members(made, schema, path):
            made[name] = self.value(here, made[name], inner)
        return made

    def _resource(self, path: Path, value: Document) -> Document:
        for name in ("apiVersion", "kind"):
            if name in value and not isinstance(value[name], str):
                raise _Fault(invalid(path.child(name), showable(value[name]), "must be a string"))
        if "metadata" not in value:
            return dict(value)
        here = path.child("metadata")
        try:
            metadata, unknown = read_metadata(value["metadata"])
        except MetadataTypeError as error:
            raise _Fault(invalid(here, showable(value["metadata"]), str(error))) from error
        self.unknown += [here.child(name) for name in unknown]
        return {**value, "metadata": metadata}


def _members(value: Document, schema: Schema, path: Path) -> Iterator[tuple[str, Schema, Path]]:
    """The members that may contain embedded objects, with their schemas and paths."""
    named, others = schema.get("properties", {}), schema.get("additionalProperties")
    for name in [name for name, given in value.items() if isinstance(given, dict | list)]:
        if name in named:
            yield name, named[name], path.child(str(name))
        elif isinstance(others, Mapping):
            yield name, others, path.key(str(name))
