"""The type checker of an expression.

Each node gets its type and each call the overloads that its types allow. The texts of the issues are
those of Kubernetes.
"""

from typing import Final

from kubekit.cel.checking.unification import Substitution, most_general, replaced
from kubekit.cel.declarations import Environment, Overload
from kubekit.cel.errors import Issue
from kubekit.cel.syntax.tree import (
    RESERVED,
    AnyNode,
    Call,
    Fold,
    Ident,
    ListExpr,
    Literal,
    MapExpr,
    Node,
    Select,
    StructExpr,
    qualified_name,
)
from kubekit.cel.types import (
    BOOL,
    BYTES,
    DOUBLE,
    DYN,
    ERROR,
    INT,
    NULL,
    STRING,
    UINT,
    Type,
    TypeKind,
    is_dyn,
    is_optional,
    list_of,
    map_of,
    optional_of,
    param,
    type_of,
    unwrapped,
)
from kubekit.cel.values import TypeValue, Uint

_LITERALS: Final = {
    bool: BOOL,
    bytes: BYTES,
    float: DOUBLE,
    int: INT,
    type(None): NULL,
    str: STRING,
    Uint: UINT,
}
_LOGICAL: Final = frozenset({"_&&_", "_||_"})


def check(tree: Node, environment: Environment) -> list[Issue]:
    """The type errors of the tree. Every node gets its type."""
    checker = _Checker(environment)
    checker.check(tree)
    checker.resolve_types(tree)
    return checker.issues


