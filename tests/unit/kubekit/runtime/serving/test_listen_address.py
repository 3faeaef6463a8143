"""Addresses in the form of Go."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis.strategies import integers, sampled_from, text

from kubekit.runtime.serving.listen_address import (
    AddressError,
    ListenAddress,
    parse_listen_address,
)

FIELD = "metricsServer.bindAddress"


@pytest.mark.parametrize(
    ("shown", "address"),
    [
        (":8081", ListenAddress("", 8081)),
        ("127.0.0.1:8443", ListenAddress("127.0.0.1", 8443)),
        ("[::1]:0", ListenAddress("::1", 0)),
        ("[::]:8443", ListenAddress("::", 8443)),
        ("localhost:1", ListenAddress("localhost", 1)),
        ("0", None),
    ],
)
def test_an_address_has_a_host_and_a_port(shown, address):
    """As in the settings of the original. 0 disables the server."""
    assert parse_listen_address(shown, FIELD) == address


@given(host=sampled_from(["", "127.0.0.1", "::1", "a.test"]), port=integers(0, 65535))
def test_an_address_is_read_as_it_is_shown(host, port):
    address = ListenAddress(host, port)
    assert parse_listen_address(str(address), FIELD) == address


@pytest.mark.parametrize(
    ("shown", "why"),
    [
        ("", "it has no port"),
        ("8081", "it has no port"),
        (":", "the port must be a number from 0 to 65535"),
        (":http", "the port must be a number from 0 to 65535"),
        (":65536", "the port must be a number from 0 to 65535"),
        (":-1", "the port must be a number from 0 to 65535"),
        (":٨", "the port must be a number from 0 to 65535"),
        ("::1:80", "an IPv6 address must be in brackets"),
        ("[::1:80", "an IPv6 address must be in brackets"),
        ("[a]:80", "only an IPv6 address can be in brackets"),
        ("http://a:80", "an IPv6 address must be in brackets"),
        ("a b:80", "the host is not valid"),
        ("a/b:80", "the host is not valid"),
    ],
)
def test_a_wrong_address_names_the_setting(shown, why):
    """And what is wrong with it, and what is right."""
    with pytest.raises(AddressError) as refused:
        parse_listen_address(shown, FIELD)
    assert str(refused.value) == (
        f"{FIELD}: {shown!r} is not an address to listen on: {why}; "
        'use ":8081", "127.0.0.1:8081", "[::1]:8081", or "0" for none'
    )


@given(text(max_size=20))
def test_any_text_is_read_or_refused(shown):
    with suppress(AddressError):
        address = parse_listen_address(shown, FIELD)
        assert address is None or 0 <= address.port <= 65535


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_a_free_port_is_bound(host):
    with ListenAddress(host, 0).bind(1) as listener:
        assert listener.getsockname()[0] == "127.0.0.1"
