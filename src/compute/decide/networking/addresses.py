"""The allocation of addresses: a prefix of a network for each location, an address for each machine.

A network is one address space, whatever city its addresses are used in: no two prefixes of it may
overlap. Where none is free, the result says why; nothing here raises.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Final

from compute.api.networking import Network, NetworkIPAM

Prefix = IPv4Network | IPv6Network
Address = IPv4Address | IPv6Address

IPV4: Final = "IPv4"
IPV6: Final = "IPv6"

# The ranges of a network that names none: private addresses, and unique local ones.
_DEFAULT_RANGES: Final = {IPV4: "10.0.0.0/8", IPV6: "fd00::/40"}
_FAMILIES: Final = {4: IPV4, 6: IPV6}
_LONGEST: Final = {4: 29, 6: 120}  # longer prefixes have too few addresses
_NOT_FOR_MACHINES: Final = ("is_multicast", "is_loopback", "is_link_local", "is_unspecified")


@dataclass(frozen=True, slots=True)
class Unsupported:
    """Addresses that cannot be allocated, and why. Only another request can help."""

    why: str


@dataclass(frozen=True, slots=True)
class Occupied:
    """Addresses that are in use. They may become free."""

    why: str


@dataclass(frozen=True, slots=True)
class AddressRequest:
    """The request for a part of a range. An absent field is chosen by the allocator."""

    start: str | None = None
    length: int | None = None


@dataclass(frozen=True, slots=True)
class Hosts:
    """The addresses of a prefix that machines may have, as numbers, both ends included."""

    first: int
    last: int

    def __contains__(self, number: int) -> bool:
        return self.first <= number <= self.last


def network_range(network: Network, family: str) -> Prefix | Unsupported:
    """The range that a network's addresses of a family come from."""
    configured = _configured_range(network.spec.ipam, family)
    field = f"spec.ipam.{family.lower()}Range"
    try:
        prefix = ip_network(configured or _DEFAULT_RANGES[family])
    except ValueError as error:
        return Unsupported(f"{field}: {error}")
    if _FAMILIES[prefix.version] != family:
        return Unsupported(f"{field}: {prefix} is no {family} range")
    if prefix.prefixlen > _LONGEST[prefix.version]:
        return Unsupported(
            f"{field}: {prefix} is too small, use /{_LONGEST[prefix.version]} or less"
        )
    if any(getattr(prefix.network_address, kind) for kind in _NOT_FOR_MACHINES):
        return Unsupported(f"{field}: {prefix} is not for machines")
    return prefix


def usual_length(within: Prefix) -> int:
    """The default length of a prefix for one location.

    A 10.0.0.0/8 gives each location a /16. Smaller ranges are shared by as many locations, as long
    as they suffice: 256, each with 14 machines or more.
    """
    if within.version == 6:  # noqa: PLR2004 - the family
        return max(64, within.prefixlen)
    return max(min(max(16, within.prefixlen + 8), 28), within.prefixlen)


def allocated(
    within: Prefix, request: AddressRequest, taken: Iterable[Prefix]
) -> Prefix | Unsupported | Occupied:
    """The prefix that fits a request, and overlaps none that is in use."""
    length = usual_length(within) if request.length is None else request.length
    if not within.prefixlen <= length <= _LONGEST[within.version]:
        fits = f"from /{within.prefixlen} to /{_LONGEST[within.version]}"
        return Unsupported(f"prefixLength: /{length} does not fit {within}; choose {fits}")
    if request.start is None:
        free = next_prefix(within, length, taken)
        return free or Occupied(f"{within} has no /{length} left")
    wanted = prefix_of(request.start, length)
    if wanted is None or not is_within(wanted, within):
        return Unsupported(
            f"startAddress: {request.start} is not the start of a /{length} of {within}"
        )
    other = next((each for each in _alike(taken, wanted) if each.overlaps(wanted)), None)
    return wanted if other is None else Occupied(f"{wanted} overlaps {other}, which is in use")


def next_prefix(within: Prefix, length: int, taken: Iterable[Prefix]) -> Prefix | None:
    """The lowest prefix of this length that is free; None when there is none."""
    size = 1 << within.max_prefixlen - length
    start, end = _bounds(within)
    for low, high in sorted(_bounds(each) for each in _alike(taken, within)):
        if start + size <= low:
            break
        start = max(start, -(-high // size) * size)  # the next possible start
    return type(within)((start, length)) if start + size <= end else None


def prefix_of(start: str | None, length: int | None) -> Prefix | None:
    """The prefix that a Subnet names; None when it names none."""
    try:
        return ip_network(f"{ip_address(start or '')}/{length}")
    except ValueError:
        return None


def address_of(text: str | None) -> Address | None:
    """The address that a status names; None when it names none."""
    try:
        return ip_address(text or "")
    except ValueError:
        return None


def hosts(prefix: Prefix) -> Hosts:
    """The addresses for machines: neither the network's own, nor its gateway's, nor the last."""
    low, high = _bounds(prefix)
    return Hosts(low + 2, high - 2)


def _configured_range(ipam: NetworkIPAM, family: str) -> str | None:
    return ipam.ipv4_range if family == IPV4 else ipam.ipv6_range


def _bounds(prefix: Prefix) -> tuple[int, int]:
    """The first address, and the one after the last."""
    return int(prefix.network_address), int(prefix.broadcast_address) + 1


def is_within(inner: Prefix, outer: Prefix) -> bool:
    """Whether a prefix is a part of another one, or all of it."""
    (low, high), (least, most) = _bounds(inner), _bounds(outer)
    return inner.version == outer.version and least <= low and high <= most


def _alike(prefixes: Iterable[Prefix], like: Prefix) -> Iterator[Prefix]:
    return (each for each in prefixes if each.version == like.version)
