"""Fields of objects as people look them up: what each is for, its type, its default and its rules.

They are made of the schemas that planes serve, which come from the types of the API.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from compute.views.view import View

Schema = Mapping[str, Any]

_ARRAY: Final = "array"
# Kubernetes defines these itself; a CRD says no more about them than their type.
_METADATA: Final[Mapping[str, tuple[str, str]]] = {
    "name": ("string", "The name, unique among the objects of the kind in the namespace."),
    "namespace": ("string", "The namespace; `default` where none is named."),
    "labels": ("map of string", "Words by which objects are selected, such as team: shop."),
    "annotations": ("map of string", "Further data, for tools and people."),
    "generateName": ("string", "The start of a name, which the server completes."),
    "finalizers": ("list of string", "What must be done before the object is removed."),
    "ownerReferences": ("list of object", "The objects that this one belongs to."),
    "uid": ("string", "The identity of the object. The server sets it."),
    "resourceVersion": ("string", "The version of the object. The server sets it."),
    "generation": ("integer", "How often the spec was changed. The server counts it."),
    "creationTimestamp": ("string", "When the object was created. The server sets it."),
    "deletionTimestamp": ("string", "When the deletion was requested. The server sets it."),
}
_SIZES: Final = ("int32", "int64")  # of numbers: no reader has to know them
_RULES: Final[Sequence[tuple[str, str]]] = (
    ("enum", "one of {}"),
    ("format", "format {}"),
    ("pattern", "matches {}"),
    ("minLength", "at least {} characters"),
    ("maxLength", "at most {} characters"),
    ("minItems", "at least {} items"),
    ("maxItems", "at most {} items"),
    ("maximum", "at most {}"),
)


@dataclass(frozen=True, slots=True)
class DocumentedKind:
    """A kind with its schema."""

    kind: str
    plural: str
    short_names: tuple[str, ...]
    api_version: str
    schema: Schema

    @property
    def names(self) -> tuple[str, ...]:
        """What a user may call it."""
        return (self.kind.casefold(), self.plural, *self.short_names)


class ChildField(View, frozen=True, kw_only=True):
    """A field of an object, as its parent lists it."""

    name: str
    type: str
    required: bool
    description: str


class FieldView(View, frozen=True, kw_only=True):
    """A field, or a whole kind: its path is that of the kind then."""

    path: str
    kind: str
    api_version: str
    type: str
    description: str
    required: bool
    default: Any
    rules: tuple[str, ...]
    fields: tuple[ChildField, ...]

    @property
    def has_default(self) -> bool:
        return self.default is not None


class UnknownField(Exception):
    """A field that the kind does not have. ``parent`` is the path that is known."""

    def __init__(self, parent: str, name: str, known: tuple[str, ...]) -> None:
        super().__init__(f"{parent} has no field {name}")
        self.parent = parent
        self.name = name
        self.known = known


def documented_kinds(definitions: Iterable[Mapping[str, Any]]) -> tuple[DocumentedKind, ...]:
    """The kinds of these CustomResourceDefinitions."""
    return tuple(map(_kind, definitions))


def kind_named(word: str, kinds: Iterable[DocumentedKind]) -> DocumentedKind | None:
    """The kind that a user calls so, in any letter case."""
    typed = word.casefold()
    return next((kind for kind in kinds if typed in kind.names), None)


def field_view(kind: DocumentedKind, path: Sequence[str]) -> FieldView:
    """The field at a path below the kind, in any letter case. Raises UnknownField."""
    node, at, required = kind.schema, kind.kind.casefold(), False
    for word in path:
        if at == f"{kind.kind.casefold()}.metadata":
            return _metadata_field(kind, at, word)
        name = _child_name(node, word)
        if name is None:
            raise UnknownField(at, word, tuple(_properties(node)))
        inner = _inner(node)
        required = name in inner.get("required", ())
        node = _properties(node).get(name) or inner["additionalProperties"]
        at = f"{at}.{name}"
    return FieldView(
        path=at,
        kind=kind.kind,
        api_version=kind.api_version,
        type=_type(node),
        description=node.get("description", ""),
        required=required,
        default=node.get("default"),
        rules=tuple(_rules(node)),
        fields=_metadata() if at.endswith(".metadata") and len(path) == 1 else _children(node),
    )


def words_of(path: str) -> list[str]:
    """The fields of a path such as ``spec.placements[0].name``. Indexes of lists are left out."""
    bare = "".join(part.partition("]")[2] if i else part for i, part in enumerate(path.split("[")))
    return [word for word in bare.split(".") if word]


def _kind(definition: Mapping[str, Any]) -> DocumentedKind:
    spec = definition["spec"]
    names, version = spec["names"], spec["versions"][0]
    return DocumentedKind(
        kind=names["kind"],
        plural=names["plural"],
        short_names=tuple(names.get("shortNames", ())),
        api_version=f"{spec['group']}/{version['name']}",
        schema=version["schema"]["openAPIV3Schema"],
    )


def _inner(node: Schema) -> Schema:
    """The schema that has the fields: that of the items of a list, however deep."""
    while node.get("type") == _ARRAY:
        node = node["items"]
    return node


def _properties(node: Schema) -> Mapping[str, Schema]:
    properties: Mapping[str, Schema] = _inner(node).get("properties", {})
    return properties


def _child_name(node: Schema, word: str) -> str | None:
    """The name of a field as it is written, or the key of a map."""
    typed = word.casefold()
    found = next((name for name in _properties(node) if name.casefold() == typed), None)
    is_map = isinstance(_inner(node).get("additionalProperties"), Mapping)
    return found or (word if is_map else None)


def _type(node: Schema) -> str:
    if node.get("type") == _ARRAY:
        return f"list of {_type(node['items'])}"
    value = node.get("additionalProperties")
    if isinstance(value, Mapping):
        return f"map of {_type(value)}"
    if node.get("x-kubernetes-int-or-string") or "anyOf" in node:
        return "integer or string"
    return str(node.get("type", "anything"))


def _rules(node: Schema) -> Iterator[str]:
    """The rules of a field, as phrases. Rules of items are those of the list too."""
    for keyword, phrase in _RULES:
        if keyword in node and node[keyword] not in _SIZES:
            yield phrase.format(_value(node[keyword]))
    if "minimum" in node:
        more = "more than" if node.get("exclusiveMinimum") else "at least"
        yield f"{more} {node['minimum']}"
    if keys := node.get("x-kubernetes-list-map-keys"):
        yield f"each {' and '.join(keys)} once"
    for validation in node.get("x-kubernetes-validations", ()):
        yield str(validation.get("message") or validation["rule"])
    if node.get("type") == _ARRAY:
        yield from (f"each item: {rule}" for rule in _rules(node["items"]))


def _value(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def _children(node: Schema) -> tuple[ChildField, ...]:
    required = _inner(node).get("required", ())
    return tuple(
        ChildField(
            name=name,
            type=_type(child),
            required=name in required,
            description=child.get("description", ""),
        )
        for name, child in _properties(node).items()
    )


def _metadata() -> tuple[ChildField, ...]:
    return tuple(
        ChildField(name=name, type=kind, required=name == "name", description=text)
        for name, (kind, text) in _METADATA.items()
    )


def _metadata_field(kind: DocumentedKind, parent: str, word: str) -> FieldView:
    """A field of the metadata. What is below it is Kubernetes' own."""
    typed = word.casefold()
    name = next((name for name in _METADATA if name.casefold() == typed), None)
    if name is None:
        raise UnknownField(parent, word, tuple(_METADATA))
    of_type, text = _METADATA[name]
    return FieldView(
        path=f"{parent}.{name}",
        kind=kind.kind,
        api_version=kind.api_version,
        type=of_type,
        description=text,
        required=name == "name",
        default=None,
        rules=(),
        fields=(),
    )
