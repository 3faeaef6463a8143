"""The kinds that a plane serves.

A kind has an API path and a schema. Two kinds may be views of the same objects: they share a
`storage`, one of them is the stored form, and the other converts.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Final

from kubekit import cel
from kubekit.api.errors import NotFound
from kubekit.api.fields import FieldError
from kubekit.api.resource import Resource
from kubekit.api.structural.nodes import Document, Schema
from kubekit.plane.apply.shapes import Shape, shape_of
from kubekit.plane.registry.schema.conformance import Conformance, Conformed
from kubekit.plane.store.records import Record

Prepare = Callable[[Document, Document | None], list[FieldError]]
"""The rules of a kind, for the new document and the old one. They may complete the new one in place."""

_VERSION: Final = re.compile(r"v([1-9][0-9]*)(?:(alpha|beta)([1-9][0-9]*))?", re.ASCII)
_STAGES: Final = {None: 2, "beta": 1, "alpha": 0}


@dataclass(frozen=True, slots=True)
class Conversion:
    """The conversion between a view of an object and the stored form.

    Neither function changes its argument; both may share parts of it. If the forms differ only in
    apiVersion and kind, the conversion ``relabels`` them, and the other bytes are used unchanged.
    """

    to_storage: Callable[[Document], Document]
    from_storage: Callable[[Document], Document]
    relabels: bool = False


@dataclass(frozen=True, eq=False, kw_only=True)
class Kind:
    """One kind in one version.

    ``head`` is the start of the bytes of its objects, up to and including the brace that opens the
    metadata. ``conversion`` is None for the stored form. ``custom`` distinguishes a kind of a CRD
    from a built-in one: only built-in kinds accept strategic merge patches. ``warning`` is sent to
    every client of the version. Objects of a ``virtual`` kind are created to get a response, and are
    never stored; ``virtual_subresources`` are those that are created at a subresource of an object.
    A ``terminating`` kind accepts no new objects: its definition is being deleted. ``storing`` marks
    the version in which objects are written. It has a conversion if other versions may be stored.
    """

    resource: Resource
    schema: Schema
    storage: str
    head: bytes
    custom: bool = True
    conversion: Conversion | None = None
    prepare: Prepare | None = None
    singular: str = ""
    list_kind: str = ""
    warning: str = ""
    virtual: bool = False
    virtual_subresources: Mapping[str, "Kind"] = field(default_factory=dict)
    terminating: bool = False
    storing: bool | None = None
    since: int = 0
    completions: dict[str, Record] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        if self.storing is None:
            object.__setattr__(self, "storing", self.conversion is None)
        object.__setattr__(self, "singular", self.singular or self.resource.singular)
        object.__setattr__(self, "list_kind", self.list_kind or self.resource.list_kind)

    @cached_property
    def shape(self) -> Shape:
        """The fields of its objects that managers can own."""
        return shape_of(self.resource, self.schema, custom=self.custom)

    @cached_property
    def rules(self) -> cel.Rules | None:
        """The CEL rules of its schema; None if there are none."""
        return cel.rules_of(self.schema)

    @cached_property
    def conformance(self) -> Conformance:
        return Conformance(self.schema, custom=self.custom)

    def conform(self, document: Document, old: Document | None = None) -> Conformed:
        """The document conformed to the schema, in this kind's own version. It may be modified."""
        return self.conformance.conform(document, old)

    def adopted(self, since: int) -> "Kind":
        """The same kind, for a plane whose objects up to a revision are older than its definition.

        They are served as they would be stored now; ``completions`` caches the result.
        """
        kind = replace(self, since=since, completions={})
        kind.__dict__["conformance"] = self.conformance
        return kind

    def key(self, namespace: str, name: str) -> str:
        """The key of an object of this kind in the store."""
        return f"{namespace}/{name}" if self.resource.namespaced else name

    @property
    def selectable_fields(self) -> tuple[str, ...]:
        """The paths, beyond name and namespace, that field selectors support."""
        return self.resource.selectable_fields


def head_of(resource: Resource) -> bytes:
    """The start of the bytes of an object."""
    head = f'{{"apiVersion":"{resource.api_version}","kind":"{resource.kind}","metadata":{{'
    return head.encode()


def rank_of_version(version: str) -> tuple[int, int, int, str]:
    """A sort key for versions as in Kubernetes, ascending: v1alpha1, v1beta2, v1, v2."""
    match = _VERSION.fullmatch(version)
    if match is None:
        return (-1, 0, 0, version)
    return (_STAGES[match[2]], int(match[1]), int(match[3] or 0), version)


@dataclass(frozen=True, slots=True)
class Kinds:
    """The kinds of one plane, in order. Immutable."""

    members: tuple[Kind, ...] = ()
    _by_plural: Mapping[tuple[str, str, str], Kind] = field(init=False, repr=False)
    _by_kind: Mapping[tuple[str, str], Kind] = field(init=False, repr=False)
    _by_storage: Mapping[str, Kind] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        by_plural = {_api_path(kind.resource): kind for kind in self.members}
        by_kind = {(k.resource.api_version, k.resource.kind): k for k in self.members}
        if not len(by_plural) == len(by_kind) == len(self.members):
            raise ValueError("two kinds have the same API path")
        object.__setattr__(self, "_by_plural", by_plural)
        object.__setattr__(self, "_by_kind", by_kind)
        stored = (kind for kind in reversed(self.members) if kind.storing and not kind.virtual)
        object.__setattr__(self, "_by_storage", {kind.storage: kind for kind in stored})

    def __iter__(self) -> Iterator[Kind]:
        return iter(self.members)

    def __len__(self) -> int:
        return len(self.members)

    def find(self, group: str, version: str, plural: str) -> Kind | None:
        """The kind at this API path; the core group is empty."""
        return self._by_plural.get((group, version, plural))

    def by_kind(self, api_version: str, kind: str) -> Kind | None:
        """The kind that a manifest or a reference names."""
        return self._by_kind.get((api_version, kind))

    def require(self, api_version: str, kind: str) -> Kind:
        """A kind that every plane has."""
        return self._by_kind[api_version, kind]

    def stored(self) -> Mapping[str, Kind]:
        """For each storage, the kind of the stored form."""
        return self._by_storage

    def stored_as(self, storage: str) -> Kind:
        """The kind of the stored form of this storage, while it is served."""
        kind = self._by_storage.get(storage)
        if kind is None:
            raise NotFound("the server could not find the requested resource")
        return kind

    def with_kinds(self, more: Iterable[Kind]) -> "Kinds":
        """These kinds and more; a kind with the same API path replaces the present one."""
        added = {_api_path(kind.resource): kind for kind in more}
        replaced = [added.pop(_api_path(kind.resource), kind) for kind in self.members]
        return Kinds((*replaced, *added.values()))

    def without(self, group: str, plural: str) -> "Kinds":
        """These kinds without all versions of one resource."""
        gone = (group, plural)
        return Kinds(
            tuple(k for k in self.members if (k.resource.group, k.resource.plural) != gone)
        )


def _api_path(resource: Resource) -> tuple[str, str, str]:
    return resource.group, resource.version, resource.plural
