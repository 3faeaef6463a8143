"""The tree of an expression.

Macros are expanded when the tree is built, so later steps know only the few nodes below. A fold
also has the parts of its macro, to be printed and to be run by a loop of its own kind.

The checker writes types and overloads into the tree. Two trees are equal when they have the same
meaning; offsets do not count.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Final

from kubekit.cel.types import ERROR, Type
from kubekit.cel.values import Value

ACCUMULATOR: Final = "@result"  # not a name that a source can spell
RESERVED: Final = frozenset(
    [
        "as",
        "break",
        "const",
        "continue",
        "else",
        "false",
        "for",
        "function",
        "if",
        "import",
        "in",
        "let",
        "loop",
        "package",
        "namespace",
        "null",
        "return",
        "true",
        "var",
        "void",
        "while",
    ]
)


AnyNode = Any  # for tables of functions that each take their own node


class FoldKind(Enum):
    """What a fold computes, and so which loop runs it."""

    ALL = "all"
    EXISTS = "exists"
    EXISTS_ONE = "exists_one"
    LIST = "list"
    MAP = "map"
    ENTRIES = "entries"
    BIND = "bind"


@dataclass(slots=True, kw_only=True)
class Node:
    """A node. ``depth`` counts the nested operators, since each costs a frame of the stack.

    ``written`` is the macro call that the node is the expansion of.
    """

    offset: int = field(compare=False, repr=False)
    depth: int = field(default=0, compare=False, repr=False)
    type: Type = field(default=ERROR, compare=False, repr=False)
    written: "Call | None" = field(default=None, compare=False, repr=False)


@dataclass(slots=True, kw_only=True)
class Literal(Node):
    value: Value


@dataclass(slots=True, kw_only=True)
class Ident(Node):
    """``constant`` is the type that the name refers to, if it names one."""

    name: str
    constant: Value = field(default=None, compare=False, repr=False)


@dataclass(slots=True, kw_only=True)
class Select(Node):
    """A field of the operand; with ``test``, whether it is present."""

    operand: Node
    name: str
    test: bool = False
    constant: Value = field(default=None, compare=False, repr=False)


@dataclass(slots=True, kw_only=True)
class Call(Node):
    """A call of a function or operator. ``overloads`` are the ids that the types allow."""

    function: str
    args: list[Node]
    target: Node | None = None
    overloads: list[str] = field(default_factory=list, compare=False, repr=False)


@dataclass(slots=True, kw_only=True)
class ListExpr(Node):
    elements: list[Node]
    optionals: frozenset[int] = frozenset()


@dataclass(slots=True, kw_only=True)
class MapEntry:
    key: Node
    value: Node
    optional: bool = False


@dataclass(slots=True, kw_only=True)
class MapExpr(Node):
    entries: list[MapEntry]


@dataclass(slots=True, kw_only=True)
class StructExpr(Node):
    """A message literal. No schema declares a message type, so the checker always refuses it."""

    name: str
    values: list[tuple[str, Node, bool]]


@dataclass(slots=True, kw_only=True)
class Fold(Node):
    """A loop over a range with an accumulator: the expansion of every macro with variables.

    ``predicate`` and ``transform`` are the parts of it that the author wrote.
    """

    kind: FoldKind
    range: Node
    variables: tuple[str, ...]
    accumulator: str
    start: Node
    condition: Node
    step: Node
    result: Node
    predicate: Node | None = None
    transform: Node | None = None


def qualified_name(node: Node) -> str | None:
    """The dotted name of a node such as ``optional.none``; None if it is not a name."""
    parts: list[str] = []
    while type(node) is Select and not node.test:
        parts.append(node.name)
        node = node.operand
    if type(node) is not Ident:
        return None
    return ".".join([node.name, *reversed(parts)])


def children(node: Node) -> list[Node]:
    """The nodes directly below."""
    return _CHILDREN[type(node)](node)


_CHILDREN: Final[dict[type[Node], Callable[[Any], list[Node]]]] = {
    Literal: lambda _node: [],
    Ident: lambda _node: [],
    Select: lambda node: [node.operand],
    Call: lambda node: [*([] if node.target is None else [node.target]), *node.args],
    ListExpr: lambda node: node.elements,
    MapExpr: lambda node: [part for entry in node.entries for part in (entry.key, entry.value)],
    StructExpr: lambda node: [value for _, value, _ in node.values],
    Fold: lambda node: [node.range, node.start, node.condition, node.step, node.result],
}
