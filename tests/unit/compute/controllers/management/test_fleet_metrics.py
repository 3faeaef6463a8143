"""The fleet metrics without objects, and with unusual values."""

from pathlib import Path

import pytest
from prometheus_client import CollectorRegistry

from compute.controllers.management.fleet_metrics import PROJECT_TO_HUB, fleet_metrics
from kubekit.runtime.watching.index import Index
from tests.support.compute.builders import NOW

DOCS = Path(__file__).parents[5] / "docs" / "operating.md"


def value(registry: CollectorRegistry, name: str, **labels: str) -> float | None:
    return registry.get_sample_value(name, labels)


def test_every_metric_of_the_fleet_is_explained_to_operators():
    """A metric without documentation gets no alert."""
    text = DOCS.read_text()
    source = Path(fleet_metrics.__code__.co_filename).read_text()
    named = {part for part in source.split('"') if part.startswith("compute_")}

    assert len(named) == 8
    assert sorted(name for name in named if f"| `{name}` |" not in text) == []


@pytest.mark.parametrize("recorded", ["", "yesterday"])
def test_a_revision_whose_time_cannot_be_read_is_not_measured(recorded):
    """A history may have been edited by hand."""
    registry = CollectorRegistry()
    metrics = fleet_metrics(registry)
    metrics.record_rollout(recorded, NOW)
    metrics.record_rollout("2020-01-01T00:00:00Z", NOW)

    assert value(registry, "compute_rollout_duration_seconds_count") == 1


def test_a_clock_that_is_ahead_makes_no_negative_latency():
    """A time in the future counts as zero; a missing time is not measured."""
    registry = CollectorRegistry()
    metrics = fleet_metrics(registry)
    assert fleet_metrics(registry) is metrics
    metrics.record_hop(PROJECT_TO_HUB, NOW.replace(year=NOW.year + 1), NOW)
    metrics.record_hop(PROJECT_TO_HUB, None, NOW)

    assert value(registry, "compute_hop_latency_seconds_count", hop=PROJECT_TO_HUB) == 1
    assert value(registry, "compute_hop_latency_seconds_sum", hop=PROJECT_TO_HUB) == 0


def test_an_index_counts_its_values():
    """A value that no object has any more is not counted."""
    index = Index()
    for name, color in (("a", "red"), ("b", "red"), ("c", "blue"), ("c", "red")):
        index.put(("default", name), (color,))

    assert index.counts() == {"red": 3}
