"""Addresses and ranges. What each expression gives, and costs, is what Kubernetes 1.34 answered."""

import pytest

from tests.support.kubekit.cel_builders import evaluated, failure

VALUES = [
    ("type(ip('1.1.1.1')) == net.IP", True, 3),
    ("type(cidr('1.1.1.1/8')) == net.CIDR", True, 3),
    ("string(ip('2001:DB8:0:0:0:0:0:1'))", "2001:db8::1", 3),
    ("ip.isCanonical('2001:DB8::1')", False, 3),
    ("ip.isCanonical('127.0.0.1')", True, 2),
    ("ip('127.0.0.1').isLoopback()", True, 2),
    ("ip('224.0.0.1').isLinkLocalMulticast()", True, 2),
    ("ip('ff02::1').isLinkLocalMulticast()", True, 2),
    ("ip('169.254.1.1').isLinkLocalUnicast()", True, 3),
    ("ip('fe80::1').isLinkLocalUnicast()", True, 2),
    ("ip('10.0.0.1').isGlobalUnicast()", True, 2),
    ("ip('255.255.255.255').isGlobalUnicast()", False, 3),
    ("ip('0.0.0.0').isUnspecified()", True, 2),
    ("ip('::').isUnspecified()", True, 2),
    ("isIP('x')", False, 1),
    ("ip('1.2.3.4') == ip('1.2.3.4')", True, 3),
    ("string(cidr('10.0.0.1/8'))", "10.0.0.1/8", 2),
    ("string(cidr('10.0.0.1/8').masked())", "10.0.0.0/8", 3),
    ("string(cidr('10.0.0.1/8').ip())", "10.0.0.1", 3),
    ("cidr('10.0.0.1/8').prefixLength()", 8, 2),
    ("cidr('10.0.0.0/8').containsIP('11.0.0.1')", False, 3),
    ("cidr('10.0.0.0/8').containsIP('::1')", False, 3),
    ("cidr('10.0.0.0/8').containsCIDR('10.0.0.0/7')", False, 5),
    ("cidr('10.0.0.0/8').containsCIDR(cidr('10.0.0.0/9'))", True, 5),
    ("isCIDR('10.0.0.0/8')", True, 1),
    ("isCIDR('x')", False, 1),
    ("cidr('::1/128') == cidr('::1/128')", True, 3),
    ("string(ip('1.2.3.4'))", "1.2.3.4", 2),
    ("string(cidr('10.1.2.3/8').masked())", "10.0.0.0/8", 3),
]
ERRORS = [
    ("ip('::ffff:1.2.3.4')", 'IPv4-mapped IPv6 address "::ffff:1.2.3.4" is not allowed', 2),
    ("ip('fe80::1%eth0')", 'IP address "fe80::1%eth0" with zone value is not allowed', 2),
    (
        "ip('1.2.3')",
        'IP Address "1.2.3" parse error during conversion from string: ParseAddr("1.2.3"): IPv4 address too short',
        1,
    ),
    (
        "ip('01.2.3.4')",
        'IP Address "01.2.3.4" parse error during conversion from string: ParseAddr("01.2.3.4"): IPv4 field has octet with leading zero',
        1,
    ),
    (
        "ip('')",
        'IP Address "" parse error during conversion from string: ParseAddr(""): unable to parse IP',
        0,
    ),
    ("cidr('10.0.0.0/8').containsIP('x')", "no such overload", 3),
    (
        "cidr('10.0.0.0/33')",
        'network address parse error during conversion from string: network address parse error during conversion from string: netip.ParsePrefix("10.0.0.0/33"): prefix length out of range',
        2,
    ),
    (
        "cidr('10.0.0.0/08')",
        'network address parse error during conversion from string: network address parse error during conversion from string: netip.ParsePrefix("10.0.0.0/08"): bad bits after slash: "08"',
        2,
    ),
    (
        "cidr('10.0.0.0')",
        "network address parse error during conversion from string: network address parse error during conversion from string: netip.ParsePrefix(\"10.0.0.0\"): no '/'",
        1,
    ),
    (
        "cidr('::ffff:1.2.3.4/120')",
        'network address parse error during conversion from string: IPv4-mapped IPv6 address "::ffff:1.2.3.4/120" is not allowed',
        2,
    ),
    (
        "cidr('fe80::%1/64')",
        'network address parse error during conversion from string: network address parse error during conversion from string: netip.ParsePrefix("fe80::%1/64"): IPv6 zones cannot be present in a prefix',
        2,
    ),
]


@pytest.mark.parametrize(("expression", "value", "cost"), VALUES)
def test_networks_give(expression, value, cost):
    """The addresses give the value, of that very type, at that cost."""
    assert evaluated(expression) == (value, type(value), cost)


@pytest.mark.parametrize(("expression", "words", "cost"), ERRORS)
def test_networks_fail(expression, words, cost):
    """What has no value says why, and is counted all the same."""
    assert failure(expression) == (words, cost)
