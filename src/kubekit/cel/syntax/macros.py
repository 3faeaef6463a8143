"""Macros: calls that expand to a larger expression.

The costs and types of a macro are those of its expansion, so the expansion is that of Kubernetes, node
for node.
"""

from collections.abc import Callable
from typing import Final

from kubekit.cel.errors import Issue
from kubekit.cel.syntax.tree import (
    ACCUMULATOR,
    Call,
    Fold,
    FoldKind,
    Ident,
    ListExpr,
    Literal,
    MapEntry,
    MapExpr,
    Node,
    Select,
)

_UNUSED: Final = "#unused"
_OLD_ACCUMULATOR: Final = "__result__"


class BadMacro(Exception):
    """The arguments do not fit the macro."""

    def __init__(self, at: Node, text: str) -> None:
        super().__init__(text)
        self.issue = Issue(at.offset, text)


def expanded(call: Call) -> Node:
    """The expansion of the call; the call itself, if no macro has its name and number of arguments."""
    key = (call.function, len(call.args), call.target is not None)
    expand = _MACROS.get(key)
    if expand is None:
        return call
    node = expand(call)
    node.depth = call.depth + 1
    node.written = call
    return node


def _has(call: Call) -> Node:
    argument = call.args[0]
    if type(argument) is not Select or argument.test:
        raise BadMacro(argument, "invalid argument to has() macro")
    return Select(operand=argument.operand, name=argument.name, test=True, offset=call.offset)


def _quantifier(kind: FoldKind) -> "_Expand":
    def expand(call: Call) -> Node:
        *names, predicate = call.args
        variables = _variables(names, "argument must be a simple name")
        start, condition, step, result = _QUANTIFIERS[kind](call.offset, predicate)
        return _fold(call, kind, variables, (start, condition, step, result), predicate=predicate)

    return expand


def _all(at: int, predicate: Node) -> "_Parts":
    return (
        Literal(value=True, offset=at),
        _call(at, "@not_strictly_false", _accumulator(at)),
        _call(at, "_&&_", _accumulator(at), predicate),
        _accumulator(at),
    )


def _exists(at: int, predicate: Node) -> "_Parts":
    return (
        Literal(value=False, offset=at),
        _call(at, "@not_strictly_false", _call(at, "!_", _accumulator(at))),
        _call(at, "_||_", _accumulator(at), predicate),
        _accumulator(at),
    )


def _exists_one(at: int, predicate: Node) -> "_Parts":
    one = Literal(value=1, offset=at)
    counted = _call(at, "_+_", _accumulator(at), one)
    return (
        Literal(value=0, offset=at),
        Literal(value=True, offset=at),
        _call(at, "_?_:_", predicate, counted, _accumulator(at)),
        _call(at, "_==_", _accumulator(at), Literal(value=1, offset=at)),
    )


def _map(call: Call) -> Node:
    variable, *optional_predicate, transform = call.args
    variables = _variables([variable], "argument is not an identifier")
    return _listing(
        call, variables, optional_predicate[0] if optional_predicate else None, transform
    )


def _filter(call: Call) -> Node:
    variable, predicate = call.args
    variables = _variables([variable], "argument is not an identifier")
    return _listing(call, variables, predicate, variable)


def _transform_list(call: Call) -> Node:
    first, second, *optional_predicate, transform = call.args
    variables = _variables([first, second], "argument must be a simple name")
    return _listing(
        call, variables, optional_predicate[0] if optional_predicate else None, transform
    )


def _transform_map(call: Call) -> Node:
    first, second, *optional_predicate, transform = call.args
    variables = _variables([first, second], "argument must be a simple name")
    at = call.offset
    key = Ident(name=variables[0], offset=at)
    step: Node = _call(at, "cel.@mapInsert", _accumulator(at), key, transform)
    return _mapping(call, FoldKind.MAP, variables, (optional_predicate, step, transform))


def _transform_entries(call: Call) -> Node:
    first, second, *optional_predicate, transform = call.args
    variables = _variables([first, second], "argument must be a simple name")
    at = call.offset
    step: Node = _call(at, "cel.@mapInsert", _accumulator(at), transform)
    return _mapping(call, FoldKind.ENTRIES, variables, (optional_predicate, step, transform))


def _listing(
    call: Call, variables: tuple[str, ...], predicate: Node | None, transform: Node
) -> Node:
    at = call.offset
    added = ListExpr(elements=[transform], offset=at)
    step: Node = _call(at, "_+_", _accumulator(at), added)
    if predicate is not None:
        step = _call(at, "_?_:_", predicate, step, _accumulator(at))
    start = ListExpr(elements=[], offset=at)
    parts = (start, Literal(value=True, offset=at), step, _accumulator(at))
    return _fold(call, FoldKind.LIST, variables, parts, predicate=predicate, transform=transform)


