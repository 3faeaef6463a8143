"""Attachments to networks, and the traffic they let in."""

import pytest

from kubekit.api.fields import Problem
from tests.support.compute.validation_builders import blamed, errors_of, sandbox

INTERFACES = "spec/template/spec/networkInterfaces"
PATH = "spec.template.spec.networkInterfaces"
RULE = f"{PATH}[0].networkPolicy.ingress[0]"


def ruled(**rule):
    """The errors of one rule, by their path within it."""
    policy = {"ingress": [rule]}
    interface = {"network": {"name": "default"}, "networkPolicy": policy}
    return [(p.removeprefix(RULE), what) for p, what in blamed(sandbox({INTERFACES: [interface]}))]


def test_a_network_is_needed():
    """An Instance without a network cannot be reached."""
    assert blamed(sandbox({INTERFACES: []})) == [(PATH, Problem.REQUIRED)]


@pytest.mark.parametrize(
    ("network", "expected"),
    [
        ({"name": "default"}, []),
        ({"name": "default", "namespace": "shared"}, []),
        ({"name": ""}, [("name", Problem.REQUIRED)]),
        ({"name": "Default"}, [("name", Problem.INVALID)]),
        ({"name": "default", "namespace": "a.b"}, [("namespace", Problem.INVALID)]),
    ],
    ids=repr,
)
def test_a_network_is_named(network, expected):
    """Networks and namespaces have DNS labels for names."""
    got = blamed(sandbox({INTERFACES: [{"network": network}]}))

    assert got == [(f"{PATH}[0].network.{path}", problem) for path, problem in expected]


@pytest.mark.parametrize(
    ("port", "expected"),
    [
        ({}, []),
        ({"port": 80, "protocol": "TCP"}, []),
        ({"port": "http"}, []),
        ({"port": 80, "endPort": 80}, []),
        ({"port": 0}, [("port", Problem.INVALID)]),
        ({"port": "HTTP"}, [("port", Problem.INVALID)]),
        ({"port": 80, "protocol": "ICMP"}, [("protocol", Problem.NOT_SUPPORTED)]),
        ({"port": 80, "endPort": 79}, [("endPort", Problem.INVALID)]),
        ({"port": 80, "endPort": 65536}, [("endPort", Problem.INVALID)]),
        ({"port": "http", "endPort": 90}, [("endPort", Problem.FORBIDDEN)]),
        ({"endPort": 90}, [("endPort", Problem.FORBIDDEN)]),
    ],
    ids=repr,
)
def test_ports_of_a_rule_exist(port, expected):
    """A port is a number, a name, or a range of numbers."""
    assert ruled(ports=[port]) == [(f".ports[0].{path}", problem) for path, problem in expected]


@pytest.mark.parametrize(
    ("block", "expected"),
    [
        ({"cidr": "0.0.0.0/0"}, []),
        ({"cidr": "2001:db8::/32", "except": ["2001:db8:1::/48"]}, []),
        ({"cidr": "10.0.0.0/8", "except": ["10.1.0.0/16"]}, []),
        ({"cidr": "10.0.0.1"}, [("cidr", Problem.INVALID)]),
        ({"cidr": "10.0.0.0/255.0.0.0"}, [("cidr", Problem.INVALID)]),
        ({"cidr": "10.0.0.0/33"}, [("cidr", Problem.INVALID)]),
        ({"cidr": "fe80::%1/64"}, [("cidr", Problem.INVALID)]),
        ({"cidr": "everyone/8"}, [("cidr", Problem.INVALID)]),
        ({"cidr": "10.0.0.0/8", "except": ["11.0.0.0/16"]}, [("except[0]", Problem.INVALID)]),
        ({"cidr": "10.0.0.0/8", "except": ["10.0.0.0/8"]}, [("except[0]", Problem.INVALID)]),
        ({"cidr": "10.0.0.0/8", "except": ["::/0"]}, [("except[0]", Problem.INVALID)]),
        (
            {"cidr": "x", "except": ["10.0.0.0/8", "y"]},
            [("cidr", Problem.INVALID), ("except[1]", Problem.INVALID)],
        ),
    ],
    ids=repr,
)
def test_addresses_of_a_rule_are_ranges(block, expected):
    """A range has a length, and exceptions lie within it."""
    got = ruled(**{"from": [{"ipBlock": block}]})

    assert got == [(f".from[0].ipBlock.{path}", problem) for path, problem in expected]


def test_a_peer_names_addresses():
    """A peer without addresses could mean none or all."""
    assert ruled(**{"from": [{}]}) == [(".from[0].ipBlock", Problem.REQUIRED)]


def test_several_interfaces_may_share_a_network():
    """Each interface is an attachment of its own."""
    one = {"network": {"name": "default"}}

    assert errors_of(sandbox({INTERFACES: [one, one]})) == []
