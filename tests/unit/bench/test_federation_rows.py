"""From what was found on each engine to rows with goals."""

import pytest

from bench.load.federation import rows
from bench.load.federation.results import (
    Burst,
    Delivery,
    Hop,
    Life,
    Recovery,
    Rest,
    SiteResult,
)
from bench.load.federation.timeline import Stage
from bench.load.federation.usage import Usage
from bench.load.report import Row

USED = {"management": Usage(2.0, 70_000_000), "etcd": Usage(1.0, 90_000_000)}


def hop(p50: float, p99: float = 0.0) -> Hop:
    return Hop(20, p50, p99 or 2 * p50)


def burst(seconds: float, last: Stage = Stage.HUB_STATUS) -> Burst:
    stages = {Stage.ON_HUB.value: seconds / 4, Stage.IN_CELL.value: seconds / 2}
    return Burst(10, stages | {last.value: seconds}, 1.0, USED)


def named(found: list[Row], name: str, unit: str = "") -> Row:
    (row,) = [each for each in found if each.name.strip() == name and unit in each.unit]
    return row


def managed(**hops: float) -> Delivery:
    return Delivery(hops={name.replace("_", " "): hop(each) for name, each in hops.items()})


def test_our_part_is_a_share_of_the_time_that_karmada_takes():
    """Of the same deployments, on the way down and back."""
    ways = managed(
        accepted_to_cell=110, hub_to_cell=100, accepted_to_hub=10,
        cell_status_to_project=150, cell_status_to_hub=100, hub_status_to_project=50,
    )  # fmt: skip
    alone = Delivery(hops={"hub to cell": hop(80), "cell status to hub": hop(60)})
    found = list(rows.of_karmada(SiteResult(engine="karmada", managed=ways, alone=alone)))

    down = named(found, "down: our part of Karmada's time", "p50")
    back = named(found, "back: our part of Karmada's time", "p50")
    assert (round(down.ours), down.verdict) == (10, "holds")
    assert (round(back.ours), back.verdict) == (50, "MISSES")
    whole = named(found, "down: accepted to cell", "p50")
    assert (whole.ours, whole.peer) == (110, 80)


def test_a_burst_is_compared_with_the_same_burst_without_us():
    """The agent in the cells is the same, so the difference is management's."""
    result = SiteResult(
        engine="karmada", alone=Delivery(burst=burst(10.0)),
        carried=burst(11.0, Stage.PROJECT_STATUS),
    )  # fmt: skip
    found = list(rows.of_karmada(result))
    share = named(found, "our part of Karmada's time")
    assert (round(share.ours), share.verdict) == (10, "holds")
    assert named(found, "CPU for each").ours == 300


def test_a_life_has_a_limit_of_requests_and_rest_has_none_but_leases():
    usage = {
        "management": Usage(0.3, 70_000_000),
        "dfw-manager": Usage(0.0, 70_000_000),
        "dfw-kube-controller-manager": Usage(9.0, 1),
    }
    result = SiteResult(
        engine="karmada",
        life=Life(2, {"project get workloads 200": 30.0, "hub create events 201": 10.5}),
        rest=Rest(30.0, {"hub patch instances": 1}, usage),
    )
    found = list(rows.of_karmada(result))
    assert named(found, "a Workload's life").verdict == "MISSES"
    assert named(found, "writes at rest, leases aside").verdict == "MISSES"
    assert named(found, "management at rest").ours == pytest.approx(1.0)
    assert named(found, "dfw-manager at rest").ours == 0
    assert not [row for row in found if "kube-controller" in row.name]
    assert "30.00  project get workloads 200" in rows.requests(result)
    assert rows.requests(SiteResult(engine="embedded")) == ""


def test_recovery_is_compared_within_the_same_outage():
    """Karmada's own recovery varies from one outage to the next."""
    result = SiteResult(
        engine="karmada",
        alone=Delivery(recovery=Recovery(30.0, 5.0, 50.0, 48.0)),
        managed=Delivery(recovery=Recovery(30.0, 5.5, 79.0, 80.0)),
        beside=Recovery(30.0, 5.2, 78.0, 78.0),
    )
    found = list(rows.of_karmada(result))
    assert named(found, "hub back: Karmada alone, to cell").ours == 50
    both = named(found, "hub back: to cell")
    assert (both.ours, both.peer) == (79, 78)
    later = named(found, "later than Karmada's own")
    assert (later.ours, later.verdict) == (2, "holds")


def test_the_embedded_engine_must_be_ten_times_faster_by_itself():
    """With our managers, which take most of the time then, there is no such goal."""
    hops = {"hub to cell": hop(5.0, 20.0)}
    ours = SiteResult(engine="embedded", alone=Delivery(hops=hops, burst=burst(1.0)))
    ours.managed, ours.everywhere = Delivery(hops=hops), burst(1.0)
    slow = {"hub to cell": hop(100.0, 100.0)}
    peer = SiteResult(engine="karmada", alone=Delivery(hops=slow, burst=burst(10.0)))
    peer.managed, peer.everywhere = Delivery(hops=slow), burst(30.0)

    found = list(rows.of_engines(ours, peer))
    verdicts = {(each.name, each.unit): (each.factor, each.verdict) for each in found}
    assert verdicts == {
        ("engine alone: hub to cell", "ms, p50"): (20.0, "holds"),
        ("engine alone: hub to cell", "ms, p99"): (5.0, "MISSES"),
        ("engine alone: burst of 10", "s"): (10.0, ""),
        ("with our managers: hub to cell", "ms, p50"): (20.0, ""),
        ("with our managers: hub to cell", "ms, p99"): (5.0, ""),
        ("with our managers, every city: burst of 10", "s"): (30.0, ""),
    }


def test_each_process_has_a_line():
    """With its CPU and its memory in every phase that was measured."""
    result = SiteResult(engine="karmada", alone=Delivery(burst=burst(1.0)), carried=burst(2.0))
    result.rest = Rest(30.0, {}, {"management": Usage(0.0, 71_000_000)})
    title, management, etcd = rows.processes(result).splitlines()
    assert (
        title.split()[-6:] == ["burst", "alone", "burst", "carried", "rest"][-6:] or "rest" in title
    )
    assert management.split() == ["management", *["2.00", "/", "70"] * 2, "0", "/", "71"]
    assert etcd.split() == ["etcd", *["1.00", "/", "90"] * 2]


def test_what_was_not_measured_has_no_rows():
    nothing = SiteResult(engine="karmada")
    assert not list(rows.of_karmada(nothing))
    assert not list(rows.of_engines(nothing, nothing))
    assert rows.processes(nothing) == ""
