"""Which clusters an object goes to: pure, sticky, and never to one that does not fit."""

from typing import Any

import msgspec
import pytest
from hypothesis import given, strategies as st

from compute.api.karmada import (
    APIEnablement,
    APIResource,
    ClusterAffinity,
    ClusterFieldSelector,
    ClusterPlacement,
    ClusterSpec,
    ClusterStatus,
    FieldSelectorRequirement,
    MemberCluster,
    SpreadConstraint,
    Taint,
    Toleration,
)
from compute.api.karmada_work import TemplateRef
from compute.decide.federation.scheduling import NoFit, Placed, schedule
from kubekit.api.meta import LabelSelector, LabelSelectorRequirement, ObjectMeta
from tests.support.compute.builders import NOW, condition

RESOURCE = TemplateRef(
    api_version="compute.datumapis.com/v1alpha",
    kind="WorkloadDeployment",
    namespace="ns-1",
    name="web-home-dfw",
)
ONE = (SpreadConstraint(spread_by_field="cluster", min_groups=1, max_groups=1),)
IN_DFW = ClusterAffinity(label_selector=LabelSelector(match_labels={"city": "DFW"}))
PLACEMENT = ClusterPlacement(cluster_affinity=IN_DFW, spread_constraints=ONE)
DRAIN = Taint(key="drain", value="yes", effect="NoExecute")
CORDON = Taint(key="cordon", effect="NoSchedule")


def cluster(name="dfw", city="DFW", *, ready="True", taints=(), kinds=(), **meta):
    served = (APIResource(name=kind.lower() + "s", kind=kind) for kind in kinds)
    enabled = APIEnablement(group_version=RESOURCE.api_version, resources=tuple(served))
    return MemberCluster(
        metadata=ObjectMeta(name=name, labels={"city": city}, **meta),
        spec=ClusterSpec(sync_mode="Push", taints=taints),
        status=ClusterStatus(
            conditions=(condition("Ready", ready),), api_enablements=(enabled,) if kinds else ()
        ),
    )


def placed(*clusters, current=(), placement=PLACEMENT, load=None):
    return schedule(RESOURCE, placement, current, clusters, load or {})


def affine(**changes):
    return msgspec.structs.replace(PLACEMENT, cluster_affinity=ClusterAffinity(**changes))


def test_the_cluster_of_the_city_is_chosen():
    """Clusters are chosen by their labels."""
    assert placed(cluster("lhr", "LHR"), cluster("dfw")) == Placed(("dfw",))


def of_fields(**fields):
    return msgspec.structs.replace(cluster(), spec=ClusterSpec(sync_mode="Push", **fields))


BY_FIELDS: dict[str, tuple[str, str, dict[str, Any], bool]] = {
    "the region": ("region", "In", {"region": "us"}, True),
    "another region": ("region", "In", {"region": "eu"}, False),
    "no region": ("region", "In", {}, False),
    "not the provider": ("provider", "NotIn", {"provider": "us"}, False),
    "another provider": ("provider", "NotIn", {"provider": "eu"}, True),
    "no provider": ("provider", "NotIn", {}, True),
    "all of its zones": ("zone", "In", {"zones": ("us", "us")}, True),
    "some of its zones": ("zone", "In", {"zones": ("us", "eu")}, False),
    "none of its zones": ("zone", "NotIn", {"zones": ("eu",)}, True),
    "one of its zones": ("zone", "NotIn", {"zones": ("eu", "us")}, False),
}


@pytest.mark.parametrize("case", BY_FIELDS)
def test_clusters_are_chosen_by_fields(case):
    """As Karmada reads provider, region and zones: all must be among the values, or none."""
    key, operator, fields, fits = BY_FIELDS[case]
    asked = FieldSelectorRequirement(key=key, operator=operator, values=("us",))
    placement = affine(field_selector=ClusterFieldSelector(match_expressions=(asked,)))
    found = placed(of_fields(**fields), current=("dfw",), placement=placement)
    assert isinstance(found, Placed) is fits


def test_the_least_loaded_is_chosen():
    """Two clusters of one city share its objects."""
    both = cluster("a"), cluster("b")
    assert placed(*both, load={"a": 3, "b": 2}) == Placed(("b",))
    assert placed(*both, load={"a": 2, "b": 3}) == Placed(("a",))


def test_a_burst_is_shared_though_no_load_shows_yet():
    """Objects that are placed at the same moment do not all go to one cluster."""
    both = (cluster("a"), cluster("b"))
    refs = [msgspec.structs.replace(RESOURCE, name=f"web-{n}") for n in range(200)]
    chosen = [schedule(ref, PLACEMENT, (), both, {}) for ref in refs]
    assert 60 < chosen.count(Placed(("a",))) < 140


