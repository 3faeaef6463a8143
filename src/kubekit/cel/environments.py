"""The environment with the functions of every expression of Kubernetes."""

from collections.abc import Iterator
from typing import Final

from kubekit.cel.declarations import Environment, Overload, grouped
from kubekit.cel.libraries import (
    formats,
    lists,
    networks,
    optionals,
    quantities,
    regexes,
    semvers,
    sets,
    standard,
    strings,
    urls,
)
from kubekit.cel.types import CIDR, IP

_LIBRARIES: Final = (
    standard,
    optionals,
    urls,
    regexes,
    lists,
    quantities,
    strings,
    sets,
    networks,
    formats,
    semvers,
)


def _overloads() -> Iterator[Overload]:
    for library in _LIBRARIES:
        yield from library.OVERLOADS


KUBERNETES: Final = Environment(
    grouped(_overloads()), {**standard.TYPES, "net.IP": IP, "net.CIDR": CIDR}
)
OVERLOADS: Final = {overload.id: overload for overload in _overloads()}
