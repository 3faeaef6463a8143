"""What an operator of the hub holds back."""

import pytest

from compute.api.karmada import SuspendClusters, Suspension
from compute.api.karmada_work import BindingSuspension, ResourceBindingSpec, TemplateRef
from compute.decide.federation.suspension import (
    of_binding,
    suspends_dispatching,
    suspends_scheduling,
)

ALL = Suspension(dispatching=True)
ONLY_DFW = Suspension(dispatching_on_clusters=SuspendClusters(cluster_names=("dfw",)))
RESOURCE = TemplateRef(api_version="v1", kind="ConfigMap", name="conf")


@pytest.mark.parametrize(
    ("suspension", "held"),
    [
        (None, False),
        (Suspension(), False),
        (Suspension(dispatching=False), False),
        (ALL, True),
        (ONLY_DFW, True),
        (Suspension(dispatching_on_clusters=SuspendClusters(cluster_names=("lhr",))), False),
    ],
)
def test_dispatching_is_suspended_for_all_clusters_or_for_some(suspension, held):
    """A cluster that is not named is not affected."""
    assert suspends_dispatching(suspension, "dfw") is held


@pytest.mark.parametrize(
    ("policy", "present", "expected"),
    [
        (None, None, None),
        (ALL, None, BindingSuspension(dispatching=True)),
        (None, BindingSuspension(dispatching=True), None),
        (
            ONLY_DFW,
            BindingSuspension(dispatching=True, scheduling=True),
            BindingSuspension(
                dispatching_on_clusters=SuspendClusters(cluster_names=("dfw",)), scheduling=True
            ),
        ),
        (
            None,
            BindingSuspension(dispatching=True, scheduling=True),
            BindingSuspension(scheduling=True),
        ),
        (None, BindingSuspension(scheduling=False), BindingSuspension(scheduling=False)),
    ],
)
def test_a_binding_follows_its_policy_but_for_scheduling(policy, present, expected):
    """That its scheduling is suspended is said on the binding, and outlives changes of the policy."""
    assert of_binding(policy, present) == expected


@pytest.mark.parametrize(
    ("changes", "held"),
    [
        ({}, False),
        ({"scheduler_name": "default-scheduler"}, False),
        ({"scheduler_name": "other"}, True),
        ({"suspension": BindingSuspension()}, False),
        ({"suspension": BindingSuspension(scheduling=False)}, False),
        ({"suspension": BindingSuspension(scheduling=True)}, True),
    ],
)
def test_scheduling_is_suspended_or_left_to_another_scheduler(changes, held):
    """In both cases the clusters stay as they are."""
    assert suspends_scheduling(ResourceBindingSpec(resource=RESOURCE, **changes)) is held
