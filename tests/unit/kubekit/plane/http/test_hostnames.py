"""What clients may call a server."""

import socket

import pytest

from kubekit.plane.http.certificates.authority import LOOPBACK
from kubekit.plane.http.hostnames import names_for, own_addresses


@pytest.mark.parametrize("host", ["127.0.0.1", "127.0.0.2", "::1", "localhost"])
def test_a_server_on_the_loopback_has_no_other_name(host):
    """Other machines cannot reach it by any name."""
    assert names_for(host) == LOOPBACK


@pytest.mark.parametrize("host", ["10.0.0.7", "2001:db8::7", "plane.example.test"])
def test_a_server_on_one_address_has_that_name(host):
    """And by the name of its machine."""
    assert names_for(host) == (*LOOPBACK, host, socket.gethostname())


@pytest.mark.parametrize("host", ["0.0.0.0", "::"])
def test_a4_a_server_on_every_address_has_all_their_names(host):
    """Every address is no address to connect to, so it is not among them."""
    names = names_for(host)
    assert set(names) == {*LOOPBACK, socket.gethostname(), *own_addresses()}
    assert host not in names


def test_the_addresses_are_the_machines_own():
    """A socket can be bound to each of them, and to no other."""
    for address in own_addresses():
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        with socket.socket(family, socket.SOCK_STREAM) as probe:
            probe.bind((address, 0))
            assert probe.getsockname()[0] == address


def test_a_name_that_no_certificate_can_hold_is_left_out():
    """The listener says what it thinks of it."""
    assert names_for("h\u00f6chst.invalid") == (*LOOPBACK, socket.gethostname())
