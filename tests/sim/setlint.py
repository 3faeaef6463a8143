"""A linter that finds code which depends on the order of a set: it differs between processes."""

import ast
from collections.abc import Iterator
from typing import Final

SET_TYPES: Final = {"set", "frozenset", "AbstractSet", "MutableSet", "Set", "WeakSet"}
SET_METHODS: Final = {"union", "intersection", "difference", "symmetric_difference"}
# Callables for which the order of their arguments does not matter.
CARELESS: Final = {"sorted", "set", "frozenset", "len", "min", "max", "sum", "any", "all"}
ORDERED: Final = {"list", "tuple", "iter", "enumerate", "zip", "map", "filter", "deque", "chain"}
ORDERED_METHODS: Final = {"join", "extend", "fromkeys", "from_iterable"}
SET_OPERATORS: Final = (ast.BitAnd, ast.BitOr, ast.Sub, ast.BitXor)
COMPREHENSIONS: Final = (ast.ListComp, ast.GeneratorExp, ast.DictComp, ast.SetComp)


class SetOrders:
    """The lines of one file that iterate over a set in its own order.

    A set is known by what it is made of, or by what is written beside its name; names are taken
    for the same throughout a function, attributes throughout the file.
    """

    def __init__(self, tree: ast.Module) -> None:
        self._tree = tree
        self._parents = {
            child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)
        }
        self._names: set[tuple[ast.AST, str]] = set()
        self._attributes: set[str] = set()
        for node in ast.walk(tree):
            self._learn(node)

    def found(self) -> Iterator[tuple[int, str]]:
        for node in ast.walk(self._tree):
            for through in self._goes_through(node):
                if self._is_set(through):
                    yield through.lineno, "the order of a set; use dict[T, None], or sorted()"

    def _goes_through(self, node: ast.AST) -> Iterator[ast.expr]:
        """The expressions that this node iterates over."""
        if isinstance(node, ast.Call):
            yield from self._called_with(node)
            return
        match node:
            case ast.For(iter=through) | ast.AsyncFor(iter=through):
                yield through
            case ast.ListComp() | ast.GeneratorExp() | ast.DictComp():
                if not self._is_careless(node):
                    yield from (one.iter for one in node.generators)
            case ast.Starred(value=value) if isinstance(
                self._parents.get(node), ast.List | ast.Tuple
            ):
                yield value
            case (
                ast.YieldFrom(value=value)
                | ast.Assign(targets=[ast.Tuple() | ast.List()], value=value)
            ):
                yield value
            case _:
                return

    def _called_with(self, node: ast.Call) -> Iterator[ast.expr]:
        """The arguments that a call iterates over."""
        match node:
            case ast.Call(func=ast.Name(id=name), args=args) if name in ORDERED:
                if not self._is_careless(node):
                    yield from args
            case ast.Call(func=ast.Attribute(attr=name), args=args) if name in ORDERED_METHODS:
                yield from args
            case ast.Call(func=ast.Attribute(value=value, attr="pop"), args=[]):
                yield value
            case _:
                return

    def _is_careless(self, node: ast.AST) -> bool:
        """Whether the result goes to a callable for which the order does not matter."""
        caller = self._parents.get(node)
        return (
            isinstance(caller, ast.Call)
            and isinstance(caller.func, ast.Name)
            and caller.func.id in CARELESS
            and node in caller.args
        )

    def _is_set(self, node: ast.expr) -> bool:
        found = isinstance(node, ast.Set | ast.SetComp)
        match node:
            case ast.Call(func=ast.Name(id=name)):
                found = name in SET_TYPES
            case ast.Call(func=ast.Attribute(attr=name, value=value)):
                found = name in SET_METHODS or (name == "copy" and self._is_set(value))
            case ast.BinOp(left=left, right=right, op=op) if isinstance(op, SET_OPERATORS):
                found = any(self._is_set(side) or _is_keys(side) for side in (left, right))
            case ast.IfExp(body=body, orelse=orelse):
                found = self._is_set(body) or self._is_set(orelse)
            case ast.Name(id=name):
                found = self._is_known(node, name)
            case ast.Attribute(attr=attr):
                found = attr in self._attributes
            case _:
                pass
        return found

    def _is_known(self, node: ast.AST, name: str) -> bool:
        scope: ast.AST | None = self._scope(node)
        while scope is not None:
            if (scope, name) in self._names:
                return True
            scope = self._scope(scope) if scope is not self._tree else None
        return False

    def _learn(self, node: ast.AST) -> None:
        match node:
            case ast.Assign(targets=targets, value=value) if self._is_set(value):
                for target in targets:
                    self._note(target)
            case ast.AnnAssign(target=target, annotation=annotation, value=value):
                if _says_set(annotation) or (value is not None and self._is_set(value)):
                    self._note(target)
            case ast.arg(arg=name, annotation=ast.expr() as annotation) if _says_set(annotation):
                self._names.add((self._scope(node), name))
            case ast.NamedExpr(target=target, value=value) if self._is_set(value):
                self._note(target)
            case _:
                return

    def _note(self, target: ast.expr) -> None:
        if isinstance(target, ast.Name):
            scope = self._scope(target)
            self._names.add((scope, target.id))
            if isinstance(scope, ast.ClassDef):
                self._attributes.add(target.id)
        elif isinstance(target, ast.Attribute):
            self._attributes.add(target.attr)

    def _scope(self, node: ast.AST) -> ast.AST:
        """The function, class or file that a name belongs to."""
        scopes = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef | ast.Module
        at = self._parents.get(node, self._tree)
        while not isinstance(at, scopes):
            at = self._parents[at]
        return at


def _is_keys(node: ast.expr) -> bool:
    """What comes of ``a.keys() & b`` is a set, though neither is one."""
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and (node.func.attr in {"keys", "items"})
    )


def _says_set(annotation: ast.expr) -> bool:
    says = False
    match annotation:
        case ast.Constant(value=str() as text):
            says = _says_set(ast.parse(text, mode="eval").body)
        case ast.Subscript(value=ast.Name(id="Final" | "ClassVar" | "Optional"), slice=inner):
            says = _says_set(inner)
        case ast.Subscript(value=value):
            says = _says_set(value)
        case ast.BinOp(left=left, right=right):
            says = _says_set(left) or _says_set(right)
        case ast.Name(id=name) | ast.Attribute(attr=name):
            says = name in SET_TYPES
        case _:
            pass
    return says
