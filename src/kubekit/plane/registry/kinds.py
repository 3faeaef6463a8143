"""The kinds that a plane serves, as its registry sees them.

A kind is a place in the API, a schema, and what follows from both. Two kinds may be views of the
same objects: they share a `storage`, one of them is the form that is stored, and the other converts.
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
"""A kind's own rules. They may complete the document in place; the second one is what it replaces."""

_VERSION: Final = re.compile(r"v([1-9][0-9]*)(?:(alpha|beta)([1-9][0-9]*))?", re.ASCII)
_STAGES: Final = {None: 2, "beta": 1, "alpha": 0}


@dataclass(frozen=True, slots=True)
class Conversion:
    """The way between a view of an object and the form that is stored.

    Neither function changes the document it is given; both may share parts of it. Where forms
    differ in nothing but what the documents say they are, the way only ``relabels`` them, and the
    bytes can be used as they are behind that.
    """

    to_storage: Callable[[Document], Document]
    from_storage: Callable[[Document], Document]
    relabels: bool = False


@dataclass(frozen=True, eq=False, kw_only=True)
class Kind:
    """One kind in one version.

    ``head`` is how the bytes of its objects begin, up to and including the brace that opens the
    metadata. ``conversion`` is None for the form that is stored. ``custom`` tells a kind of a CRD
    from a built-in one: only the latter take strategic merge patches. ``warning`` is for everybody
    who uses the version. What is ``virtual`` is asked by creating it, and never stored; ``questions``
    are the virtual kinds that can be asked about one object, each at the subresource of its name.
    Of a kind that is ``closing`` nothing new is taken: its definition is about to go. ``storing`` is
    the form in which objects are written; it has a conversion where older ones may be stored.
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
    questions: Mapping[str, "Kind"] = field(default_factory=dict)
    closing: bool = False
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
        """Which fields its objects have that somebody can own."""
        return shape_of(self.resource, self.schema, custom=self.custom)

    @cached_property
    def rules(self) -> cel.Rules | None:
        """What its schema says in expressions; None if it says nothing so."""
        return cel.rules_of(self.schema)

    @cached_property
    def conformance(self) -> Conformance:
        return Conformance(self.schema, custom=self.custom)

    def conform(self, document: Document, old: Document | None = None) -> Conformed:
        """The document as the schema wants it, in this kind's own version; it is taken over."""
        return self.conformance.conform(document, old)

    def adopted(self, since: int) -> "Kind":
        """The same kind in a plane that has objects from before it was so, up to a revision.

        These are shown as they would be stored now; ``completions`` remembers how.
        """
        kind = replace(self, since=since, completions={})
        kind.__dict__["conformance"] = self.conformance
        return kind

    def key(self, namespace: str, name: str) -> str:
        """Where the store keeps an object of this kind."""
        return f"{namespace}/{name}" if self.resource.namespaced else name

    @property
    def selectable_fields(self) -> tuple[str, ...]:
        """The paths, beyond name and namespace, that lists may be narrowed by."""
        return self.resource.selectable_fields


def head_of(resource: Resource) -> bytes:
    """How the bytes of an object begin."""
    head = f'{{"apiVersion":"{resource.api_version}","kind":"{resource.kind}","metadata":{{'
    return head.encode()


def rank_of_version(version: str) -> tuple[int, int, int, str]:
    """What sorts versions as Kubernetes does, the preferred one last: v1alpha1, v1beta2, v1, v2."""
    found = _VERSION.fullmatch(version)
    if found is None:
        return (-1, 0, 0, version)
    return (_STAGES[found[2]], int(found[1]), int(found[3] or 0), version)


@dataclass(frozen=True, slots=True)
class Kinds:
    """The kinds of one plane, in the order they were given. It does not change: make another."""

    members: tuple[Kind, ...] = ()
    _by_plural: Mapping[tuple[str, str, str], Kind] = field(init=False, repr=False)
    _by_kind: Mapping[tuple[str, str], Kind] = field(init=False, repr=False)
    _by_storage: Mapping[str, Kind] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        by_plural = {_place(kind.resource): kind for kind in self.members}
        by_kind = {(k.resource.api_version, k.resource.kind): k for k in self.members}
        if not len(by_plural) == len(by_kind) == len(self.members):
            raise ValueError("two kinds have the same place in the API")
        object.__setattr__(self, "_by_plural", by_plural)
        object.__setattr__(self, "_by_kind", by_kind)
        kept = (kind for kind in reversed(self.members) if not kind.virtual)
        stored = (kind for kind in kept if kind.storing)
        object.__setattr__(self, "_by_storage", {kind.storage: kind for kind in stored})

    def __iter__(self) -> Iterator[Kind]:
        return iter(self.members)

    def __len__(self) -> int:
        return len(self.members)

    def find(self, group: str, version: str, plural: str) -> Kind | None:
        """The kind at this place of a URL; the core group is empty."""
        return self._by_plural.get((group, version, plural))

    def by_kind(self, api_version: str, kind: str) -> Kind | None:
        """The kind that a manifest or a reference names."""
        return self._by_kind.get((api_version, kind))

    def require(self, api_version: str, kind: str) -> Kind:
        """A kind that every plane has."""
        return self._by_kind[api_version, kind]

    def stored(self) -> Mapping[str, Kind]:
        """For everything that is stored, the kind that reads it in the form it is stored in."""
        return self._by_storage

    def stored_as(self, storage: str) -> Kind:
        """The kind that is the stored form of what is kept under this name, while it is served."""
        found = self._by_storage.get(storage)
        if found is None:
            raise NotFound("the server could not find the requested resource")
        return found

    def with_kinds(self, more: Iterable[Kind]) -> "Kinds":
        """These kinds and more; one at the same place replaces what was there."""
        added = {_place(kind.resource): kind for kind in more}
        replaced = [added.pop(_place(kind.resource), kind) for kind in self.members]
        return Kinds((*replaced, *added.values()))

    def without(self, group: str, plural: str) -> "Kinds":
        """These kinds but for all versions of one."""
        gone = (group, plural)
        return Kinds(
            tuple(k for k in self.members if (k.resource.group, k.resource.plural) != gone)
        )


def _place(resource: Resource) -> tuple[str, str, str]:
    return resource.group, resource.version, resource.plural
