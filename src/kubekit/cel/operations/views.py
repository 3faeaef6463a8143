"""Views of documents through a schema, as the lists and maps of an expression.

Only the values that an expression reads are converted: a rule that reads one field of a large document
costs no more than for a small one. A value that needs no conversion, such as a list of strings, has
no view.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from kubekit.cel.errors import EvaluationError
from kubekit.cel.syntax.tree import RESERVED
from kubekit.cel.values import Value

Wrap = Callable[[Any], Any]
MISSING: Final = object()  # None is a value: null


@dataclass(frozen=True, slots=True)
class ObjectShape:
    """The views of the members of an object or a map.

    ``fields`` are the key and the view of each property by its escaped name. A map has none, and
    ``every`` instead.
    """

    fields: Mapping[str, tuple[str, Wrap]]
    every: Wrap | None = None


@dataclass(frozen=True, slots=True)
class ListShape:
    """The view of the items of a list. ``keys`` identify the items of a list-map."""

    item: Wrap
    is_set: bool = False
    keys: tuple[str, ...] = ()


class Entries:
    """An object or a map of a document."""

    __slots__ = ("document", "shape")

    def __init__(self, document: dict[str, Any], shape: ObjectShape) -> None:
        self.document = document
        self.shape = shape

    def find(self, key: Value) -> Value:
        """The member, or `MISSING`. A null is a member of a map, but not of an object."""
        every = self.shape.every
        if every is not None:
            value = self.document.get(key, MISSING) if type(key) is str else MISSING
            return value if value is MISSING else every(value)
        known = self.shape.fields.get(key)
        if known is None:
            known = self.shape.fields.get(f"__{key}__") if key in RESERVED else None
            if known is None:
                return MISSING
        value = self.document.get(known[0])
        return MISSING if value is None else known[1](value)

    def __len__(self) -> int:
        return len(self.document)

    def __iter__(self) -> Iterator[str]:
        """The keys that an expression may see."""
        if self.shape.every is not None:
            return iter(self.document)
        return (name for name, (key, _) in self.shape.fields.items() if key in self.document)


class Items:
    """A list of a document."""

    __slots__ = ("document", "shape")

    def __init__(self, document: list[Any], shape: ListShape) -> None:
        self.document = document
        self.shape = shape

    def __getitem__(self, position: int) -> Value:
        return self.shape.item(self.document[position])

    def __len__(self) -> int:
        return len(self.document)

    def __iter__(self) -> Iterator[Any]:
        return map(self.shape.item, self.document)


def itself(value: Value) -> Value:
    """The view of a value that needs no conversion: the value itself."""
    return value


def raw(value: Value) -> Value:
    """The document behind a view; any other value unchanged."""
    return value.document if type(value) is Items or type(value) is Entries else value


def merged(first: Items, second: Value) -> Items:
    """Both lists as one of the kind of the first: no item of a set or key of a list-map twice."""
    shape = ListShape(itself, first.shape.is_set, first.shape.keys)
    by_key = {item_key(first, item): item for item in first}
    for item in second:
        key = item_key(first, item)
        if shape.keys or key not in by_key:
            by_key[key] = item
    return Items(list(by_key.values()), shape)


def item_key(items: Items, item: Value) -> Value:
    """The identity of an item of a set or a list-map."""
    document = raw(item)
    if not items.shape.keys:
        is_plain = type(document) not in (list, dict)
        return (type(item), item) if is_plain else json.dumps(document, sort_keys=True)
    if type(document) is not dict:
        raise EvaluationError("unexpected data format for element of a list of type map")
    return tuple((type(value), value) for value in map(document.get, items.shape.keys))
