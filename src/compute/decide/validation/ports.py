"""Ports that a container or machine listens on, or that a network policy opens."""

from collections.abc import Iterator, Sequence
from typing import Final

from compute.api.instance_spec import NamedPort
from compute.decide.validation.grammar import Taken, check_port_name
from kubekit.api.fields import FieldError, Path, invalid, not_supported

PROTOCOLS: Final = ("TCP", "UDP", "SCTP")
_FIRST: Final = 1
_LAST: Final = 65535


def check_ports(path: Path, ports: Sequence[NamedPort]) -> Iterator[FieldError]:
    names = Taken()
    for position, port in enumerate(ports):
        at = path.at(position)
        yield from check_port_name(at.child("name"), port.name)
        yield from names.check(at.child("name"), port.name)
        yield from check_port_number(at.child("port"), port.port)
        yield from check_protocol(at.child("protocol"), port.protocol)


def check_port_number(path: Path, number: int) -> Iterator[FieldError]:
    if not _FIRST <= number <= _LAST:
        yield invalid(path, number, f"must be from {_FIRST} to {_LAST}")


def check_protocol(path: Path, protocol: str | None) -> Iterator[FieldError]:
    """None and the empty text mean TCP."""
    if protocol and protocol not in PROTOCOLS:
        yield not_supported(path, protocol, PROTOCOLS)
