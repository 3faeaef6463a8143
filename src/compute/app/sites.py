"""The cells of a world, by the cities they serve."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from compute.api import labels
from compute.api.karmada import ClusterSpec, MemberCluster
from kubekit.api.meta import ObjectMeta
from kubekit.api.selectors.label_syntax import value_fault

MOST: Final = 200  # cells of one world


class BadCities(ValueError):
    """Cities that no world can be made of. Says which, and what to do."""


@dataclass(frozen=True, slots=True)
class CellSite:
    """A cell and the city it serves."""

    cell: str
    city: str

    @property
    def cluster(self) -> MemberCluster:
        """The cell as the hub knows it."""
        told = {labels.TOPOLOGY_CITY_CODE: self.city}
        return MemberCluster(
            metadata=ObjectMeta(name=self.cell, labels=told), spec=ClusterSpec(sync_mode="Push")
        )


def sites(cities: Iterable[str]) -> list[CellSite]:
    """A cell for each city that is named; a city that is named twice has two cells.

    Cells are called after their city: ``dfw``, and the second one ``dfw-2``.
    """
    counts: Counter[str] = Counter()
    found = []
    for city in cities:
        _check(city)
        counts[city] += 1
        number = counts[city]
        found.append(CellSite(city.lower() if number == 1 else f"{city.lower()}-{number}", city))
    if not found:
        raise BadCities("no city is named: give at least one, DFW say")
    if len(found) > MOST:
        raise BadCities(f"{len(found)} cells are more than one machine is for: at most {MOST}")
    return found


def site_of(cluster: MemberCluster) -> CellSite | None:
    """The cell that the hub knows under this name; None when it serves no city."""
    city = cluster.metadata.labels.get(labels.TOPOLOGY_CITY_CODE, "")
    return CellSite(cluster.metadata.name, city) if city else None


def joined(known: Mapping[str, CellSite], wanted: Iterable[CellSite]) -> dict[str, CellSite]:
    """The cells that were there before and those that are wanted now: none is lost by not naming it."""
    return {**known, **{site.cell: site for site in wanted if site.cell not in known}}


def _check(city: str) -> None:
    if not city.isalnum() or city != city.upper() or value_fault(city):
        raise BadCities(f"{city!r} is no city code: it is written in capital letters, as DFW is")
