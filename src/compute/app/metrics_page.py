"""The figures of every manager of a world, on one page."""

from collections.abc import Callable, Iterator, Mapping

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import Metric
from prometheus_client.registry import Collector

from kubekit.runtime.reporting.metrics import Metrics


class WorldMetrics(Collector):
    """What all managers count, told apart by the label ``manager``.

    Each counts for itself, as it would on a machine of its own, and under the same names.
    """

    def __init__(self, managers: Callable[[], Mapping[str, Metrics]]) -> None:
        self._managers = managers
        self._registry = CollectorRegistry()
        self._registry.register(self)

    def text(self) -> bytes:
        """What a scrape reads. It must be asked for in the running loop."""
        return generate_latest(self._registry)

    def collect(self) -> Iterator[Metric]:
        families: dict[str, Metric] = {}
        for name, metrics in self._managers().items():
            for family in metrics.registry.collect():
                empty = Metric(family.name, family.documentation, family.type)
                told = families.setdefault(family.name, empty)
                told.samples += [
                    sample._replace(labels={"manager": name, **sample.labels})
                    for sample in family.samples
                ]
        yield from families.values()
