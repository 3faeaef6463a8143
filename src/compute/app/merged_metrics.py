"""The metrics of several managers of one process on one page."""

from collections.abc import Callable, Iterator, Mapping

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import Metric
from prometheus_client.registry import Collector

from kubekit.runtime.reporting.metrics import Metrics


class MergedMetrics(Collector):
    """The metrics of all managers on one page, distinguished by the label ``manager``.

    Each manager has its own registry, as it would on its own machine, with the same metric names.
    """

    def __init__(self, managers: Callable[[], Mapping[str, Metrics]]) -> None:
        self._managers = managers
        self._registry = CollectorRegistry()
        self._registry.register(self)

    def text(self) -> bytes:
        """The body of a scrape. Call it in the running loop."""
        return generate_latest(self._registry)

    def collect(self) -> Iterator[Metric]:
        families: dict[str, Metric] = {}
        for name, metrics in self._managers().items():
            for family in metrics.registry.collect():
                empty = Metric(family.name, family.documentation, family.type)
                merged = families.setdefault(family.name, empty)
                merged.samples += [
                    sample._replace(labels={"manager": name, **sample.labels})
                    for sample in family.samples
                ]
        yield from families.values()
