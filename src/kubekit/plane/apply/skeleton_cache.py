"""Values that have the fields of one seen before, recognised without asking each field again.

Which fields a value has follows from the names in it alone, and from what tells the entries of its
lists apart. Most objects of a kind are made by the same program from the same template, so these
names repeat while the values differ. A skeleton is the list of all objects and lists in a value,
with the names each must have. Comparing them is several times as quick as putting the set together.
"""

from collections.abc import Sequence
from typing import Any, Final

from kubekit.plane.apply.field_nodes import Difference, FieldNode, Granular, Keyed, Leaf
from kubekit.plane.apply.field_sets import FieldSet

_MOST: Final = 8
_LONGEST: Final = 128  # objects and lists

_Check = tuple[int, Any, str, Sequence[Any]]
"""Which value before it holds this one, under which name or place; its keys; what they must be."""


class _Irregular(Exception):
    """A value of which more than names must be known."""


class CachingNode:
    """An object that remembers the skeletons of what it saw last."""

    __slots__ = ("_recent", "exact", "node")

    def __init__(self, node: Granular) -> None:
        self.node = node
        self.exact = node.exact
        self._recent: list[tuple[list[_Check], FieldSet]] = []

    def there(self, value: Any) -> FieldSet:  # noqa: ANN401 -- whatever JSON holds
        for checks, found in self._recent:
            if _fits(value, checks):
                return found
        found = self.node.there(value)
        try:
            checks = [(0, None, "", tuple(value))]
            _walk(self.node, value, 0, checks)
        except (_Irregular, TypeError):
            return found
        if len(checks) <= _LONGEST:
            self._recent = [(checks, found), *self._recent[: _MOST - 1]]
        return found

    def owned(self, value: Any) -> FieldSet | None:  # noqa: ANN401
        return self.node.owned(value)

    def compared(self, old: Any, new: Any) -> Difference:  # noqa: ANN401
        return self.node.compared(old, new)


def _fits(value: Any, checks: list[_Check]) -> bool:  # noqa: ANN401
    """Whether all objects and lists in the value have the names that they must have."""
    if type(value) is not dict or tuple(value) != checks[0][3]:
        return False
    seen = [value]
    try:
        for holder, name, key, expected in checks[1:]:
            inner = seen[holder][name]
            if key:
                if [entry[key] for entry in inner] != expected:
                    return False
            elif tuple(inner) != expected:
                return False
            seen.append(inner)
    except (KeyError, TypeError):
        return False
    return True


def _walk(node: Granular, value: Any, at: int, checks: list[_Check]) -> None:  # noqa: ANN401
    """Add what must be checked in the value, which is the one at this place."""
    for name, inner in value.items():
        below = node.fields.get(name, node.element)
        if below is not None and not isinstance(below, Leaf):
            _add(below, inner, (at, name), checks)


def _add(node: FieldNode, value: Any, place: tuple[int, Any], checks: list[_Check]) -> None:  # noqa: ANN401
    at = len(checks)
    if isinstance(node, Granular) and isinstance(value, dict):
        checks.append((*place, "", tuple(value)))
        _walk(node, value, at, checks)
    elif isinstance(node, Keyed) and isinstance(value, list) and (key := node.only):
        checks.append((*place, key, [entry[key] for entry in value]))
        for position, entry in enumerate(value):
            if not isinstance(node.entry, Leaf):
                _add(node.entry, entry, (at, position), checks)
    else:
        raise _Irregular
