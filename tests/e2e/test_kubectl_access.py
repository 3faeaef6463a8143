"""Real kubectl as an administrator and as a user with few permissions."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from random import SystemRandom

import pytest
import yaml

from compute.app.system_environment import system
from kubekit.plane.http.authentication.bearer_tokens import Tokens
from kubekit.plane.users import AUTHENTICATED, User
from tests.e2e.conftest import needs_kubectl
from tests.support.kubekit.kites import config_map
from tests.support.kubekit.plane_process import running

needs_kubectl()

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

BOB = "bob"
MARK = f"{SystemRandom().randrange(16**8):08x}"  # in the names of what is outside all namespaces


@pytest.fixture(scope="session")
def access_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, list[str]]]:
    """A kubeconfig of an administrator, and the flags by which kubectl acts as another user.

    On a server that E2E_KUBECONFIG names, the administrator impersonates that user.
    """
    if named := os.environ.get("E2E_KUBECONFIG"):
        yield Path(named), ["--as", BOB, "--as-group", AUTHENTICATED]
        return
    data = tmp_path_factory.mktemp("access") / "data"
    data.mkdir(mode=0o700)
    token = Tokens(data / "tokens.json", system()).issue(User(BOB, (AUTHENTICATED,)))
    with running(data) as plane:
        yield plane.kubeconfig, ["--token", token]


@pytest.fixture(scope="session")
def kubeconfig(access_server: tuple[Path, list[str]]) -> Path:
    """The server of this module, instead of the one that the other modules share."""
    return access_server[0]


@pytest.fixture
def as_bob(kubectl, access_server):
    """Kubectl as a user with the default permissions only."""
    flags = access_server[1]
    return lambda *arguments, **more: kubectl(*flags, *arguments, **more)


def reader(kubectl):
    """Let bob read config maps in the namespace of the test."""
    kubectl("create", "role", "reader", "--verb=get,list,watch", "--resource=configmaps")
    kubectl("create", "rolebinding", "readers", "--role=reader", f"--user={BOB}")


def test_an_administrator_may_everything(kubectl):
    """Of kinds that are there and of paths, here and everywhere."""
    assert kubectl("auth", "can-i", "delete", "configmaps") == "yes\n"
    assert kubectl("auth", "can-i", "*", "*", "--all-namespaces") == "yes\n"
    assert kubectl("auth", "can-i", "get", "/metrics") == "yes\n"


def test_a_user_without_permission(as_bob):
    """The answer is no, and so is the exit code."""
    assert as_bob("auth", "can-i", "list", "configmaps", code=1) == "no\n"
    assert as_bob("auth", "can-i", "get", "/metrics", code=1) == "no\n"
    assert as_bob("auth", "can-i", "get", "/version") == "yes\n"


def test_rights_are_given_and_taken(kubectl, as_bob):
    """A role and a binding give them at once; without the binding they are gone at once."""
    reader(kubectl)
    assert as_bob("auth", "can-i", "list", "configmaps") == "yes\n"
    assert as_bob("auth", "can-i", "delete", "configmaps", code=1) == "no\n"
    assert as_bob("auth", "can-i", "list", "configmaps", "-n", "default", code=1) == "no\n"
    kubectl("create", "-f", "-", text=config_map("settings"))
    assert "settings" in as_bob("get", "configmaps")

    kubectl("delete", "rolebinding", "readers")
    assert as_bob("auth", "can-i", "list", "configmaps", code=1) == "no\n"
    as_bob("get", "configmaps", code=1)


def test_a_refusal_reads_as_kubectl_users_know_it(kubectl, as_bob):
    """Who, what, which group, where."""
    assert as_bob("get", "configmaps", code=1) == (
        f'Error from server (Forbidden): configmaps is forbidden: User "{BOB}" cannot list '
        f'resource "configmaps" in API group "" in the namespace "{kubectl.namespace}"\n'
    )
    assert as_bob("get", "namespaces", code=1) == (
        f'Error from server (Forbidden): namespaces is forbidden: User "{BOB}" cannot list '
        'resource "namespaces" in API group "" at the cluster scope\n'
    )
    assert as_bob("get", "secret", "x", code=1) == (
        f'Error from server (Forbidden): secrets "x" is forbidden: User "{BOB}" cannot get '
        f'resource "secrets" in API group "" in the namespace "{kubectl.namespace}"\n'
    )
    refused = as_bob("create", "-f", "-", text=config_map("x"), code=1)
    assert f'configmaps is forbidden: User "{BOB}" cannot create resource "configmaps"' in refused
    assert f'User "{BOB}" cannot get path "/metrics"' in as_bob("get", "--raw", "/metrics", code=1)


def test_the_table_of_permissions(kubectl, as_bob):
    """The table has a line for each permission."""
    reader(kubectl)
    lines = [line.split() for line in as_bob("auth", "can-i", "--list").splitlines()]

    assert lines[0] == ["Resources", "Non-Resource", "URLs", "Resource", "Names", "Verbs"]
    assert ["configmaps", "[]", "[]", "[get", "list", "watch]"] in lines
    assert ["[/livez]", "[]", "[get]"] in lines
    assert ["selfsubjectaccessreviews.authorization.k8s.io", "[]", "[]", "[create]"] in lines


def test_a_right_to_one_object(kubectl, as_bob):
    """By its name, and then neither others nor all of them; a list of that one counts as it."""
    for name in ("mine", "other"):
        kubectl("create", "-f", "-", text=config_map(name))
    kubectl(
        "create",
        "role",
        "one",
        "--verb=get,list,watch",
        "--resource=configmaps",
        "--resource-name=mine",
    )
    kubectl("create", "rolebinding", "one", "--role=one", f"--user={BOB}")

    assert as_bob("get", "configmap", "mine", "-o", "name") == "configmap/mine\n"
    as_bob("get", "configmap", "other", code=1)
    as_bob("get", "configmaps", code=1)
    listed = as_bob("get", "configmaps", "--field-selector", "metadata.name=mine", "-o", "name")
    assert listed == "configmap/mine\n"


def test_a_permission_for_a_namespace_is_one_within_it(kubectl, as_bob):
    """A user that may get namespaces in a namespace may get that one."""
    kubectl("create", "role", "here", "--verb=get", "--resource=namespaces")
    kubectl("create", "rolebinding", "here", "--role=here", f"--user={BOB}")

    got = as_bob("get", "namespace", kubectl.namespace, "-o", "name")
    assert got == f"namespace/{kubectl.namespace}\n"
    as_bob("get", "namespace", "default", code=1)


def test_cluster_roles(kubectl, as_bob):
    """Bound in a namespace they hold there; the table of bindings names the role."""
    name = f"cm-reader-{MARK}"
    kubectl("create", "clusterrole", name, "--verb=get,list", "--resource=configmaps")
    try:
        kubectl("create", "rolebinding", "cluster", f"--clusterrole={name}", f"--user={BOB}")
        assert as_bob("auth", "can-i", "list", "configmaps") == "yes\n"
        shown = kubectl("get", "rolebindings", "-o", "wide", "--no-headers").split()
        assert shown[:2] == ["cluster", f"ClusterRole/{name}"]
        assert shown[3] == BOB
    finally:
        kubectl("delete", "clusterrole", name)


@pytest.mark.skipif("E2E_KUBECONFIG" in os.environ, reason="it needs controllers, and our kinds")
def test_admin_of_a_namespace(kubectl, as_bob):
    """The default roles work: an admin there grants its own permissions, and no more."""
    kubectl("create", "rolebinding", "boss", "--clusterrole=admin", f"--user={BOB}")
    assert as_bob("auth", "can-i", "create", "workloads.compute.datumapis.com") == "yes\n"
    assert as_bob("auth", "can-i", "create", "namespaces", code=1).endswith("no\n")

    as_bob("create", "role", "secrets", "--verb=get", "--resource=secrets")
    as_bob("create", "rolebinding", "secrets", "--role=secrets", "--user=ann")
    refused = as_bob(
        "create",
        "role",
        "more",
        "--verb=escalate",
        "--resource=roles.rbac.authorization.k8s.io",
        code=1,
    )
    assert "is attempting to grant RBAC permissions not currently held:\n" in refused
    refused = as_bob(
        "create", "rolebinding", "all", "--clusterrole=cluster-admin", "--user=bob", code=1
    )
    assert '{APIGroups:["*"], Resources:["*"], Verbs:["*"]}' in refused


def test_reconcile(kubectl):
    """`auth reconcile` makes what is missing, adds what was left out, and then has nothing to do."""
    manifest = [
        {
            "apiVersion": "rbac.authorization.k8s.io/v1",
            "kind": "Role",
            "metadata": {"name": "r", "namespace": kubectl.namespace},
            "rules": [{"verbs": ["get", "list"], "apiGroups": [""], "resources": ["configmaps"]}],
        },
        {
            "apiVersion": "rbac.authorization.k8s.io/v1",
            "kind": "RoleBinding",
            "metadata": {"name": "b", "namespace": kubectl.namespace},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "r"},
            "subjects": [
                {"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "ann"},
                {"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": BOB},
            ],
        },
    ]  # fmt: skip
    text = yaml.safe_dump_all(manifest)
    assert kubectl("auth", "reconcile", "-f", "-", text=text).splitlines()[0].endswith("reconciled")
    kubectl(
        "patch", "role", "r", "--type=json", "-p", '[{"op":"remove","path":"/rules/0/verbs/0"}]'
    )
    kubectl("patch", "rolebinding", "b", "-p", '{"subjects":null}')

    said = kubectl("auth", "reconcile", "-f", "-", text=text)
    role = json.loads(kubectl("get", "role", "r", "-o", "json"))
    binding = json.loads(kubectl("get", "rolebinding", "b", "-o", "json"))
    assert "missing rules added" in said
    assert {verb for rule in role["rules"] for verb in rule["verbs"]} == {"get", "list"}
    assert [subject["name"] for subject in binding["subjects"]] == ["ann", BOB]
    again = kubectl("auth", "reconcile", "-f", "-", text=text)
    assert "missing" not in again


def test_who_am_i_asking_as(as_bob):
    """`auth whoami` says who the server takes one for."""
    found = json.loads(as_bob("auth", "whoami", "-o", "json"))["status"]["userInfo"]

    assert found["username"] == BOB
    assert AUTHENTICATED in found["groups"]


def test_a_role_is_described(kubectl):
    """`describe` lists its rules, `get` when it was made."""
    reader(kubectl)

    assert "configmaps  []                 []              [get list watch]" in kubectl(
        "describe", "role", "reader"
    )
    assert kubectl("get", "roles").split()[:3] == ["NAME", "CREATED", "AT"]
