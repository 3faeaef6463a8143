"""Deletions that would leave behind what nothing manages are refused, and the refusal says what to type."""

import pytest

from compute.api.compute import Instance, Workload, WorkloadDeployment
from compute.api.resource_manager import Project
from compute.decide.workload.orphan_deletion import orphan_refusal
from kubekit.api.kinds.core import ConfigMap

WEB = {"name": "web", "namespace": "default"}


@pytest.mark.parametrize("kind", [Workload, WorkloadDeployment, Project])
def test_what_only_its_parent_manages_is_not_orphaned(kind):
    """A Workload, a deployment and a project refuse it, each with the command that works."""
    refusal = orphan_refusal(kind.RESOURCE, {"name": "web"}, "Orphan")
    assert refusal is not None
    assert refusal.details is not None
    assert refusal.message.startswith(f'{kind.RESOURCE.plural}.{kind.RESOURCE.group} "web" is forb')
    assert refusal.message.endswith(f"kubectl delete {kind.RESOURCE.singular} web")
    assert refusal.details.kind == kind.RESOURCE.plural


def test_the_command_names_the_namespace():
    """It can be typed as it is."""
    refusal = orphan_refusal(Workload.RESOURCE, WEB, "Orphan")
    assert refusal is not None
    assert refusal.message.endswith("kubectl delete workload web -n default")


@pytest.mark.parametrize("kind", [Instance, ConfigMap])
def test_other_kinds_do_as_kubernetes_does(kind):
    """They may be orphaned: nothing depends on them, or it does without them."""
    assert orphan_refusal(kind.RESOURCE, WEB, "Orphan") is None


@pytest.mark.parametrize("policy", ["Background", "Foreground", ""])
def test_other_policies_pass(policy):
    """A plain deletion is never refused."""
    assert orphan_refusal(Workload.RESOURCE, WEB, policy) is None


def test_a_policy_left_on_the_object_counts_where_a_request_names_none():
    """As in Kubernetes, where the request without a policy follows the finalizer."""
    left = WEB | {"finalizers": ["orphan"]}
    assert orphan_refusal(Workload.RESOURCE, left, "") is not None
    assert orphan_refusal(Workload.RESOURCE, left, "Background") is None