class _Checker:
    def __init__(self, environment: Environment) -> None:
        self.issues: list[Issue] = []
        self._environment = environment
        self._scopes: list[dict[str, Type]] = []
        self._bindings = Substitution()
        self._free = 0
        self._nodes: list[Node] = []

    def check(self, node: Node) -> Type:
        node.type = self._CHECKS[type(node)](self, node)
        self._nodes.append(node)
        return node.type

    def resolve_types(self, tree: Node) -> None:
        """Replace the type parameters in every type, once all nodes are checked."""
        for node in self._nodes:
            node.type = self._bindings.concrete(node.type)
        assert tree.type.kind is not TypeKind.PARAM

    def _literal(self, node: AnyNode) -> Type:
        return _LITERALS[type(node.value)]

    def _ident(self, node: AnyNode) -> Type:
        kind = self._named(node, node.name)
        if kind is None:
            return self._error(node, f"undeclared reference to '{node.name}' (in container '')")
        return kind

    def _named(self, node: Ident | Select, name: str) -> Type | None:
        """The type of a name: of the innermost variable, or of the type that it names."""
        for scope in reversed(self._scopes):
            if name in scope:
                return scope[name]
        plain = name.removeprefix(".")
        if plain in self._environment.variables:
            return self._environment.variables[plain]
        named = self._environment.types.get(plain)
        if named is None:
            return None
        node.constant = TypeValue(named.name)
        return type_of(named)

    def _select(self, node: AnyNode) -> Type:
        name = qualified_name(node)
        if name is not None:
            kind = self._named(node, name)
            if kind is not None:
                return kind
        result = self._field(node, node.operand, node.name)
        return BOOL if node.test else result

    def _field(self, node: Node, operand: Node, name: str, *, optional: bool = False) -> Type:
        target = self._bindings.substituted(self.check(operand))
        result = self._field_of(node, unwrapped(target), name)
        return optional_of(result) if optional or is_optional(target) else result

    def _field_of(self, node: Node, target: Type, name: str) -> Type:
        if target.kind is TypeKind.MAP:
            return target.params[1]
        if target.kind is TypeKind.STRUCT:
            return self._struct_field(node, target, name)
        if target.kind is TypeKind.PARAM:
            self._agree(DYN, target)
        elif target.kind not in (TypeKind.DYN, TypeKind.ERROR):
            self._error(node, f"type '{target}' does not support field selection")
        return DYN

    def _struct_field(self, node: Node, target: Type, name: str) -> Type:
        fields = self._environment.structs.get(target.name, {})
        if name not in fields and name in RESERVED:
            name = f"__{name}__"
        found = fields.get(name)
        return found or self._error(node, f"undefined field '{name}'")

    def _call(self, node: AnyNode) -> Type:
        node.overloads.clear()  # a macro may use one node twice
        if node.function == "_?._":
            operand, name = node.args
            name.type = STRING
            node.overloads = ["select_optional_field"]
            return self._field(node, operand, name.value, optional=True)
        for arg in node.args:
            self.check(arg)
        if node.target is not None:
            self._qualify(node)
        if node.target is not None:
            self.check(node.target)
        overloads = self._environment.functions.get(node.function.removeprefix("."))
        if overloads is None:
            return self._error(node, f"undeclared reference to '{node.function}' (in container '')")
        return self._resolved(node, overloads)

    def _qualify(self, node: Call) -> None:
        """Turn ``a.b(c)`` into a call of the function ``a.b``, if there is one."""
        assert node.target is not None
        prefix = qualified_name(node.target)
        if prefix is not None and f"{prefix}.{node.function}" in self._environment.functions:
            node.function = f"{prefix}.{node.function}"
            node.target = None

    def _resolved(self, node: Call, overloads: tuple[Overload, ...]) -> Type:
        if node.function in _LOGICAL:
            return self._logical(node, overloads[0])
        args = [node.target, *node.args] if node.target is not None else node.args
        types = [arg.type for arg in args]
        result: Type | None = None
        for overload in overloads:
            if overload.member != (node.target is not None):
                continue
            kind = self._fit(overload, types)
            if kind is None:
                continue
            node.overloads.append(overload.id)
            if result is None or is_dyn(result):
                result = result or kind
            elif kind != result:
                result = DYN
        return result or self._no_overload(node, types)

    def _fit(self, overload: Overload, types: list[Type]) -> Type | None:
        """The result of the overload for these types."""
        args, result = overload.args, overload.result
        if overload.parameters:
            fresh = {name: self._new_variable() for name in overload.parameters}
            args = tuple(_renamed(kind, fresh) for kind in args)
            result = _renamed(result, fresh)
        if not self._bindings.agree(types, args):
            return None
        return self._bindings.substituted(result)

    def _logical(self, node: Call, overload: Overload) -> Type:
        result = BOOL
        for arg in node.args:
            if not self._agree(arg.type, BOOL):
                shown = self._bindings.substituted(arg.type)
                result = self._error(arg, f"expected type 'bool' but found '{shown}'")
        node.overloads.append(overload.id)
        return result

    def _no_overload(self, node: Call, types: list[Type]) -> Type:
        shown = [str(self._bindings.concrete(kind)) for kind in types]
        target = f"{shown.pop(0)}." if node.target is not None else ""
        signature = f"{target}({', '.join(shown)})"
        return self._error(
            node, f"found no matching overload for '{node.function}' applied to '{signature}'"
        )

    def _list(self, node: AnyNode) -> Type:
        joined: Type | None = None
        for position, element in enumerate(node.elements):
            kind = self.check(element)
            if position in node.optionals:
                kind = self._inside_optional(element, kind)
            joined = self._joined(joined, kind)
        return list_of(joined or self._new_variable())

    def _map(self, node: AnyNode) -> Type:
        keys: Type | None = None
        values: Type | None = None
        for entry in node.entries:
            keys = self._joined(keys, self.check(entry.key))
            kind = self.check(entry.value)
            if entry.optional:
                kind = self._inside_optional(entry.value, kind)
            values = self._joined(values, kind)
        return map_of(keys or self._new_variable(), values or self._new_variable())

    def _inside_optional(self, node: Node, kind: Type) -> Type:
        if not is_optional(kind) and not is_dyn(kind):
            self._error(node, f"expected type '{optional_of(kind)}' but found '{kind}'")
        return unwrapped(kind)

    def _joined(self, previous: Type | None, current: Type) -> Type:
        """The common type of elements. Whether they may differ is checked later."""
        if previous is None:
            return current
        return most_general(previous, current) if self._agree(previous, current) else DYN

    def _struct(self, node: AnyNode) -> Type:
        name = node.name.removeprefix(".")
        named = self._environment.types.get(name)
        if named is None:
            return self._error(node, f"undeclared reference to '{node.name}' (in container '')")
        return self._error(node, f"'{named.name}' is not a message type")

    def _fold(self, node: AnyNode) -> Type:
        ranged = self._bindings.substituted(self.check(node.range))
        start = self.check(node.start)
        self._scopes.append({node.accumulator: start})
        self._scopes.append(dict(zip(node.variables, self._elements(node, ranged), strict=True)))
        self.check(node.condition)
        self.check(node.step)
        if not self._agree(start, node.step.type):
            wanted = self._bindings.substituted(start)
            found = self._bindings.substituted(node.step.type)
            self._error(node.step, f"expected type '{wanted}' but found '{found}'")
        self._scopes.pop()
        result = self.check(node.result)
        self._scopes.pop()
        return self._bindings.substituted(result)

    def _elements(self, node: Fold, ranged: Type) -> tuple[Type, ...]:
        """The types of the variables: the elements of a list or the keys of a map, or both parts."""
        is_double = len(node.variables) > 1
        if ranged.kind is TypeKind.LIST:
            return (INT, ranged.params[0]) if is_double else ranged.params
        if ranged.kind is TypeKind.MAP:
            return ranged.params if is_double else ranged.params[:1]
        kind = DYN
        if ranged.kind is TypeKind.PARAM:
            self._agree(DYN, ranged)
        elif ranged.kind not in (TypeKind.DYN, TypeKind.ERROR):
            kind = self._error(
                node.range,
                f"expression of type '{ranged}' cannot be range of a comprehension "
                "(must be list, map, or dynamic)",
            )
        return (kind,) * len(node.variables)

    def _agree(self, first: Type, second: Type) -> bool:
        return self._bindings.agree((first,), (second,))

    def _new_variable(self) -> Type:
        self._free += 1
        return param(f"_var{self._free}")

    def _error(self, node: Node, text: str) -> Type:
        self.issues.append(Issue(node.offset, text))
        return ERROR

    _CHECKS: Final = {
        Literal: _literal,
        Ident: _ident,
        Select: _select,
        Call: _call,
        ListExpr: _list,
        MapExpr: _map,
        StructExpr: _struct,
        Fold: _fold,
    }


def _renamed(kind: Type, names: dict[str, Type]) -> Type:
    """The type with parameters that no other call shares."""
    if kind.kind is TypeKind.PARAM:
        return names[kind.name]
    return replaced(kind, lambda inner: _renamed(inner, names))
