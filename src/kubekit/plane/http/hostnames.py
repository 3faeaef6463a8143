"""The host names and addresses of a server, for its certificate."""

import socket
from collections.abc import Iterator
from ipaddress import IPv6Address, ip_address
from pathlib import Path
from typing import Final

from kubekit.plane.http.certificates.authority import LOOPBACK
from kubekit.plane.http.server import is_loopback

_IPV4: Final = Path("/proc/net/fib_trie")
_IPV6: Final = Path("/proc/net/if_inet6")
# Addresses reserved for documentation. Connecting a UDP socket sends no packet, but selects a source.
_ELSEWHERE: Final = ((socket.AF_INET, "192.0.2.1"), (socket.AF_INET6, "2001:db8::1"))
_MOST: Final = 256  # a certificate must fit into a handshake


def names_for(host: str) -> tuple[str, ...]:
    """The names of a server that listens on an address.

    They always include the loopback names. For another address they include that address, and for
    the unspecified address all addresses of the machine.
    """
    names = [*LOOPBACK]
    if _is_unspecified(host):
        names += (socket.gethostname(), *own_addresses())
    elif not is_loopback(host):
        names += (host, socket.gethostname())
    # A certificate cannot hold a name that is not ASCII; the listener reports it.
    known = filter(str.isascii, filter(None, names))
    return tuple(dict.fromkeys(known))[:_MOST]


def own_addresses() -> list[str]:
    """The addresses at which other machines may reach this one, as far as they can be detected."""
    found = {*_resolved(), *_routed(), *_listed_4(), *_listed_6()}
    return sorted(filter(_is_reachable, found))


def _resolved() -> Iterator[str]:
    """The addresses that the host name resolves to."""
    try:
        entries = socket.getaddrinfo(socket.gethostname(), None)
    except OSError:
        return
    yield from (str(address[0]) for *_, address in entries)


def _routed() -> Iterator[str]:
    """The source addresses of outgoing packets."""
    for family, elsewhere in _ELSEWHERE:
        try:
            with socket.socket(family, socket.SOCK_DGRAM) as probe:
                probe.connect((elsewhere, 9))
                yield probe.getsockname()[0]
        except OSError:
            continue


def _listed_4() -> Iterator[str]:
    """The local addresses in the routing table of Linux."""
    if not _IPV4.exists():
        return
    leaf = ""
    for line in _IPV4.read_text().splitlines():
        if "|--" in line:
            leaf = line.split()[-1]
        elif "/32 host LOCAL" in line:
            yield leaf


def _listed_6() -> Iterator[str]:
    if not _IPV6.exists():
        return
    for line in _IPV6.read_text().splitlines():
        yield str(IPv6Address(bytes.fromhex(line.split()[0])))


def _is_reachable(text: str) -> bool:
    """Whether other machines can use it: neither loopback nor link-local."""
    try:
        address = ip_address(text)
    except ValueError:  # with a zone
        return False
    return not (address.is_loopback or address.is_link_local or address.is_unspecified)


def _is_unspecified(host: str) -> bool:
    try:
        return ip_address(host).is_unspecified
    except ValueError:
        return False
