"""The in-memory entries of definitions: spec, status, accepted names and served kinds."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any, Final
from weakref import WeakValueDictionary

import msgspec

from kubekit.api.finalizers import CLEANUP
from kubekit.api.kinds.apiextensions import CrdNames, CustomResourceDefinitionSpec
from kubekit.plane.registry.definitions import approval, served_kinds, statuses
from kubekit.plane.registry.definitions.definition_kind import storage_version
from kubekit.plane.registry.definitions.naming import NamingResult
from kubekit.plane.registry.definitions.statuses import StatusInputs
from kubekit.plane.registry.kinds import Kind
from kubekit.plane.store.records import Record


class _Meta(msgspec.Struct, frozen=True, rename="camel"):
    name: str
    uid: str = ""
    resource_version: str = ""
    creation_timestamp: str = ""
    deletion_timestamp: str = ""
    finalizers: tuple[str, ...] = ()
    annotations: dict[str, str] = {}


class _Document(msgspec.Struct, frozen=True):
    metadata: _Meta
    spec: msgspec.Raw
    status: dict[str, Any] = {}


class ParsedSpec:
    """A decoded spec, and the kinds built from it."""

    __slots__ = ("__weakref__", "_by_names", "spec")

    def __init__(self, spec: CustomResourceDefinitionSpec) -> None:
        self.spec = spec
        self._by_names: dict[object, tuple[Kind, ...]] = {}

    def kinds(
        self, names: CrdNames, annotations: Mapping[str, str], *, terminating: bool
    ) -> tuple[Kind, ...]:
        """The kinds with these names; equal arguments return the identical kinds."""
        key = (names, frozenset(annotations.items()), terminating)
        kinds = self._by_names.get(key)
        if kinds is None:
            served = served_kinds.served_kinds(
                self.spec, names, dict(annotations), terminating=terminating
            )
            kinds = tuple(served)
            self._by_names = {key: kinds}  # one entry only: former names rarely return
        return kinds


@dataclass(frozen=True, slots=True)
class StoredDefinition:
    """One stored definition. ``status`` is its stored status."""

    name: str
    uid: str
    version: str
    created: str
    finalizers: tuple[str, ...]
    annotations: Mapping[str, str]
    terminating: bool
    status: Mapping[str, Any]
    parsed: ParsedSpec
    judged: NamingResult
    kinds: tuple[Kind, ...] = ()

    @property
    def spec(self) -> CustomResourceDefinitionSpec:
        return self.parsed.spec

    @property
    def storage(self) -> str:
        """The storage of its objects."""
        return f"{self.spec.group}/{self.spec.names.plural}"

    @property
    def held(self) -> bool:
        """Whether it waits for its objects to be deleted."""
        return self.terminating and CLEANUP in self.finalizers

    @property
    def facts(self) -> StatusInputs:
        """The inputs of its status."""
        return facts(self.spec, self.judged, self.annotations, terminating=self.terminating)

    def served(self, judged: NamingResult) -> "StoredDefinition":
        """The definition with its resolved names, and the kinds that it serves with them."""
        kinds: tuple[Kind, ...] = ()
        if statuses.is_served(self.status, judged):
            names = served_kinds.completed(judged.accepted)
            kinds = self.parsed.kinds(names, self.annotations, terminating=self.terminating)
        return replace(self, judged=judged, kinds=kinds)


def facts(
    spec: CustomResourceDefinitionSpec,
    judged: NamingResult,
    annotations: Mapping[str, str],
    *,
    terminating: bool,
) -> StatusInputs:
    """The inputs of the status of a definition."""
    approved = approval.condition(spec.group, annotations)
    more = () if approved is None else (approved,)
    return StatusInputs(judged, storage_version(spec), more, terminating)


def entry_of(record: Record) -> StoredDefinition:
    """The definition in a record, with the accepted names of its status, and no kinds yet."""
    document = _decoder.decode(record.data)
    metadata = document.metadata
    return StoredDefinition(
        name=metadata.name,
        uid=metadata.uid,
        version=metadata.resource_version,
        created=metadata.creation_timestamp,
        finalizers=metadata.finalizers,
        annotations=metadata.annotations,
        terminating=bool(metadata.deletion_timestamp),
        status=document.status,
        parsed=_parsed(bytes(document.spec)),
        judged=NamingResult(statuses.accepted_names(document.status)),
    )


_decoder: Final = msgspec.json.Decoder(_Document)
_spec_decoder: Final = msgspec.json.Decoder(CustomResourceDefinitionSpec)
# Planes of one process share the parsed specs of equal definitions. Unused ones are dropped.
_known: Final[WeakValueDictionary[bytes, ParsedSpec]] = WeakValueDictionary()


def _parsed(spec: bytes) -> ParsedSpec:
    digest = sha256(spec).digest()
    parsed = _known.get(digest)
    if parsed is None:
        parsed = _known[digest] = ParsedSpec(_spec_decoder.decode(spec))
    return parsed
