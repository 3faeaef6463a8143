"""The types of values at run time."""

from ipaddress import IPv4Address, IPv6Address
from typing import Final

from kubekit.cel.operations.comparison import LISTS, MAPS
from kubekit.cel.operations.opaques import Amount, Cidr, Format, Semver, Url
from kubekit.cel.operations.views import Entries, Items
from kubekit.cel.types import CIDR, FORMAT, OPTIONAL_NAME, QUANTITY, SEMVER, URL, Type, TypeKind
from kubekit.cel.values import Duration, Optional, Timestamp, TypeValue, Uint, Value

_NAMES: Final[dict[type, str]] = {
    bool: "bool",
    bytes: "bytes",
    float: "double",
    Duration: "google.protobuf.Duration",
    int: "int",
    list: "list",
    Items: "list",
    dict: "map",
    Entries: "map",
    type(None): "null_type",
    Optional: OPTIONAL_NAME,
    str: "string",
    Timestamp: "google.protobuf.Timestamp",
    TypeValue: "type",
    Uint: "uint",
    IPv4Address: "net.IP",
    IPv6Address: "net.IP",
    Amount: QUANTITY.name,
    Cidr: CIDR.name,
    Format: FORMAT.name,
    Semver: SEMVER.name,
    Url: URL.name,
}
_KINDS: Final[dict[TypeKind, frozenset[type]]] = {
    TypeKind.BOOL: frozenset({bool}),
    TypeKind.BYTES: frozenset({bytes}),
    TypeKind.DOUBLE: frozenset({float}),
    TypeKind.DURATION: frozenset({Duration}),
    TypeKind.INT: frozenset({int}),
    TypeKind.LIST: LISTS,
    TypeKind.MAP: MAPS,
    TypeKind.NULL: frozenset({type(None)}),
    TypeKind.STRING: frozenset({str}),
    TypeKind.TIMESTAMP: frozenset({Timestamp}),
    TypeKind.TYPE: frozenset({TypeValue}),
    TypeKind.UINT: frozenset({Uint}),
}


def kind_name(value: Value) -> str:
    """The name of the value's type, as ``type(x)`` returns it."""
    return _NAMES[type(value)]


def accepted(kind: Type) -> frozenset[type] | None:
    """The Python types that values of the type have; None if they may be any."""
    if kind.kind in (TypeKind.DYN, TypeKind.PARAM, TypeKind.ERROR):
        return None
    if kind.kind in _KINDS:
        return _KINDS[kind.kind]
    return frozenset({python for python, name in _NAMES.items() if name == kind.name})
