"""The metrics of the runtime as Prometheus text.

The names are those of controller-runtime, client-go's work queue and its leader election wherever
they have the same metric, so that their dashboards and alerts work. The parts of the runtime count
in plain numbers; the text is made only for a scrape.
"""

import asyncio
from collections.abc import Callable, Iterable, Iterator
from typing import Final

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    Metric,
)
from prometheus_client.registry import Collector

from kubekit.runtime.reporting.counters import (
    ControllerCounters,
    DurationHistogram,
    InformerCounters,
    QueueCounters,
)

CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"
_CONTROLLER: Final = ("controller",)
_QUEUE: Final = ("name", "controller")
_INFORMER: Final = ("role", "cluster", "kind")
_Informers = Callable[[], Iterable[InformerCounters]]


class Metrics(Collector):
    """The registry of all counters of the runtime in one process."""

    def __init__(self, registry: CollectorRegistry | None = None) -> None:
        self.registry = registry or CollectorRegistry()
        self._controllers: dict[str, ControllerCounters] = {}
        self._queues: dict[str, QueueCounters] = {}
        self._informers: list[_Informers] = []
        self._leading: dict[str, bool] = {}
        self._requests: dict[tuple[str, str, str], int] = {}
        self.registry.register(self)

    def controller(self, name: str) -> ControllerCounters:
        """The counters of a controller. The controller keeps them, so that a pass need not look them up."""
        return self._controllers.setdefault(name, ControllerCounters())

    def queue(self, controller: str, queue: QueueCounters) -> None:
        """Add the queue of a controller."""
        self._queues[controller] = queue

    def informers(self, read: _Informers) -> None:
        """Add the informers that ``read`` returns at each scrape: clusters come and go."""
        self._informers.append(read)

    def leading(self, name: str, *, holds: bool) -> None:
        """Set whether this process holds a lease."""
        self._leading[name] = holds

    def requested(self, method: str, code: int, host: str) -> None:
        """Count one request to a server; for `HttpSettings.observe`. Code 0: no response."""
        key = (str(code or "<error>"), method, host)
        self._requests[key] = self._requests.get(key, 0) + 1

    def text(self) -> bytes:
        """The page of a scrape of the whole registry. Call it in the running loop."""
        return generate_latest(self.registry)

    def collect(self) -> Iterator[Metric]:
        """Every metric, read at this moment."""
        yield from self._of_controllers()
        yield from self._of_queues()
        yield from self._of_informers()
        yield _gauge(
            "leader_election_master_status",
            "1 while this process holds the lease.",
            ("name",),
            (((name,), holds) for name, holds in self._leading.items()),
        )
        yield _counter(
            "rest_client_requests",
            "Requests to servers, by code, method and host.",
            ("code", "method", "host"),
            self._requests.items(),
        )

    def _of_controllers(self) -> Iterator[Metric]:
        counters = [((name,), each) for name, each in self._controllers.items()]
        yield _counter(
            "controller_runtime_reconcile",
            "Passes, by how they ended.",
            ("controller", "result"),
            (((*labels, result), n) for labels, f in counters for result, n in f.results.items()),
        )
        for name, text, count in _COUNTED:
            yield _counter(name, text, _CONTROLLER, ((labels, count(f)) for labels, f in counters))
        for name, text, value in _MEASURED:
            yield _gauge(name, text, _CONTROLLER, ((labels, value(f)) for labels, f in counters))
        yield _histogram(
            "controller_runtime_reconcile_time_seconds",
            "How long passes took.",
            _CONTROLLER,
            ((labels, f.seconds) for labels, f in counters),
        )

    def _of_queues(self) -> Iterator[Metric]:
        queues = [((name, name), queue) for name, queue in self._queues.items()]
        for name, text, count in _QUEUE_COUNTED:
            yield _counter(name, text, _QUEUE, ((labels, count(queue)) for labels, queue in queues))
        for name, text, value in _QUEUE_MEASURED:
            yield _gauge(name, text, _QUEUE, ((labels, value(queue)) for labels, queue in queues))
        for name, text, times in _QUEUE_TIMED:
            yield _histogram(
                name, text, _QUEUE, ((labels, times(queue)) for labels, queue in queues)
            )

    def _of_informers(self) -> Iterator[Metric]:
        informers = [informer for read in self._informers for informer in read()]
        for name, text, count in _INFORMER_COUNTED:
            yield _counter(name, text, _INFORMER, ((_labels_of(i), count(i)) for i in informers))
        for name, text, value in _INFORMER_MEASURED:
            yield _gauge(name, text, _INFORMER, ((_labels_of(i), value(i)) for i in informers))


