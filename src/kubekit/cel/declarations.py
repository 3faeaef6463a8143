"""The declarations of an expression: variables, functions, and the fields of objects."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from kubekit.cel.types import Type, TypeKind

Fields = Mapping[str, Type]


@dataclass(frozen=True, slots=True)
class Overload:
    """One overload of a function: its parameter types, its result type and its implementation.

    ``run`` receives values of exactly these types; a type parameter accepts any. With ``open`` it
    receives any value, and refuses unsuitable ones itself.
    """

    function: str
    id: str
    args: tuple[Type, ...]
    result: Type
    run: Callable[..., Any]
    member: bool = False
    open: bool = False
    parameters: frozenset[str] = field(init=False)

    def __post_init__(self) -> None:
        """The names of the type parameters in the signature are found once."""
        names: set[str] = set()
        todo = [self.result, *self.args]
        while todo:
            kind = todo.pop()
            if kind.kind is TypeKind.PARAM:
                names.add(kind.name)
            todo += kind.params
        object.__setattr__(self, "parameters", frozenset(names))


@dataclass(frozen=True, slots=True)
class Environment:
    """The declarations that an expression can use.

    ``structs`` are the fields of each object type by its name, ``types`` the names of types.
    """

    functions: Mapping[str, tuple[Overload, ...]]
    types: Mapping[str, Type]
    variables: Mapping[str, Type] = field(default_factory=dict)
    structs: Mapping[str, Fields] = field(default_factory=dict)

    def extended(
        self, variables: Mapping[str, Type], structs: Mapping[str, Fields]
    ) -> "Environment":
        """The environment with more variables, and the object types they have."""
        return Environment(
            self.functions, self.types, {**self.variables, **variables}, {**self.structs, **structs}
        )


def function(
    name: str, id_: str, args: Iterable[Type], result: Type, run: Callable[..., Any]
) -> Overload:
    """A function called as ``name(a, b)``."""
    return Overload(name, id_, tuple(args), result, run)


def method(
    name: str, id_: str, args: Iterable[Type], result: Type, run: Callable[..., Any]
) -> Overload:
    """A function called as ``a.name(b)``; the first type is that of ``a``."""
    return Overload(name, id_, tuple(args), result, run, member=True)


def operator(
    name: str, id_: str, args: Iterable[Type], result: Type, run: Callable[..., Any]
) -> Overload:
    """An operator that checks the types of its values itself."""
    return Overload(name, id_, tuple(args), result, run, open=True)


def grouped(overloads: Iterable[Overload]) -> dict[str, tuple[Overload, ...]]:
    """The overloads by the name of their function, in the order given."""
    by_name: dict[str, list[Overload]] = {}
    for overload in overloads:
        by_name.setdefault(overload.function, []).append(overload)
    return {name: tuple(group) for name, group in by_name.items()}
