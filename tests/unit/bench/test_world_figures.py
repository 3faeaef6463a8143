"""From what was found to rows and curves."""

import pytest

from bench.load.report import Row
from bench.load.world import growth, rows
from bench.load.world.growth import Curve
from bench.load.world.results import PhaseResult, Pods, Rest, StatusDelays, WorldResult


def bout(cpu: float, **changes) -> PhaseResult:
    defaults = {"seconds": 2.0, "settled": 4.0, "cpu": cpu, "listening": 0.0, "memory": 0}
    return PhaseResult(**defaults | {"writes": {}, "passes": {}} | changes)


def world(instances: int, cities: int, cpu: float, **phases) -> WorldResult:
    return WorldResult(instances=instances, cities=cities, growing=bout(cpu), **phases)


def named(found: list[Row], name: str) -> Row:
    (row,) = [each for each in found if each.name == name]
    return row


def test_twice_as_many_at_twice_the_cost_have_an_exponent_of_one():
    """The exponent is that of the cost of all, whatever one costs."""
    assert Curve("", [(100, 3.0), (1000, 30.0), (10_000, 300.0)]).exponent == pytest.approx(1)
    assert Curve("", [(100, 1.0), (1000, 100.0)]).exponent == pytest.approx(2)


def test_what_a_world_costs_by_itself_does_not_flatten_the_curve():
    """The cost of a world with one Instance is subtracted before the growth is shown."""
    curve = Curve("", [(1, 5.0), (100, 6.0), (10_000, 105.0)])
    assert growth.beyond_the_first(curve).exponent == pytest.approx(1)


def test_growth_is_shown_for_each_line_that_has_two_points():
    """Each number of cities has its exponent over Instances, and the other way round."""
    found = [world(n, c, cpu=n * c) for n in (100, 1000) for c in (1, 10)]
    growth = {row.name: row.ours for row in rows.of_growth(found)}
    assert set(growth) == {
        "growth with Instances, 1 city",
        "growth with Instances, 10 cities",
        "growth with cities, 100 Instances",
        "growth with cities, 1,000 Instances",
    }
    assert all(value == pytest.approx(1) for value in growth.values())


def test_one_world_has_no_growth():
    """A single point makes no line, and a world that did not grow is no point."""
    failed = WorldResult(instances=1000, cities=1, failed="growing did not end")
    assert not list(rows.of_growth([world(100, 1, cpu=1.0), failed]))


def test_rows_are_of_one_instance_or_a_thousand():
    """Figures of a world are divided by its Instances, and held against the goals."""
    grown = bout(3.0, writes={"hub x": 900, "cell y": 800}, memory=2_000_000)
    found = list(rows.of_world(WorldResult(instances=100, cities=1, growing=grown)))
    assert named(found, "100 Instances, 1 city").ours == 50
    assert named(found, "CPU for 1,000").ours == pytest.approx(30)
    assert (named(found, "writes for each").ours, named(found, "writes for each").verdict) == (
        17,
        "MISSES",
    )
    assert (named(found, "memory for each").ours, named(found, "memory for each").verdict) == (
        20,
        "holds",
    )


def test_a_world_of_one_is_held_to_no_share():
    """What a beginning costs is not judged as the cost of an Instance."""
    found = list(rows.of_world(world(1, 1, cpu=1.0)))
    assert not [row for row in found if row.verdict]


def test_any_write_at_rest_misses_the_goal():
    """At rest nothing is written, and what was is named; heartbeats are counted apart."""
    resting = Rest(30.0, 0.3, {"hub coordination.k8s.io/leases": 3, "cell x": 2})
    written, beats, _ = rows.of_world(WorldResult(instances=1, cities=1, rest=resting))
    assert (written.ours, written.verdict, written.notes) == (2, "MISSES", "2 cell x")
    assert (beats.ours, beats.verdict) == (3, "")


def test_statuses_have_a_goal_for_half_and_for_nearly_all():
    """The median and the 99th percentile are judged apart."""
    touched = StatusDelays(rate=100, count=10, p50=9, p99=51, cpu=0.1)
    found = list(rows.of_world(WorldResult(instances=100, cities=1, status=touched)))
    assert [row.verdict for row in found] == ["holds", "MISSES"]


def test_pods_are_compared_by_what_their_owner_says():
    """Both are measured until the user's own object says that all is Ready."""
    pods = Pods(count=100, growing=1.0, growing_cpu=1.0, deleting=10.0, deleting_cpu=2.0)
    ours = world(100, 1, cpu=0.5, deleting=bout(0.1))
    rate, cpu, gone, gone_cpu = rows.beside(ours, pods)
    assert (rate.ours, rate.peer, rate.verdict) == (25, 100, "MISSES")
    assert cpu.factor == pytest.approx(2)
    assert gone.factor == pytest.approx(5)
    assert gone_cpu.factor == pytest.approx(20)


def test_a_world_that_was_not_deleted_is_not_compared():
    """Without both halves there is no comparison."""
    assert not list(rows.beside(world(1, 1, cpu=1.0), Pods(1, 1.0, 1.0, 1.0, 1.0)))


def test_details_are_shown_for_each_instance_and_phase():
    """Counts of all Instances are shown as those of one."""
    found = WorldResult(instances=10, cities=1, growing=bout(1.0, passes={"workload: success": 25}))
    assert rows.each(found, "passes").splitlines() == [
        "passes for each Instance, growing",
        "     2.50  workload: success",
    ]