_COUNTED: Final[tuple[tuple[str, str, Callable[[ControllerCounters], int]], ...]] = (
    ("controller_runtime_reconcile_errors", "Passes that failed.", lambda f: f.errors),
    (
        "controller_runtime_terminal_reconcile_errors",
        "Passes that failed with an error that no retry can cure.",
        lambda f: f.terminal,
    ),
    (
        "controller_runtime_reconcile_panics",
        "Passes that failed with an unexpected error.",
        lambda f: f.panics,
    ),
    (
        "controller_runtime_reconcile_timeouts",
        "Passes cancelled by their time limit.",
        lambda f: f.timeouts,
    ),
    (
        "compute_runtime_requests_dropped",
        "Requests for a cluster that was not engaged.",
        lambda f: f.dropped,
    ),
    (
        "compute_runtime_own_write_waits",
        "Passes delayed until the cache showed the controller's own last write.",
        lambda f: f.own_write_waits,
    ),
    (
        "compute_runtime_fights",
        "Objects not written for a while because they were written too often.",
        lambda f: f.write_conflicts,
    ),
)
_MEASURED: Final[tuple[tuple[str, str, Callable[[ControllerCounters], int]], ...]] = (
    (
        "controller_runtime_max_concurrent_reconciles",
        "The most passes at a time.",
        lambda f: f.workers,
    ),
    ("controller_runtime_active_workers", "Passes that run.", lambda f: f.active),
    (
        "compute_runtime_busiest_object_passes",
        "Passes of the object that had the most within a minute. Above 400 it runs hot.",
        lambda f: f.busiest.most(asyncio.get_running_loop().time())[0],
    ),
)
_QUEUE_COUNTED: Final[tuple[tuple[str, str, Callable[[QueueCounters], int]], ...]] = (
    ("workqueue_adds", "Keys added, without those that were waiting already.", lambda q: q.adds),
    ("workqueue_retries", "Keys added with a delay.", lambda q: q.retries),
)
_QUEUE_MEASURED: Final[tuple[tuple[str, str, Callable[[QueueCounters], float]], ...]] = (
    ("workqueue_depth", "Keys that are ready.", len),
    (
        "workqueue_unfinished_work_seconds",
        "The sum of the processing times of the keys so far.",
        lambda q: q.unfinished_seconds,
    ),
    (
        "workqueue_longest_running_processor_seconds",
        "For how long the oldest key has been processed.",
        lambda q: q.longest_running_seconds,
    ),
    ("compute_runtime_queue_delayed", "Keys that wait for a timer.", lambda q: q.delayed),
    (
        "compute_runtime_queue_oldest_seconds",
        "For how long the oldest ready key has been ready.",
        lambda q: q.oldest_age,
    ),
)
_QUEUE_TIMED: Final[tuple[tuple[str, str, Callable[[QueueCounters], DurationHistogram]], ...]] = (
    ("workqueue_queue_duration_seconds", "How long keys were ready.", lambda q: q.queued),
    ("workqueue_work_duration_seconds", "How long keys were processed.", lambda q: q.worked),
)
_INFORMER_COUNTED: Final[tuple[tuple[str, str, Callable[[InformerCounters], int]], ...]] = (
    ("compute_runtime_informer_relists", "Lists after the first.", lambda i: i.relists),
)
_INFORMER_MEASURED: Final[tuple[tuple[str, str, Callable[[InformerCounters], int]], ...]] = (
    ("compute_runtime_informer_objects", "Objects in the cache.", lambda i: i.objects),
    (
        "compute_runtime_informer_unreadable",
        "Objects that do not decode.",
        lambda i: i.unreadable,
    ),
    ("compute_runtime_informer_synced", "1 once the cache was filled.", lambda i: i.synced),
    (
        "compute_runtime_informer_unserved",
        "1 while the server does not serve the kind.",
        lambda i: not i.served,
    ),
)


_Values = Iterable[tuple[tuple[str, ...], float]]


def _labels_of(informer: InformerCounters) -> tuple[str, str, str]:
    return (informer.role, informer.cluster, informer.kind)


def _counter(name: str, text: str, labels: tuple[str, ...], values: _Values) -> Metric:
    family = CounterMetricFamily(name, text, labels=labels)
    for label_values, value in values:
        family.add_metric(label_values, value)
    return family


def _gauge(name: str, text: str, labels: tuple[str, ...], values: _Values) -> Metric:
    family = GaugeMetricFamily(name, text, labels=labels)
    for label_values, value in values:
        family.add_metric(label_values, value)
    return family


def _histogram(
    name: str,
    text: str,
    labels: tuple[str, ...],
    values: Iterable[tuple[tuple[str, ...], DurationHistogram]],
) -> Metric:
    family = HistogramMetricFamily(name, text, labels=labels)
    for label_values, durations in values:
        family.add_metric(label_values, durations.buckets(), durations.total)
    return family
