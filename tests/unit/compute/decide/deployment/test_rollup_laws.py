"""Laws of a WorkloadDeployment's status, over random Instances."""

from datetime import timedelta

import msgspec
from hypothesis import given, strategies as st

from compute.api import annotations
from compute.decide.conditions import find
from compute.decide.deployment.rollup import NetworkVerdict, deployment_status
from compute.decide.ranking import rank
from tests.support.compute.builders import NOW, condition, deployment, instance
from tests.support.compute.status_builders import NEWEST, SOMEWHERE

LATER = NOW + timedelta(hours=1)

statuses = st.sampled_from(("True", "False", "Unknown"))
reasons = st.sampled_from(
    ["Waking", "PendingQuota", "QuotaExceeded", "ImageUnavailable", "Provisioning"]
)


def instances(ordinal):
    return st.builds(
        instance,
        st.just(ordinal),
        conditions=st.tuples(
            *(
                st.none() | st.builds(condition, st.just(kind), statuses, reasons)
                for kind in ("Programmed", "Ready", "QuotaGranted", "ReferencedDataReady")
            )
        ).map(lambda found: tuple(c for c in found if c)),
        template_hash=st.sampled_from((NEWEST, "older")),
        deletion_timestamp=st.sampled_from((None, NOW)),
    )


fleets = st.integers(0, 4).flatmap(lambda n: st.tuples(*map(instances, range(n))))
targets = st.builds(
    deployment,
    st.integers(0, 4),
    generation=st.integers(1, 3),
    deletion_timestamp=st.sampled_from((None, NOW)),
    annotations=st.sampled_from(({}, {annotations.SUSPENDED: "true"})),
)
networks = st.sampled_from((None, SOMEWHERE, NetworkVerdict(ready=False)))


@given(targets, fleets, networks)
def test_counters_are_a_recount(target, fleet, network):
    """Every counter equals a count over the Instances, and they bound each other."""
    got = deployment_status(target, fleet, network, NOW)

    updated = [i for i in fleet if i.status.controller.observed_template_hash == NEWEST]
    said = [{c.type: c.status for c in i.status.conditions} for i in fleet if not i.deleting]
    assert got.replicas == len(fleet)
    assert got.updated_replicas == len(updated)
    assert got.ready_replicas == sum(s.get("Ready") == "True" for s in said)
    assert 0 <= got.current_replicas <= got.updated_replicas <= got.replicas
    available = find(got.conditions, "Available")
    assert available is not None
    assert (available.status == "True") == (got.ready_replicas > 0)


@given(targets, fleets, networks)
def test_w1_the_status_comes_to_rest(target, fleet, network):
    """Computed again from what was written, later, the status is equal: nothing is written."""
    once = deployment_status(target, fleet, network, NOW)

    written = msgspec.structs.replace(target, status=once)
    assert deployment_status(written, fleet, network, LATER) == once


@given(targets, fleets.flatmap(lambda f: st.tuples(st.just(f), st.permutations(f))), networks)
def test_the_order_of_instances_does_not_matter(target, fleets, network):
    """The same Instances in any order give the same status."""
    fleet, shuffled = fleets

    assert deployment_status(target, shuffled, network, NOW) == deployment_status(
        target, fleet, network, NOW
    )


@given(targets, fleets, networks)
def test_every_answer_has_a_reason_and_a_message(target, fleet, network):
    """A condition that is not True explains itself, and never by a pointer alone."""
    for said in deployment_status(target, fleet, network, NOW).conditions:
        explained = rank(said.reason) or said.reason in {"Stopped", "Stopping", "Waking"}
        assert said.message
        assert said.status == "True" or explained
