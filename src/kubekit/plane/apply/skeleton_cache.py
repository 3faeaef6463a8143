"""A cache of field sets for values with the same field names.

The field set of a value depends only on its field names and on the identities of its list entries.
Most objects of a kind are created by the same program from the same template, so these names repeat
while the values differ. A skeleton is the list of all objects and lists in a value, with the names
of each. Comparing skeletons is several times as fast as building the set.
"""

from collections.abc import Sequence
from typing import Any, Final

from kubekit.plane.apply.field_nodes import Difference, FieldNode, Granular, Keyed, Leaf
from kubekit.plane.apply.field_sets import FieldSet

_MOST: Final = 8
_LONGEST: Final = 128  # objects and lists

_Check = tuple[int, Any, str, Sequence[Any]]
"""The index of the enclosing value, the name or index in it, the key, and the expected names."""


class _Irregular(Exception):
    """A value whose field set depends on more than names."""


class CachingNode:
    """A node that caches the skeletons of recent values."""

    __slots__ = ("_recent", "exact", "node")

    def __init__(self, node: Granular) -> None:
        self.node = node
        self.exact = node.exact
        self._recent: list[tuple[list[_Check], FieldSet]] = []

    def fields_in(self, value: Any) -> FieldSet:  # noqa: ANN401 -- whatever JSON holds
        for checks, cached in self._recent:
            if _fits(value, checks):
                return cached
        fields = self.node.fields_in(value)
        try:
            checks = [(0, None, "", tuple(value))]
            _walk(self.node, value, 0, checks)
        except (_Irregular, TypeError):
            return fields
        if len(checks) <= _LONGEST:
            self._recent = [(checks, fields), *self._recent[: _MOST - 1]]
        return fields

    def owned(self, value: Any) -> FieldSet | None:  # noqa: ANN401
        return self.node.owned(value)

    def compared(self, old: Any, new: Any) -> Difference:  # noqa: ANN401
        return self.node.compared(old, new)


def _fits(value: Any, checks: list[_Check]) -> bool:  # noqa: ANN401
    """Whether all objects and lists in the value have the expected names."""
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
    """Add the checks of the values inside the value with this index."""
    for name, inner in value.items():
        below = node.fields.get(name, node.element)
        if below is not None and not isinstance(below, Leaf):
            _add(below, inner, (at, name), checks)


def _add(node: FieldNode, value: Any, location: tuple[int, Any], checks: list[_Check]) -> None:  # noqa: ANN401
    at = len(checks)
    if isinstance(node, Granular) and isinstance(value, dict):
        checks.append((*location, "", tuple(value)))
        _walk(node, value, at, checks)
    elif isinstance(node, Keyed) and isinstance(value, list) and (key := node.only):
        checks.append((*location, key, [entry[key] for entry in value]))
        for position, entry in enumerate(value):
            if not isinstance(node.entry, Leaf):
                _add(node.entry, entry, (at, position), checks)
    else:
        raise _Irregular
