"""Locations derived from the hub's Clusters: where a cell is, and which cities can be used.

A city that is not in the table of cities can be used as well: its code serves as its name.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from compute.api import labels, names
from compute.api.cities import CITIES
from compute.api.conditions import ConditionType
from compute.api.karmada import MemberCluster as Member
from compute.api.networking import (
    BoundLocation,
    Location,
    LocationBinding,
    LocationBindingSpec,
    LocationProvider,
    LocationSpec,
)
from compute.api.reasons import Reason
from compute.decide.conditions import find
from compute.decide.ranking import Candidate
from kubekit.api.meta import ObjectMeta

CLASS: Final = "datum-managed"  # the class of the locations that this service manages

_REACHABLE: Final = Candidate("", Reason.READY, "A cell of the city answers", "True")
_UNREACHABLE: Final = Candidate("", Reason.CELL_UNREACHABLE, "No cell of the city answers")
_NEW: Final = Candidate("", Reason.PENDING, "Nothing is known of the city's cell yet", "Unknown")
_BEST_FIRST: Final = (_REACHABLE, _NEW, _UNREACHABLE)


@dataclass(frozen=True, slots=True)
class Offer:
    """A city that a project may use, and whether a cell of it answers."""

    binding: LocationBinding
    available: Candidate


def city_of(member: Member) -> str:
    """The city that a cell serves; empty when it serves none."""
    return member.metadata.labels.get(labels.TOPOLOGY_CITY_CODE, "")


def location(member: Member) -> Location:
    """Where a cell is, as the cell itself knows it."""
    city = city_of(member)
    return Location(
        metadata=ObjectMeta(name=names.location(city)),
        spec=LocationSpec(
            location_class_name=CLASS, provider=LocationProvider(), topology=_topology(city, member)
        ),
    )


def offers(members: Iterable[Member]) -> dict[str, Offer]:
    """One offer for each city that a cell serves, by the name of its binding.

    A city is available as soon as one cell of it is.
    """
    by_city: dict[str, list[Member]] = {}
    for member in members:
        if city_of(member) and not member.deleting:
            by_city.setdefault(city_of(member), []).append(member)
    return {names.location(city): _offer(city, there) for city, there in by_city.items()}


def _offer(city: str, members: list[Member]) -> Offer:
    first = min(members, key=lambda member: member.metadata.name)
    known = CITIES.get(city)
    name = names.location(city)
    binding = LocationBinding(
        metadata=ObjectMeta(name=name),
        spec=LocationBindingSpec(
            display_name=known.name if known else city,
            location_class_name=CLASS,
            location_ref=BoundLocation(name=name),
            topology=_topology(city, first),
        ),
    )
    best = min(map(_availability, members), key=_BEST_FIRST.index)
    return Offer(binding, best)


def _topology(city: str, member: Member) -> dict[str, str]:
    topology = {labels.TOPOLOGY_CITY_CODE: city}
    if member.spec.region:
        topology[labels.TOPOLOGY_REGION] = member.spec.region
    known = CITIES.get(city)
    if known is not None:
        topology |= {
            labels.TOPOLOGY_COUNTRY: known.country,
            labels.TOPOLOGY_LATITUDE: f"{known.latitude:.2f}",
            labels.TOPOLOGY_LONGITUDE: f"{known.longitude:.2f}",
        }
    return topology


def _availability(member: Member) -> Candidate:
    ready = find(member.status.conditions, ConditionType.READY)
    if ready is None:
        return _NEW
    return _REACHABLE if ready.status == "True" else _UNREACHABLE
