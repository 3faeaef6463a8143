"""The types of expressions, and their names in messages."""

from dataclasses import dataclass
from enum import Enum
from typing import Final


class TypeKind(Enum):
    BOOL = "bool"
    BYTES = "bytes"
    DOUBLE = "double"
    DURATION = "duration"
    DYN = "dyn"
    ERROR = "error"
    INT = "int"
    LIST = "list"
    MAP = "map"
    NULL = "null"
    OPAQUE = "opaque"
    PARAM = "param"
    STRING = "string"
    STRUCT = "struct"
    TIMESTAMP = "timestamp"
    TYPE = "type"
    UINT = "uint"


@dataclass(frozen=True, slots=True)
class Type:
    """A type. ``name`` is the name that an expression sees, for example by ``type(x)``."""

    kind: TypeKind
    name: str
    params: tuple["Type", ...] = ()

    def __str__(self) -> str:
        """The type as messages spell it."""
        spelled = _SPELLED.get(self.kind, self.name)
        if not self.params:
            return spelled
        return f"{spelled}({', '.join(str(param) for param in self.params)})"


_SPELLED: Final = {
    TypeKind.DURATION: "duration",
    TypeKind.ERROR: "!error!",
    TypeKind.NULL: "null",
    TypeKind.TIMESTAMP: "timestamp",
}

BOOL: Final = Type(TypeKind.BOOL, "bool")
BYTES: Final = Type(TypeKind.BYTES, "bytes")
DOUBLE: Final = Type(TypeKind.DOUBLE, "double")
DURATION: Final = Type(TypeKind.DURATION, "google.protobuf.Duration")
DYN: Final = Type(TypeKind.DYN, "dyn")
ERROR: Final = Type(TypeKind.ERROR, "!error!")
INT: Final = Type(TypeKind.INT, "int")
NULL: Final = Type(TypeKind.NULL, "null_type")
STRING: Final = Type(TypeKind.STRING, "string")
TIMESTAMP: Final = Type(TypeKind.TIMESTAMP, "google.protobuf.Timestamp")
TYPE: Final = Type(TypeKind.TYPE, "type")
UINT: Final = Type(TypeKind.UINT, "uint")

QUANTITY: Final = Type(TypeKind.STRUCT, "kubernetes.Quantity")
URL: Final = Type(TypeKind.STRUCT, "kubernetes.URL")
FORMAT: Final = Type(TypeKind.STRUCT, "kubernetes.NamedFormat")
SEMVER: Final = Type(TypeKind.STRUCT, "kubernetes.Semver")
IP: Final = Type(TypeKind.OPAQUE, "net.IP")
CIDR: Final = Type(TypeKind.OPAQUE, "net.CIDR")

OPTIONAL_NAME: Final = "optional_type"
_SCALARS: Final = frozenset(
    {
        TypeKind.BOOL,
        TypeKind.DOUBLE,
        TypeKind.DURATION,
        TypeKind.INT,
        TypeKind.TIMESTAMP,
        TypeKind.UINT,
    }
)


def list_of(element: Type) -> Type:
    return Type(TypeKind.LIST, "list", (element,))


def map_of(key: Type, value: Type) -> Type:
    return Type(TypeKind.MAP, "map", (key, value))


def optional_of(inner: Type) -> Type:
    return Type(TypeKind.OPAQUE, OPTIONAL_NAME, (inner,))


def type_of(inner: Type) -> Type:
    return Type(TypeKind.TYPE, "type", (inner,))


def param(name: str) -> Type:
    return Type(TypeKind.PARAM, name)


def struct(name: str) -> Type:
    return Type(TypeKind.STRUCT, name)


def is_dyn(kind: Type) -> bool:
    return kind.kind is TypeKind.DYN


def is_optional(kind: Type) -> bool:
    return kind.kind is TypeKind.OPAQUE and kind.name == OPTIONAL_NAME


def unwrapped(kind: Type) -> Type:
    """The type inside an optional; any other type unchanged."""
    return kind.params[0] if is_optional(kind) else kind


def is_scalar(kind: Type) -> bool:
    """Whether all values of the type have the same size."""
    if is_optional(kind):
        return is_scalar(kind.params[0])
    return kind.kind in _SCALARS
