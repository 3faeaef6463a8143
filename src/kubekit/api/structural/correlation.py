"""Correlation of a value with the value that it replaces, along a structural schema.

Members of objects are correlated by name, items of a list-map by their keys. Items of other lists have
no identity, so such a list is one value, and so is a value without a schema: it is compared as a
whole.
"""

from collections.abc import Hashable
from functools import cached_property
from typing import Any

from kubekit.api.structural.nodes import (
    LIST_KEYS,
    LIST_TYPE,
    OBJECT_FIELDS,
    Document,
    Schema,
    member,
    same,
)


class Correlated:
    """A value, the value that it replaces, and the schema of both."""

    def __init__(self, value: object, old: object, schema: Schema, *, root: bool = False) -> None:
        self._value = value
        self._old = old
        self._schema = schema
        self._root = root
        self._inner: dict[str | int, Correlated | None] = {}

    def member(self, name: str) -> "Correlated | None":
        """The member of that name, if the old value has it.

        Errors in apiVersion and kind are always reported: both documents are read in the same version.
        """
        return None if self._root and name in OBJECT_FIELDS[:2] else self._member(name)

    def item(self, position: int) -> "Correlated | None":
        """The item at that position of a list, if the old list has one with the same keys."""
        if position not in self._inner:
            self._inner[position] = self._correlated_item(position)
        return self._inner[position]

    def is_unchanged(self) -> bool:
        """Whether nothing in it changed. A member without a schema counts as changed."""
        return self._is_unchanged

    @cached_property
    def _is_unchanged(self) -> bool:
        value, old = self._value, self._old
        if isinstance(value, dict) and isinstance(old, dict):
            inner = [self._member(name) for name in value]
        elif isinstance(value, list) and isinstance(old, list) and self._is_map:
            inner = [self.item(position) for position in range(len(value))]
        else:
            return same(value, old)
        return len(value) == len(old) and all(part and part.is_unchanged() for part in inner)

    def _member(self, name: str) -> "Correlated | None":
        if name not in self._inner:
            self._inner[name] = self._correlated_member(name)
        return self._inner[name]

    def _correlated_member(self, name: str) -> "Correlated | None":
        value, old, inner = self._value, self._old, member(self._schema, name)
        if not isinstance(value, dict) or not isinstance(old, dict) or inner is None:
            return None
        return Correlated(value[name], old[name], inner) if name in old else None

    def _correlated_item(self, position: int) -> "Correlated | None":
        items: Any = self._value
        old = self._old_items.get(self._key(items[position]))
        return None if old is None else Correlated(items[position], old, self._schema["items"])

    @property
    def _is_map(self) -> bool:
        return self._schema.get(LIST_TYPE) == "map"

    @cached_property
    def _old_items(self) -> dict[Hashable, Document]:
        """The items of the old list-map by their keys; of items with the same keys the first."""
        if not self._is_map or not isinstance(self._old, list):
            return {}
        keyed = ((self._key(item), item) for item in reversed(self._old))
        return {key: item for key, item in keyed if key is not None}

    def _key(self, item: object) -> Hashable:
        """The key of an item; None if a part of it is missing."""
        if not self._is_map or not isinstance(item, dict):
            return None
        keys = [item.get(key) for key in self._schema[LIST_KEYS]]
        if any(key is None or isinstance(key, dict | list) for key in keys):
            return None
        return (*((type(key), key) for key in keys),)
