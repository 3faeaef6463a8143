"""The shape of a kind: the field nodes that are built from its schema.

The rules are those of Kubernetes. Objects and maps are granular unless
``x-kubernetes-map-type: atomic``. Lists are one value unless ``x-kubernetes-list-type`` says
``map`` or ``set``. Without a type, or with preserved unknown fields, the values decide.
"""

from collections.abc import Collection, Mapping
from typing import Any, Final

from kubekit.api.resource import Resource
from kubekit.api.structural.nodes import Document, Schema
from kubekit.plane.apply import builtin_markers
from kubekit.plane.apply.field_nodes import (
    ANYTHING,
    UNTYPED,
    Difference,
    FieldNode,
    Free,
    Granular,
    Keyed,
    Leaf,
)
from kubekit.plane.apply.field_sets import FieldSet
from kubekit.plane.apply.skeleton_cache import CachingNode

_SCALARS: Final = {"integer": "numeric", "number": "numeric", "boolean": "boolean"}
_TEXT: Final = Leaf("string")
_NUMBER: Final = Leaf("numeric")
_TIME: Final = Leaf("untyped")
_NUMBER_OR_TEXT: Final = Leaf("any")
_TEXTS: Final = Granular({}, _TEXT)
_OWNERS: Final = Keyed(
    ("uid",),
    Leaf(
        "map",
        inner=Granular(
            dict.fromkeys(("apiVersion", "kind", "name", "uid"), _TEXT)
            | dict.fromkeys(("controller", "blockOwnerDeletion"), Leaf("boolean"))
        ),
    ),
)
_METADATA: Final[Mapping[str, FieldNode]] = {
    "name": _TEXT,
    "generateName": _TEXT,
    "namespace": _TEXT,
    "selfLink": _TEXT,
    "uid": _TEXT,
    "resourceVersion": _TEXT,
    "generation": _NUMBER,
    "creationTimestamp": _TIME,
    "deletionTimestamp": _TIME,
    "deletionGracePeriodSeconds": _NUMBER,
    "labels": _TEXTS,
    "annotations": _TEXTS,
    "ownerReferences": _OWNERS,
    "finalizers": Keyed((), _TEXT),
    "managedFields": Leaf("list"),
}
# Fields that the plane sets, or that identify the object, have no owner.
_OWNERLESS: Final = frozenset(
    {
        "name",
        "namespace",
        "creationTimestamp",
        "selfLink",
        "uid",
        "generation",
        "managedFields",
        "resourceVersion",
    }
)
_TRACKED: Final = Granular(
    {name: None if name in _OWNERLESS else node for name, node in _METADATA.items()}, outer=True
)
_TYPE: Final = {"apiVersion": _TEXT, "kind": _TEXT}


class WritableFields:
    """The part of a document that a write may change: the object itself, or a subresource."""

    __slots__ = ("_fields",)

    def __init__(self, fields: Granular) -> None:
        self._fields = fields

    def fields_in(self, document: Document) -> FieldSet:
        """All fields that are present in the document."""
        return _rooted(self._fields.fields_in(document))

    def owned(self, document: Document) -> FieldSet:
        """The fields that an apply of this document owns."""
        return _rooted(self._fields.owned(document) or {})

    def compared(self, old: Document, new: Document) -> Difference:
        """The fields gained and lost from one document to the next."""
        gained, lost = self._fields.compared(old, new)
        return (_rooted(gained) or None) if gained else None, lost

    def only(self, document: Document) -> Document:
        """The document without the fields outside of this part."""
        fields = self._fields
        return {
            name: value
            for name, value in document.items()
            if name in _TYPE or name == "metadata" or fields.fields.get(name, fields.element)
        }


class Shape:
    """One kind. ``whole`` is the node of the whole document, ``blank`` a document without writes.

    ``custom`` is false for Kubernetes' own kinds. ``served`` are the versions whose entries are
    kept; empty means all.
    """

    __slots__ = ("_main", "_status", "blank", "custom", "newborn", "served", "whole")

    def __init__(
        self,
        whole: Granular,
        *,
        custom: bool = True,
        status: bool = False,
        blank: Document | None = None,
        served: Collection[str] = (),
    ) -> None:
        self.whole = whole
        self.custom = custom
        self.blank: Document = blank or {}
        self.newborn = self.blank
        self.served = frozenset(served)
        untracked = dict.fromkeys(_TYPE, None)
        known = {name: _cached(node) for name, node in whole.fields.items()}
        main: dict[str, FieldNode | None] = {**known, **untracked, "metadata": _TRACKED}
        below = {**untracked, "status": whole.fields.get("status", whole.element)}
        self._status = WritableFields(Granular(below, outer=True))
        if status:
            main["status"] = None
        self._main = WritableFields(Granular(main, whole.element, outer=True))

    @classmethod
    def of(cls, schema: Schema, *, custom: bool = True, status: bool = False) -> "Shape":
        """The shape of a kind with this schema.

        With ``status``, only that subresource writes it.
        """
        return cls(_document(schema), custom=custom, status=status)

    def part(self, subresource: str) -> WritableFields:
        """The part that a write to this subresource may change; empty means the object itself."""
        return self._status if subresource == "status" else self._main


