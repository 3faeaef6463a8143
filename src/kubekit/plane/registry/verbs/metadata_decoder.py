"""Decodes the metadata that clients send: checks the types and drops unknown fields.

As with schemas there is a fast path: `_Plain` accepts correct metadata in one step. Only metadata
that it refuses is decoded field by field.
"""

from collections.abc import Callable, Mapping
from datetime import datetime
from itertools import islice
from typing import Annotated, Any, Final, TypeVar

import msgspec

from kubekit.api import times
from kubekit.api.errors import BadRequest
from kubekit.client.transport import Document
from kubekit.plane.registry.encoding import Metadata
from kubekit.plane.registry.kinds import Kind
from kubekit.plane.registry.schema.conformance import MOST_ERRORS

_T = TypeVar("_T")
_Time = Annotated[datetime, msgspec.Meta(tz=True)]


class Received(msgspec.Struct, frozen=True):
    """The metadata that a client sent, with the right types. ``unknown`` are unknown fields."""

    metadata: Metadata
    unknown: tuple[str, ...] = ()


def receive(kind: Kind, document: Document) -> Received:
    """The metadata of a document; BadRequest names the field with a wrong type."""
    sent = document.get("metadata")
    try:
        msgspec.convert(sent, _Plain)
    except msgspec.ValidationError:
        return _Reader(kind).received(sent)
    return Received(sent)  # type: ignore[arg-type]  # what was converted is a dict


class _Owner(msgspec.Struct, forbid_unknown_fields=True, rename="camel", gc=False):
    api_version: str = ""
    kind: str = ""
    name: str = ""
    uid: str = ""
    controller: bool | None = None
    block_owner_deletion: bool | None = None


class _Plain(msgspec.Struct, forbid_unknown_fields=True, rename="camel", gc=False):
    name: str = ""
    generate_name: str = ""
    namespace: str = ""
    uid: str = ""
    resource_version: str = ""
    self_link: str = ""
    generation: int = 0
    creation_timestamp: _Time | None = None
    deletion_timestamp: _Time | None = None
    deletion_grace_period_seconds: int = 0
    labels: dict[str, str] = {}
    annotations: dict[str, str] = {}
    finalizers: list[str] = []
    owner_references: list[_Owner] = []
    managed_fields: list[dict[str, Any]] = []


class _Reader:
    """The exact path: null counts as absent, unknown fields are recorded and dropped."""

    def __init__(self, kind: Kind) -> None:
        self._kind = kind.resource
        self._unknown: list[str] = []

    def received(self, sent: object) -> Received:
        metadata = {} if sent is None else self._object("metadata", sent, _FIELDS)
        return Received(metadata, tuple(self._unknown))

    def _object(self, path: str, value: object, known: Mapping[str, "_Read"]) -> Metadata:
        members = self._expect(path, value, dict, "an object")
        unknown = (f"{path}.{name}" for name in members if name not in known)
        self._unknown += islice(unknown, MOST_ERRORS - len(self._unknown))
        return {
            name: known[name](self, f"{path}.{name}", inner)
            for name, inner in members.items()
            if name in known and inner is not None
        }

    def string(self, path: str, value: object) -> str:
        return self._expect(path, value, str, "a string")

    def integer(self, path: str, value: object) -> int:
        if isinstance(value, bool):
            raise self._wrong(path, "a number")
        return self._expect(path, value, int, "a number")

    def boolean(self, path: str, value: object) -> bool:
        return self._expect(path, value, bool, "true or false")

    def time(self, path: str, value: object) -> str:
        text = self.string(path, value)
        try:
            times.parse(text)
        except times.TimeError as error:
            raise self._wrong(path, "a time such as 2024-05-01T12:00:00Z") from error
        return text

    def strings(self, path: str, value: object) -> dict[str, str]:
        members = self._expect(path, value, dict, "an object of strings")
        return {k: "" if v is None else self.string(f"{path}.{k}", v) for k, v in members.items()}

    def names(self, path: str, value: object) -> list[str]:
        items = self._expect(path, value, list, "a list of strings")
        return [self.string(f"{path}[{at}]", item) for at, item in enumerate(items)]

    def owners(self, path: str, value: object) -> list[Metadata]:
        items = self._expect(path, value, list, "a list of owner references")
        return [self._object(f"{path}[{at}]", item, _OWNER) for at, item in enumerate(items)]

    def entries(self, path: str, value: object) -> list[object]:
        items = self._expect(path, value, list, "a list of objects")
        for at, item in enumerate(items):
            self._expect(f"{path}[{at}]", item, dict, "an object")
        return items

    def _expect(self, path: str, value: object, wanted: type[_T], expected: str) -> _T:
        if not isinstance(value, wanted):
            raise self._wrong(path, expected)
        return value

    def _wrong(self, path: str, expected: str) -> BadRequest:
        kind = self._kind.kind
        return BadRequest(
            f'{kind} in version "{self._kind.version}" cannot be handled as a {kind}: '
            f"{path} must be {expected}"
        )


_Read = Callable[[_Reader, str, object], Any]
_FIELDS: Final[Mapping[str, _Read]] = {
    "name": _Reader.string,
    "generateName": _Reader.string,
    "namespace": _Reader.string,
    "uid": _Reader.string,
    "resourceVersion": _Reader.string,
    "selfLink": _Reader.string,
    "generation": _Reader.integer,
    "creationTimestamp": _Reader.time,
    "deletionTimestamp": _Reader.time,
    "deletionGracePeriodSeconds": _Reader.integer,
    "labels": _Reader.strings,
    "annotations": _Reader.strings,
    "finalizers": _Reader.names,
    "ownerReferences": _Reader.owners,
    "managedFields": _Reader.entries,
}
_OWNER: Final[Mapping[str, _Read]] = {
    "apiVersion": _Reader.string,
    "kind": _Reader.string,
    "name": _Reader.string,
    "uid": _Reader.string,
    "controller": _Reader.boolean,
    "blockOwnerDeletion": _Reader.boolean,
}
