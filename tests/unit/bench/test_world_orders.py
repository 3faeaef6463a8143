"""What the measured user asks for."""

import pytest

from bench.load.world import orders
from compute.api import annotations
from compute.decide.deployment.template import template_hash
from compute.decide.validation import validate


@pytest.mark.parametrize(
    ("instances", "cities", "workloads"),
    [(1, 1, 1), (1, 100, 1), (100, 10, 1), (1000, 1, 1), (10_000, 1, 10), (10_000, 100, 1)],
)
def test_as_few_workloads_as_the_limit_allows_have_all_instances(instances, cities, workloads):
    """All Instances are asked for, by Workloads that admission takes, and by no more than needed."""
    offered = orders.codes(cities)
    made = orders.workloads(instances, offered, "25%")
    assert sum(map(orders.wanted, made)) == instances
    assert len(made) == workloads
    assert not [fault for each in made for fault in validate(each, cities=offered).errors]


def test_what_does_not_divide_is_left_out():
    """Every city has as many Instances as every other, so that worlds can be compared."""
    (made,) = orders.workloads(100, orders.codes(3), "1")
    assert orders.wanted(made) == 99


def test_a_restart_changes_the_template_alone():
    """A restart is a new template, and nothing else of the Workload differs."""
    (before,) = orders.workloads(3, orders.codes(1), "1")
    after = orders.restarted(before, "2026-01-01T00:00:00Z")
    assert template_hash(after.spec.template) != template_hash(before.spec.template)
    assert after.spec.placements == before.spec.placements
    assert after.metadata == before.metadata


def test_how_much_a_restart_takes_is_on_the_workload():
    """The share that may be unavailable is said where the rollout reads it."""
    (made,) = orders.workloads(3, orders.codes(1), "50%")
    assert made.metadata.annotations == {annotations.MAX_UNAVAILABLE: "50%"}
