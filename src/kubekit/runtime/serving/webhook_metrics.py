"""The metrics of webhooks, under the names of controller-runtime where it has them."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Final

from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    Metric,
)
from prometheus_client.registry import Collector

from kubekit.runtime.reporting.counters import DurationHistogram

# The bounds of Prometheus' client for Go, which controller-runtime has.
_SECONDS: Final = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
_WEBHOOK: Final = ("webhook",)


class WebhookMetrics(Collector):
    """Plain numbers for each path that is served, formatted only for a scrape.

    ``expiry`` is when the certificate in use expires.
    """

    def __init__(self, paths: Iterable[str], expiry: Callable[[], datetime]) -> None:
        self._expiry = expiry
        self._seconds = {path: DurationHistogram(_SECONDS) for path in sorted(paths)}
        self._in_flight = dict.fromkeys(self._seconds, 0)
        self._codes = dict.fromkeys(((path, "200") for path in self._seconds), 0)

    def answered(self, path: str, code: int, seconds: float) -> None:
        """Count a response."""
        key = (path, str(code))
        self._codes[key] = self._codes.get(key, 0) + 1
        self._seconds[path].add(seconds)

    @contextmanager
    def in_flight(self, path: str) -> Iterator[None]:
        """Count a request while it is answered."""
        self._in_flight[path] += 1
        try:
            yield
        finally:
            self._in_flight[path] -= 1

    def collect(self) -> Iterator[Metric]:
        """Every metric, read at this moment."""
        requests = CounterMetricFamily(
            "controller_runtime_webhook_requests",
            "Admission reviews, by the code of the response. A refusal by the rules is 200.",
            labels=("webhook", "code"),
        )
        for labels, count in self._codes.items():
            requests.add_metric(labels, count)
        yield requests
        latency = HistogramMetricFamily(
            "controller_runtime_webhook_latency_seconds",
            "How long admission reviews took.",
            labels=_WEBHOOK,
        )
        in_flight = GaugeMetricFamily(
            "controller_runtime_webhook_requests_in_flight",
            "Admission reviews that are being answered.",
            labels=_WEBHOOK,
        )
        for path, seconds in self._seconds.items():
            latency.add_metric((path,), seconds.buckets(), seconds.total)
            in_flight.add_metric((path,), self._in_flight[path])
        yield latency
        yield in_flight
        yield GaugeMetricFamily(
            "compute_webhook_certificate_expiry_timestamp_seconds",
            "When the certificate of the webhooks expires, in seconds since 1970.",
            self._expiry().timestamp(),
        )