def shape_of(
    resource: Resource, schema: Schema, *, custom: bool, served: Collection[str] = ()
) -> Shape:
    """The shape of a served kind, with the markers of built-in ones."""
    if custom:
        return Shape(_document(schema), status=resource.status, served=served)
    shape = Shape(
        _document(builtin_markers.annotated(resource, schema)),
        custom=False,
        status=resource.status,
        blank=builtin_markers.blank(resource),
        served=served,
    )
    shape.newborn = builtin_markers.newborn(resource) or shape.blank
    return shape


def _cached(node: FieldNode | None) -> FieldNode | None:
    return CachingNode(node) if isinstance(node, Granular) and not node.element else node


def _rooted(fields: FieldSet) -> FieldSet:
    """The fields, without metadata that has no owned fields."""
    if "f:metadata" in fields and not fields["f:metadata"]:
        return {step: node for step, node in fields.items() if step != "f:metadata"}
    return fields


def _document(schema: Schema) -> Granular:
    keeps = bool(schema.get("x-kubernetes-preserve-unknown-fields"))
    properties = schema.get("properties", {})
    fields = {name: _node(inner, keeps=keeps) for name, inner in properties.items()}
    metadata = Granular(_METADATA)
    return Granular(
        {**fields, **_TYPE, "metadata": metadata}, _others(schema, keeps=keeps or not properties)
    )


def _node(schema: Schema, *, keeps: bool) -> FieldNode:
    """The node of this schema. ``keeps`` means that an enclosing schema keeps unknown fields."""
    keeps = keeps or bool(schema.get("x-kubernetes-preserve-unknown-fields"))
    kind = schema.get("type", "")
    if kind == "object":
        return _object(schema, keeps=keeps)
    if kind == "array":
        return _list(schema, keeps=keeps)
    if kind == "":
        return _untyped(schema, keeps=keeps)
    if kind == "string":
        return Leaf("untyped" if schema.get("format") not in (None, "", "byte") else "string")
    return Leaf(_SCALARS.get(kind, "untyped"))


def _untyped(schema: Schema, *, keeps: bool) -> FieldNode:
    if schema.get("x-kubernetes-int-or-string"):
        return _NUMBER_OR_TEXT
    if not schema.keys() & {"properties", "additionalProperties", "items", "x-kubernetes-map-type"}:
        return ANYTHING
    return Free(_object(schema, keeps=keeps), _list(schema, keeps=keeps))


def _object(schema: Schema, *, keeps: bool) -> FieldNode:
    properties = schema.get("properties", {})
    fields: dict[str, FieldNode] = {
        name: _node(inner, keeps=keeps) for name, inner in properties.items()
    }
    if schema.get("x-kubernetes-embedded-resource"):
        fields |= {**_TYPE, "metadata": Granular(_METADATA)}
    node = Granular(fields, _others(schema, keeps=keeps or not fields))
    return Leaf("map", inner=node) if schema.get("x-kubernetes-map-type") == "atomic" else node


def _others(schema: Schema, *, keeps: bool) -> FieldNode | None:
    """The node of fields that the schema does not name."""
    others = schema.get("additionalProperties")
    if isinstance(others, Mapping):
        return _node(others, keeps=keeps)
    return ANYTHING if others or (others is None and keeps) else None


def _list(schema: Schema, *, keeps: bool) -> FieldNode:
    items: Schema | None = schema.get("items")
    entry = UNTYPED if items is None else _node(items, keeps=keeps)
    kind = schema.get("x-kubernetes-list-type", "atomic")
    if kind == "set":
        return Keyed((), entry)
    if kind == "map" and (keys := schema.get("x-kubernetes-list-map-keys")):
        return Keyed(keys, entry, _defaults(items or {}, keys))
    return Leaf("list", inner=entry)


def _defaults(items: Schema, keys: Collection[str]) -> dict[str, Any]:
    properties = items.get("properties", {})
    defaults = {key: properties.get(key, {}).get("default") for key in keys}
    return {key: value for key, value in defaults.items() if value is not None}
