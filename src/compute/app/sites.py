"""The cells of a world, by the cities they serve."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from compute.api import labels
from compute.api.karmada import ClusterSpec, MemberCluster
from compute.app.links import PlaneLinks, is_cut
from compute.app.planes import SYSTEM, OpenPlanes, PlaneRef, create_if_missing, ensure_namespace
from kubekit.api.meta import ObjectMeta
from kubekit.api.selectors.label_syntax import value_fault
from kubekit.client.client import Client
from kubekit.plane import LocalClient

MOST: Final = 200  # cells of one world


class BadCities(ValueError):
    """Cities that no world can serve. The message says which, and what to do."""


@dataclass(frozen=True, slots=True)
class CellSite:
    """A cell and the city it serves."""

    cell: str
    city: str

    @property
    def cluster(self) -> MemberCluster:
        """The object of the cell on the hub."""
        city = {labels.TOPOLOGY_CITY_CODE: self.city}
        return MemberCluster(
            metadata=ObjectMeta(name=self.cell, labels=city), spec=ClusterSpec(sync_mode="Push")
        )


def sites(cities: Iterable[str]) -> list[CellSite]:
    """A cell for each named city. A city that is named twice has two cells.

    Cells are named after their city: ``dfw``, and the second one ``dfw-2``.
    """
    counts: Counter[str] = Counter()
    cells = []
    for city in cities:
        _check(city)
        counts[city] += 1
        number = counts[city]
        cells.append(CellSite(city.lower() if number == 1 else f"{city.lower()}-{number}", city))
    if not cells:
        raise BadCities("no city is named: give at least one, such as DFW")
    if len(cells) > MOST:
        raise BadCities(f"{len(cells)} cells are too many for one machine: at most {MOST}")
    return cells


def site_of(cluster: MemberCluster) -> CellSite | None:
    """The cell of an object on the hub; None when it serves no city."""
    city = cluster.metadata.labels.get(labels.TOPOLOGY_CITY_CODE, "")
    return CellSite(cluster.metadata.name, city) if city else None


def merged(known: Mapping[str, CellSite], wanted: Iterable[CellSite]) -> dict[str, CellSite]:
    """The cells that exist, and those that are wanted now. A cell that is not wanted stays."""
    return {**known, **{site.cell: site for site in wanted if site.cell not in known}}


def _check(city: str) -> None:
    if not city.isalnum() or city != city.upper() or value_fault(city):
        raise BadCities(f"{city!r} is not a city code: write it in capital letters, such as DFW")


async def open_cells(
    planes: OpenPlanes, links: PlaneLinks, hub: Client, wanted: Iterable[CellSite]
) -> Sequence[CellSite]:
    """Open the plane of every cell that exists or is wanted, and join each to the hub.

    A cell that was cut off when the world stopped is cut off again.
    """
    clusters = (await hub.every(MemberCluster)).items
    known = [site for cluster in clusters if (site := site_of(cluster))]
    cut = {cluster.metadata.name for cluster in clusters if is_cut(cluster)}
    sites = tuple(merged({site.cell: site for site in known}, wanted).values())
    for site in sites:
        ref = PlaneRef("cell", site.cell)
        plane = await planes.open(ref)
        await ensure_namespace(LocalClient(plane, manager="world"), SYSTEM)
        await create_if_missing(hub, site.cluster)
        if site.cell in cut:
            links[ref].cut()
    return sites
