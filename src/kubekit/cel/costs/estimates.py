"""The maximum cost of an expression, estimated from the sizes that a schema allows.

The estimate decides which rules a definition may have. It follows that of Kubernetes in every
step, including those where it looks up an unrelated size: a definition is accepted there if and only
if it is accepted here.
"""

from dataclasses import dataclass
from typing import Final

from kubekit.cel.costs.call_costs import LIST, MAP, TRAVERSAL
from kubekit.cel.costs.estimate_rules import known, rules_for
from kubekit.cel.costs.ranges import (
    MOST,
    ONE,
    UNKNOWN,
    ZERO,
    Argument,
    Called,
    Estimate,
    Path,
    SizeRange,
    fixed,
)
from kubekit.cel.schema_types import Declared
from kubekit.cel.syntax.tree import (
    ACCUMULATOR,
    AnyNode,
    Call,
    Fold,
    FoldKind,
    Ident,
    ListExpr,
    Literal,
    MapExpr,
    Node,
    Select,
)
from kubekit.cel.types import STRING, TypeKind, is_scalar

_KEY: Final = Declared(STRING, lambda value: value, 2)


@dataclass(frozen=True, slots=True)
class _Entry:
    """The sizes of the keys and values of a list or a map that the expression makes."""

    is_list: bool
    key: SizeRange
    value: SizeRange

    def joined(self, other: "_Entry | None") -> "_Entry | None":
        if other is None:
            return None
        return _Entry(self.is_list, self.key | other.key, self.value | other.value)


@dataclass(frozen=True, slots=True)
class _Local:
    path: Path
    size: SizeRange | None
    entry: _Entry | None = None


def estimate(tree: Node, root: Declared | None) -> SizeRange:
    """The cost of the expression. ``root`` is the type of ``self``, whose sizes bound it."""
    return _Estimator(root).cost(tree)


