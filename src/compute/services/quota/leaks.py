"""Leaked claims: the cell that created them is no longer a member.

A cell deletes the claims that its own Instances left behind. The claims of a cell that is gone would
count indefinitely, so this service reports them. It does not delete them: instances may still run.
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
_TEXT: Final = "Claims of cells that are gone; they count until they are deleted."


class Leaks(Collector):
    """Finds leaked claims, reports them once for each cell, and counts them."""

    def __init__(self, hub: Clusters, recorder: EventRecorder) -> None:
        self._hub = hub
        self._recorder = recorder
        self._reported: dict[tuple[str, str], None] = {}  # project and cell
        self._counts: dict[tuple[str, str], int] = {}

    def collect(self) -> Iterator[Metric]:
        """The metric, for a scrape."""
        family = GaugeMetricFamily(_NAME, _TEXT, labels=("project", "cell"))
        for labels, count in self._counts.items():
            family.add_metric(labels, count)
        yield family

    async def check(self, project: Cluster, ledger: ClaimLedger) -> None:
        """Compare the cells that created claims with the members of the hub."""
        counts: dict[tuple[str, str], int] = {
            (project.name, cell): len(ledger.cells.get(cell, {}))
            for cell in list(ledger.cells)
            if await self._is_gone(cell)
        }
        self._forget(project.name, counts)
        for key in counts:
            if key not in self._reported:
                self._reported[key] = None
                self._report(project, ledger.cells.get(key[1], {}), key[1])

    async def _is_gone(self, cell: str) -> bool:
        """Whether the hub has no such member. False while the hub is unreachable."""
        for hub in self._hub:
            if hub.informers.of(Member).cache.get("", cell) is not None:
                return False
            try:
                return await hub.client.find(Member, cell) is None
            except ApiError:
                return False
        return False

    def _report(self, project: Cluster, keys: Iterable[Key], cell: str) -> None:
        note = f"The cell {cell} is gone and will not release this claim; delete it to free quota"
        cache = project.informers.of(ResourceClaim).cache
        for claim in filter(None, (cache.get(*key) for key in islice(keys, _NAMED))):
            self._recorder.event(
                project.client, claim, "Warning", Reason.QUOTA_CLAIM_ORPHANED, note, "Report"
            )

    def _forget(self, project: str, counts: dict[tuple[str, str], int]) -> None:
        self._counts = {
            key: count for key, count in self._counts.items() if key[0] != project
        } | counts
        self._reported = {key: None for key in self._reported if key[0] != project or key in counts}
