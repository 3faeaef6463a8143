"""Metrics of all Workloads, deployments and Instances, and of the latency between planes.

Objects are counted by an index of the caches that the controllers have anyway, so a scrape reads
counts and no objects. A standby has no informers, and a scrape starts none.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from typing import Final, TypeVar
from weakref import WeakKeyDictionary

from prometheus_client import CollectorRegistry
from prometheus_client.core import GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.registry import Collector

from compute.api import karmada, labels
from compute.api.compute import Instance, Workload, WorkloadDeployment
from compute.api.permissions import WATCH, allow
from compute.controllers.management.planes import ManagementPlanes
from compute.decide import object_health
from compute.decide.object_health import Counted
from kubekit.api import times
from kubekit.api.kinds.coordination import Lease
from kubekit.api.meta import EPOCH, Object
from kubekit.environment import ExecutionEnvironment
from kubekit.runtime.clusters import Cluster
from kubekit.runtime.reporting.counters import DurationHistogram
from kubekit.runtime.watching.cache import Cache

PROJECT_TO_HUB: Final = "project_to_hub"
HUB_TO_CELL: Final = "hub_to_cell"
CELL_TO_PROJECT: Final = "cell_to_project"

LEASES: Final = "karmada-cluster"  # the hub's namespace of the leases of its clusters
_HOPS: Final = (PROJECT_TO_HUB, HUB_TO_CELL, CELL_TO_PROJECT)
_HOP_SECONDS: Final = (1.0, 2.0, 3.0, 5.0, 10.0, 30.0, 60.0, 300.0, 900.0, 3600.0)
_ROLLOUT_SECONDS: Final = (10.0, 30.0, 60.0, 120.0, 300.0, 600.0, 1800.0, 3600.0, 7200.0, 14400.0)
_INDEX: Final = "fleet metrics"
_PHASE, _UNREADY, _QUOTA = "phase", "unready", "quota"
K = TypeVar("K", bound=Object)

PERMISSIONS: Final = allow("hub", WATCH, Lease)


class FleetMetrics(Collector):
    """The metrics of a management process about everything it manages."""

    def __init__(self) -> None:
        self._planes: ManagementPlanes | None = None
        self._environment: ExecutionEnvironment | None = None
        self._rollouts = DurationHistogram(_ROLLOUT_SECONDS)
        self._hops = {hop: DurationHistogram(_HOP_SECONDS) for hop in _HOPS}

    def watch(self, planes: ManagementPlanes, environment: ExecutionEnvironment) -> None:
        """Count the objects of these planes from now on."""
        self._planes, self._environment = planes, environment

    def record_rollout(self, since: str, now: datetime) -> None:
        """Count a revision that every city serves. It was recorded at ``since``."""
        try:
            self._rollouts.add(_between(times.parse(since), now))
        except times.TimeError:  # a history that was edited by hand
            return

    def record_hop(self, hop: str, since: datetime | None, now: datetime) -> None:
        """Count an object that took this hop and was ready for it at ``since``."""
        if since is not None and since > EPOCH:
            self._hops[hop].add(_between(since, now))

    def collect(self) -> Iterator[Metric]:
        """Every metric, read at this moment."""
        rollouts = HistogramMetricFamily(
            "compute_rollout_duration_seconds",
            "From a revision's record to its being served in every city.",
        )
        rollouts.add_metric((), self._rollouts.buckets(), self._rollouts.total)
        yield rollouts
        hops = HistogramMetricFamily(
            "compute_hop_latency_seconds",
            "From an object or a change of health in one plane to the next plane.",
            labels=("hop",),
        )
        for hop, seconds in self._hops.items():
            hops.add_metric((hop,), seconds.buckets(), seconds.total)
        yield hops
        if self._planes is not None and self._environment is not None:
            now = self._environment.now()
            yield from _object_counts(list(self._planes.projects), now)
            yield _report_ages(list(self._planes.hub), now)


_OF: Final[WeakKeyDictionary[CollectorRegistry, FleetMetrics]] = WeakKeyDictionary()


def fleet_metrics(registry: CollectorRegistry) -> FleetMetrics:
    """The metrics of a process; the same for every controller in it."""
    if registry not in _OF:
        _OF[registry] = FleetMetrics()
        registry.register(_OF[registry])
    return _OF[registry]


def _object_counts(projects: Iterable[Cluster], now: datetime) -> Iterator[Metric]:
    workloads: Counter[str] = Counter()
    deployments: Counter[str] = Counter()
    instances: Counter[str] = Counter()
    for project in projects:
        workloads.update(_counts(project, Workload, _of_workload))
        deployments.update(_counts(project, WorkloadDeployment, _of_deployment))
        instances.update(_counts(project, Instance, _of_instance))
    by_phase = ("city", "phase", "reason")
    yield _gauge("compute_workloads", "Workloads.", by_phase, _labelled(workloads, _PHASE))
    yield _gauge("compute_deployments", "Deployments.", by_phase, _labelled(deployments, _PHASE))
    yield _gauge("compute_instances", "Instances.", by_phase, _labelled(instances, _PHASE))
    yield _gauge(
        "compute_instance_oldest_unready_seconds",
        "How long the Instance that has been unready longest has been unready.",
        ("city",),
        _oldest(_labelled(instances, _UNREADY), now),
    )
    yield _gauge(
        "compute_quota_claims_waiting",
        "Instances whose quota claim is not granted.",
        ("city", "reason"),
        _labelled(instances, _QUOTA),
    )


def _counts(cluster: Cluster, kind: type[K], of: Callable[[K], Iterable[str]]) -> dict[str, int]:
    cache = _cache(cluster, kind)
    if cache is None:
        return {}
    cache.add_index(_INDEX, of)
    return cache.counts(_INDEX)


def _cache(cluster: Cluster, kind: type[K]) -> Cache[K] | None:
    """The cache of a kind, if a controller has started its informer."""
    informer = cluster.informers.find(kind)
    return informer.cache if informer else None


def _of_workload(workload: Workload) -> Iterable[str]:
    yield _index_value(_PHASE, *object_health.of_workload(workload))


def _of_deployment(deployment: WorkloadDeployment) -> Iterable[str]:
    yield _index_value(_PHASE, *object_health.of_deployment(deployment))


def _of_instance(instance: Instance) -> Iterable[str]:
    counted: Counted = object_health.of_instance(instance)
    yield _index_value(_PHASE, *counted)
    since = object_health.unready_since(instance)
    if since is not None:
        yield _index_value(_UNREADY, counted.city, times.format_time(since))
    reason = object_health.waits_for_quota(instance)
    if reason is not None:
        yield _index_value(_QUOTA, counted.city, reason)


def _index_value(*parts: str) -> str:
    return "|".join(parts)


def _labelled(counts: Counter[str], of: str) -> list[tuple[tuple[str, ...], float]]:
    split = ((value.split("|"), count) for value, count in counts.items())
    return [(tuple(parts[1:]), count) for parts, count in split if parts[0] == of]


def _oldest(
    unready: Iterable[tuple[tuple[str, ...], float]], now: datetime
) -> list[tuple[tuple[str, ...], float]]:
    since: dict[str, str] = {}
    for (city, when), _ in unready:
        since[city] = min(when, since.get(city, when))
    return [((city,), _between(times.parse(when), now)) for city, when in since.items()]


def _report_ages(hubs: Iterable[Cluster], now: datetime) -> Metric:
    """When each cell reported last: the heartbeat controller renews its Lease."""
    ages = []
    for hub in hubs:
        cells = _cache(hub, karmada.MemberCluster)
        if cells is None:
            continue
        leases = hub.informers.of(Lease).cache
        for cell in cells.list():
            renewed = _renewed(leases.get(LEASES, cell.metadata.name))
            if renewed is not None:
                city = cell.metadata.labels.get(labels.TOPOLOGY_CITY_CODE, "")
                ages.append(((cell.metadata.name, city), _between(renewed, now)))
    help_text = "How long ago each cell reported last."
    return _gauge("compute_cell_last_report_age_seconds", help_text, ("cell", "city"), ages)


def _renewed(lease: Lease | None) -> datetime | None:
    try:
        return times.parse(lease.spec.renew_time or "") if lease else None
    except times.TimeError:
        return None


def _between(since: datetime, now: datetime) -> float:
    """Seconds; 0 if the other clock is ahead of ours."""
    return max((now - since).total_seconds(), 0.0)


def _gauge(
    name: str,
    help_text: str,
    labels: tuple[str, ...],
    values: Iterable[tuple[tuple[str, ...], float]],
) -> Metric:
    family = GaugeMetricFamily(name, help_text, labels=labels)
    for of, value in values:
        family.add_metric(of, value)
    return family
