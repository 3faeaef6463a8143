"""Correlation: the value of the old object that corresponds to a value of the new one."""

from collections.abc import Mapping
from typing import Any

from kubekit.cel.operations.comparison import same
from kubekit.cel.values import Value

Schema = Mapping[str, Any]


class CorrelatedValue:
    """A value and the corresponding old one, with their schema."""

    __slots__ = ("_keyed", "_unchanged", "new", "old", "schema")

    def __init__(self, new: Value, old: Value, schema: Schema) -> None:
        self.new = new
        self.old = old
        self.schema = schema
        self._unchanged: bool | None = None
        self._keyed: dict[object, Any] | None = None

    def member(self, key: str) -> "CorrelatedValue | None":
        """The correlated value of a field; None if the old object or the schema lacks it."""
        new, old = self.new, self.old
        if type(new) is not dict or type(old) is not dict or key not in new or key not in old:
            return None
        inner = self.schema.get("properties", {}).get(key)
        if inner is None:
            inner = self.schema.get("additionalProperties")
        return CorrelatedValue(new[key], old[key], inner) if isinstance(inner, Mapping) else None

    def item(self, position: int) -> "CorrelatedValue | None":
        """The correlated value of an item; only the items of a list-map have an identity."""
        items = self.schema.get("items")
        if type(self.new) is not list or type(self.old) is not list or items is None:
            return None
        if self._keyed is None:
            self._keyed = keyed(self.schema, self.old)
        old = old_item(self.schema, self._keyed, self.new[position])
        return None if old is None else CorrelatedValue(self.new[position], old, items)

    def unchanged(self) -> bool:
        """Whether the value did not change. The order of a list-map does not matter."""
        if self._unchanged is None:
            try:
                self._unchanged = self._is_unchanged()
            except RecursionError:  # nested too deeply to compare; it counts as changed
                self._unchanged = False
        return self._unchanged

    def _is_unchanged(self) -> bool:
        new, old = self.new, self.old
        if type(new) is not type(old):
            return False
        if type(new) is dict:
            return len(new) == len(old) and all(_same(self.member(key)) for key in new)
        if type(new) is list and is_keyed(self.schema):
            return len(new) == len(old) and all(
                _same(self.item(position)) for position in range(len(new))
            )
        return same(new, old)


def _same(correlated: CorrelatedValue | None) -> bool:
    return correlated is not None and correlated.unchanged()


def is_keyed(schema: Schema) -> bool:
    """Whether the items of the list are identified by keys."""
    return bool(
        schema.get("x-kubernetes-list-type") == "map" and schema.get("x-kubernetes-list-map-keys")
    )


def keyed(schema: Schema, items: Value) -> dict[object, Any]:
    """The items of a list-map by their keys; of other lists none."""
    if not is_keyed(schema) or type(items) is not list:
        return {}
    by_key: dict[object, Any] = {}
    for item in items:
        key = _key(schema, item)
        if key is not None:
            by_key.setdefault(key, item)
    return by_key


def old_item(schema: Schema, items: dict[object, Any], item: Value) -> Value:
    """The item among the old ones that has the keys of this one; None if there is none."""
    return items.get(_key(schema, item)) if items else None


def _key(schema: Schema, item: Value) -> object:
    if type(item) is not dict:
        return None
    values = [item.get(name) for name in schema["x-kubernetes-list-map-keys"]]
    if any(type(value) not in (bool, int, float, str) for value in values):
        return None
    return tuple((type(value), value) for value in values)
