"""Addresses and address ranges of the internet protocols."""

import re
from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import Final

from kubekit.cel.declarations import Overload, function, method
from kubekit.cel.errors import EvaluationError, NoSuchOverload
from kubekit.cel.libraries.formatting import go_quoted
from kubekit.cel.operations.opaques import Address, Cidr
from kubekit.cel.types import BOOL, CIDR, INT, IP, STRING
from kubekit.cel.values import Value

_BITS: Final = re.compile(r"0|[1-9][0-9]{0,2}")
_LEADING_ZERO: Final = re.compile(r"(?:^|\.)0[0-9]")
_BROADCAST: Final = IPv4Address("255.255.255.255")
_LOCAL_MULTICAST_4: Final = int(IPv4Address("224.0.0.0")) >> 8


class BadAddress(ValueError):
    """The text is not an address."""


def parse_ip(text: str) -> Address:
    """The address that the text spells. Raises `BadAddress`."""
    try:
        address = ip_address(text)
    except ValueError as error:
        words = f"ParseAddr({go_quoted(text)}): {_reason(text)}"
        raise BadAddress(
            f"IP Address {go_quoted(text)} parse error during conversion from string: {words}"
        ) from error
    if isinstance(address, IPv6Address) and address.scope_id is not None:
        raise BadAddress(f"IP address {go_quoted(text)} with zone value is not allowed")
    if isinstance(address, IPv6Address) and address.ipv4_mapped is not None:
        raise BadAddress(f"IPv4-mapped IPv6 address {go_quoted(text)} is not allowed")
    return address


def parse_cidr(text: str) -> Cidr:
    """The range that the text spells. Raises `BadAddress`."""
    address_text, slash, bits_text = text.rpartition("/")
    wrong = f"network address parse error during conversion from string: netip.ParsePrefix({go_quoted(text)})"
    if not slash:
        raise BadAddress(f"{wrong}: no '/'")
    if "%" in address_text:
        raise BadAddress(f"{wrong}: IPv6 zones cannot be present in a prefix")
    try:
        address = ip_address(address_text)
    except ValueError as error:
        reason = f"ParseAddr({go_quoted(address_text)}): {_reason(address_text)}"
        raise BadAddress(f"{wrong}: {reason}") from error
    if not _BITS.fullmatch(bits_text):
        raise BadAddress(f"{wrong}: bad bits after slash: {go_quoted(bits_text)}")
    if int(bits_text) > address.max_prefixlen:
        raise BadAddress(f"{wrong}: prefix length out of range")
    if isinstance(address, IPv6Address) and address.ipv4_mapped is not None:
        raise BadAddress(f"IPv4-mapped IPv6 address {go_quoted(text)} is not allowed")
    return Cidr(address, int(bits_text))


def _reason(text: str) -> str:
    if ":" not in text and "." in text:
        if _LEADING_ZERO.search(text):
            return "IPv4 field has octet with leading zero"
        if re.fullmatch(r"[0-9.]+", text) and text.count(".") < 3:  # noqa: PLR2004 - of four parts
            return "IPv4 address too short"
    return "unable to parse IP"


def _ip(text: str) -> Address:
    try:
        return parse_ip(text)
    except BadAddress as error:
        raise EvaluationError(str(error)) from error


def _cidr(text: str) -> Cidr:
    try:
        return parse_cidr(text)
    except BadAddress as error:
        raise EvaluationError(
            f"network address parse error during conversion from string: {error}"
        ) from error


def _is_ip(text: str) -> bool:
    return _is_parsed(parse_ip, text)


def _is_cidr(text: str) -> bool:
    return _is_parsed(parse_cidr, text)


def _is_parsed(parse: Value, text: str) -> bool:
    try:
        parse(text)
    except BadAddress:
        return False
    return True


def _is_canonical(text: str) -> bool:
    return str(_ip(text)) == text


def _is_local_multicast(address: Address) -> bool:
    if address.version == 4:  # noqa: PLR2004 - the protocol
        return int(address) >> 8 == _LOCAL_MULTICAST_4
    return int(address) >> 112 & 0xFF0F == 0xFF02  # noqa: PLR2004


def _is_local_unicast(address: Address) -> bool:
    return address.is_link_local


def _is_global_unicast(address: Address) -> bool:
    return not (
        address.is_unspecified
        or address == _BROADCAST
        or address.is_loopback
        or address.is_multicast
        or address.is_link_local
    )


def _contains_ip(cidr: Cidr, address: "Address | str") -> bool:
    if isinstance(address, str):
        try:
            address = parse_ip(address)
        except BadAddress as error:
            raise NoSuchOverload from error
    return cidr.holds(address)


def _contains_cidr(cidr: Cidr, other: "Cidr | str") -> bool:
    if isinstance(other, str):
        try:
            other = parse_cidr(other)
        except BadAddress as error:
            raise EvaluationError(
                f"network address parse error during conversion from string: {error}"
            ) from error
    return cidr.bits <= other.bits and cidr.holds(other.address)


OVERLOADS: Final[tuple[Overload, ...]] = (
    function("ip", "string_to_ip", (STRING,), IP, _ip),
    function("isIP", "is_ip", (STRING,), BOOL, _is_ip),
    function("ip.isCanonical", "ip_is_canonical", (STRING,), BOOL, _is_canonical),
    function("string", "ip_to_string", (IP,), STRING, str),
    method("family", "ip_family", (IP,), INT, lambda address: address.version),
    method("isUnspecified", "ip_is_unspecified", (IP,), BOOL, lambda a: a.is_unspecified),
    method("isLoopback", "ip_is_loopback", (IP,), BOOL, lambda a: a.is_loopback),
    method("isLinkLocalMulticast", "ip_is_link_local_multicast", (IP,), BOOL, _is_local_multicast),
    method("isLinkLocalUnicast", "ip_is_link_local_unicast", (IP,), BOOL, _is_local_unicast),
    method("isGlobalUnicast", "ip_is_global_unicast", (IP,), BOOL, _is_global_unicast),
    function("cidr", "string_to_cidr", (STRING,), CIDR, _cidr),
    function("isCIDR", "is_cidr", (STRING,), BOOL, _is_cidr),
    function("string", "cidr_to_string", (CIDR,), STRING, str),
    method("containsIP", "cidr_contains_ip_string", (CIDR, STRING), BOOL, _contains_ip),
    method("containsIP", "cidr_contains_ip_ip", (CIDR, IP), BOOL, _contains_ip),
    method("containsCIDR", "cidr_contains_cidr_string", (CIDR, STRING), BOOL, _contains_cidr),
    method("containsCIDR", "cidr_contains_cidr", (CIDR, CIDR), BOOL, _contains_cidr),
    method("ip", "cidr_ip", (CIDR,), IP, lambda cidr: cidr.address),
    method("prefixLength", "cidr_prefix_length", (CIDR,), INT, lambda cidr: cidr.bits),
    method("masked", "cidr_masked", (CIDR,), CIDR, Cidr.masked),
)
