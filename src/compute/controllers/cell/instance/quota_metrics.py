"""The quota metrics of a cell, under the names of the original's dashboards."""

from collections.abc import Iterator
from typing import Final
from weakref import WeakKeyDictionary

from prometheus_client import CollectorRegistry
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector


class QuotaMetrics(Collector):
    """Plain numbers, formatted only for a scrape."""

    def __init__(self) -> None:
        self.enabled = False
        self.failures: dict[str, int] = {}  # by reason
        self.orphaned = 0
        self.reclaimed = 0

    def record_failure(self, reason: str) -> None:
        """Count a claim that was not granted, once per reason reported on its Instance."""
        self.failures[reason] = self.failures.get(reason, 0) + 1

    def collect(self) -> Iterator[Metric]:
        """Every metric, read at this moment."""
        yield GaugeMetricFamily(
            "compute_quota_enforcement_enabled",
            "Whether Instances wait for quota: 1, or 0 in a cell without quota.",
            float(self.enabled),
        )
        failures = CounterMetricFamily(
            "compute_quota_eval_failures",
            "Times that an Instance reported why it has no quota.",
            labels=("reason",),
        )
        for reason, count in self.failures.items():
            failures.add_metric((reason,), count)
        yield failures
        yield CounterMetricFamily(
            "compute_quota_claim_orphaned",
            "Claims that could not be released when their Instance was deleted.",
            self.orphaned,
        )
        yield CounterMetricFamily(
            "compute_quota_claim_reclaimed",
            "Leaked claims that were found and released.",
            self.reclaimed,
        )


_OF: Final[WeakKeyDictionary[CollectorRegistry, QuotaMetrics]] = WeakKeyDictionary()


def quota_metrics(registry: CollectorRegistry) -> QuotaMetrics:
    """The quota metrics of a process; the same object for all its controllers."""
    if registry not in _OF:
        _OF[registry] = QuotaMetrics()
        registry.register(_OF[registry])
    return _OF[registry]
