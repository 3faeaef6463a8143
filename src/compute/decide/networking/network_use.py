"""What uses a network. A network in use is neither deleted at once nor given other ranges.

A network that is being deleted is removed once no Workload names it and its addresses are released.
What is attached until then keeps running, and may be scaled and rolled out; nothing new is attached.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from compute.api.compute import Workload
from compute.api.instance_spec import InstanceTemplate
from compute.api.networking import Network
from compute.decide.networking.addresses import (
    IPV4,
    IPV6,
    Prefix,
    Unsupported,
    is_within,
    network_range,
)
from compute.decide.overrides import CityTemplates
from compute.decide.overrides.annotated import cities_of
from kubekit.api.fields import FieldError, Path, forbidden

Key = tuple[str, str]
"""Namespace and name of a Network."""

_MOST_NAMES: Final = 3
_IPAM: Final = Path("spec.ipam")
_RANGES: Final = {IPV4: _IPAM.child("ipv4Range"), IPV6: _IPAM.child("ipv6Range")}


@dataclass(frozen=True, slots=True)
class Lack:
    """The networks that a template names and that nothing new can be attached to."""

    missing: frozenset[Key] = frozenset()
    terminating: frozenset[Key] = frozenset()

    def __bool__(self) -> bool:
        return bool(self.missing or self.terminating)


def named(template: InstanceTemplate, namespace: str) -> dict[Key, None]:
    """The networks that a template in this namespace names, each once."""
    interfaces = template.spec.network_interfaces
    return {(i.network.namespace or namespace, i.network.name): None for i in interfaces}


def of_workload(workload: Workload) -> dict[Key, None]:
    """The networks that the template of a Workload names, and those of cities pinned to another."""
    templates, namespace = CityTemplates(workload), workload.metadata.namespace
    pins = (templates.pin(city) for city in cities_of(workload))
    known = named(workload.spec.template, namespace)
    return known | {key: None for pin in pins if pin for key in named(pin.template, namespace)}


def names_network(workload: Workload, network: Key) -> bool:
    """Whether the template of a Workload, or of one of its cities, names the network."""
    return network in of_workload(workload)


def users(network: Network, workloads: Iterable[Workload]) -> tuple[str, ...]:
    """The Workloads whose template names the network, by name; sorted."""
    meta = network.metadata
    key = (meta.namespace, meta.name)
    using = [each.metadata for each in workloads if names_network(each, key)]
    return relative_names(((each.namespace, each.name) for each in using), meta.namespace)


def terminating(users: Sequence[str], cells: Iterable[str]) -> str:
    """The report on a network that is being deleted: what uses it, and what to do."""
    if users:
        return (
            f"Being deleted, and in use by workloads: {_list(users)}. What runs keeps running, and "
            "nothing new is attached. It goes once they name another network or are deleted"
        )
    in_use = sorted(set(cells))
    if in_use:
        return f"Being deleted; its addresses are still in use in: {_list(in_use)}"
    return "Being deleted"


def changed_ranges(
    old: Network, new: Network, users: Sequence[str], cells: Iterable[str]
) -> Iterator[FieldError]:
    """The refusals of a change of ranges while ``cells`` use addresses of the old ones."""
    held = sorted(set(cells))
    by = f"workloads: {_list(users)}" if users else f"cells: {_list(held)}"
    for family, path in _RANGES.items() if held else ():
        before = _range(old, family)
        if before is not None and before != _range(new, family):
            yield forbidden(
                path,
                f"addresses of {before} are in use by {by}; create another network with the range "
                "that is wanted, and name it in their templates",
            )


def strays(network: Network, prefixes: Iterable[Prefix]) -> tuple[Prefix, ...]:
    """The prefixes in use that are in none of the network's ranges; sorted."""
    ranges = [within for family in network.spec.ip_families if (within := _range(network, family))]
    outside = {each for each in prefixes if not any(is_within(each, one) for one in ranges)}
    return tuple(sorted(outside, key=str))


def _range(network: Network, family: str) -> Prefix | None:
    """The range of a family; None where the network has none that can be used."""
    if family not in network.spec.ip_families:
        return None
    prefix = network_range(network, family)
    return None if isinstance(prefix, Unsupported) else prefix


def relative_names(keys: Iterable[Key], namespace: str) -> tuple[str, ...]:
    """Names of networks or Workloads, as written in this namespace; sorted."""
    return tuple(sorted(name if owner == namespace else f"{owner}/{name}" for owner, name in keys))


def _list(names: Sequence[str]) -> str:
    listed, more = names[:_MOST_NAMES], len(names) - _MOST_NAMES
    return ", ".join(listed) + (f" and {more} more" if more > 0 else "")
