"""What a cell counts of quota, under the names that dashboards know."""

from collections.abc import Iterator
from typing import Final
from weakref import WeakKeyDictionary

from prometheus_client import CollectorRegistry
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector


class QuotaFigures(Collector):
    """Plain numbers, made into text only when somebody asks for it."""

    def __init__(self) -> None:
        self.enabled = False
        self.failures: dict[str, int] = {}  # by reason
        self.orphaned = 0
        self.reclaimed = 0

    def failed(self, reason: str) -> None:
        """Count a claim that was not granted, once for each time its Instance learns why."""
        self.failures[reason] = self.failures.get(reason, 0) + 1

    def collect(self) -> Iterator[Metric]:
        """Every figure, read at this moment."""
        yield GaugeMetricFamily(
            "compute_quota_enforcement_enabled",
            "Whether Instances wait for quota: 1, or 0 where the cell has nobody to ask.",
            float(self.enabled),
        )
        failures = CounterMetricFamily(
            "compute_quota_eval_failures",
            "Times that an Instance was told why it has no quota.",
            labels=("reason",),
        )
        for reason, count in self.failures.items():
            failures.add_metric((reason,), count)
        yield failures
        yield CounterMetricFamily(
            "compute_quota_claim_orphaned",
            "Claims that could not be given back when their Instance went.",
            self.orphaned,
        )
        yield CounterMetricFamily(
            "compute_quota_claim_reclaimed",
            "Forgotten claims that were found and given back.",
            self.reclaimed,
        )


_OF: Final[WeakKeyDictionary[CollectorRegistry, QuotaFigures]] = WeakKeyDictionary()


def figures(registry: CollectorRegistry) -> QuotaFigures:
    """The figures of a process; the same for everybody who counts there."""
    if registry not in _OF:
        _OF[registry] = QuotaFigures()
        registry.register(_OF[registry])
    return _OF[registry]
