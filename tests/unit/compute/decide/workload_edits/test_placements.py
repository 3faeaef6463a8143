"""Cities, number and order of the Instances of one placement."""

from typing import Any

import pytest

from compute.api.compute import Metric, MetricTarget, Placement, ResourceMetric
from compute.decide.workload_edits import DeployFlags, FlagError
from compute.decide.workload_edits.placements import with_placement
from tests.support.compute.builders import placement

HOME = placement("home", "DFW", "LHR")
AWAY = placement("away", "SIN")


def cpu(percent: int) -> Metric:
    target = MetricTarget(average_utilization=percent)
    return Metric(resource=ResourceMetric(name="cpu", target=target))


def changed(*before: Placement, **flags: Any) -> tuple[Placement, ...]:
    return with_placement(before or (HOME,), DeployFlags(**flags))


def refused(*before: Placement, **flags: Any) -> str:
    with pytest.raises(FlagError) as error:
        changed(*before, **flags)
    return str(error.value)


def test_the_only_placement_is_meant():
    """Cities are replaced; the same ones in another order are no change."""
    assert changed(cities=("SIN",)) == (placement("home", "SIN"),)
    assert changed(cities=("LHR", "DFW")) == (HOME,)
    assert changed(minimum=3) == (placement("home", "DFW", "LHR", replicas=3),)


def test_one_of_several_placements_has_to_be_named():
    """The error lists them, and the flag that needs one."""
    both = (HOME, AWAY)
    problem = "the workload has the placements home, away; say which one with --placement"

    assert changed(*both, placement="away", minimum=2) == (
        HOME,
        placement("away", "SIN", replicas=2),
    )
    assert refused(*both, cities=("SIN",)) == f"--city: {problem}"
    assert refused(*both, minimum=1) == f"--min: {problem}"
    assert refused(*both, maximum=1) == f"--max: {problem}"
    assert refused(*both, cpu_percent=1) == f"--cpu-percent: {problem}"
    assert refused(*both, strategy="Parallel") == f"--strategy: {problem}"
    assert changed(*both) == both


def test_a_new_placement_needs_a_city():
    """Its other settings are the defaults."""
    assert changed(placement="away", cities=("SIN",)) == (HOME, AWAY)
    assert refused(placement="away", minimum=2) == (
        '--placement: there is no "away"; there are: home; a new one needs --city'
    )


def test_a_placement_without_a_change_is_refused():
    """The flag alone means nothing."""
    assert refused(placement="home") == (
        "--placement: give what to change there, such as --city or --min"
    )


@pytest.mark.parametrize("number", [-1, 0, 1001])
def test_a_number_out_of_bounds_is_refused(number):
    """The limits are those of the API."""
    assert refused(minimum=number) == f"--min: {number} is not from 1 to 1000"


def test_the_order_of_instances_is_spelled_in_any_case():
    """A typing error names the nearest."""
    (after,) = changed(strategy="parallel")

    assert after.scale_settings.instance_management_policy == "Parallel"
    assert refused(strategy="Paralel") == (
        '--strategy: "Paralel" is neither OrderedReady nor Parallel; did you mean Parallel?'
    )
    assert refused(strategy="xyz") == '--strategy: "xyz" is neither OrderedReady nor Parallel'


def test_scaling_by_load_needs_a_maximum_and_a_load():
    """Each without the other is refused, unless the other is there already."""
    (scaled,) = changed(maximum=5, cpu_percent=60)
    (higher,) = changed(scaled, maximum=9)
    (hotter,) = changed(scaled, cpu_percent=80)

    assert scaled == placement("home", "DFW", "LHR", max_replicas=5, metrics=(cpu(60),))
    assert higher.scale_settings.max_replicas == 9
    assert hotter.scale_settings.metrics == (cpu(80),)
    assert refused(maximum=5) == "--max: give --cpu-percent too: the load to scale by"
    assert (
        refused(cpu_percent=5) == "--cpu-percent: give --max too: the most instances in each city"
    )
    assert refused(maximum=5, cpu_percent=-1) == "--cpu-percent: -1 is no share; give 1 or more"


def test_zero_turns_scaling_by_load_off():
    """Either flag does; the other must not ask for the opposite."""
    (scaled,) = changed(maximum=5, cpu_percent=60)

    assert changed(scaled, maximum=0) == (HOME,)
    assert changed(scaled, cpu_percent=0) == (HOME,)
    assert "leave out --max" in refused(maximum=3, cpu_percent=0)
    assert "leave it out" in refused(maximum=0, cpu_percent=3)


def test_the_maximum_is_no_less_than_the_minimum():
    """The error is about the flag that was given."""
    (scaled,) = changed(maximum=5, cpu_percent=60)

    problem = "the maximum, 5, is less than the minimum, 6; give both"
    assert refused(scaled, minimum=6) == f"--min: {problem}"
    assert refused(placement("home", "DFW", replicas=6), maximum=5, cpu_percent=60) == (
        f"--max: {problem}"
    )


def test_other_metrics_stay():
    """Only the share of cpu is replaced."""
    other = Metric(resource=ResourceMetric(name="memory", target=MetricTarget(value="1Gi")))
    before = placement("home", "DFW", max_replicas=5, metrics=(other, cpu(60), Metric()))
    (after,) = changed(before, cpu_percent=70)

    assert after.scale_settings.metrics == (cpu(70), other, Metric())
