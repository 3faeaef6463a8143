"""What clients may call a server, which its certificate must say."""

import socket
from collections.abc import Iterator
from ipaddress import IPv6Address, ip_address
from pathlib import Path
from typing import Final

from kubekit.plane.http.certificates.authority import LOOPBACK
from kubekit.plane.http.server import is_loopback

_IPV4: Final = Path("/proc/net/fib_trie")
_IPV6: Final = Path("/proc/net/if_inet6")
# Addresses that are nobody's: to connect a socket of datagrams sends nothing, and names our own end.
_ELSEWHERE: Final = ((socket.AF_INET, "192.0.2.1"), (socket.AF_INET6, "2001:db8::1"))
_MOST: Final = 256  # a certificate must fit into a handshake


def names_for(host: str) -> tuple[str, ...]:
    """The names of a server that listens on an address.

    One on the loopback is known there alone, one on a single address by that too, and one on every
    address by all of the machine's own.
    """
    names = [*LOOPBACK]
    if _is_unspecified(host):
        names += (socket.gethostname(), *own_addresses())
    elif not is_loopback(host):
        names += (host, socket.gethostname())
    # What is not ASCII no certificate can hold; the listener says what it thinks of it.
    known = filter(str.isascii, filter(None, names))
    return tuple(dict.fromkeys(known))[:_MOST]


def own_addresses() -> list[str]:
    """The addresses of this machine that others may reach it by, as far as it can be found out."""
    found = {*_resolved(), *_routed(), *_listed_4(), *_listed_6()}
    return sorted(filter(_is_reachable, found))


def _resolved() -> Iterator[str]:
    """What the machine's name stands for."""
    try:
        entries = socket.getaddrinfo(socket.gethostname(), None)
    except OSError:
        return
    yield from (str(address[0]) for *_, address in entries)


def _routed() -> Iterator[str]:
    """Where packets to elsewhere come from."""
    for family, elsewhere in _ELSEWHERE:
        try:
            with socket.socket(family, socket.SOCK_DGRAM) as probe:
                probe.connect((elsewhere, 9))
                yield probe.getsockname()[0]
        except OSError:
            continue


def _listed_4() -> Iterator[str]:
    """What Linux says are addresses of its own: in its table of routes, the leaves that are local."""
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
    """Whether others can name it: no loopback, and none that is good on one cable only."""
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
