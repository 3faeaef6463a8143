"""Metadata of embedded objects: read into the right types, and validated. See `embedded_objects`."""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from kubekit.api import times
from kubekit.api.fields import FieldError, Path, invalid, required
from kubekit.api.selectors import label_syntax
from kubekit.api.structural.nodes import Document, showable

_JSON_TYPES: Final[Mapping[type, str]] = {
    bool: "bool",
    dict: "object",
    float: "number",
    int: "number",
    list: "array",
    str: "string",
}
_LAYOUT: Final = "2006-01-02T15:04:05Z07:00"
_KIND: Final = re.compile("(?=.{1,63}\\Z)[a-z](?:[-a-z0-9]*[a-z0-9])?")
_NAMESPACE: Final = re.compile("(?=.{1,63}\\Z)[a-z0-9](?:[-a-z0-9]*[a-z0-9])?")
_KIND_RULE: Final = (
    "may have mixed case, but should otherwise match: a DNS-1035 label must consist of lower case "
    "alphanumeric characters or '-', start with an alphabetic character, and end with an "
    "alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is "
    "'[a-z]([-a-z0-9]*[a-z0-9])?')"
)
_NAMESPACE_RULE: Final = (
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and "
    "must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used "
    "for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')"
)


class MetadataTypeError(ValueError):
    """Something in the metadata is of the wrong type."""


def read_metadata(given: object) -> tuple[Document, list[str]]:
    """The metadata without empty fields, and the names of unknown fields."""
    if given is None:
        return {}, []
    if not isinstance(given, dict):
        raise MetadataTypeError(_unfit(given, "value", "v1.ObjectMeta"))
    unknown = [name for name in given if name not in _FIELDS]
    metadata = {}
    for name, value in given.items():
        read = _FIELDS[name](f"ObjectMeta.{name}", value) if name in _FIELDS else None
        if read or (read == 0 and name == "deletionGracePeriodSeconds"):
            metadata[name] = read
    owners = given.get("ownerReferences") or ()
    for position, owner in enumerate(owners):
        there = f"ownerReferences[{position}]"
        unknown += [f"{there}.{name}" for name in owner or () if name not in _OWNER]
    return metadata, unknown


def type_errors(path: Path, resource: Document) -> Iterator[FieldError]:
    """What is wrong with the apiVersion and the kind."""
    for name in ("apiVersion", "kind"):
        if name not in resource:
            yield required(path.child(name))
        elif not isinstance(resource[name], str):
            yield invalid(path.child(name), showable(resource[name]), "must be a string")
        elif not resource[name]:
            yield invalid(path.child(name), "", "must not be empty")
        elif fault := _IDENTITY[name](resource[name]):
            yield invalid(path.child(name), resource[name], fault)


def _version_fault(version: str) -> str:
    return f"unexpected GroupVersion string: {version}" if version.count("/") > 1 else ""


def _kind_fault(kind: str) -> str:
    return "" if _KIND.fullmatch(kind.lower()) else _KIND_RULE


_IDENTITY: Final[Mapping[str, Callable[[str], str]]] = {
    "apiVersion": _version_fault,
    "kind": _kind_fault,
}


def metadata_errors(path: Path, metadata: Document) -> Iterator[FieldError]:
    """What is wrong with metadata that could be read."""
    for name in ("generateName", "name"):
        text = metadata.get(name, "")
        for fault in _segment_faults(text, is_whole=name == "name"):
            yield invalid(path.child(name), text, fault)
    namespace = metadata.get("namespace")
    if namespace and _NAMESPACE.fullmatch(namespace) is None:
        yield invalid(path.child("namespace"), namespace, _NAMESPACE_RULE)
    if metadata.get("generation", 0) < 0:
        words = "must be greater than or equal to 0"
        yield invalid(path.child("generation"), metadata["generation"], words)
    yield from _word_errors(path, metadata)
    for owner in metadata.get("ownerReferences", ()):
        yield from _owner_errors(path.child("ownerReferences"), owner)


def _word_errors(path: Path, metadata: Document) -> Iterator[FieldError]:
    labels, annotations = metadata.get("labels", {}), metadata.get("annotations", {})
    checked = (
        *(("labels", text, label_syntax.key_fault(text)) for text in labels),
        *(("labels", text, label_syntax.value_fault(text)) for text in labels.values()),
        *(("annotations", text, label_syntax.key_fault(text.lower())) for text in annotations),
        *(("finalizers", t, label_syntax.key_fault(t)) for t in metadata.get("finalizers", ())),
    )
    for name, text, fault in checked:
        if fault:
            yield invalid(path.child(name), text, fault)


