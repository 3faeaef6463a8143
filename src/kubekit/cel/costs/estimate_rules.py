"""The maximum cost of single calls, by the sizes of their arguments."""

import math
from collections.abc import Callable, Sequence
from typing import Final

from kubekit.cel.costs.call_costs import LIST, REGEX, TRAVERSAL
from kubekit.cel.costs.ranges import (
    MOST,
    ONE,
    UNKNOWN,
    ZERO,
    Argument,
    Called,
    Estimate,
    SizeRange,
    Sizes,
    fixed,
)
from kubekit.cel.libraries.lists import COMPARABLE
from kubekit.cel.syntax.tree import Literal
from kubekit.cel.types import (
    BYTES,
    CIDR,
    FORMAT,
    INT,
    IP,
    QUANTITY,
    SEMVER,
    STRING,
    URL,
    Type,
    TypeKind,
)

_NAME_PATTERN: Final = 128 * REGEX
_LONGEST_FORMAT: Final = 64

Rule = Callable[[Sizes, Called], Estimate | None]


def rules_for(function: str, overload: str) -> tuple[Rule, ...]:
    """The rules for a call, each used if the ones before do not apply."""
    rules = (_TRACKED.get(overload), _NAMED.get(function), _STANDARD.get(overload))
    return tuple(rule for rule in rules if rule is not None)


def known(argument: Argument) -> SizeRange:
    return argument.size or UNKNOWN


def _scan(sizes: Sizes, called: Called) -> Estimate:
    """Functions that read a list, or for some a text, once."""
    assert called.target is not None
    size = sizes.size(called.target)
    element = sizes.element(called.target)
    if element is None:
        return Estimate(size.times(TRAVERSAL))
    each = ONE
    if element.type.kind in (TypeKind.STRING, TypeKind.BYTES):
        each += sizes.size(element).times(TRAVERSAL)
    return Estimate(size * each)


def _same_length(sizes: Sizes, called: Called) -> Estimate:
    size = sizes.size(called.first)
    return Estimate(size.times(TRAVERSAL), size)


def _read(sizes: Sizes, called: Called) -> Estimate:
    return Estimate(sizes.size(called.args[0]).times(TRAVERSAL))


def _read_twice(sizes: Sizes, called: Called) -> Estimate:
    return Estimate(sizes.size(called.args[0]).times(2 * TRAVERSAL))


def _replaced(sizes: Sizes, called: Called) -> Estimate:
    size = sizes.size(called.first)
    old, new = sizes.size(called.args[0]), sizes.size(called.args[1])
    most, kept_most = _replacements(size.high, old.low, grows=new.high > old.low)
    least, kept_least = _replacements(size.low, old.high, grows=old.high > new.low)
    result = SizeRange(least, most) * new + SizeRange(kept_least, kept_most)
    return Estimate(size.times(2 * TRAVERSAL), result)


def _replacements(length: int, part: int, *, grows: bool) -> tuple[int, int]:
    """The number of replacements, and how much of the text stays."""
    if part == 0:
        return min(length + 1, MOST), length
    return (math.ceil(length / part), 0) if grows else (0, length)


def _split(sizes: Sizes, called: Called) -> Estimate:
    size = sizes.size(called.first)
    most = size.high
    if len(called.args) > 1:
        node = called.args[1].node
        if type(node) is Literal and type(node.value) is int:
            most = node.value % 2**64
    return Estimate(size.times(2 * TRAVERSAL), SizeRange(0, most))


def _joined(sizes: Sizes, called: Called) -> Estimate:
    listed = sizes.size(called.first)
    element = sizes.element(called.first)
    size = listed * sizes.size(element) if element else ZERO
    if called.args:
        gaps = SizeRange(max(listed.low - 1, 0), max(listed.high - 1, 0))
        size += sizes.size(called.args[0]) * gaps
    return Estimate(size.times(TRAVERSAL), size)


def _found(sizes: Sizes, called: Called) -> Estimate:
    size = sizes.size(called.first)
    pattern = sizes.size(called.args[0]).times(REGEX)
    return Estimate((size + ONE).times(TRAVERSAL) * pattern, SizeRange(0, size.high))


def _address(sizes: Sizes, called: Called) -> Estimate:
    return Estimate(ONE) if called.id == "cidr_ip" else _read(sizes, called)


def _holds(sizes: Sizes, called: Called) -> Estimate:
    return Estimate(_address_comparison(sizes, called))


def _holds_range(sizes: Sizes, called: Called) -> Estimate:
    bytes_ = SizeRange(4, 16)
    return Estimate(_address_comparison(sizes, called) + bytes_.times(TRAVERSAL) + ONE)


def _address_comparison(sizes: Sizes, called: Called) -> SizeRange:
    bytes_ = SizeRange(4, 16)
    cost = (bytes_ + bytes_).times(TRAVERSAL)
    if called.id.endswith("_string"):
        cost += sizes.size(called.args[0]).times(TRAVERSAL)
    return cost


def _validated(sizes: Sizes, called: Called) -> Estimate:
    return Estimate(sizes.size(called.args[0]).times(TRAVERSAL).times(_NAME_PATTERN))


def _compared_opaque(_sizes: Sizes, called: Called) -> Estimate | None:
    """Equality of values of the libraries of Kubernetes; None for other values."""
    first, second = called.args
    if first.type != second.type:
        return None
    if first.type in (IP, CIDR, QUANTITY, SEMVER):
        return Estimate(ONE)
    if first.type == FORMAT:
        return Estimate(SizeRange(1, _LONGEST_FORMAT).times(TRAVERSAL))
    if first.type == URL:
        size = second.size.high if second.size else 1
        return Estimate(SizeRange(1, size).times(TRAVERSAL))
    return None


