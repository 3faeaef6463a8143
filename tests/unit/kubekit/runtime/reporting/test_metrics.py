"""The runtime's figures as Prometheus text."""

import asyncio

from prometheus_client.parser import text_string_to_metric_families

from kubekit.runtime.queueing.queue import WorkQueue
from kubekit.runtime.reporting.counters import BusiestObject, InformerCounters, PassResult
from kubekit.runtime.reporting.metrics import Metrics
from kubekit.runtime.requests import Request, cluster_name
from tests.support.kubekit.virtual_time import run

EAST = cluster_name("east")
KEY = Request(EAST, "ns", "a")


async def _text(metrics):
    return metrics.text().decode()


def samples(text):
    """Every sample of a scrape by its name and the values of its labels in the order of their names."""
    return {
        (sample.name, *(value for _, value in sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def test_passes_are_counted_by_result():
    """Every result is there from the beginning, and failures are counted as errors too."""
    metrics = Metrics()
    counters = metrics.controller("workload")
    counters.ended(PassResult.SUCCESS, 0.2)
    counters.ended(PassResult.ERROR, 3.0)
    got = samples(run(_text(metrics)))
    counts = {
        result: got["controller_runtime_reconcile_total", "workload", result]
        for result in PassResult
    }
    assert counts == {"success": 1, "error": 1, "requeue": 0, "requeue_after": 0}
    assert got["controller_runtime_reconcile_errors_total", "workload"] == 1
    assert got["controller_runtime_reconcile_time_seconds_sum", "workload"] == 3.2
    assert got["controller_runtime_reconcile_time_seconds_bucket", "workload", "0.2"] == 1
    assert got["controller_runtime_reconcile_time_seconds_bucket", "workload", "+Inf"] == 2


def test_the_counters_of_a_controller():
    """Each field of a controller's figures has the name dashboards know."""
    metrics = Metrics()
    counters = metrics.controller("c")
    counters.workers, counters.active = 4, 2
    counters.terminal, counters.panics, counters.timeouts = 3, 5, 6
    counters.dropped, counters.own_write_waits, counters.write_conflicts = 7, 8, 9
    got = samples(run(_text(metrics)))
    assert {name: got[name, "c"] for name in _OF_A_CONTROLLER} == _OF_A_CONTROLLER


_OF_A_CONTROLLER = {
    "controller_runtime_terminal_reconcile_errors_total": 3,
    "controller_runtime_reconcile_panics_total": 5,
    "controller_runtime_reconcile_timeouts_total": 6,
    "controller_runtime_max_concurrent_reconciles": 4,
    "controller_runtime_active_workers": 2,
    "compute_runtime_requests_dropped_total": 7,
    "compute_runtime_own_write_waits_total": 8,
    "compute_runtime_fights_total": 9,
    "compute_runtime_busiest_object_passes": 0,
}


def test_a_controller_counts_in_one_place():
    """Asking for a controller's figures again gives the same ones."""
    metrics = Metrics()
    assert metrics.controller("c") is metrics.controller("c")


def test_a_queue_tells_of_itself():
    """The numbers of a queue are read at each scrape, under client-go's names."""

    async def story():
        metrics = Metrics()
        queue = WorkQueue()
        metrics.queue("c", queue)
        queue.add(KEY)
        queue.add(Request(EAST, "ns", "b"))
        await asyncio.sleep(2)
        await queue.take()
        await asyncio.sleep(3)
        queue.add_after(Request(EAST, "ns", "c"), 60)
        return metrics.text().decode()

    got = samples(run(story()))
    assert {name: got[name, "c", "c"] for name in _OF_A_QUEUE} == _OF_A_QUEUE


_OF_A_QUEUE = {
    "workqueue_depth": 1,
    "workqueue_adds_total": 2,
    "workqueue_retries_total": 1,
    "workqueue_queue_duration_seconds_sum": 2,
    "workqueue_queue_duration_seconds_count": 1,
    "workqueue_work_duration_seconds_count": 0,
    "workqueue_unfinished_work_seconds": 3,
    "workqueue_longest_running_processor_seconds": 3,
    "compute_runtime_queue_delayed": 1,
    "compute_runtime_queue_oldest_seconds": 5,
}


def test_informers_are_read_at_each_scrape():
    """A cluster that left is gone from the text: its informers are no longer found."""
    metrics = Metrics()
    present = [
        InformerCounters(
            EAST, "Workload", objects=3, relists=1, unreadable=2, synced=True, served=True
        ),
        InformerCounters(
            EAST, "Gone", objects=0, relists=0, unreadable=0, synced=False, served=False
        ),
    ]
    metrics.informers(lambda: present)
    got = samples(run(_text(metrics)))
    names = ("objects", "relists_total", "unreadable", "synced", "unserved")
    values = {
        kind: [got[f"compute_runtime_informer_{name}", "east", kind, ""] for name in names]
        for kind in ("Workload", "Gone")
    }
    assert values == {"Workload": [3, 1, 2, 1, 0], "Gone": [0, 0, 0, 0, 1]}
    present.clear()
    assert not [name for name, *_ in samples(run(_text(metrics))) if "informer" in name]


def test_leases_and_requests_are_counted():
    """Who leads, and how servers answered."""
    metrics = Metrics()
    metrics.leading("workloads", holds=True)
    metrics.leading("cells", holds=False)
    for code in (200, 200, 0):
        metrics.requested("GET", code, "hub:443")
    got = samples(run(_text(metrics)))
    assert got["leader_election_master_status", "workloads"] == 1
    assert got["leader_election_master_status", "cells"] == 0
    assert got["rest_client_requests_total", "200", "hub:443", "GET"] == 2
    assert got["rest_client_requests_total", "<error>", "hub:443", "GET"] == 1


def test_reliability_class_9_the_busiest_object_shows():
    """An object that runs hot is seen in its minute and in the next, and no longer."""
    busiest = BusiestObject()
    for second in range(50):
        busiest.add(KEY, float(second))
    busiest.add(Request(EAST, "ns", "b"), 51.0)
    seen = [busiest.most(at) for at in (55.0, 100.0, 125.0)]
    assert seen == [(50, KEY), (50, KEY), (0, None)]


def test_a_quiet_minute_between_is_forgotten():
    """A count is of one minute: what was long ago is not carried on."""
    busiest = BusiestObject()
    busiest.add(KEY, 10.0)
    busiest.add(KEY, 500.0)
    assert busiest.most(501.0) == (1, KEY)