def _mapping(
    call: Call,
    kind: FoldKind,
    variables: tuple[str, ...],
    made: tuple[list[Node], Node, Node],
) -> Node:
    optional_predicate, step, transform = made
    at = call.offset
    predicate = optional_predicate[0] if optional_predicate else None
    if predicate is not None:
        step = _call(at, "_?_:_", predicate, step, _accumulator(at))
    start = MapExpr(entries=list[MapEntry](), offset=at)
    parts = (start, Literal(value=True, offset=at), step, _accumulator(at))
    return _fold(call, kind, variables, parts, predicate=predicate, transform=transform)


def _opt_map(call: Call) -> Node:
    at = call.offset
    return _if_valued(call, _call(at, "optional.of", _bound_value(call)))


def _opt_flat_map(call: Call) -> Node:
    return _if_valued(call, _bound_value(call))


def _if_valued(call: Call, then: Node) -> Node:
    at = call.offset
    has_value = Call(function="hasValue", target=call.target, args=[], offset=at)
    return _call(at, "_?_:_", has_value, then, _call(at, "optional.none"))


def _bound_value(call: Call) -> Node:
    """The second argument, with the value of the optional bound to the name in the first."""
    name, body = call.args
    if type(name) is not Ident:
        text = f"{call.function}() variable name must be a simple identifier"
        raise BadMacro(name, text)
    value = Call(function="value", target=call.target, args=[], offset=call.offset)
    return _bind(call, name.name, value, body)


def _sort_by(call: Call) -> Node:
    assert call.target is not None
    if type(call.target) is Literal or type(call.target) is MapExpr:
        raise BadMacro(
            call.target,
            "sortBy can only be applied to a list, identifier, comprehension, call or select "
            "expression",
        )
    name = "@__sortBy_input__"
    at = call.offset
    over = Call(function="map", target=Ident(name=name, offset=at), args=call.args, offset=at)
    keys = _map(over)
    target = Ident(name=name, offset=at)
    body = Call(function="@sortByAssociatedKeys", target=target, args=[keys], offset=at)
    return _bind(call, name, call.target, body)


def _bind(call: Call, name: str, value: Node, body: Node) -> Fold:
    at = call.offset
    return Fold(
        kind=FoldKind.BIND,
        range=ListExpr(elements=[], offset=at),
        variables=(_UNUSED,),
        accumulator=name,
        start=value,
        condition=Literal(value=False, offset=at),
        step=Ident(name=name, offset=at),
        result=body,
        offset=at,
    )


def _fold(
    call: Call,
    kind: FoldKind,
    variables: tuple[str, ...],
    parts: "_Parts",
    **written: Node | None,
) -> Fold:
    assert call.target is not None
    start, condition, step, result = parts
    return Fold(
        kind=kind,
        range=call.target,
        variables=variables,
        accumulator=ACCUMULATOR,
        start=start,
        condition=condition,
        step=step,
        result=result,
        offset=call.offset,
        predicate=written.get("predicate"),
        transform=written.get("transform"),
    )


def _variables(nodes: list[Node], wrong: str) -> tuple[str, ...]:
    names = []
    for node in nodes:
        if type(node) is not Ident:
            raise BadMacro(node, wrong)
        if node.name in names:
            raise BadMacro(node, f"duplicate variable name: {node.name}")
        if node.name == _OLD_ACCUMULATOR:
            raise BadMacro(node, "iteration variable overwrites accumulator variable")
        names.append(node.name)
    return tuple(names)


def _accumulator(at: int) -> Node:
    return Ident(name=ACCUMULATOR, offset=at)


def _call(at: int, function: str, *args: Node) -> Call:
    return Call(function=function, args=list(args), offset=at)


_Parts = tuple[Node, Node, Node, Node]
_Expand = Callable[[Call], Node]

_QUANTIFIERS: Final[dict[FoldKind, Callable[[int, Node], _Parts]]] = {
    FoldKind.ALL: _all,
    FoldKind.EXISTS: _exists,
    FoldKind.EXISTS_ONE: _exists_one,
}
_MACROS: Final[dict[tuple[str, int, bool], _Expand]] = {
    ("has", 1, False): _has,
    ("all", 2, True): _quantifier(FoldKind.ALL),
    ("all", 3, True): _quantifier(FoldKind.ALL),
    ("exists", 2, True): _quantifier(FoldKind.EXISTS),
    ("exists", 3, True): _quantifier(FoldKind.EXISTS),
    ("exists_one", 2, True): _quantifier(FoldKind.EXISTS_ONE),
    ("exists_one", 3, True): _quantifier(FoldKind.EXISTS_ONE),
    ("existsOne", 3, True): _quantifier(FoldKind.EXISTS_ONE),
    ("map", 2, True): _map,
    ("map", 3, True): _map,
    ("filter", 2, True): _filter,
    ("transformList", 3, True): _transform_list,
    ("transformList", 4, True): _transform_list,
    ("transformMap", 3, True): _transform_map,
    ("transformMap", 4, True): _transform_map,
    ("transformMapEntry", 3, True): _transform_entries,
    ("transformMapEntry", 4, True): _transform_entries,
    ("optMap", 2, True): _opt_map,
    ("optFlatMap", 2, True): _opt_flat_map,
    ("sortBy", 2, True): _sort_by,
}
