"""Set functions on lists."""

from typing import Final

from kubekit.cel.declarations import Overload, function
from kubekit.cel.operations.comparison import contains
from kubekit.cel.types import BOOL, list_of, param
from kubekit.cel.values import Value

_LIST: Final = list_of(param("T"))


def _contains(items: Value, others: Value) -> bool:
    return all(contains(items, other) for other in others)


def _equivalent(items: Value, others: Value) -> bool:
    return _contains(items, others) and _contains(others, items)


def _intersects(items: Value, others: Value) -> bool:
    return any(contains(others, item) for item in items)


OVERLOADS: Final[tuple[Overload, ...]] = (
    function("sets.contains", "list_sets_contains_list", (_LIST, _LIST), BOOL, _contains),
    function("sets.equivalent", "list_sets_equivalent_list", (_LIST, _LIST), BOOL, _equivalent),
    function("sets.intersects", "list_sets_intersects_list", (_LIST, _LIST), BOOL, _intersects),
)
