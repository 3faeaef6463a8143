"""The types of expressions, and how they are spelled in messages."""

from dataclasses import dataclass
from enum import Enum
from typing import Final


class Kind(Enum):
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
    """A type. ``name`` is the one a program sees, for example by ``type(x)``."""

    kind: Kind
    name: str
    params: tuple["Type", ...] = ()

    def __str__(self) -> str:
        """The type as messages spell it."""
        spelled = _SPELLED.get(self.kind, self.name)
        if not self.params:
            return spelled
        return f"{spelled}({', '.join(str(param) for param in self.params)})"


_SPELLED: Final = {
    Kind.DURATION: "duration",
    Kind.ERROR: "!error!",
    Kind.NULL: "null",
    Kind.TIMESTAMP: "timestamp",
}

BOOL: Final = Type(Kind.BOOL, "bool")
BYTES: Final = Type(Kind.BYTES, "bytes")
DOUBLE: Final = Type(Kind.DOUBLE, "double")
DURATION: Final = Type(Kind.DURATION, "google.protobuf.Duration")
DYN: Final = Type(Kind.DYN, "dyn")
ERROR: Final = Type(Kind.ERROR, "!error!")
INT: Final = Type(Kind.INT, "int")
NULL: Final = Type(Kind.NULL, "null_type")
STRING: Final = Type(Kind.STRING, "string")
TIMESTAMP: Final = Type(Kind.TIMESTAMP, "google.protobuf.Timestamp")
TYPE: Final = Type(Kind.TYPE, "type")
UINT: Final = Type(Kind.UINT, "uint")

QUANTITY: Final = Type(Kind.STRUCT, "kubernetes.Quantity")
URL: Final = Type(Kind.STRUCT, "kubernetes.URL")
FORMAT: Final = Type(Kind.STRUCT, "kubernetes.NamedFormat")
SEMVER: Final = Type(Kind.STRUCT, "kubernetes.Semver")
IP: Final = Type(Kind.OPAQUE, "net.IP")
CIDR: Final = Type(Kind.OPAQUE, "net.CIDR")

OPTIONAL_NAME: Final = "optional_type"
_SCALARS: Final = frozenset(
    {Kind.BOOL, Kind.DOUBLE, Kind.DURATION, Kind.INT, Kind.TIMESTAMP, Kind.UINT}
)


def list_of(element: Type) -> Type:
    return Type(Kind.LIST, "list", (element,))


def map_of(key: Type, value: Type) -> Type:
    return Type(Kind.MAP, "map", (key, value))


def optional_of(inner: Type) -> Type:
    return Type(Kind.OPAQUE, OPTIONAL_NAME, (inner,))


def type_of(inner: Type) -> Type:
    return Type(Kind.TYPE, "type", (inner,))


def param(name: str) -> Type:
    return Type(Kind.PARAM, name)


def struct(name: str) -> Type:
    return Type(Kind.STRUCT, name)


def is_dyn(kind: Type) -> bool:
    return kind.kind is Kind.DYN


def is_optional(kind: Type) -> bool:
    return kind.kind is Kind.OPAQUE and kind.name == OPTIONAL_NAME


def unwrapped(kind: Type) -> Type:
    """The type inside an optional; any other as it is."""
    return kind.params[0] if is_optional(kind) else kind


def is_scalar(kind: Type) -> bool:
    """Whether all values of the type have the same size."""
    if is_optional(kind):
        return is_scalar(kind.params[0])
    return kind.kind in _SCALARS
