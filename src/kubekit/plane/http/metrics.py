"""/metrics: the metrics of a plane in the Prometheus text format.

The names are those of a Kubernetes API server wherever it has the same metric, so dashboards
for one work for the other. The text is rendered only when it is requested.
"""

from bisect import bisect_left
from collections.abc import Iterator
from itertools import accumulate
from typing import Final
from weakref import WeakKeyDictionary

from prometheus_client import CollectorRegistry, ProcessCollector, generate_latest
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    Metric,
    SummaryMetricFamily,
)
from prometheus_client.registry import Collector

from kubekit.plane.http.audit.audit_log import Audit
from kubekit.plane.http.interfaces import Attributes
from kubekit.plane.registry.registry import Registry
from kubekit.plane.store.store import Store

CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"
_SECONDS: Final = (
    *(0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1),
    *(0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0),
)
_BOUNDS: Final = (*(f"{bound:g}" for bound in _SECONDS), "+Inf")
_VERBS: Final = {"create": "POST", "update": "PUT"}  # the others have the same name
_REQUEST: Final = ("verb", "group", "version", "resource", "subresource")


_Route = tuple[str, str, str, str, str]
"""The values of these labels."""


class _Meter:
    """The requests of one route: how many with each code, and how long they took."""

    __slots__ = ("codes", "counts", "seconds")

    def __init__(self) -> None:
        self.codes: dict[int, int] = {}
        self.counts = [0] * len(_BOUNDS)
        self.seconds = 0.0

    def add(self, status: int, seconds: float) -> None:
        self.codes[status] = self.codes.get(status, 0) + 1
        self.counts[bisect_left(_SECONDS, seconds)] += 1
        self.seconds += seconds

    def buckets(self) -> list[tuple[str, float]]:
        return list(zip(_BOUNDS, map(float, accumulate(self.counts)), strict=True))


class RequestMetrics:
    """Counts requests per plane. Each plane reports its own and the unauthenticated requests."""

    def __init__(self, audit: Audit | None = None) -> None:
        self._audit = audit
        self._unauthenticated: dict[_Route, _Meter] = {}
        self._by_plane: WeakKeyDictionary[Registry, dict[_Route, _Meter]] = WeakKeyDictionary()
        # The meters of the latest plane, which is most likely the next one too.
        self._latest: tuple[Registry | None, dict[_Route, _Meter]] = (None, self._unauthenticated)
        self._process = CollectorRegistry()
        ProcessCollector(registry=self._process)

    def observe(
        self, registry: Registry | None, attributes: Attributes, status: int, seconds: float
    ) -> None:
        """Count one request. All non-resource paths count as one, since clients can invent paths."""
        route = (
            attributes.verb,
            attributes.group,
            attributes.version,
            attributes.resource,
            attributes.subresource,
        )
        meters = self._latest[1] if registry is self._latest[0] else self._meters(registry)
        meter = meters.get(route)
        if meter is None:
            meter = meters[route] = _Meter()
        meter.add(status, seconds)

    def text(self, registry: Registry) -> bytes:
        """The metrics of one plane, and those of the process."""
        families = CollectorRegistry()
        metrics = [
            *self._requests(registry),
            _watches(registry),
            *_store(registry.store),
            *self._audited(),
        ]
        families.register(_Families(metrics))
        return generate_latest(families) + generate_latest(self._process)

    def _meters(self, registry: Registry | None) -> dict[_Route, _Meter]:
        if registry is None:
            return self._unauthenticated
        meters = self._by_plane.get(registry)
        if meters is None:
            meters = self._by_plane[registry] = {}
        self._latest = (registry, meters)
        return meters

    def _requests(self, registry: Registry) -> Iterator[Metric]:
        count = CounterMetricFamily(
            "apiserver_request", "Requests answered.", labels=(*_REQUEST, "code")
        )
        duration = HistogramMetricFamily(
            "apiserver_request_duration_seconds",
            "Time to the response; for a watch, to its start.",
            labels=_REQUEST,
        )
        for route, meter in (*self._meters(registry).items(), *self._unauthenticated.items()):
            verb, *rest = route
            labels = (_VERBS.get(verb, verb.upper()), *rest)
            for code, number in meter.codes.items():
                count.add_metric((*labels, str(code)), number)
            duration.add_metric(labels, meter.buckets(), meter.seconds)
        yield count
        yield duration

    def _audited(self) -> Iterator[Metric]:
        if self._audit is None:
            return
        counts = self._audit.counts
        yield CounterMetricFamily(
            "apiserver_audit_event", "Entries written to the audit log.", value=counts.written
        )
        lost = CounterMetricFamily(
            "apiserver_audit_error", "Entries that were lost.", labels=("plugin",)
        )
        lost.add_metric(("log",), counts.lost)
        yield lost


class _Families(Collector):
    """Ready-made metrics, in the form that a registry collects."""

    def __init__(self, families: list[Metric]) -> None:
        self._families = families

    def collect(self) -> list[Metric]:
        return self._families


def _watches(registry: Registry) -> Metric:
    family = GaugeMetricFamily(
        "apiserver_longrunning_requests", "Watches that are open.", labels=("verb",)
    )
    family.add_metric(("WATCH",), registry.watching)
    return family


def _store(store: Store) -> Iterator[Metric]:
    stats = store.stats
    for name, text, value in (
        ("revision", "The newest revision.", store.revision),
        ("compacted_revision", "The last revision that is forgotten.", store.compacted),
        ("size_bytes", "Bytes on disk.", store.size),
        ("largest_batch", "The most changes committed together.", stats.largest),
        ("stopped", "1 when nothing can be written before a restart.", bool(store.stopped)),
    ):
        yield GaugeMetricFamily(f"compute_store_{name}", text, value=float(value))
    yield CounterMetricFamily(
        "compute_store_writes", "Changes committed.", value=float(stats.writes)
    )
    yield SummaryMetricFamily(
        "compute_store_commit_duration_seconds",
        "Time to commit one batch.",
        count_value=stats.commits,
        sum_value=stats.seconds,
    )
