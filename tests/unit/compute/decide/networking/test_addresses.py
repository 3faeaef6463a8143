"""Prefixes for places and addresses for machines."""

from ipaddress import ip_address, ip_network

import pytest
from hypothesis import given, settings, strategies as st

from compute.api.networking import Network, NetworkIPAM, NetworkSpec
from compute.decide.networking.addresses import (
    IPV4,
    IPV6,
    AddressRequest,
    Hosts,
    Occupied,
    Prefix,
    Unsupported,
    address_of,
    allocated,
    hosts,
    network_range,
    next_prefix,
    prefix_of,
    usual_length,
)
from tests.support.generated import depth

EIGHT = ip_network("10.0.0.0/8")


def network(v4=None, v6=None):
    ipam = NetworkIPAM(mode="Auto", ipv4_range=v4, ipv6_range=v6)
    return Network(spec=NetworkSpec(ipam=ipam))


def taken(*texts):
    return [ip_network(text) for text in texts]


@pytest.mark.parametrize(
    ("of", "family", "expected"),
    [
        (network(), IPV4, "10.0.0.0/8"),
        (network(), IPV6, "fd00::/40"),
        (network("172.16.0.0/12"), IPV4, "172.16.0.0/12"),
        (network(v6="fd12::/48"), IPV6, "fd12::/48"),
    ],
    ids=["chosen for it", "chosen for it, IPv6", "its own", "its own, IPv6"],
)
def test_a_network_has_a_range(of, family, expected):
    """What the spec says, else private addresses."""
    assert network_range(of, family) == ip_network(expected)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("nonsense", "does not appear to be"),
        ("10.1.2.3/8", "has host bits set"),
        ("fd00::/48", "is no IPv4 range"),
        ("10.0.0.0/30", "is too small, use /29 or less"),
        ("224.0.0.0/8", "is not for machines"),
        ("127.0.0.0/8", "is not for machines"),
        ("169.254.0.0/16", "is not for machines"),
        ("0.0.0.0/8", "is not for machines"),
    ],
)
def test_a_range_that_cannot_be_given_out(text, why):
    """The field is named, and what is wrong with it."""
    found = network_range(network(text), IPV4)

    assert isinstance(found, Unsupported)
    assert found.why.startswith("spec.ipam.ipv4Range: ")
    assert why in found.why


@pytest.mark.parametrize(
    ("within", "expected"),
    [
        ("10.0.0.0/8", 16),
        ("10.0.0.0/4", 16),
        ("172.16.0.0/12", 20),
        ("192.168.0.0/16", 24),
        ("10.1.0.0/24", 28),
        ("10.1.0.0/29", 29),
        ("fd00::/40", 64),
        ("fd00::/72", 72),
    ],
)
def test_how_much_a_place_gets(within, expected):
    """A /16 of a large range, less of a small one."""
    assert usual_length(ip_network(within, strict=False)) == expected


@pytest.mark.parametrize(
    ("others", "expected"),
    [
        ([], "10.0.0.0/16"),
        (["10.0.0.0/16"], "10.1.0.0/16"),
        (["10.1.0.0/16", "10.0.0.0/16"], "10.2.0.0/16"),
        (["10.0.0.0/16", "10.2.0.0/16"], "10.1.0.0/16"),
        (["10.0.128.0/20"], "10.1.0.0/16"),
        (["10.0.0.0/9"], "10.128.0.0/16"),
        (["10.0.0.0/9", "10.3.0.0/16"], "10.128.0.0/16"),
        (["fd00::/64"], "10.0.0.0/16"),
    ],
    ids=["first", "next", "any order", "gap", "part", "larger", "nested", "other family"],
)
def test_the_lowest_free_prefix_is_given(others, expected):
    """Whatever is taken, in whatever sizes and order."""
    assert allocated(EIGHT, AddressRequest(), taken(*others)) == ip_network(expected)


