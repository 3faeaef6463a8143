"""The cost of each call at run time, as Kubernetes counts it.

One unit is the cost of a simple operation, about 50 ns in Go. The numbers are those of Kubernetes 1.34,
which the bounds of existing rules are based on. A cost depends on the arguments alone, so that a call
can be refused before it is made.
"""

import math
from collections.abc import Callable, Sequence
from ipaddress import IPv4Address, IPv6Address
from typing import Any, Final

from kubekit.cel.libraries.lists import COMPARABLE
from kubekit.cel.operations import work
from kubekit.cel.operations.comparison import LISTS, MAPS, find
from kubekit.cel.operations.opaques import Amount, Cidr, Format, Semver, Url
from kubekit.cel.values import Optional, Value, keys_of

Cost = Callable[[Sequence[Any]], int]

LIST: Final = 10
MAP: Final = 30
TRAVERSAL: Final = 0.1  # for each character
REGEX: Final = 0.25  # for each character of the pattern
_SIZED: Final = frozenset({str, bytes}) | LISTS | MAPS
_UNIT: Final = frozenset({Amount, IPv4Address, IPv6Address, Cidr, Format, Url, Semver})


def size_of(value: Value) -> int:
    """The length of a value; 1 for a value without a length."""
    kind = type(value)
    if kind in _SIZED:
        return len(value)
    if kind is IPv4Address or kind is IPv6Address:
        return int(value.max_prefixlen // 8)
    if kind is Cidr:
        return -(-int(value.bits) // 8)
    if kind is Optional and value.has_value:
        return size_of(value.value)
    return 1


def call_cost(function: str, overloads: Sequence[str]) -> Cost | None:
    """The cost function of a call; None if it costs 1.

    If the types allow several overloads, only the name of the function decides.
    """
    only = overloads[0] if len(overloads) == 1 else ""
    return _SPECIFIC.get(only) or _NAMED.get(function) or _STANDARD.get(only)


def _characters(position: int, times: int = 1) -> Cost:
    """The cost of reading an argument so many times."""
    return lambda args: math.ceil(size_of(args[position]) * times * TRAVERSAL)


def _traversal(args: Sequence[Any]) -> int:
    return _traversed(args[0])


def _traversed(value: Value) -> int:
    """The cost of reading a value with all values inside."""
    kind = type(value)
    if kind is str or kind is bytes:
        length = len(value) if kind is bytes else len(value.encode("utf-8", "surrogatepass"))
        return int(length * TRAVERSAL)
    if kind in LISTS:
        work.spend(len(value))
        return sum(map(_traversed, value))
    if kind in MAPS:
        work.spend(len(value))
        return sum(_traversed(key) + _traversed(find(value, key)) for key in keys_of(value))
    return 1


def _smaller(args: Sequence[Any]) -> int:
    return math.ceil(min(size_of(args[0]), size_of(args[1])) * TRAVERSAL)


def _equality(args: Sequence[Any]) -> int:
    return 1 if type(args[0]) in _UNIT else _smaller(args)


def _sum_of_both(args: Sequence[Any]) -> int:
    return math.ceil((size_of(args[0]) + size_of(args[1])) * TRAVERSAL)


def _pattern(args: Sequence[Any]) -> int:
    text = math.ceil((1.0 + size_of(args[0])) * TRAVERSAL)
    return text * math.ceil(size_of(args[1]) * REGEX)


def _validated(args: Sequence[Any]) -> int:
    if type(args[0]) is not Format:
        return 1
    return math.ceil((1.0 + size_of(args[1])) * TRAVERSAL) * args[0].weight


def _contained(args: Sequence[Any]) -> int:
    return math.ceil(size_of(args[0]) * TRAVERSAL) * math.ceil(size_of(args[1]) * TRAVERSAL)


def _joined(args: Sequence[Any]) -> int:
    separator = args[1] if len(args) > 1 else ""
    if type(args[0]) not in LISTS or type(separator) is not str:
        return 1
    parts = list(args[0])
    length = sum(map(size_of, parts)) + len(separator) * max(len(parts) - 1, 0)
    return math.ceil(length * 2 * TRAVERSAL)


def _address(args: Sequence[Any]) -> int:
    return 1 if type(args[0]) is Cidr else math.ceil(size_of(args[0]) * TRAVERSAL)


def _holds(args: Sequence[Any]) -> int:
    return math.ceil(2 * size_of(args[0]) * TRAVERSAL)


def _holds_range(args: Sequence[Any]) -> int:
    return _holds(args) + math.ceil(size_of(args[0]) * TRAVERSAL) + 1


def _sliced(args: Sequence[Any]) -> int:
    items, start, end = args
    is_right = type(items) in LISTS and type(start) is int and type(end) is int
    return _allocated(1, end - start if is_right and 0 <= start <= end <= len(items) else 1)


def _ranged(args: Sequence[Any]) -> int:
    return _allocated(1, max(args[0], 0) if type(args[0]) is int else 1)


def _reversed(args: Sequence[Any]) -> int:
    return _allocated(1, size_of(args[0]))


def _flattened(args: Sequence[Any]) -> int:
    depth = args[1] if len(args) > 1 and type(args[1]) is int else 1
    return _allocated(depth, size_of(args[0]))


def _with_itself(position: int) -> Cost:
    """The cost of comparing each element of a list with each other."""

    def cost(args: Sequence[Any]) -> int:
        items = args[position]
        if type(items) not in LISTS:
            return 1
        is_text = len(items) > 0 and type(items[0]) in (str, bytes)
        return _allocated(2 + TRAVERSAL if is_text else 2, len(items) ** 2)

    return cost


def _allocated(factor: float, length: int) -> int:
    return int(length * factor) + 1 + LIST


def _product(times: int) -> Cost:
    return lambda args: 1 + size_of(args[0]) * size_of(args[1]) * times


def _parsed(cost: Cost) -> Cost:
    """The cost, and that of reading the second argument, which is a text."""
    return lambda args: cost(args) + math.ceil(size_of(args[1]) * TRAVERSAL)


_SPECIFIC: Final[dict[str, Cost]] = {
    "cidr_contains_ip_string": _parsed(_holds),
    "cidr_contains_cidr_string": _parsed(_holds_range),
    "list_slice": _sliced,
    "list_flatten": _flattened,
    "list_flatten_int": _flattened,
    "lists_range": _ranged,
    "list_reverse": _reversed,
    "list_distinct": _with_itself(0),
    **{f"list_{name}_sort": _with_itself(0) for name in COMPARABLE},
    **{f"list_{name}_sortByAssociatedKeys": _with_itself(1) for name in COMPARABLE},
    "list_sets_contains_list": _product(1),
    "list_sets_intersects_list": _product(1),
    "list_sets_equivalent_list": _product(2),
}
_NAMED: Final[dict[str, Cost]] = {
    **dict.fromkeys(("isSorted", "sum", "max", "min", "indexOf", "lastIndexOf"), _traversal),
    **dict.fromkeys(("url", "lowerAscii", "upperAscii", "substring", "trim"), _characters(0)),
    **dict.fromkeys(("cidr", "isIP", "isCIDR"), _characters(0)),
    **dict.fromkeys(("quantity", "isQuantity", "semver", "isSemver"), _characters(0)),
    **dict.fromkeys(("replace", "split", "ip.isCanonical"), _characters(0, 2)),
    **dict.fromkeys(("find", "findAll"), _pattern),
    "join": _joined,
    "ip": _address,
    "containsIP": _holds,
    "containsCIDR": _holds_range,
    "validate": _validated,
    "_==_": _equality,
}
_STANDARD: Final[dict[str, Cost]] = {
    **dict.fromkeys(
        (
            "starts_with_string",
            "ends_with_string",
            "string_to_bytes",
            "bytes_to_string",
            "strings_quote",
            "string_format",
        ),
        _characters(0),
    ),
    "in_list": lambda args: size_of(args[1]),
    **{
        f"{word}_{kind}": _smaller
        for word in ("less", "less_equals", "greater", "greater_equals")
        for kind in ("string", "bytes")
    },
    "not_equals": _smaller,
    "add_string": _sum_of_both,
    "add_bytes": _sum_of_both,
    "matches_string": _pattern,
    "contains_string": _contained,
}