def _smaller(_sizes: Sizes, called: Called) -> Estimate:
    most = min(known(called.args[0]).high, known(called.args[1]).high)
    return Estimate(SizeRange(1 if most else 0, most).times(TRAVERSAL))


def _formatted(_sizes: Sizes, called: Called) -> Estimate:
    return Estimate(known(called.first).times(TRAVERSAL))


def _to_bytes(_sizes: Sizes, called: Called) -> Estimate:
    size = known(called.args[0])
    return Estimate(size.times(TRAVERSAL), SizeRange(size.low, size.high * 4 % 2**64))


def _to_text(_sizes: Sizes, called: Called) -> Estimate:
    size = known(called.args[0])
    return Estimate(size.times(TRAVERSAL), SizeRange(size.low // 4, size.high))


def _quoted(_sizes: Sizes, called: Called) -> Estimate:
    size = known(called.args[0])
    return Estimate(size.times(TRAVERSAL), SizeRange(size.low + 2, (size.high * 2 + 2) % 2**64))


def _affix(_sizes: Sizes, called: Called) -> Estimate:
    return Estimate(known(called.args[0]).times(TRAVERSAL))


def _in_list(_sizes: Sizes, called: Called) -> Estimate:
    return Estimate(known(called.args[1]).times(1))


def _matched(_sizes: Sizes, called: Called) -> Estimate | None:
    if called.target is None:
        return None
    text = (known(called.target) + ONE).times(TRAVERSAL)
    return Estimate(text * known(called.args[0]).times(REGEX))


def _contained(_sizes: Sizes, called: Called) -> Estimate:
    part = known(called.args[0]).times(TRAVERSAL)
    return Estimate(known(called.first).times(TRAVERSAL) * part)


def _sliced(sizes: Sizes, called: Called) -> Estimate:
    start = _number(called.args[0], 0)
    end = _number(called.args[1], sizes.size(called.first).high)
    return _allocated(1, fixed((end - start) % 2**64))


def _ranged(_sizes: Sizes, called: Called) -> Estimate:
    return _allocated(1, fixed(_number(called.args[0], MOST)))


def _reversed(sizes: Sizes, called: Called) -> Estimate:
    return _allocated(1, sizes.size(called.first))


def _flattened(sizes: Sizes, called: Called) -> Estimate:
    depth = _number(called.args[0], MOST) if called.args else 1
    return _allocated(float(depth), sizes.size(called.first))


def _distinct(sizes: Sizes, called: Called) -> Estimate:
    size = sizes.size(called.first)
    return _allocated(2, size * size)


def _sorted_by(kind: Type, *, keys: bool) -> Rule:
    factor = 2 + TRAVERSAL if kind in (STRING, BYTES) else 2

    def rule(sizes: Sizes, called: Called) -> Estimate:
        size = sizes.size(called.args[0] if keys else called.first)
        return _allocated(factor, size * size)

    return rule


def _allocated(factor: float, size: SizeRange) -> Estimate:
    return Estimate(size.times(factor) + ONE + fixed(LIST), size)


def _product(times: int) -> Rule:
    def rule(sizes: Sizes, called: Called) -> Estimate:
        size = sizes.size(called.args[0]) * sizes.size(called.args[1])
        return Estimate(size.times(times) + ONE)

    return rule


def _number(argument: Argument, otherwise: int) -> int:
    """The number of a literal argument, or else ``otherwise``."""
    if type(argument.node) is not Literal or argument.type != INT:
        return otherwise
    return max(int(argument.node.value), 0)


def _rules(names: Sequence[str], rule: Rule) -> dict[str, Rule]:
    return dict.fromkeys(names, rule)


_TRACKED: Final[dict[str, Rule]] = {
    "list_slice": _sliced,
    "list_flatten": _flattened,
    "list_flatten_int": _flattened,
    "lists_range": _ranged,
    "list_reverse": _reversed,
    "list_distinct": _distinct,
    **{f"list_{name}_sort": _sorted_by(kind, keys=False) for name, kind in COMPARABLE.items()},
    **{
        f"list_{name}_sortByAssociatedKeys": _sorted_by(kind, keys=True)
        for name, kind in COMPARABLE.items()
    },
    "list_sets_contains_list": _product(1),
    "list_sets_intersects_list": _product(1),
    "list_sets_equivalent_list": _product(2),
}
_NAMED: Final[dict[str, Rule]] = {
    **_rules(("isSorted", "sum", "max", "min", "indexOf", "lastIndexOf"), _scan),
    **_rules(("url", "lowerAscii", "upperAscii", "substring", "trim"), _same_length),
    **_rules(("cidr", "isIP", "isCIDR"), _read),
    **_rules(("quantity", "isQuantity", "semver", "isSemver"), _read),
    **_rules(("find", "findAll"), _found),
    "replace": _replaced,
    "split": _split,
    "join": _joined,
    "ip": _address,
    "ip.isCanonical": _read_twice,
    "containsIP": _holds,
    "containsCIDR": _holds_range,
    "validate": _validated,
    "_==_": _compared_opaque,
}
_STANDARD: Final[dict[str, Rule]] = {
    "string_format": _formatted,
    "string_to_bytes": _to_bytes,
    "bytes_to_string": _to_text,
    "strings_quote": _quoted,
    "starts_with_string": _affix,
    "ends_with_string": _affix,
    "in_list": _in_list,
    "matches_string": _matched,
    "contains_string": _contained,
    **{
        f"{word}_{kind}": _smaller
        for word in ("less", "less_equals", "greater", "greater_equals")
        for kind in ("string", "bytes")
    },
    "equals": _smaller,
    "not_equals": _smaller,
}
