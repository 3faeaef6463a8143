"""Which of several policies an object belongs to."""

import pytest

from compute.api.karmada import (
    ClusterPlacement,
    PropagationPolicy,
    PropagationSpec,
    ResourceSelector,
)
from compute.federation import claims, karmada_keys
from kubekit.api.meta import LabelSelector, LabelSelectorRequirement, ObjectMeta
from tests.support.compute.builders import NOW
from tests.support.compute.engine_builders import NS, WD, sent
from tests.support.compute.federation_builders import with_meta

DEPLOYMENTS = {"api_version": "compute.datumapis.com/v1alpha", "kind": "WorkloadDeployment"}
IN_DFW = LabelSelector(match_labels={"topology.datum.net/city-code": "DFW"})
IN_LHR = LabelSelector(match_labels={"topology.datum.net/city-code": "LHR"})
WRONG = LabelSelector(match_expressions=(LabelSelectorRequirement(key="a", operator="Like"),))


def policy(called="p", priority=0, /, **selector):
    chosen = ResourceSelector(**(DEPLOYMENTS | selector))
    spec = PropagationSpec(
        resource_selectors=(chosen,), placement=ClusterPlacement(), priority=priority
    )
    labels = {karmada_keys.POLICY_ID: f"id-{called}"}
    return PropagationPolicy(
        metadata=ObjectMeta(name=called, namespace=NS, labels=labels), spec=spec
    )


def won(*policies):
    found = claims.claimant(sent(), policies)
    return found and found.metadata.name


SELECTORS = {
    "every object of the kind": ({}, True),
    "by label": ({"label_selector": IN_DFW}, True),
    "by name": ({"name": WD}, True),
    "in its namespace": ({"namespace": NS}, True),
    "by name, whatever the labels": ({"name": WD, "label_selector": IN_LHR}, True),
    "another label": ({"label_selector": IN_LHR}, False),
    "another name": ({"name": "other"}, False),
    "another namespace": ({"namespace": "ns-2"}, False),
    "another kind": ({"kind": "Instance"}, False),
    "another group": ({"api_version": "v1"}, False),
    "one that cannot be read": ({"label_selector": WRONG}, False),
}


@pytest.mark.parametrize(("selector", "wants"), SELECTORS.values(), ids=SELECTORS.keys())
def test_a_policy_wants_what_it_selects(selector, wants):
    """Kind, namespace, name or labels must match."""
    assert won(policy(**selector)) == ("p" if wants else None)


@pytest.mark.parametrize(("selector", "wants"), SELECTORS.values(), ids=SELECTORS.keys())
def test_a_policy_concerns_what_it_wants_and_what_it_has(selector, wants):
    """An object that the policy has claimed is requeued, even if the policy no longer matches it."""
    mine = policy(**selector)
    assert claims.concerns(mine, sent()) is wants
    assert claims.concerns(mine, claims.claimed(sent(), mine))


CONTESTS = {
    "the higher priority": (policy("a", 1, name=WD), policy("b", 2)),
    "a name before labels": (policy("a", label_selector=IN_DFW), policy("b", name=WD)),
    "labels before the kind": (policy("a"), policy("b", label_selector=IN_DFW)),
    "the first by name": (policy("c"), policy("b")),
}


@pytest.mark.parametrize("policies", CONTESTS.values(), ids=CONTESTS.keys())
def test_of_several_one_wins(policies):
    """By priority, then by how exactly it selects, then by name; never by who is listed first."""
    assert won(*policies) == won(*reversed(policies)) == "b"


def test_who_has_claimed_it_keeps_it():
    """Until that policy is gone."""
    first, better = policy("first"), policy("better", 9, name=WD)
    mine = claims.claimed(sent(), first)
    assert claims.claimed_by(mine) == "first"
    assert claims.claimant(mine, [better, first]) == first
    assert claims.claimant(mine, [better]) == better


def test_a_policy_on_its_way_out_claims_nothing_new():
    """What it has it keeps until it is gone."""
    going = with_meta(policy("going", 9, name=WD), deletion_timestamp=NOW)
    other = policy("other")
    assert claims.claimant(sent(), [going, other]) == other
    assert claims.claimant(claims.claimed(sent(), going), [going, other]) == going


def test_a_claim_in_another_namespace_is_none():
    """A policy claims only what is beside it."""
    elsewhere = {karmada_keys.POLICY_NAME: "first", karmada_keys.POLICY_NAMESPACE: "ns-2"}
    assert claims.claimed_by(with_meta(sent(), annotations=elsewhere)) == ""


def test_a_claim_leaves_everything_else():
    """Labels and annotations of others stay."""
    noted = with_meta(sent(), annotations={"note": "kept"})
    mine = claims.claimed(noted, policy()).metadata
    assert mine.annotations == {
        "note": "kept",
        karmada_keys.POLICY_NAME: "p",
        karmada_keys.POLICY_NAMESPACE: NS,
    }
    assert mine.labels == sent().metadata.labels | {karmada_keys.POLICY_ID: "id-p"}
