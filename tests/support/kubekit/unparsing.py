"""CEL expressions as text, in a form that parses to the same tree."""

from typing import Final

from kubekit.cel.syntax import text
from kubekit.cel.syntax.tree import (
    AnyNode,
    Call,
    Ident,
    ListExpr,
    Literal,
    MapExpr,
    Node,
    Select,
    StructExpr,
)
from kubekit.cel.values import Uint

_UNARY: Final = {"-_": "-", "!_": "!"}


def unparsed(node: Node) -> str:
    """The text of the tree. Every operation is in brackets, so precedence does not matter."""
    if node.written is not None:
        return _call(node.written)
    return _WRITERS[type(node)](node)


def _literal(node: AnyNode) -> str:
    value = node.value
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return text.quoted(value)
    if isinstance(value, bytes):
        return text.quoted_bytes(value)
    return f"{int(value)}u" if isinstance(value, Uint) else repr(value)


def _ident(node: AnyNode) -> str:
    return str(node.name)


def _select(node: AnyNode) -> str:
    selected = f"{unparsed(node.operand)}.{node.name}"
    return f"has({selected})" if node.test else selected


def _call(node: AnyNode) -> str:
    if node.target is not None:
        return f"{unparsed(node.target)}.{node.function}({_joined(node.args)})"
    write = _OPERATORS.get(node.function)
    if write is not None:
        return write([unparsed(arg) for arg in node.args])
    if node.function in _UNARY:
        return f"{_UNARY[node.function]}({unparsed(node.args[0])})"
    if node.function.startswith("_"):
        operator = "in" if node.function == "@in" else node.function.strip("_")
        return "(" + f" {operator} ".join(unparsed(arg) for arg in node.args) + ")"
    return f"{node.function}({_joined(node.args)})"


def _list(node: AnyNode) -> str:
    marks = ["?" if at in node.optionals else "" for at in range(len(node.elements))]
    parts = [mark + unparsed(element) for mark, element in zip(marks, node.elements, strict=True)]
    return f"[{', '.join(parts)}]"


def _map(node: AnyNode) -> str:
    parts = [
        f"{'?' if entry.optional else ''}{unparsed(entry.key)}: {unparsed(entry.value)}"
        for entry in node.entries
    ]
    return "{" + ", ".join(parts) + "}"


def _struct(node: AnyNode) -> str:
    parts = [f"{'?' if opt else ''}{name}: {unparsed(value)}" for name, value, opt in node.values]
    return f"{node.name}{{{', '.join(parts)}}}"


def _joined(nodes: list[Node]) -> str:
    return ", ".join(map(unparsed, nodes))


_WRITERS: Final = {
    Literal: _literal,
    Ident: _ident,
    Select: _select,
    Call: _call,
    ListExpr: _list,
    MapExpr: _map,
    StructExpr: _struct,
}
_OPERATORS: Final = {
    "_?_:_": lambda parts: f"({parts[0]} ? {parts[1]} : {parts[2]})",
    "_[_]": lambda parts: f"{parts[0]}[{parts[1]}]",
    "_[?_]": lambda parts: f"{parts[0]}[?{parts[1]}]",
    "_?._": lambda parts: f"{parts[0]}.?{parts[1][1:-1]}",
    "@in": lambda parts: f"({parts[0]} in {parts[1]})",
}
