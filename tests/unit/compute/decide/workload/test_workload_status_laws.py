"""Laws of a Workload's status, over random deployments."""

from datetime import timedelta

import msgspec
from hypothesis import given, strategies as st

from compute.api.compute import WorkloadDeployment
from compute.decide import joins
from compute.decide.conditions import find
from compute.decide.networking.network_use import Lack
from compute.decide.workload.placement import Split, Unmatched
from compute.decide.workload.workload_status import workload_status
from tests.support.compute.builders import NOW, condition, placement, workload
from tests.support.compute.status_builders import located, paused

LATER = NOW + timedelta(hours=1)


def reported(city):
    said = st.builds(
        condition,
        st.just("Available"),
        st.sampled_from(("True", "False", "Unknown")),
        st.sampled_from(("Waking", "ImageUnavailable", "CellUnreachable", "QuotaNotGranted")),
    )
    return st.builds(
        lambda place, conditions, ready, gone: located(
            city, *conditions, place=place, ready=ready, deletion_timestamp=gone
        ),
        st.sampled_from(("east", "west", "old")),
        st.none().map(lambda _: ()) | st.tuples(said),
        st.integers(0, 3),
        st.sampled_from((None, NOW)),
    )


CITIES = ("dfw", "lhr", "nrt")
fleets = st.integers(0, 3).flatmap(lambda n: st.tuples(*map(reported, CITIES[:n])))
targets = st.sampled_from(
    (
        workload("web", placement("west", "DFW", "LHR"), placement("east", "XYZ")),
        paused(workload("web", placement("east", "NRT"))),
    )
)
networks = st.frozensets(st.sampled_from((("default", "default"), ("back", "other"))))
worlds = st.fixed_dictionaries(
    {
        "lack": st.builds(Lack, missing=networks, terminating=networks),
        "split": st.builds(
            Split,
            unmatched=st.lists(
                st.sampled_from((Unmatched("east", "XYZ"), Unmatched("west", "DFW")))
            ).map(tuple),
        ),
    }
)


@given(targets, fleets, worlds)
def test_counters_are_sums(target, fleet, world):
    """Every counter equals a sum over the deployments, and a placement is made of its own.

    What is desired and updated is counted of those that the spec names alone.
    """
    got = workload_status(target, fleet, now=NOW, **world)

    assert got.deployments == len(fleet)
    named = [d for d in fleet if joins.placement_city(d) in joins.expected(target)]
    for name in ("replicas", "desired_replicas", "ready_replicas", "updated_replicas"):
        counted = fleet if name in {"replicas", "ready_replicas"} else named
        assert getattr(got, name) == sum(getattr(d.status, name) for d in counted)
        assert getattr(got, name) == sum(getattr(p, name) for p in got.placements)
    assert [p.name for p in got.placements] == sorted(
        {d.spec.placement_name for d in fleet} | {p.name for p in target.spec.placements}
    )


@given(targets, fleets, worlds)
def test_available_exactly_when_a_city_is(target, fleet, world):
    """Nothing but the cities decides whether a Workload is available, and it always says why."""
    got = find(workload_status(target, fleet, now=NOW, **world).conditions, "Available")

    assert got is not None
    assert (got.status == "True") == any(_serves(d) for d in fleet)
    assert got.reason
    assert got.message


@given(targets, fleets, worlds)
def test_w1_the_status_comes_to_rest(target, fleet, world):
    """Computed again from what was written, later, the status is equal: nothing is written."""
    once = workload_status(target, fleet, now=NOW, **world)

    written = msgspec.structs.replace(target, status=once)
    assert workload_status(written, fleet, now=LATER, **world) == once


@given(targets, fleets.flatmap(lambda f: st.tuples(st.just(f), st.permutations(f))), worlds)
def test_the_order_of_deployments_does_not_matter(target, fleets, world):
    """The same deployments in any order give the same status."""
    fleet, shuffled = fleets

    assert workload_status(target, shuffled, now=NOW, **world) == workload_status(
        target, fleet, now=NOW, **world
    )


def _serves(deployment: WorkloadDeployment) -> bool:
    return any(c.type == "Available" and c.status == "True" for c in deployment.status.conditions)
