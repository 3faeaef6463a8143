"""Restricts the addresses of webhooks, as a protection against server-side request forgery.

A user who may write a webhook configuration makes this server call an address, and sees parts of
the response. Loopback and private networks are called, since the webhooks of a one-machine plane
run there. Metadata servers, from which clouds serve the machine's credentials, are not: link-local
addresses and the clouds' other ones. Nor are unspecified, multicast and broadcast addresses. The
address is checked when the socket is created, whatever name, spelling or redirect led to it.
"""

from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address
from typing import Final

_METADATA: Final = frozenset(
    map(
        ip_address,
        (
            "100.100.100.200",  # Alibaba Cloud
            "168.63.129.16",  # Azure
            "192.0.0.192",  # Oracle Cloud
            "fd00:ec2::254",  # Amazon
            "fd20:ce::254",  # Google
        ),
    )
)
_TRANSLATED: Final = IPv6Network("64:ff9b::/96")  # IPv4 behind a translator, RFC 6052


class ForbiddenAddress(OSError):
    """An address that webhooks may not have."""


def check(host: str) -> None:
    """Refuse an address that no webhook may have. The zone of an IPv6 address does not matter."""
    address = _plain(ip_address(host.partition("%")[0]))
    if address.is_link_local or address in _METADATA:
        raise ForbiddenAddress(
            f"{host} is an address of the machine's own metadata and is not called"
        )
    if address.is_unspecified or address.is_multicast or _is_broadcast(address):
        raise ForbiddenAddress(f"{host} is not the address of one server and is not called")


def _plain(address: IPv4Address | IPv6Address) -> IPv4Address | IPv6Address:
    """The effective address: IPv6 has several ways to embed an IPv4 address."""
    if isinstance(address, IPv4Address):
        return address
    inner = address.ipv4_mapped or address.sixtofour
    if inner is None and address in _TRANSLATED:
        inner = IPv4Address(int(address) & 0xFFFFFFFF)
    return inner or address


def _is_broadcast(address: IPv4Address | IPv6Address) -> bool:
    return address == IPv4Address("255.255.255.255")
