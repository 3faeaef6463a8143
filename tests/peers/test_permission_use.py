"""What was asked of a plane, and what the manifests permit."""

import json

from tests.peers.deployed import permission_use
from tests.peers.deployed.permission_use import Permission

USER = "system:serviceaccount:compute-system:compute-manager"


def entry(user=USER, decision="allow", **target):
    return json.dumps(
        {
            "user": {"username": user},
            "verb": "patch",
            "requestURI": "/path",
            "objectRef": {"resource": "instances", "apiGroup": "compute.datumapis.com"} | target,
            "annotations": {"authorization.k8s.io/decision": decision},
        }
    )


def asked(*lines):
    return list(permission_use.requests("hub", lines))


def test_requests_of_our_accounts_are_read():
    """Those of others are not; a subresource is a part of the resource."""
    (one,) = asked(entry(subresource="status"), entry("kubernetes-admin"))
    assert one.permission == Permission("hub", "compute.datumapis.com", "instances/status", "patch")
    assert str(one.permission) == "hub: patch instances/status.compute.datumapis.com"
    assert one.allowed


def test_a_refusal_of_the_authorizer_is_one():
    """It names the account and the path."""
    (one,) = asked(entry(decision="forbid"))
    assert not one.allowed
    assert str(one) == f"{USER} asked for /path (hub: patch instances.compute.datumapis.com)"


def test_what_is_granted():
    """Rules of roles that are bound, without those that only admission asks for."""
    rules = [
        {"apiGroups": [""], "resources": ["events", "events/finalizers"], "verbs": ["create"]},
        {"nonResourceURLs": ["/metrics"], "verbs": ["get"]},
    ]
    role = {"kind": "ClusterRole", "metadata": {"name": "one"}, "rules": rules}
    unbound = {"kind": "ClusterRole", "metadata": {"name": "two"}, "rules": rules}
    reference = {"kind": "ClusterRole", "name": "one"}
    binding = {"kind": "ClusterRoleBinding", "metadata": {"name": "b"}, "roleRef": reference}
    foreign = {
        "kind": "RoleBinding",
        "metadata": {"name": "c"},
        "roleRef": {"kind": "Role", "name": "elsewhere"},
    }

    granted = permission_use.granted("dfw", [role, unbound, binding, foreign])
    assert granted == {Permission("dfw", "", "events", "create")}
