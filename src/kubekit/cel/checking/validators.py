"""Checks of literals at compile time, beyond the types.

A literal time, pattern or format is valid or not whatever the variables are. The elements of a literal
list or map must be of one type.
"""

from collections.abc import Iterator
from typing import Final

from kubekit.cel.errors import EvaluationError, Issue
from kubekit.cel.libraries import formatting, regexes
from kubekit.cel.operations import conversions
from kubekit.cel.syntax.tree import Call, ListExpr, Literal, MapExpr, Node, children
from kubekit.cel.types import Type, TypeKind, is_dyn, unwrapped

_CONVERSIONS: Final = {
    "duration": conversions.to_duration,
    "timestamp": conversions.to_timestamp,
}
_FORMATTABLE: Final = {
    "s": frozenset(TypeKind) - {TypeKind.OPAQUE, TypeKind.STRUCT},
    "d": frozenset({TypeKind.INT, TypeKind.UINT}),
    "f": frozenset({TypeKind.DOUBLE, TypeKind.STRING}),
    "e": frozenset({TypeKind.DOUBLE, TypeKind.STRING}),
    "b": frozenset({TypeKind.INT, TypeKind.UINT, TypeKind.BOOL}),
    "x": frozenset({TypeKind.INT, TypeKind.UINT, TypeKind.STRING, TypeKind.BYTES}),
    "X": frozenset({TypeKind.INT, TypeKind.UINT, TypeKind.STRING, TypeKind.BYTES}),
    "o": frozenset({TypeKind.INT, TypeKind.UINT}),
}


def validate(tree: Node) -> list[Issue]:
    """The errors in the literals of a typed tree."""
    issues: list[Issue] = []
    seen: set[int] = set()
    pending = [(tree, False)]
    while pending:
        node, is_exempt = pending.pop()
        if id(node) in seen:  # a macro may use one node twice
            continue
        seen.add(id(node))
        if type(node) is Call:
            issues += _call_issues(node)
            is_exempt = is_exempt or node.function == "format"
        elif not is_exempt:
            issues += _mixed_types(node)
        pending += [(child, is_exempt) for child in children(node)]
    return issues


def _call_issues(node: Call) -> Iterator[Issue]:
    if node.function == "format" and node.target is not None:
        yield from _format_issues(node, node.target)
    elif node.args and type(node.args[0]) is Literal and not _is_valid(node, node.args[0].value):
        yield Issue(node.args[0].offset, f"invalid {node.function} argument")


def _is_valid(node: Call, value: object) -> bool:
    if node.function == "matches" and isinstance(value, str):
        try:
            regexes.pattern(value)
        except regexes.BadPattern:
            return False
    convert = _CONVERSIONS.get(node.function)
    if convert is not None:
        try:
            convert(value)
        except EvaluationError:
            return False
    return True


def _mixed_types(node: Node) -> Iterator[Issue]:
    """The first element whose type differs from that of the first element."""
    if type(node) is ListExpr:
        yield from _different(
            [
                (element, unwrapped(element.type) if at in node.optionals else element.type)
                for at, element in enumerate(node.elements)
            ]
        )
    elif type(node) is MapExpr:
        yield from _different([(entry.key, entry.key.type) for entry in node.entries])
        yield from _different(
            [
                (entry.value, unwrapped(entry.value.type) if entry.optional else entry.value.type)
                for entry in node.entries
            ]
        )


def _different(elements: list[tuple[Node, Type]]) -> Iterator[Issue]:
    for node, kind in elements[1:]:
        wanted = elements[0][1]
        if kind != wanted:
            yield Issue(node.offset, f"expected type '{wanted}' but found '{kind}'")
            return


def _format_issues(node: Call, target: Node) -> Iterator[Issue]:
    listed = node.args[0] if len(node.args) == 1 else None
    if type(target) is not Literal or type(target.value) is not str or type(listed) is not ListExpr:
        return
    arguments = listed.elements

    def clause(letter: str, _precision: int | None, position: int) -> str:
        unformattable = _unformattable(letter, arguments[position])
        if unformattable is not None:
            raise _Misplaced(
                unformattable.offset, formatting.wrong_argument(letter, unformattable.type.name)
            )
        return ""

    try:
        formatting.filled(target.value, len(arguments), clause)
    except _Misplaced as error:
        yield error.issue
    except formatting.FormatError as error:
        yield Issue(node.offset, str(error))
    else:
        used = formatting.arguments_used(target.value)
        if len(arguments) > used:
            counted = f"(expected {used}, got {len(arguments)})"
            yield Issue(node.offset, f"too many arguments supplied to string.format {counted}")


class _Misplaced(Exception):
    def __init__(self, offset: int, text: str) -> None:
        super().__init__(text)
        self.issue = Issue(offset, text)


def _unformattable(letter: str, node: Node) -> Node | None:
    """The node, or one inside it, that the clause cannot format."""
    if not is_dyn(node.type) and node.type.kind not in _FORMATTABLE[letter]:
        return node
    if letter == "s" and type(node) in (ListExpr, MapExpr):
        for child in children(node):
            unformattable = _unformattable(letter, child)
            if unformattable is not None:
                return unformattable
    return None
