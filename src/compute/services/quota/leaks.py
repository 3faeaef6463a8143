"""Claims that nobody will ever give back: the cell that made them is a member no more.

A cell releases what its own Instances left behind. Who reports what a whole cell left is the one who
sees its claims count for ever. They are reported, not deleted: its machines may still run.
"""

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Final

from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from compute.api.karmada import MemberCluster as Member
from compute.api.quota import ResourceClaim
from compute.api.reasons import Reason
from compute.services.quota.ledger import ClaimLedger, Key
from kubekit.api.errors import ApiError
from kubekit.runtime.clusters import Cluster, Clusters
from kubekit.runtime.reporting.events import EventRecorder

_NAMED: Final = 20  # claims of one cell that get an event of their own
_NAME: Final = "compute_quota_service_leaked_claims"
_TEXT: Final = "Claims of cells that are gone; they count until somebody deletes them."


class Leaks(Collector):
    """Finds leaked claims, tells of each cell's once, and counts them."""

    def __init__(self, hub: Clusters, recorder: EventRecorder) -> None:
        self._hub = hub
        self._recorder = recorder
        self._told: dict[tuple[str, str], None] = {}  # project and cell
        self._counts: dict[tuple[str, str], int] = {}

    def collect(self) -> Iterator[Metric]:
        """The figure, for a scrape."""
        family = GaugeMetricFamily(_NAME, _TEXT, labels=("project", "cell"))
        for place, count in self._counts.items():
            family.add_metric(place, count)
        yield family

    async def look(self, project: Cluster, book: ClaimLedger) -> None:
        """Compare the cells that made claims with those that there are."""
        counts: dict[tuple[str, str], int] = {
            (project.name, cell): len(book.cells.get(cell, {}))
            for cell in list(book.cells)
            if await self._is_gone(cell)
        }
        self._forget(project.name, counts)
        for place in counts:
            if place not in self._told:
                self._told[place] = None
                self._tell(project, book.cells.get(place[1], {}), place[1])

    async def _is_gone(self, cell: str) -> bool:
        """Whether the hub says that there is no such cell. A hub that is away says nothing."""
        for hub in self._hub:
            if hub.informers.of(Member).cache.get("", cell) is not None:
                return False
            try:
                return await hub.client.find(Member, cell) is None
            except ApiError:
                return False
        return False

    def _tell(self, project: Cluster, keys: Iterable[Key], cell: str) -> None:
        note = f"The cell {cell} is gone and will not give this claim back; delete it to free quota"
        cache = project.informers.of(ResourceClaim).cache
        for claim in filter(None, (cache.get(*key) for key in islice(keys, _NAMED))):
            self._recorder.event(
                project.client, claim, "Warning", Reason.QUOTA_CLAIM_ORPHANED, note, "Report"
            )

    def _forget(self, project: str, counts: dict[tuple[str, str], int]) -> None:
        self._counts = {
            place: count for place, count in self._counts.items() if place[0] != project
        } | counts
        self._told = {place: None for place in self._told if place[0] != project or place in counts}
