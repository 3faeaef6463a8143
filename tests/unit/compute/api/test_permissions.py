"""Declarations of permissions, and the rules of roles that follow from them."""

from compute.api.compute import Instance, Workload
from compute.api.permissions import (
    READ,
    WATCH,
    ObjectScope,
    allow,
    events,
    leases,
    namespaces,
    owners,
    rules,
)
from kubekit.api.kinds.coordination import Lease
from kubekit.api.kinds.core import ConfigMap
from kubekit.api.kinds.rbac import PolicyRule

GROUP = "compute.datumapis.com"


def rule(verbs, group, *resources, names=()):
    return PolicyRule(
        verbs=tuple(verbs.split()), api_groups=(group,), resources=resources, resource_names=names
    )


def test_a_declaration_names_each_kind_and_subresource():
    """One permission for each kind, in the words of a role."""
    whole = allow("hub", READ, Workload, Instance)
    status = allow("hub", ("patch",), Workload, subresource="status")

    assert [each.resource for each in (*whole, *status)] == [
        "workloads",
        "instances",
        "workloads/status",
    ]
    assert {each.plane for each in whole} == {"hub"}


def test_verbs_of_several_declarations_are_united_in_one_order():
    """Two controllers that declare the same kind make one rule."""
    declared = (
        *allow("cell", ("delete", "patch"), Instance),
        *allow("cell", WATCH, Instance),
        *allow("cell", READ, Instance),
    )

    assert rules(declared) == (rule("get list watch patch delete", GROUP, "instances"),)


def test_resources_with_the_same_verbs_share_a_rule():
    """But never across groups, since a rule allows every resource in every group."""
    declared = (*allow("cell", READ, Workload, ConfigMap, Instance), *events("cell"))

    assert rules(declared) == (
        rule("get list watch", "", "configmaps"),
        rule("get create patch", "", "events"),
        rule("get list watch", GROUP, "instances", "workloads"),
    )


def test_a_permission_in_one_namespace_is_for_a_role_there():
    """It is in no rule of the ClusterRole."""
    declared = (*allow("hub", READ, Instance), *leases("hub", "compute-system"))

    assert namespaces(declared) == ("", "compute-system")
    assert rules(declared) == (rule("get list watch", GROUP, "instances"),)
    assert rules(declared, "compute-system") == (
        rule("get create patch", Lease.RESOURCE.group, "leases"),
    )


def test_a_permission_on_names_shares_no_rule_with_one_on_all():
    """A rule with names would restrict both, and one without would restrict none."""
    one = ObjectScope("compute-system", ("settings",))
    declared = (
        *allow("cell", WATCH, ConfigMap, scope=one),
        *allow("cell", ("create",), ConfigMap, scope=ObjectScope("compute-system")),
    )

    assert rules(declared, "compute-system") == (
        rule("create", "", "configmaps"),
        rule("list watch", "", "configmaps", names=("settings",)),
    )


def test_blocking_the_deletion_of_an_owner_takes_no_write_of_it():
    """The one update is of a subresource that custom resources do not have."""
    assert rules(owners("cell", Workload)) == (rule("update", GROUP, "workloads/finalizers"),)