def test_a_range_that_is_used_up():
    """There is a reason, and it names the range."""
    within = ip_network("10.0.0.0/15")
    got = allocated(within, AddressRequest(length=16), taken("10.0.0.0/16", "10.1.0.0/16"))

    assert got == Occupied("10.0.0.0/15 has no /16 left")


def test_a_wish_for_certain_addresses():
    """A start and a length are obeyed, if they are free."""
    wish = AddressRequest("10.9.0.0", 20)

    assert allocated(EIGHT, wish, taken("10.0.0.0/16")) == ip_network("10.9.0.0/20")
    assert allocated(EIGHT, wish, taken("10.9.0.0/16")) == Occupied(
        "10.9.0.0/20 overlaps 10.9.0.0/16, which is in use"
    )
    assert allocated(EIGHT, AddressRequest("10.9.0.0"), []) == ip_network("10.9.0.0/16")


@pytest.mark.parametrize(
    ("wish", "why"),
    [
        (
            AddressRequest(length=4),
            "prefixLength: /4 does not fit 10.0.0.0/8; choose from /8 to /29",
        ),
        (
            AddressRequest(length=31),
            "prefixLength: /31 does not fit 10.0.0.0/8; choose from /8 to /29",
        ),
        (
            AddressRequest("11.0.0.0", 16),
            "startAddress: 11.0.0.0 is not the start of a /16 of 10.0.0.0/8",
        ),
        (
            AddressRequest("10.0.1.0", 16),
            "startAddress: 10.0.1.0 is not the start of a /16 of 10.0.0.0/8",
        ),
        (
            AddressRequest("fd00::", 16),
            "startAddress: fd00:: is not the start of a /16 of 10.0.0.0/8",
        ),
        (AddressRequest("x", 16), "startAddress: x is not the start of a /16 of 10.0.0.0/8"),
    ],
    ids=["too large", "too small", "elsewhere", "not aligned", "other family", "nonsense"],
)
def test_a_wish_that_cannot_be_met(wish, why):
    """The field of the claim is named, and what would do."""
    assert allocated(EIGHT, wish, []) == Unsupported(why)


@settings(max_examples=depth.examples(60))
@given(st.lists(st.integers(17, 24), max_size=30))
def test_prefixes_never_overlap(lengths):
    """Whatever sizes are asked for, in whatever order, none overlaps another or leaves the range."""
    within = EIGHT
    given_out: list[Prefix] = []
    for length in lengths:
        got = next_prefix(within, length, given_out)
        assert got is not None
        assert got.supernet(new_prefix=8) == within
        assert not any(got.overlaps(other) for other in given_out)
        given_out.append(got)


@settings(max_examples=depth.examples(40))
@given(st.sets(st.integers(0, 15), max_size=15))
def test_what_is_free_is_found(used):
    """Nothing is refused while there is room: the lowest free block is the answer."""
    within, every = (
        ip_network("10.0.0.0/20"),
        list(ip_network("10.0.0.0/20").subnets(new_prefix=24)),
    )

    got = next_prefix(within, 24, [every[each] for each in sorted(used)])

    assert got == every[min(set(range(16)) - used)]


def test_addresses_for_machines():
    """The network's own, the gateway's and the last address are not allocated."""
    found = hosts(ip_network("10.0.0.0/24"))

    assert found == Hosts(int(ip_address("10.0.0.2")), int(ip_address("10.0.0.254")))
    assert [int(ip_address(text)) in found for text in ("10.0.0.1", "10.0.0.2", "10.0.0.255")] == [
        False,
        True,
        False,
    ]


def test_what_objects_say_is_read_or_is_nothing():
    """A prefix or an address that makes no sense is none."""
    assert prefix_of("10.0.0.0", 16) == ip_network("10.0.0.0/16")
    assert [prefix_of("10.0.0.1", 16), prefix_of(None, None), prefix_of("a", 1)] == [None] * 3
    assert address_of("10.0.0.7") == ip_address("10.0.0.7")
    assert [address_of(None), address_of("x"), address_of("10.0.0.0/8")] == [None] * 3