def _owner_errors(path: Path, owner: Document) -> Iterator[FieldError]:
    if not owner["apiVersion"]:
        yield invalid(path.child("apiVersion"), "", "version must not be empty")
    for name in ("kind", "name", "uid"):
        if not owner[name]:
            yield invalid(path.child(name), "", "must not be empty")


def _segment_faults(text: str, *, is_whole: bool) -> Iterator[str]:
    if is_whole and text in (".", ".."):
        yield f"may not be '{text}'"
    for letter in "/%":
        if letter in text:
            yield f"may not contain '{letter}'"


def _text(location: str, value: object) -> str:
    if value is not None and not isinstance(value, str):
        raise MetadataTypeError(_unfit(value, f"struct field {location}", "string"))
    return value or ""


def _whole(location: str, value: object) -> int | None:
    if type(value) is int and -(2**63) <= value < 2**63:
        return value
    if value is None:
        return None
    shown = f" {json.dumps(value)}" if type(value) in (int, float) else ""
    raise MetadataTypeError(_unfit(value, f"struct field {location}", "int64", shown))


def _truth(location: str, value: object) -> bool | None:
    if value is not None and not isinstance(value, bool):
        raise MetadataTypeError(_unfit(value, f"struct field {location}", "bool"))
    return value


def _time(_place: str, value: object) -> str | None:
    """An instant as the wire has it: in UTC, to the second."""
    if value is None:
        return None
    if not isinstance(value, str):
        raise MetadataTypeError(_unfit(value, "value", "string"))
    try:
        return times.format_time(times.parse(value))
    except times.TimeError:
        shown = json.dumps(value, ensure_ascii=False)
        raise MetadataTypeError(
            f'parsing time {shown} as "{_LAYOUT}": it is no such time'
        ) from None


def _texts(location: str, value: object) -> dict[str, str]:
    members = _expected(location, value, dict, "map[string]string")
    return {name: _text(location, text) for name, text in members.items()}


def _names(location: str, value: object) -> list[str]:
    return [_text(location, text) for text in _expected(location, value, list, "[]string")]


def _owners(location: str, value: object) -> list[Document]:
    items = _expected(location, value, list, "[]v1.OwnerReference")
    return [_owner(location, item) for item in items]


def _owner(location: str, item: object) -> Document:
    given = _expected(location, item, dict, "v1.OwnerReference")
    inner = location.replace("ObjectMeta", "OwnerReference")
    read = {name: how(f"{inner}.{name}", given.get(name)) for name, how in _OWNER.items()}
    return {name: value for name, value in read.items() if value is not None}


def _managed(location: str, value: object) -> list[Any]:
    items: list[Any] = _expected(location, value, list, "[]v1.ManagedFieldsEntry")
    return [_expected(location, item, dict, "v1.ManagedFieldsEntry") for item in items]


def _expected(location: str, value: object, wanted: type, words: str) -> Any:  # noqa: ANN401 - JSON
    if value is not None and not isinstance(value, wanted):
        raise MetadataTypeError(_unfit(value, f"struct field {location}", words))
    return wanted() if value is None else value


def _unfit(value: object, location: str, wanted: str, shown: str = "") -> str:
    given = _JSON_TYPES[type(value)]
    return f"json: cannot unmarshal {given}{shown} into Go {location} of type {wanted}"


_Read = Callable[[str, Any], Any]
_FIELDS: Final[Mapping[str, _Read]] = {
    "name": _text,
    "generateName": _text,
    "namespace": _text,
    "selfLink": _text,
    "uid": _text,
    "resourceVersion": _text,
    "generation": _whole,
    "creationTimestamp": _time,
    "deletionTimestamp": _time,
    "deletionGracePeriodSeconds": _whole,
    "labels": _texts,
    "annotations": _texts,
    "ownerReferences": _owners,
    "finalizers": _names,
    "managedFields": _managed,
}
_OWNER: Final[Mapping[str, _Read]] = {
    "apiVersion": _text,
    "kind": _text,
    "name": _text,
    "uid": _text,
    "controller": _truth,
    "blockOwnerDeletion": _truth,
}
