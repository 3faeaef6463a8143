"""Attachments to networks, and the traffic they let in."""

import ipaddress
from collections.abc import Iterator, Sequence

from compute.api.instance_spec import InterfaceNetworkPolicy, NetworkInterface
from compute.decide.validation.grammar import check_label, check_port_name
from compute.decide.validation.ports import check_port_number, check_protocol
from kubekit.api import digits
from kubekit.api.fields import FieldError, Path, forbidden, invalid, required
from kubekit.api.kinds.network_policies import IPBlock, NetworkPolicyPort

_Block = ipaddress.IPv4Network | ipaddress.IPv6Network


def check_interfaces(path: Path, interfaces: Sequence[NetworkInterface]) -> Iterator[FieldError]:
    if not interfaces:
        yield required(path, "attach at least one network")
    for position, interface in enumerate(interfaces):
        at = path.at(position)
        network = at.child("network")
        yield from check_label(network.child("name"), interface.network.name)
        if interface.network.namespace:
            yield from check_label(network.child("namespace"), interface.network.namespace)
        if interface.network_policy is not None:
            yield from _check_policy(at.child("networkPolicy", "ingress"), interface.network_policy)


def _check_policy(path: Path, policy: InterfaceNetworkPolicy) -> Iterator[FieldError]:
    for position, rule in enumerate(policy.ingress):
        at = path.at(position)
        for nth, port in enumerate(rule.ports):
            yield from _check_port(at.child("ports").at(nth), port)
        for nth, peer in enumerate(rule.from_):
            block = at.child("from").at(nth).child("ipBlock")
            if peer.ip_block is None:
                yield required(block, "say which addresses are meant")
            else:
                yield from _check_block(block, peer.ip_block)


def _check_port(path: Path, port: NetworkPolicyPort) -> Iterator[FieldError]:
    if isinstance(port.port, int):
        yield from check_port_number(path.child("port"), port.port)
    elif port.port is not None:
        yield from check_port_name(path.child("port"), port.port)
    if port.end_port is not None:
        yield from _check_end(path.child("endPort"), port.port, port.end_port)
    yield from check_protocol(path.child("protocol"), port.protocol)


def _check_end(path: Path, first: int | str | None, last: int) -> Iterator[FieldError]:
    yield from check_port_number(path, last)
    if not isinstance(first, int):
        yield forbidden(path, "a range needs port to be the number it starts with")
    elif last < first:
        yield invalid(path, last, f"must not be less than port, which is {first}")


def _check_block(path: Path, block: IPBlock) -> Iterator[FieldError]:
    whole = _network(block.cidr)
    if whole is None:
        yield _no_range(path.child("cidr"), block.cidr)
    for position, text in enumerate(block.except_):
        at = path.child("except").at(position)
        part = _network(text)
        if part is None:
            yield _no_range(at, text)
        elif whole is not None and not _within(part, whole):
            yield invalid(at, text, f"must be a part of cidr, which is {whole}")


def _network(text: str) -> _Block | None:
    """The range a text names; None for a bare address, a mask or a zone, as in Kubernetes."""
    address, _, length = text.partition("/")
    if "%" in address or not digits.only(length):
        return None
    try:
        return ipaddress.ip_network(text, strict=False)
    except ValueError:
        return None


def _within(part: _Block, whole: _Block) -> bool:
    return (
        part.version == whole.version
        and part.prefixlen > whole.prefixlen
        and part.supernet(new_prefix=whole.prefixlen) == whole
    )


def _no_range(path: Path, text: str) -> FieldError:
    return invalid(path, text, "must be a range of addresses such as 10.0.0.0/8 or 2001:db8::/32")
