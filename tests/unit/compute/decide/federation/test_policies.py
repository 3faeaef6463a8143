"""One propagation policy for each city, there exactly while it is needed."""

from collections.abc import Iterator

import msgspec
import pytest
from hypothesis import given, strategies as st

from compute.api import annotations, labels, names
from compute.api.compute import WorkloadDeployment
from compute.api.karmada import (
    ClusterAffinity,
    ClusterPlacement,
    PropagationPolicy,
    PropagationSpec,
    ResourceSelector,
    SpreadConstraint,
    Suspension,
    Toleration,
)
from compute.decide.federation import is_unused, policies_due, policy, policy_differs
from compute.decide.writes import Create, Delete, Update, Write
from kubekit.api.meta import LabelSelector, ObjectMeta
from tests.support.compute.builders import NOW
from tests.support.compute.federation_builders import applied, on_hub, original, with_meta

DFW = policy("DFW", "ns-1")
MARK = {annotations.UNUSED: "true"}


def of_city(city: str, name: str = "", **meta) -> WorkloadDeployment:
    """A deployment on the hub, one for each city unless it is named."""
    return on_hub(original(name or f"web-{city}", city), **meta)


def test_a_policy_sends_the_deployments_of_its_city_to_its_cells():
    """Selector and affinity are the city as written, within the policy's own namespace."""
    city = LabelSelector(match_labels={labels.TOPOLOGY_CITY_CODE: "DFW"})

    assert policy("DFW", "ns-1") == PropagationPolicy(
        metadata=ObjectMeta(
            name="city-dfw",
            namespace="ns-1",
            labels={labels.SERVICE_NAME: labels.COMPUTE_SERVICE},
        ),
        spec=PropagationSpec(
            resource_selectors=(
                ResourceSelector(
                    api_version="compute.datumapis.com/v1alpha",
                    kind="WorkloadDeployment",
                    namespace="ns-1",
                    label_selector=city,
                ),
            ),
            placement=ClusterPlacement(
                cluster_affinity=ClusterAffinity(label_selector=city),
                spread_constraints=(
                    SpreadConstraint(spread_by_field="cluster", min_groups=1, max_groups=1),
                ),
            ),
        ),
    )


def test_w62_a_deployment_goes_to_exactly_one_cell():
    """Two cells of a city share its deployments; none runs twice."""
    (spread,) = DFW.spec.placement.spread_constraints

    assert (spread.spread_by_field, spread.min_groups, spread.max_groups) == ("cluster", 1, 1)


def test_w22_cities_that_differ_in_case_have_policies_of_their_own():
    """Each spelling selects its own deployments, so each needs a name of its own."""
    due = policies_due([of_city("LAX"), of_city("lax")], [])

    assert [w.desired for w in due if isinstance(w, Create)] == [
        policy("LAX", "ns-1"),
        policy("lax", "ns-1"),
    ]
    assert len({w.desired.metadata.name for w in due if isinstance(w, Create)}) == 2


def changed(**spec) -> PropagationPolicy:
    return msgspec.structs.replace(DFW, spec=msgspec.structs.replace(DFW.spec, **spec))


def placed(**placement) -> PropagationPolicy:
    return changed(placement=msgspec.structs.replace(DFW.spec.placement, **placement))


@pytest.mark.parametrize(
    "stored",
    [
        pytest.param(with_meta(DFW, uid="x", resource_version="9", generation=2), id="stored"),
        pytest.param(
            with_meta(DFW, labels=DFW.metadata.labels | {"permanent-id": "1"}), id="labelled"
        ),
        pytest.param(
            placed(cluster_tolerations=(Toleration(key="cluster.karmada.io/not-ready"),)),
            id="with default tolerations",
        ),
        pytest.param(changed(priority=3, scheduler_name="other"), id="tuned by an operator"),
        pytest.param(changed(suspension=Suspension(dispatching=True)), id="suspended"),
        pytest.param(changed(conflict_resolution="Overwrite"), id="takes what is in the way"),
        pytest.param(changed(propagate_deps=True, preemption="Always"), id="without effect"),
    ],
)
def test_w23_what_the_server_fills_in_is_no_difference(stored):
    """Defaults and other people's settings cause no write."""
    assert not policy_differs(stored, DFW)
    assert policies_due([of_city("DFW")], [stored]) == ()


@pytest.mark.parametrize(
    "stored",
    [
        pytest.param(changed(resource_selectors=()), id="selects nothing"),
        pytest.param(
            changed(resource_selectors=DFW.spec.resource_selectors * 2), id="selects more"
        ),
        pytest.param(placed(cluster_affinity=None), id="goes everywhere"),
        pytest.param(placed(spread_constraints=()), id="goes to every cell of the city"),
        pytest.param(
            placed(cluster_affinities=({"affinityName": "one"},)), id="goes to groups of clusters"
        ),
        pytest.param(changed(failover={"cluster": {}}), id="runs twice while it moves"),
        pytest.param(changed(dependent_overrides=("mine",)), id="waits for what may never come"),
        pytest.param(changed(activation_preference="Lazy"), id="does not follow its policy"),
        pytest.param(changed(preserve_resources_on_deletion=True), id="outlives its Workload"),
        pytest.param(with_meta(DFW, labels={}), id="made by the original"),
        pytest.param(with_meta(DFW, annotations=MARK), id="marked as unused"),
    ],
)
def test_w21_drift_is_repaired(stored):
    """What we say of a policy in use is put back."""
    assert policy_differs(stored, DFW)
    assert policies_due([of_city("DFW")], [stored]) == (Update(stored, DFW),)