class _Estimator:
    def __init__(self, root: Declared | None) -> None:
        self._root = root
        self._paths: dict[int, Path] = {}
        self._sizes: dict[int, SizeRange] = {}
        self._entries: dict[int, _Entry] = {}
        self._locals: dict[str, list[_Local]] = {}

    def cost(self, node: Node) -> SizeRange:
        return self._COSTS[type(node)](self, node)

    def size(self, argument: Argument) -> SizeRange:
        """The size of an argument, as far as it is known."""
        return argument.size or self._declared_size(argument.path) or UNKNOWN

    def element(self, argument: Argument) -> Argument | None:
        """The elements of an argument that is a list."""
        if not argument.type.params:
            return None
        path = (*argument.path, "@items") if argument.path else ()
        return Argument(None, argument.type.params[0], path, None)

    def _literal(self, _node: AnyNode) -> SizeRange:
        return ZERO

    def _ident(self, node: AnyNode) -> SizeRange:
        local = self._local(node.name)
        self._paths[id(node)] = local.path if local else (node.name,)
        return ONE

    def _select(self, node: AnyNode) -> SizeRange:
        if node.constant is not None:
            self._paths[id(node)] = (node.name,)
            return ONE
        cost = self.cost(node.operand)
        if node.test:
            return cost
        self._paths[id(node)] = (*self._path(node.operand), node.name)
        selects = node.operand.type.kind in (TypeKind.MAP, TypeKind.STRUCT, TypeKind.PARAM)
        return cost + ONE if selects else cost

    def _list(self, node: AnyNode) -> SizeRange:
        cost, sizes = fixed(LIST), SizeRange(MOST if node.elements else 0, 0)
        for element in node.elements:
            cost += self.cost(element)
            sizes |= self._known(element)
        self._entries[id(node)] = _Entry(is_list=True, key=ONE, value=sizes)
        return cost

    def _map(self, node: AnyNode) -> SizeRange:
        cost, low = fixed(MAP), MOST if node.entries else 0
        keys = values = SizeRange(low, 0)
        for entry in node.entries:
            cost += self.cost(entry.key) + self.cost(entry.value)
            keys |= self._known(entry.key)
            values |= self._known(entry.value)
        self._entries[id(node)] = _Entry(is_list=False, key=keys, value=values)
        return cost

    def _fold(self, node: AnyNode) -> SizeRange:
        cost = self.cost(node.range) + self.cost(node.start)
        start = _Local(self._path(node.start), self._size(node.start), self._entry(node.start))
        self._push(node.accumulator, start)
        if node.kind is FoldKind.BIND:
            cost += self.cost(node.result)
            self._pop(node.accumulator)
            self._copy(node, node.result)
            return cost
        for name, local in zip(node.variables, self._variables(node), strict=True):
            self._push(name, local)
        each = self.cost(node.condition) + self.cost(node.step)
        for name in node.variables:
            self._pop(name)
        cost += self.cost(node.result)
        self._pop(node.accumulator)
        count = self._known(node.range)
        self._remember_fold(node, count)
        return cost + count * each

    def _remember_fold(self, node: Fold, count: SizeRange) -> None:
        if type(node.start) is Literal:
            self._remember(node, self._size(node.start))
        elif type(node.start) in (ListExpr, MapExpr):
            self._remember(node, count)
            entry = self._entry(node.step)
            if entry is not None:
                self._entries[id(node)] = entry

    def _variables(self, node: Fold) -> list[_Local]:
        """The known sizes of the variables of a loop."""
        entry, path = self._entry(node.range), self._path(node.range)
        is_list = entry.is_list if entry else node.range.type.kind is TypeKind.LIST
        key = _Local((*path, "@indices" if is_list else "@keys"), entry.key if entry else None)
        value = _Local((*path, "@items" if is_list else "@values"), entry.value if entry else None)
        if len(node.variables) > 1:
            return [key, value]
        return [value if is_list else key]

    def _call(self, node: AnyNode) -> SizeRange:
        if node.function == "dyn":
            cost = self.cost(node.args[0])
            self._copy(node, node.args[0])
            return cost + ONE
        costs = [self.cost(arg) for arg in node.args]
        args = [self._argument(arg) for arg in node.args]
        if not node.overloads:
            return ZERO
        total, target = ZERO, None
        if node.target is not None:
            total = self.cost(node.target)
            target = self._argument(node.target)
        called, size = SizeRange(MOST, 0), None
        for id_ in node.overloads:
            overload_estimate = self._overload(Called(node, id_, target, args, costs))
            called |= overload_estimate.cost
            if overload_estimate.size is not None:
                size = overload_estimate.size if size is None else size | overload_estimate.size
            size = self._indexed(node, id_, size)
        self._remember(node, size)
        return total + called

    def _indexed(self, node: Call, id_: str, size: SizeRange | None) -> SizeRange | None:
        """The size so far, or that of an element if the call is an index."""
        step = {"index_list": "@items", "index_map": "@values"}.get(id_)
        if step is not None:
            entry = self._entry(node.args[0])
            size = entry.value if entry else None
            self._paths[id(node)] = (*self._path(node.args[0]), step)
        return size if size is not None else self._size(node)

    def _overload(self, called: Called) -> Estimate:
        special = self._SPECIAL.get(called.id)
        if special is not None:
            return special(self, called)
        for rule in rules_for(called.node.function, called.id):
            call_estimate = rule(self, called)
            if call_estimate is not None:
                return Estimate(call_estimate.cost + called.argument_cost, call_estimate.size)
        return Estimate(ONE + called.argument_cost)

    def _logical(self, called: Called) -> Estimate:
        return Estimate(SizeRange(called.costs[0].low, called.argument_cost.high))

    def _choice(self, called: Called) -> Estimate:
        _, first, second = called.node.args
        entry = self._entry(first)
        joined = entry.joined(self._entry(second)) if entry else None
        if joined is not None:
            self._entries[id(called.node)] = joined
        condition, one, other = called.costs
        return Estimate(condition + (one | other), self._known(first) | self._known(second))

    def _addition(self, called: Called) -> Estimate:
        first, second = called.node.args
        size = known(called.args[0]) + known(called.args[1])
        entry = self._entry(first)
        joined = entry.joined(self._entry(second)) if entry else None
        if joined is not None:
            self._entries[id(called.node)] = joined
        cost = ONE if called.id == "add_list" else size.times(TRAVERSAL)
        return Estimate(cost + called.argument_cost, size)

    _SPECIAL: Final = {
        "logical_and": _logical,
        "logical_or": _logical,
        "conditional": _choice,
        "add_string": _addition,
        "add_bytes": _addition,
        "add_list": _addition,
    }
    _COSTS: Final = {
        Literal: _literal,
        Ident: _ident,
        Select: _select,
        Call: _call,
        ListExpr: _list,
        MapExpr: _map,
        Fold: _fold,
    }

    def _argument(self, node: Node) -> Argument:
        path = self._path(node)
        if path and path[0] == ACCUMULATOR:
            path = ()
        return Argument(node, node.type, path, self._size(node))

    def _path(self, node: Node) -> Path:
        if type(node) is Ident:
            local = self._local(node.name)
            if local is not None:
                return local.path
        return self._paths.get(id(node), ())

    def _size(self, node: Node) -> SizeRange | None:
        known = self._sizes.get(id(node)) or _written_size(node)
        if known is not None:
            return known
        declared = self._declared_size(self._path(node))
        if declared is not None:
            self._sizes[id(node)] = declared
            return declared
        if is_scalar(node.type):
            return ONE
        local = self._local(node.name) if type(node) is Ident else None
        return local.size if local else None

    def _known(self, node: Node) -> SizeRange:
        return self._size(node) or UNKNOWN

    def _declared_size(self, path: Path) -> SizeRange | None:
        """The size by the schema at the path. The first step is a variable."""
        if not path or self._root is None:
            return None
        declared = self._root
        for step in path[1:]:
            inner = _stepped(declared, step)
            if inner is None:
                return None
            declared = inner
        return SizeRange(0, declared.size)

    def _entry(self, node: Node) -> _Entry | None:
        known = self._entries.get(id(node))
        if known is not None:
            return known
        local = self._local(node.name) if type(node) is Ident else None
        return local.entry if local else None

    def _remember(self, node: Node, size: SizeRange | None) -> None:
        if size is not None:
            self._sizes[id(node)] = size

    def _copy(self, node: Node, source: Node) -> None:
        self._remember(node, self._size(source))
        entry = self._entry(source)
        if entry is not None:
            self._entries[id(node)] = entry

    def _local(self, name: str) -> _Local | None:
        stack = self._locals.get(name)
        return stack[-1] if stack else None

    def _push(self, name: str, local: _Local) -> None:
        self._locals.setdefault(name, []).append(local)

    def _pop(self, name: str) -> None:
        self._locals[name].pop()


def _written_size(node: Node) -> SizeRange | None:
    if type(node) is Literal:
        return fixed(len(node.value) if isinstance(node.value, str | bytes) else 1)
    if type(node) is ListExpr:
        return fixed(len(node.elements))
    return fixed(len(node.entries)) if type(node) is MapExpr else None


def _stepped(kind: Declared, step: str) -> Declared | None:
    if step in ("@items", "@values"):
        return kind.element
    if step == "@keys":
        return _KEY if kind.type.kind is TypeKind.MAP else None
    return (kind.fields or {}).get(step)
