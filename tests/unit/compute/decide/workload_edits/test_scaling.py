"""Other numbers of Instances, in the placements that are meant."""

from typing import Any

import pytest

from compute.api.compute import Metric, MetricTarget, Placement, ResourceMetric
from compute.decide.workload_edits.deploy_flags import FlagError
from compute.decide.workload_edits.scaling import ScaleFlags, rescaled
from tests.support.compute.builders import placement, workload

HOME = placement("home", "DFW", "LHR")
AWAY = placement("away", "SIN")


def after(*before: Placement, **flags: Any) -> tuple[Placement, ...]:
    chosen = before or (HOME, AWAY)
    return rescaled(workload("web", *chosen), ScaleFlags(**flags)).spec.placements


def refused(*before: Placement, **flags: Any) -> str:
    with pytest.raises(FlagError) as error:
        after(*before, **flags)
    return str(error.value)


def homes(replicas: int) -> Placement:
    return placement("home", "DFW", "LHR", replicas=replicas)


def aways(replicas: int) -> Placement:
    return placement("away", "SIN", replicas=replicas)


def test_all_placements_are_scaled():
    """Unless some are named, by their own name or by all their cities."""
    assert after(minimum=3) == (homes(3), aways(3))
    assert after(minimum=3, placement="away") == (HOME, aways(3))
    assert after(minimum=3, cities=("SIN",)) == (HOME, aways(3))
    assert after(minimum=3, cities=("LHR", "DFW")) == (homes(3), AWAY)


def test_scaling_by_load():
    """A maximum needs a load, and 0 turns it off again."""
    metric = Metric(
        resource=ResourceMetric(name="cpu", target=MetricTarget(average_utilization=70))
    )
    by_load = placement("home", "DFW", max_replicas=5, metrics=(metric,))

    assert after(placement("home", "DFW"), maximum=5, cpu_percent=70) == (by_load,)
    assert after(by_load, maximum=0) == (placement("home", "DFW"),)
    assert after(by_load, minimum=2)[0].scale_settings.max_replicas == 5


@pytest.mark.parametrize(
    ("flags", "problem"),
    [
        ({}, "--min: say how many instances to run in each city, such as --min 3"),
        ({"memory_percent": 0}, "--min: say how many instances to run in each city, such as --min 3"),
        ({"minimum": 0}, "--min: 0 is not from 1 to 1000"),
        ({"minimum": 3, "maximum": 2, "cpu_percent": 70}, "--max: the maximum, 2, is less than the minimum, 3; give both"),
        ({"maximum": 2}, "--max: give --cpu-percent too: the load to scale by"),
        ({"cpu_percent": 70}, "--cpu-percent: give --max too: the most instances in each city"),
        ({"memory_percent": 70}, "--memory-percent: instances can be scaled by the load of their CPU only; use --cpu-percent"),
        ({"minimum": 2, "placement": "awya"}, '--placement: there is no placement "awya": did you mean away? there are: home, away'),
        ({"minimum": 2, "placement": "x"}, '--placement: there is no placement "x": there are: home, away'),
        ({"minimum": 2, "placement": "away", "cities": ("DFW",)}, "--city: placement away does not run in DFW"),
        ({"minimum": 2, "cities": ("IAD",)}, "--city: the workload does not run in IAD"),
        (
            {"minimum": 2, "cities": ("DFW",)},
            "--city: placement home has one scale for all its cities, DFW, LHR; leave out --city, or first give DFW "
            "a placement of its own, which replaces the instances there: deploy with --placement home --city LHR, "
            "then with --placement OTHER --city DFW",
        ),
    ],
)  # fmt: skip
def test_what_cannot_be_scaled_has_a_reason(flags, problem):
    """Each names the flag, and what to give in its place."""
    assert refused(**flags) == problem