def test_w62_two_cells_of_one_city_do_not_both_get_it():
    """One deployment runs in one cell."""
    verdict = placed(cluster("a"), cluster("b"), cluster("c"))
    assert isinstance(verdict, Placed)
    assert len(verdict.clusters) == 1


@pytest.mark.parametrize("ready", ["False", "Unknown"])
def test_what_is_placed_stays_while_its_cluster_is_silent(ready):
    """Nothing is moved because a cluster cannot be reached."""
    silent = cluster("a", ready=ready)
    unreachable = Taint(key="cluster.karmada.io/unreachable", effect="NoExecute")
    tainted = cluster("a", ready=ready, taints=(unreachable,))
    assert placed(silent, cluster("b"), current=("a",)) == Placed(("a",))
    assert placed(tainted, cluster("b"), current=("a",)) == Placed(("a",))


MISFITS = {
    "gone": None,
    "being removed": cluster("a", deletion_timestamp=NOW),
    "in another city": cluster("a", "LHR"),
    "drained": cluster("a", taints=(DRAIN,)),
}


@pytest.mark.parametrize("old", MISFITS.values(), ids=MISFITS.keys())
def test_what_is_placed_moves_when_its_cluster_does_not_fit_any_more(old):
    """A choice is given up when it could not be made again, not even on a better day."""
    others = [each for each in (old, cluster("b")) if each is not None]
    assert placed(*others, current=("a",)) == Placed(("b",))


OBJECTIONS = {
    "no clusters": ((), "the hub knows no cluster at all"),
    "another city": ((cluster("a", "LHR"),), "of 1 known, 1 elsewhere"),
    "not ready": ((cluster("a", ready="Unknown"),), "of 1 known, 1 not ready"),
    "leaving": ((cluster("a", deletion_timestamp=NOW),), "of 1 known, 1 being removed"),
    "drained": ((cluster("a", taints=(DRAIN,)),), "of 1 known, 1 tainted"),
    "cordoned": ((cluster("a", taints=(CORDON,)),), "of 1 known, 1 tainted"),
    "without the kind": ((cluster("a", kinds=("Instance",)),), "of 1 known, 1 without the kind"),
    "several": (
        (cluster("a", "LHR"), cluster("b", ready="False"), cluster("c", "SIN")),
        "of 3 known, 2 elsewhere, 1 not ready",
    ),
}


@pytest.mark.parametrize(("clusters", "why"), OBJECTIONS.values(), ids=OBJECTIONS.keys())
def test_no_fit_says_what_is_wrong_with_each_cluster(clusters, why):
    """The message shows whether the city has no cell, or one that does not answer."""
    assert placed(*clusters) == NoFit(why)


def test_a_cluster_that_says_it_has_the_kind_is_taken():
    """Only what a cluster says it has can be sent to it."""
    assert placed(cluster("a", kinds=("WorkloadDeployment",))) == Placed(("a",))


TOLERATIONS = {
    "of everything": Toleration(operator="Exists"),
    "of the key": Toleration(key="drain", operator="Exists"),
    "of the value": Toleration(key="drain", value="yes"),
    "of the effect": Toleration(key="drain", value="yes", effect="NoExecute"),
}


@pytest.mark.parametrize("toleration", TOLERATIONS.values(), ids=TOLERATIONS.keys())
def test_a_taint_that_is_tolerated_keeps_nothing_away(toleration):
    """A policy can put up with a taint."""
    placement = msgspec.structs.replace(PLACEMENT, cluster_tolerations=(toleration,))
    assert placed(cluster("a", taints=(DRAIN,)), placement=placement) == Placed(("a",))


OTHER_TOLERATIONS = {
    "of another key": Toleration(key="other", operator="Exists"),
    "of another value": Toleration(key="drain", value="no"),
    "of another effect": Toleration(operator="Exists", effect="NoSchedule"),
}


@pytest.mark.parametrize("toleration", OTHER_TOLERATIONS.values(), ids=OTHER_TOLERATIONS.keys())
def test_a_taint_that_is_not_tolerated_keeps_everything_away(toleration):
    """Each part of a toleration must match."""
    placement = msgspec.structs.replace(PLACEMENT, cluster_tolerations=(toleration,))
    assert isinstance(placed(cluster("a", taints=(DRAIN,)), placement=placement), NoFit)


def test_a_harmless_taint_keeps_nothing_away():
    """Only the two effects that keep objects away do."""
    soft = Taint(key="a", effect="PreferNoSchedule")
    assert placed(cluster("a", taints=(soft,))) == Placed(("a",))


AFFINITIES = {
    "by name": (affine(cluster_names=("b", "c")), ("b",)),
    "but for one": (affine(exclude=("a",), cluster_names=("a", "b")), ("b",)),
    "without any": (ClusterPlacement(spread_constraints=ONE), ("a",)),
}


