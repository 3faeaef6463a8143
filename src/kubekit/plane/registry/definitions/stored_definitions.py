"""Definitions as a plane remembers them: what each asks for, what it has, which kinds come of it."""

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
    """What a spec is read as, and the kinds that come of it."""

    __slots__ = ("__weakref__", "_by_names", "spec")

    def __init__(self, spec: CustomResourceDefinitionSpec) -> None:
        self.spec = spec
        self._by_names: dict[object, tuple[Kind, ...]] = {}

    def kinds(
        self, names: CrdNames, annotations: Mapping[str, str], *, closing: bool
    ) -> tuple[Kind, ...]:
        """The kinds under these names, the same ones whenever the same is asked for."""
        key = (names, frozenset(annotations.items()), closing)
        found = self._by_names.get(key)
        if found is None:
            made = served_kinds.served_kinds(self.spec, names, dict(annotations), closing=closing)
            found = tuple(made)
            self._by_names = {key: found}  # no more than one: what is past does not come back
        return found


@dataclass(frozen=True, slots=True)
class StoredDefinition:
    """One definition that is stored. ``status`` is what it says of itself."""

    name: str
    uid: str
    version: str
    born: str
    finalizers: tuple[str, ...]
    annotations: Mapping[str, str]
    terminating: bool
    status: Mapping[str, Any]
    made: ParsedSpec
    judged: NamingResult
    kinds: tuple[Kind, ...] = ()

    @property
    def spec(self) -> CustomResourceDefinitionSpec:
        return self.made.spec

    @property
    def storage(self) -> str:
        """Where its objects are stored."""
        return f"{self.spec.group}/{self.spec.names.plural}"

    @property
    def held(self) -> bool:
        """Whether it waits for its objects to go."""
        return self.terminating and CLEANUP in self.finalizers

    @property
    def facts(self) -> StatusInputs:
        """What its status has to say."""
        return facts(self.spec, self.judged, self.annotations, terminating=self.terminating)

    def served(self, judged: NamingResult) -> "StoredDefinition":
        """The definition once its names are judged, with the kinds that it serves by them."""
        kinds: tuple[Kind, ...] = ()
        if statuses.is_served(self.status, judged):
            names = served_kinds.completed(judged.accepted)
            kinds = self.made.kinds(names, self.annotations, closing=self.terminating)
        return replace(self, judged=judged, kinds=kinds)


def facts(
    spec: CustomResourceDefinitionSpec,
    judged: NamingResult,
    annotations: Mapping[str, str],
    *,
    terminating: bool,
) -> StatusInputs:
    """What the status of a definition has to say."""
    approved = approval.condition(spec.group, annotations)
    more = () if approved is None else (approved,)
    return StatusInputs(judged, storage_version(spec), more, terminating)


def entry_of(record: Record) -> StoredDefinition:
    """The definition in a record, with the names that its status says it has, and no kinds yet."""
    document = _decoder.decode(record.data)
    metadata = document.metadata
    return StoredDefinition(
        name=metadata.name,
        uid=metadata.uid,
        version=metadata.resource_version,
        born=metadata.creation_timestamp,
        finalizers=metadata.finalizers,
        annotations=metadata.annotations,
        terminating=bool(metadata.deletion_timestamp),
        status=document.status,
        made=_made(bytes(document.spec)),
        judged=NamingResult(statuses.accepted_names(document.status)),
    )


_decoder: Final = msgspec.json.Decoder(_Document)
_spec_decoder: Final = msgspec.json.Decoder(CustomResourceDefinitionSpec)
# Planes of one process share what the same definitions come to, for as long as one needs it.
_known: Final[WeakValueDictionary[bytes, ParsedSpec]] = WeakValueDictionary()


def _made(spec: bytes) -> ParsedSpec:
    digest = sha256(spec).digest()
    made = _known.get(digest)
    if made is None:
        made = _known[digest] = ParsedSpec(_spec_decoder.decode(spec))
    return made
