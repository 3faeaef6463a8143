"""Which addresses are called, however they are written."""

import pytest

from kubekit.plane.admission import address_guard


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1",
        "::1",
        "10.0.0.7",
        "192.168.1.1",
        "172.16.0.1",
        "8.8.8.8",
        "2001:db8::1",
        "fd00::1",
    ],
)
def test_webhooks_may_be_near_and_far(host: str):
    """Loopback and private networks are where a one-machine plane has its webhooks."""
    address_guard.check(host)


@pytest.mark.parametrize(
    "host",
    [
        "169.254.169.254",
        "169.254.0.1",
        "fe80::1",
        "fe80::1%eth0",
        "::ffff:169.254.169.254",
        "2002:a9fe:a9fe::1",
        "64:ff9b::a9fe:a9fe",
        "100.100.100.200",
        "168.63.129.16",
        "192.0.0.192",
        "fd00:ec2::254",
        "fd20:ce::254",
    ],
)
def test_w1_the_machines_metadata_is_not_called(host: str):
    """No webhook is at an address where clouds serve the machine's credentials, in any spelling."""
    with pytest.raises(address_guard.ForbiddenAddress, match="metadata"):
        address_guard.check(host)


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "224.0.0.1", "ff02::1", "255.255.255.255"])
def test_w1_unspecified_and_multicast_addresses_are_not_called(host: str):
    """What is not the address of one server cannot be a webhook's."""
    with pytest.raises(address_guard.ForbiddenAddress, match="not the address of one server"):
        address_guard.check(host)
