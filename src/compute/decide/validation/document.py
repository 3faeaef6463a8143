"""The review of a manifest: first its structure, then the rules, with hints for typical mistakes."""

import json
import re
from collections.abc import Collection, Iterator, Mapping
from functools import cache
from itertools import chain, islice
from typing import Any, Final

import msgspec
from msgspec.structs import replace

from compute.api.compute import Workload
from compute.decide.validation.review import Review
from compute.decide.validation.workload import MOST_ERRORS, validate, with_defaults
from kubekit.api import digits, structural
from kubekit.api.fields import FieldError, Path, Problem, not_supported, required
from kubekit.api.meta import ObjectMeta
from kubekit.api.schema import schema_of

_IDENTITY: Final = {
    "apiVersion": Workload.RESOURCE.api_version,
    "kind": Workload.RESOURCE.kind,
}
# Written by the server alone, and only partly in the schema.
_SERVER_OWNED: Final = frozenset({"managedFields", "selfLink"})
_PATH: Final = re.compile(r"`\$\.?([^`]*)`$")

_STEP: Final = re.compile(r"[^.\[\]]+")
_WANTED: Final = re.compile(r" must be of type (\w+)")
_LONGEST: Final = 40  # characters of a value that are worth repeating


def review_document(
    document: Mapping[str, Any], *, cities: Collection[str], old: Workload | None = None
) -> Review:
    """All errors of a manifest: first those of the schema, then those of the rules.

    Unknown fields would be dropped, so they get a warning. A document that cannot be decoded as a
    Workload is only checked for its structure. A field that is refused for its structure is not refused
    again by a rule. Fields that only the server writes, such as the status, are not validated.
    """
    if old is not None and old.deleting:
        return Review()
    wrong_kind = tuple(_check_identity(document))
    if wrong_kind:
        return Review(errors=wrong_kind)
    submitted = _from_the_client(document)
    shape = [hinted(error, submitted) for error in structural.validate(submitted, _schema())]
    unknown = (error.detail for error in _unknown(submitted))
    workload = _read(submitted)
    if isinstance(workload, FieldError):
        meaning = Review(errors=() if shape else (workload,))
    else:
        meaning = validate(with_defaults(workload), cities=cities, old=old)
    return Review(
        errors=tuple(islice(chain(shape, _not_reported(meaning.errors, shape)), MOST_ERRORS)),
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
    submitted = {name: value for name, value in document.items() if name != "status"}
    if isinstance(metadata := document.get("metadata"), Mapping):
        submitted["metadata"] = {n: v for n, v in metadata.items() if n not in _SERVER_OWNED}
    return submitted


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
        match = _PATH.search(text)
        path = match.group(1).removesuffix("[...]") if match else ""
        return FieldError(path, Problem.TYPE_INVALID, text.partition(" - at ")[0], "unreadable")


def _not_reported(
    errors: Collection[FieldError], shape: Collection[FieldError]
) -> Iterator[FieldError]:
    """The errors about fields that have not been refused already; list items are keyed by name."""
    reported = {error.path for error in shape}
    reported |= {f"{error.path}.name" for error in shape if error.problem is Problem.DUPLICATE}
    return (error for error in errors if error.path not in reported)


def hinted(error: FieldError, document: Mapping[str, object]) -> FieldError:
    """The error, with a hint where a value only lacks quotes or brackets, or has too many."""
    wanted = _WANTED.search(error.detail)
    if error.problem is not Problem.TYPE_INVALID or wanted is None:
        return error
    hint = _hint(_value_at(document, error.path), wanted[1])
    return replace(error, detail=f"{error.detail}; {hint}") if hint else error


def _value_at(document: object, path: str) -> object:
    """The value at a path; None when the path cannot be followed, and there is nothing to hint."""
    for step in _STEP.findall(path):
        if isinstance(document, Mapping):
            document = document.get(step)
        elif isinstance(document, list) and digits.only(step) and int(step) < len(document):
            document = document[int(step)]
        else:
            return None
    return document


def _hint(value: object, wanted: str) -> str:
    text = json.dumps(value, ensure_ascii=False) if isinstance(value, str | int | float) else ""
    if not text or len(text) > _LONGEST:
        return ""
    if wanted == "array":
        return f"write a list: [{text}]"
    if wanted == "string":
        return f'write it in quotes: "{text}"'
    if wanted == "integer" and isinstance(value, str) and digits.only(value):
        return f"write it without quotes: {value}"
    return ""
