"""Unification: whether a type can be used as another, and the type parameters that follow.

The rules are those of the checker that Kubernetes uses, including its leniency: dyn fits
everything, and null fits times, objects and optionals.
"""

from collections.abc import Callable, Sequence
from typing import Final

from kubekit.cel.types import DYN, Type, TypeKind

_NULLABLE: Final = frozenset(
    {TypeKind.OPAQUE, TypeKind.STRUCT, TypeKind.DURATION, TypeKind.TIMESTAMP}
)
_WILD: Final = frozenset({TypeKind.DYN, TypeKind.ERROR})


class Substitution:
    """The types of the type parameters of an expression, as far as they are known."""

    def __init__(self) -> None:
        self._bound: dict[str, Type] = {}
        self._undo: list[tuple[str, Type | None]] = []

    def agree(self, first: Sequence[Type], second: Sequence[Type]) -> bool:
        """Whether the types agree in pairs. The bindings change only if all of them do."""
        self._undo.clear()
        if len(first) == len(second) and self._all_agree(first, second):
            return True
        for name, before in reversed(self._undo):
            if before is None:
                del self._bound[name]
            else:
                self._bound[name] = before
        return False

    def substituted(self, kind: Type, *, free: Type | None = None) -> Type:
        """The type with its parameters replaced; an unbound parameter is replaced by ``free``."""
        kind = self._followed(kind)
        if kind.kind is TypeKind.PARAM:
            return free or kind
        return replaced(kind, lambda inner: self.substituted(inner, free=free))

    def concrete(self, kind: Type) -> Type:
        return self.substituted(kind, free=DYN)

    def _followed(self, kind: Type) -> Type:
        """The type at the end of a chain of bound parameters."""
        while kind.kind is TypeKind.PARAM and kind.name in self._bound:
            kind = self._bound[kind.name]
        return kind

    def _set(self, parameter: Type, kind: Type) -> None:
        self._undo.append((parameter.name, self._bound.get(parameter.name)))
        self._bound[parameter.name] = kind

    def _all_agree(self, first: Sequence[Type], second: Sequence[Type]) -> bool:
        return all(self._agree(one, other) for one, other in zip(first, second, strict=True))

    def _agree(self, first: Type, second: Type) -> bool:
        if second.kind is TypeKind.PARAM:
            is_valid, is_bound = self._bind(first, second)
            if is_valid or is_bound:
                return is_valid
        if first.kind is TypeKind.PARAM:
            return self._bind(second, first)[0]
        is_wild = first.kind in _WILD or second.kind in _WILD
        return is_wild or self._have_one_shape(first, second)

    def _have_one_shape(self, first: Type, second: Type) -> bool:
        if TypeKind.NULL in (first.kind, second.kind):
            return _agrees_with_null(first, second)
        if first.kind is TypeKind.TYPE:
            return second.kind is TypeKind.TYPE
        if (first.kind, first.name) != (second.kind, second.name):
            return False
        return len(first.params) == len(second.params) and self._all_agree(
            first.params, second.params
        )

    def _bind(self, kind: Type, parameter: Type) -> tuple[bool, bool]:
        """Whether the parameter can be the type, and whether it was bound before."""
        bound = self._bound.get(parameter.name)
        if kind in (parameter, bound):
            return True, True
        if bound is None:
            is_free = not self._occurs(parameter, kind)
            if is_free:
                self._set(parameter, kind)
            return is_free, False
        if not self._agree(kind, bound):
            return False, True
        general = most_general(kind, bound)
        if not self._occurs(parameter, general):
            self._set(parameter, general)
        return True, True

    def _occurs(self, parameter: Type, within: Type) -> bool:
        """Whether the parameter is part of the type: then binding it would be circular."""
        while within.kind is TypeKind.PARAM:
            if within == parameter:
                return True
            if within.name not in self._bound:
                return False
            within = self._bound[within.name]
        return any(self._occurs(parameter, inner) for inner in within.params)


def replaced(kind: Type, replace: Callable[[Type], Type]) -> Type:
    """The type with other types inside."""
    if not kind.params:
        return kind
    return Type(kind.kind, kind.name, tuple([replace(inner) for inner in kind.params]))


def most_general(first: Type, second: Type) -> Type:
    """The more general one of two types that agree."""
    return first if _is_general(first, second) else second


def _agrees_with_null(first: Type, second: Type) -> bool:
    other = second if first.kind is TypeKind.NULL else first
    return other.kind is TypeKind.NULL or other.kind in _NULLABLE


def _is_general(first: Type, second: Type) -> bool:
    """Whether the first type is at least as general as the second."""
    if first.kind in (TypeKind.DYN, TypeKind.PARAM):
        return True
    if second.kind in (TypeKind.DYN, TypeKind.PARAM) or first.kind is not second.kind:
        return False
    if first.kind is TypeKind.TYPE:
        return True
    if first.name != second.name or len(first.params) != len(second.params):
        return False
    return all(
        _is_general(one, other) for one, other in zip(first.params, second.params, strict=True)
    )