@pytest.mark.parametrize(("placement", "chosen"), AFFINITIES.values(), ids=AFFINITIES.keys())
def test_clusters_are_chosen_by_name_too(placement, chosen):
    """A policy may name clusters, or leave some out, or take any."""
    both = cluster("a", "X"), cluster("b", "Y")
    assert placed(*both, placement=placement, load={"b": 1}) == Placed(chosen)


def test_without_a_limit_every_fitting_cluster_gets_it():
    """Karmada's own default: a copy for each."""
    placement = ClusterPlacement(cluster_affinity=IN_DFW)
    every = cluster("a"), cluster("b"), cluster("c", "LHR")
    verdict = placed(*every, placement=placement, current=("b",))
    assert verdict == Placed(("b", "a"))


def test_too_few_clusters_are_no_fit():
    """A policy that asks for two is not content with one."""
    two = (SpreadConstraint(spread_by_field="cluster", min_groups=2),)
    placement = ClusterPlacement(cluster_affinity=IN_DFW, spread_constraints=two)
    assert placed(cluster("a"), placement=placement) == NoFit(
        "of 1 known, too few fit; 2 are needed"
    )
    assert placed(cluster("a"), placement=placement, current=("a",)) == Placed(("a",))


SPREADS = {
    "field": (SpreadConstraint(spread_by_field="region"), "region"),
    "label": (SpreadConstraint(spread_by_label="rack"), "the label rack"),
}


@pytest.mark.parametrize(("spread", "by"), SPREADS.values(), ids=SPREADS.keys())
def test_a_spread_that_is_not_known_is_no_fit(spread, by):
    """Ignoring it would put the object where it must not be."""
    placement = msgspec.structs.replace(PLACEMENT, spread_constraints=(spread,))
    why = f"it asks to be spread by {by}, and can only be spread by cluster"
    assert placed(cluster(), placement=placement) == NoFit(why)


def test_an_affinity_that_cannot_be_read_is_no_fit():
    """A policy with a mistake in it must not stop the engine."""
    wrong = LabelSelector(match_expressions=(LabelSelectorRequirement(key="a", operator="Like"),))
    verdict = placed(cluster(), placement=affine(label_selector=wrong))
    assert isinstance(verdict, NoFit)
    assert "cannot be read" in verdict.why


names = st.sampled_from("abcdef")
clusters = st.builds(
    lambda name, city, ready, taints, leaving: cluster(
        name, city, ready=ready, taints=taints, deletion_timestamp=NOW if leaving else None
    ),
    names,
    st.sampled_from(["DFW", "LHR"]),
    st.sampled_from(["True", "False", "Unknown"]),
    st.lists(st.sampled_from([DRAIN, CORDON]), max_size=2, unique=True).map(tuple),
    st.booleans(),
)
fleets = st.lists(clusters, max_size=6, unique_by=lambda each: each.metadata.name)
loads = st.dictionaries(names, st.integers(0, 3))
currents = st.lists(names, max_size=2, unique=True).map(tuple)


def stays(each):
    in_city = each.metadata.labels["city"] == "DFW"
    return in_city and not each.deleting and DRAIN not in each.spec.taints


@given(fleets, currents, loads, st.randoms())
def test_the_choice_does_not_depend_on_the_order_of_clusters(fleet, current, load, chance):
    """The same state gives the same choice, on whichever machine."""
    shuffled = list(fleet)
    chance.shuffle(shuffled)
    assert placed(*fleet, current=current, load=load) == placed(
        *shuffled, current=current, load=load
    )


@given(fleets, currents, loads)
def test_there_is_one_cluster_and_it_fits(fleet, current, load):
    """Never two, and never one that the policy or a taint excludes."""
    verdict = placed(*fleet, current=current, load=load)
    if isinstance(verdict, Placed):
        (chosen,) = verdict.clusters
        assert stays(next(each for each in fleet if each.metadata.name == chosen))


@given(fleets, loads, loads)
def test_a_choice_is_kept_whatever_becomes_of_the_load(fleet, load, later):
    """What is placed is placed: the same question again, with its answer, changes nothing."""
    verdict = placed(*fleet, load=load)
    if isinstance(verdict, Placed):
        assert placed(*fleet, current=verdict.clusters, load=later) == verdict


@given(fleets, currents, loads)
def test_what_can_stay_stays(fleet, current, load):
    """The first cluster that has the object and still fits keeps it, ready or not."""
    keeping = [n for n in current if any(stays(c) and c.metadata.name == n for c in fleet)]
    if keeping:
        assert placed(*fleet, current=current, load=load) == Placed((keeping[0],))
