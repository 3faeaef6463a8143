"""The roles of the parts of a manager: minimal, and bound to the right accounts."""

import pytest

from compute.api import cluster_roles
from compute.app.manager_permissions import PartGrant, grants, metrics_objects
from kubekit.api.kinds.rbac import ClusterRole, ClusterRoleBinding, Role, RoleBinding

SENT = {"get", "list", "watch", "create", "patch", "delete"}
SECRET = {"secrets", "serviceaccounts/token", "roles", "clusterroles", "rolebindings", "*"}


def rules():
    """Every rule of every role that is granted to a manager, with the name of the role."""
    every = [obj for grant in grants() for obj in grant.objects()] + metrics_objects()
    return [
        (obj.metadata.name, rule)
        for obj in every
        if isinstance(obj, Role | ClusterRole)
        for rule in obj.rules
    ]


def test_no_role_has_a_wildcard_or_an_update():
    """Our clients never send an update; only the block of an owner's deletion asks for one."""
    for name, rule in rules():
        assert "*" not in (*rule.verbs, *rule.api_groups, *rule.resources), name
        if set(rule.verbs) - SENT:
            assert rule.verbs == ("update",)
            assert all(each.endswith("/finalizers") for each in rule.resources), name


def test_no_manager_reads_secrets_or_grants_rights():
    """A stolen token gives no other one away, and makes no new one."""
    for name, rule in rules():
        assert not SECRET & set(rule.resources), name


def test_leases_are_written_in_one_namespace_only():
    """A manager cannot stop the elections of other programs."""
    for name, rule in ((n, r) for n, r in rules() if "leases" in r.resources):
        roles = [obj for grant in grants() for obj in grant.objects() if obj.metadata.name == name]
        clusterwide = [o for o in roles if isinstance(o, ClusterRole) and rule in o.rules]
        assert not clusterwide or not {"create", "patch", "delete"} & set(rule.verbs), name


@pytest.mark.parametrize("plane", ["hub", "project"])
def test_a_cell_on_another_plane_is_its_account_in_the_namespace_of_cells(plane):
    """A new cell needs a ServiceAccount and no binding of its own."""
    (binding,) = [
        o for o in PartGrant("cell", plane).objects() if isinstance(o, ClusterRoleBinding)
    ]
    (subject,) = binding.subjects

    assert (subject.kind, subject.name) == ("Group", "system:serviceaccounts:compute-cells")


@pytest.mark.parametrize("grant", grants(), ids=lambda grant: grant.name)
def test_every_role_is_bound_under_its_own_name(grant):
    """Each role has its binding, in the same namespace."""
    objects = list(grant.objects())
    roles = [o for o in objects if isinstance(o, Role | ClusterRole)]
    bindings = [o for o in objects if isinstance(o, RoleBinding | ClusterRoleBinding)]

    assert len(roles) == len(bindings)
    for role, binding in zip(roles, bindings, strict=True):
        assert binding.role_ref.kind == role.kind
        assert binding.role_ref.name == role.metadata.name == grant.name
        assert binding.metadata.namespace == role.metadata.namespace


def test_no_role_of_a_manager_has_the_name_of_a_role_for_users():
    """Both are applied to the same cluster."""
    users = {role.metadata.name for role in cluster_roles.ALL}
    assert not users & {grant.name for grant in grants()}
