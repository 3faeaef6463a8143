from random import Random

import pytest
from prometheus_client.parser import text_string_to_metric_families

from kubekit.environment import ExecutionEnvironment
from kubekit.plane.http.interfaces import Attributes
from kubekit.plane.http.metrics import RequestMetrics
from kubekit.plane.registry.registry import Registry
from kubekit.plane.store.records import ChangeType, Draft
from tests.support.kubekit.described_kinds import with_plane

GET = Attributes(verb="get", group="example.com", version="v1", resource="widgets", name="a")
LIST = Attributes(verb="list", version="v1", resource="configmaps")


def samples(directory, observed=(), writes=0):
    """The samples of /metrics by name and labels."""

    async def scenario(plane):
        metrics, store = RequestMetrics(), plane.registry.store
        for attributes, status, seconds in observed:
            metrics.observe(plane.registry, attributes, status, seconds)
        for number in range(writes):
            await store.write(Draft("/x", str(number), 0, ChangeType.ADDED, b"{", b"}"))
        return metrics.text(plane.registry).decode()

    families = text_string_to_metric_families(with_plane(directory, scenario))
    return {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for family in families
        for sample in family.samples
    }


def labelled(name, **labels):
    return name, tuple(sorted(labels.items()))


ROUTE = {
    "verb": "GET",
    "group": "example.com",
    "version": "v1",
    "resource": "widgets",
    "subresource": "",
}


def test_requests_are_counted_by_code(tmp_path):
    """Each kind of request has a count for each code that it was answered with."""
    got = samples(tmp_path, [(GET, 200, 0.001), (GET, 200, 0.001), (GET, 404, 0.001)])
    assert got[labelled("apiserver_request_total", code="200", **ROUTE)] == 2
    assert got[labelled("apiserver_request_total", code="404", **ROUTE)] == 1


def test_requests_are_counted_by_verb_and_kind(tmp_path):
    """Another verb or kind is another count; the object's name is not part of it."""
    other = Attributes(verb="get", group="example.com", version="v1", resource="widgets", name="b")
    got = samples(tmp_path, [(GET, 200, 0.1), (other, 200, 0.1), (LIST, 200, 0.1)])
    counts = sorted(value for (name, _), value in got.items() if name == "apiserver_request_total")
    assert counts == [1, 2]


@pytest.mark.parametrize(
    ("verb", "shown"),
    [
        ("create", "POST"),
        ("update", "PUT"),
        ("deletecollection", "DELETECOLLECTION"),
        ("watch", "WATCH"),
    ],
)
def test_verbs_are_shown_as_in_kubernetes(tmp_path, verb, shown):
    """Access rules and metrics call two of the verbs differently."""
    got = samples(tmp_path, [(Attributes(verb=verb), 200, 0.1)])
    verbs = {dict(labels)["verb"] for name, labels in got if name == "apiserver_request_total"}
    assert verbs == {shown}


def test_open_watches_are_counted(tmp_path):
    """The number of watches is that of long-running requests."""
    assert samples(tmp_path)[labelled("apiserver_longrunning_requests", verb="WATCH")] == 0


@pytest.mark.parametrize(
    ("bound", "expected"),
    [("0.0005", 0), ("0.001", 1), ("0.1", 2), ("60", 2), ("+Inf", 3)],
)
def test_durations_are_spread_over_buckets(tmp_path, bound, expected):
    """A bucket holds what took no longer than its bound, and all smaller ones."""
    got = samples(tmp_path, [(GET, 200, 0.001), (GET, 200, 0.1), (GET, 504, 61.0)])
    name = "apiserver_request_duration_seconds"
    assert got[labelled(f"{name}_bucket", le=bound, **ROUTE)] == expected
    assert got[labelled(f"{name}_count", **ROUTE)] == 3
    assert got[labelled(f"{name}_sum", **ROUTE)] == pytest.approx(61.101)


def test_metrics_of_the_store(tmp_path):
    """There are metrics of the store's revisions, changes and commits."""
    got = samples(tmp_path, writes=3)
    assert got[labelled("compute_store_revision")] == 3
    assert got[labelled("compute_store_compacted_revision")] == 0
    assert got[labelled("compute_store_writes_total")] == 3
    assert got[labelled("compute_store_commit_duration_seconds_count")] == 3
    assert got[labelled("compute_store_largest_batch")] == 1
    assert got[labelled("compute_store_stopped")] == 0


def test_metrics_of_the_process(tmp_path):
    """There are metrics of the process's memory and processor time."""
    got = samples(tmp_path)
    assert got[labelled("process_resident_memory_bytes")] > 0
    assert got[labelled("process_cpu_seconds_total")] > 0


def test_t1_planes_do_not_hear_of_each_other(tmp_path):
    """The requests of another plane's tenants are private; unauthenticated ones are shown in all planes."""

    async def scenario(plane):
        metrics = RequestMetrics()
        other = Registry(plane.registry.store, plane.kinds, ExecutionEnvironment(_never, Random(1)))
        metrics.observe(other, Attributes(verb="get", group="secret.example.com"), 200, 0.1)
        metrics.observe(
            None, Attributes(verb="list", group="unauthenticated.example.com"), 401, 0.1
        )
        return metrics.text(plane.registry).decode()

    text = with_plane(tmp_path, scenario)
    assert "secret.example.com" not in text
    assert "unauthenticated.example.com" in text


def _never():
    raise AssertionError("no clock is needed")
