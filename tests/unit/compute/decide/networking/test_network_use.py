"""What uses a network, and what that rules out."""

from ipaddress import ip_network
from typing import Any

import msgspec
import pytest

from compute.api.compute import Workload
from compute.api.instance_spec import NetworkInterface, NetworkRef
from compute.api.networking import Network, NetworkIPAM, NetworkSpec
from compute.decide.networking import network_use
from compute.decide.networking.network_use import Lack
from kubekit.api.meta import ObjectMeta
from tests.support.compute.builders import template, workload
from tests.support.compute.federation_builders import with_meta

IPV6: dict[str, Any] = {"ip_families": ("IPv4", "IPv6")}


def on(name: str, *networks: str, namespace: str = "default") -> Workload:
    """A Workload with an interface on each of these networks; a slash is after a namespace."""
    refs = [NetworkRef(name=n.rpartition("/")[2], namespace=n.rpartition("/")[0]) for n in networks]
    made = template()
    interfaces = tuple(NetworkInterface(network=ref) for ref in refs)
    spec = msgspec.structs.replace(made.spec, network_interfaces=interfaces)
    whole = workload(name, template=msgspec.structs.replace(made, spec=spec))
    return with_meta(whole, namespace=namespace)


def network(range_: str | None = None, **spec: Any) -> Network:
    ipam = NetworkIPAM(mode="Auto", ipv4_range=range_)
    meta = ObjectMeta(name="own", namespace="default")
    return Network(metadata=meta, spec=NetworkSpec(ipam=ipam, **spec))


def test_users_are_the_workloads_whose_template_names_the_network():
    """Sorted, each once, and with its namespace where that is another than the network's."""
    there = [
        on("web", "own", "own"),
        on("api", "other", "own"),
        on("far", "default/own", namespace="back"),
        on("near", "own", namespace="back"),
        on("none", "other"),
    ]
    assert network_use.users(network(), there) == ("api", "back/far", "web")


@pytest.mark.parametrize(
    ("users", "cells", "expected"),
    [
        (
            ("web",),
            ("dfw",),
            "Being deleted, and in use by workloads: web. What runs keeps running, and nothing new is "
            "attached. It goes once they name another network or are deleted",
        ),
        (
            ("a", "b", "c", "d", "e"),
            (),
            "Being deleted, and in use by workloads: a, b, c and 2 more. What runs keeps running, and "
            "nothing new is attached. It goes once they name another network or are deleted",
        ),
        (
            (),
            ("lhr", "dfw", "lhr"),
            "Being deleted; its addresses are still in use in: dfw, lhr",
        ),
        ((), (), "Being deleted"),
    ],
    ids=["one user", "many users", "addresses alone", "nothing"],
)
def test_a_network_that_is_being_deleted_names_what_uses_it(users, cells, expected):
    """Workloads first, a few by name; where there is none, the cells that have its addresses."""
    assert network_use.terminating(users, cells) == expected


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        (network("10.9.0.0/24"), network("10.8.0.0/24"), ["spec.ipam.ipv4Range"]),
        (network("10.9.0.0/24"), network(), ["spec.ipam.ipv4Range"]),
        (network("10.9.0.0/24"), network("nonsense"), ["spec.ipam.ipv4Range"]),
        (network(), network("10.0.0.0/8"), []),
        (network("nonsense"), network("10.9.0.0/24"), []),
        (network(), network(mtu=1500), []),
        (network(), network(**IPV6), []),
        (network(**IPV6), network(), ["spec.ipam.ipv6Range"]),
    ],
    ids=[
        "another range",
        "no range",
        "no range at all",
        "the default range, named",
        "a range that could not be used",
        "another field",
        "one more family",
        "one family less",
    ],
)
def test_ranges_in_use_are_not_changed(before, after, expected):
    """What changes is what addresses come from, whichever way it is written."""
    errors = [*network_use.changed_ranges(before, after, ("web",), ("dfw",))]
    assert [error.path for error in errors] == expected
    assert [*network_use.changed_ranges(before, after, ("web",), ())] == []


def test_the_refusal_names_the_addresses_and_what_uses_them():
    """Workloads where there are any, else the cells that have addresses."""
    old, new = network("10.9.0.0/24"), network("10.8.0.0/24")
    (by_workload,) = network_use.changed_ranges(old, new, ("web",), ("dfw",))
    (by_cell,) = network_use.changed_ranges(old, new, (), ("dfw",))
    assert "10.9.0.0/24 are in use by workloads: web; create another" in by_workload.detail
    assert "in use by cells: dfw;" in by_cell.detail


def test_prefixes_outside_of_every_range_are_strays():
    """They are sorted; one without a range of its family is a stray too."""
    inside, outside, six = map(ip_network, ("10.9.0.0/28", "10.8.0.0/28", "fd00::/64"))
    there = network("10.9.0.0/24")
    assert network_use.strays(there, [six, inside, outside]) == (outside, six)
    assert network_use.strays(network(**IPV6), [six, inside, outside]) == ()


def test_a_lack_is_one_of_either_kind():
    """Nothing missing and nothing terminating is no lack."""
    key = frozenset({("default", "own")})
    assert not Lack()
    assert Lack(missing=key)
    assert Lack(terminating=key)