def test_w21_a_policy_that_is_gone_is_made_again():
    """Every city with a live deployment has its policy, made once for all of them."""
    two = [of_city("DFW", "a"), of_city("DFW", "b")]

    assert policies_due(two, []) == (Create(DFW),)


def test_a_policy_on_its_way_out_is_waited_for():
    """It can be created again only once it is gone, and cannot be retired twice."""
    going = with_meta(DFW, deletion_timestamp=NOW)

    assert policies_due([of_city("DFW")], [going]) == ()
    assert policies_due([], [going]) == ()


def test_w20_an_unused_policy_is_marked_before_it_goes():
    """The first pass marks it; the next deletes it at the version that bears the mark."""
    (first,) = policies_due([], [DFW])
    assert first == Update(DFW, with_meta(DFW, annotations=MARK))
    marked = with_meta(DFW, annotations=MARK, resource_version="2")

    assert policies_due([], [marked]) == (Delete(marked, unchanged=True),)


def test_w20_a_terminating_deployment_still_holds_its_policy():
    """The policy outlives the last deployment of its city, but is not made for it."""
    going = of_city("DFW", deletion_timestamp=NOW)

    assert policies_due([going], [DFW]) == ()
    assert not is_unused(DFW, [going])
    assert policies_due([going], []) == ()


def test_policies_of_others_are_left_alone():
    """A policy without our label, under a name we do not want, is not ours."""
    theirs = with_meta(policy("LHR", "ns-1"), labels={})

    assert policies_due([], [theirs]) == ()


def test_a_deployment_without_a_city_wants_no_policy():
    """An empty city would select what belongs to no city; the federator puts the label back."""
    bare = with_meta(of_city("DFW"), labels={})

    assert policies_due([bare], []) == ()


CITIES = ["DFW", "dfw", "LHR", "New York"]
DEPLOYMENTS = st.lists(
    st.builds(
        lambda city, name, going: with_meta(
            of_city("DFW", name, deletion_timestamp=NOW if going else None),
            labels={labels.TOPOLOGY_CITY_CODE: city},
        ),
        st.sampled_from(CITIES),
        st.sampled_from(["a", "b"]),
        st.booleans(),
    ),
    max_size=5,
)
POLICIES = st.lists(
    st.builds(
        lambda city, marked, drifted: with_meta(
            msgspec.structs.replace(
                policy(city, "ns-1"), spec=PropagationSpec(resource_selectors=())
            )
            if drifted
            else policy(city, "ns-1"),
            annotations=MARK if marked else {},
        ),
        st.sampled_from(CITIES),
        st.booleans(),
        st.booleans(),
    ),
    unique_by=lambda p: p.metadata.name,
)


@given(DEPLOYMENTS, POLICIES)
def test_acting_settles_on_one_policy_per_live_city(deployments, policies):
    """From any start, two passes leave every live city its policy, and a third writes nothing."""
    held = {d.metadata.labels[labels.TOPOLOGY_CITY_CODE] for d in deployments}
    live = {d.metadata.labels[labels.TOPOLOGY_CITY_CODE] for d in deployments if not d.deleting}
    once = applied(policies, policies_due(deployments, policies))
    settled = applied(once, policies_due(deployments, once))
    by_name = {p.metadata.name: p for p in settled}

    assert policies_due(deployments, settled) == ()
    assert {names.policy(c) for c in live} <= by_name.keys() <= {names.policy(c) for c in held}
    assert not any(policy_differs(by_name[names.policy(c)], policy(c, "ns-1")) for c in live)


class Server:
    """Policies and deployments of one namespace; a write must know the version it is based on."""

    def __init__(self, *policies: PropagationPolicy) -> None:
        self.policies = list(policies)
        self.deployments: list[WorkloadDeployment] = []
        self.sent = False
        self._version = 0

    def write(self, write: Write[PropagationPolicy]) -> bool:
        if not isinstance(write, Create) and write.existing not in self.policies:
            return False
        if isinstance(write, Create) and self.policies:
            return False
        self._version += 1
        version = str(self._version)
        self.policies = (
            []
            if isinstance(write, Delete)
            else [with_meta(write.desired, resource_version=version)]
        )
        return True


def one_pass(server: Server) -> Iterator[None]:
    """One pass of a federator, which can be interrupted after every request it makes."""
    policies = tuple(server.policies)
    yield
    deployments = tuple(server.deployments)
    yield
    for write in policies_due(deployments, policies):
        if not server.write(write):
            yield from one_pass(server)
            return
        yield


def sending(server: Server) -> Iterator[None]:
    server.deployments.append(of_city("DFW"))
    yield
    yield from one_pass(server)
    server.sent = True


def retiring(server: Server) -> Iterator[None]:
    for _ in range(3):
        yield from one_pass(server)


@given(st.booleans(), st.lists(st.booleans(), max_size=30))
def test_w20_a_policy_never_goes_under_a_deployment_that_was_sent(marked, turns):
    """However two federators interleave, once one has seen its policy the other cannot take it."""
    server = Server(with_meta(DFW, annotations=MARK if marked else {}))
    actors = [sending(server), retiring(server)]
    for turn in [*turns, *([True, False] * 40)]:
        next(actors[turn], None)
        assert server.policies or not server.sent

    assert policies_due(server.deployments, server.policies) == ()
