"""A manifest as it was written: first its shape, then its meaning."""

import re
from collections.abc import Collection, Iterator, Mapping
from functools import cache
from itertools import chain, islice
from typing import Any, Final

import msgspec

from compute.api.compute import Workload
from compute.decide.validation.review import Review
from compute.decide.validation.slips import hinted
from compute.decide.validation.workload import MOST_ERRORS, validate, with_defaults
from kubekit.api import structural
from kubekit.api.fields import FieldError, Path, Problem, not_supported, required
from kubekit.api.meta import ObjectMeta
from kubekit.api.schema import schema_of

_IDENTITY: Final = {
    "apiVersion": Workload.RESOURCE.api_version,
    "kind": Workload.RESOURCE.kind,
}
# What the server alone writes, and the schema knows only in part.
_SERVER_OWNED: Final = frozenset({"managedFields", "selfLink"})
_PLACE: Final = re.compile(r"`\$\.?([^`]*)`$")


def review_document(
    document: Mapping[str, Any], *, cities: Collection[str], old: Workload | None = None
) -> Review:
    """Everything that is wrong with a manifest: what breaks the schema first, then the rest.

    Fields that the schema does not know would be dropped, which is worth a warning. Where the
    document cannot be read as a Workload only its shape is judged; where it can, a field that was
    refused for its shape is not refused once more. What the server alone writes, the status among
    it, is not judged.
    """
    if old is not None and old.deleting:
        return Review()
    strange = tuple(_check_identity(document))
    if strange:
        return Review(errors=strange)
    given = _from_the_client(document)
    shape = [hinted(error, given) for error in structural.validate(given, _schema())]
    unknown = (error.detail for error in _unknown(given))
    read = _read(given)
    if isinstance(read, FieldError):
        meaning = Review(errors=() if shape else (read,))
    else:
        meaning = validate(with_defaults(read), cities=cities, old=old)
    return Review(
        errors=tuple(islice(chain(shape, _unsaid(meaning.errors, shape)), MOST_ERRORS)),
        warnings=tuple(islice(chain(unknown, meaning.warnings), MOST_ERRORS)),
        networks=meaning.networks,
    )


def _check_identity(document: Mapping[str, Any]) -> Iterator[FieldError]:
    for name, expected in _IDENTITY.items():
        if document.get(name) is None:
            yield required(name, f"write {expected}")
        elif document[name] != expected:
            yield not_supported(name, document[name], (expected,))


def _from_the_client(document: Mapping[str, Any]) -> dict[str, Any]:
    given = {name: value for name, value in document.items() if name != "status"}
    if isinstance(metadata := document.get("metadata"), Mapping):
        given["metadata"] = {n: v for n, v in metadata.items() if n not in _SERVER_OWNED}
    return given


def _unknown(document: dict[str, Any]) -> Iterator[FieldError]:
    yield from structural.unknown_fields(document, _schema())
    if isinstance(metadata := document.get("metadata"), dict):
        schema = _schema()["properties"]["metadata"]
        yield from structural.unknown_fields(metadata, schema, Path("metadata"))


@cache
def _schema() -> structural.Schema:
    """The schema of a Workload, with that of its metadata, which a CRD may not spell out."""
    whole = schema_of(Workload, _undocumented)
    metadata = schema_of(ObjectMeta, _undocumented)
    return whole | {"properties": whole["properties"] | {"metadata": metadata}}


def _undocumented(_: type) -> Mapping[str, str]:
    return {}


def _read(document: dict[str, Any]) -> Workload | FieldError:
    """The Workload, or why there is none. Defaults are in, and nulls that mean nothing are out."""
    try:
        return msgspec.convert(structural.with_defaults(document, _schema()), Workload)
    except msgspec.ValidationError as error:
        text = str(error)
        place = _PLACE.search(text)
        path = place.group(1).removesuffix("[...]") if place else ""
        return FieldError(path, Problem.TYPE_INVALID, text.partition(" - at ")[0], "unreadable")


def _unsaid(errors: Collection[FieldError], shape: Collection[FieldError]) -> Iterator[FieldError]:
    """The errors about fields that have not been refused already; names tell list items apart."""
    said = {error.path for error in shape}
    said |= {f"{error.path}.name" for error in shape if error.problem is Problem.DUPLICATE}
    return (error for error in errors if error.path not in said)
