"""What type a value has."""

from ipaddress import IPv4Address, IPv6Address
from typing import Final

from kubekit.cel.operations.comparison import LISTS, MAPS
from kubekit.cel.operations.opaques import Amount, Cidr, Format, Semver, Url
from kubekit.cel.operations.views import Entries, Items
from kubekit.cel.types import CIDR, FORMAT, OPTIONAL_NAME, QUANTITY, SEMVER, URL, Kind, Type
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
_KINDS: Final[dict[Kind, frozenset[type]]] = {
    Kind.BOOL: frozenset({bool}),
    Kind.BYTES: frozenset({bytes}),
    Kind.DOUBLE: frozenset({float}),
    Kind.DURATION: frozenset({Duration}),
    Kind.INT: frozenset({int}),
    Kind.LIST: LISTS,
    Kind.MAP: MAPS,
    Kind.NULL: frozenset({type(None)}),
    Kind.STRING: frozenset({str}),
    Kind.TIMESTAMP: frozenset({Timestamp}),
    Kind.TYPE: frozenset({TypeValue}),
    Kind.UINT: frozenset({Uint}),
}


def kind_name(value: Value) -> str:
    """The name of the value's type, as ``type(x)`` gives it."""
    return _NAMES[type(value)]


def accepted(kind: Type) -> frozenset[type] | None:
    """The Python types that values of the type have; None if they may be any."""
    if kind.kind in (Kind.DYN, Kind.PARAM, Kind.ERROR):
        return None
    if kind.kind in _KINDS:
        return _KINDS[kind.kind]
    return frozenset({python for python, name in _NAMES.items() if name == kind.name})
