"""Real kubectl: who owns which field, who says so, and who a client is."""

import json
import os

import pytest
import yaml

from tests.e2e.conftest import Kubectl, needs_kubectl
from tests.support.kubekit.kites import config_map, kite

needs_kubectl()

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"


def serverside(kubectl, text, *more, code=0):
    return kubectl("apply", "--server-side", *more, "-f", "-", text=text, code=code)


def found(kubectl, *resource):
    return json.loads(kubectl("get", *resource, "-o", "json", "--show-managed-fields"))


def status_of(name, **status):
    """The manifest of a kite's status, with a colour that is none of its business."""
    reported = yaml.safe_load(kite(name, colour="blue")) | {"status": status}
    del reported["metadata"]["labels"]
    return yaml.safe_dump(reported)


def owners(document):
    """The fields of each manager, by its name and operation; without intermediate steps."""
    return {
        (entry["manager"], entry["operation"], entry.get("subresource", "")): set(
            _members(entry["fieldsV1"])
        )
        for entry in document["metadata"]["managedFields"]
    }


def _members(fields, path=""):
    for step, below in fields.items():
        if step != ".":
            inner = f"{path}.{step.removeprefix('f:')}"
            yield from _members(below, inner) if set(below) - {"."} else [inner]


@pytest.mark.parametrize(
    ("manifest", "resource"),
    [(config_map("box", colour="red"), "configmap/box"), (kite("box"), "kite.example.test/box")],
    ids=["built-in", "custom"],
)
def test_applying_again_and_again(kubectl, manifest, resource):
    """The first makes it, the same changes nothing, and another is taken over."""
    said = f"{resource} serverside-applied\n"
    assert serverside(kubectl, manifest) == said
    first = found(kubectl, resource)
    assert serverside(kubectl, manifest) == said
    assert found(kubectl, resource) == first
    assert serverside(kubectl, manifest.replace("red", "blue")) == said

    changed = found(kubectl, resource)
    assert changed != first
    assert list(owners(changed)) == [("kubectl", "Apply", "")]
    assert "blue" in json.dumps(changed)


def test_a_conflict_is_reported_as_kubectl_users_know_it(kubectl):
    """Which field, whose it is, and what one can do; nothing was changed."""
    serverside(kubectl, config_map("box", a="1", b="1"), "--field-manager=ann")
    refused = serverside(kubectl, config_map("box", a="2", b="2"), "--field-manager=ben", code=1)

    assert refused.splitlines()[:3] == [
        'error: Apply failed with 2 conflicts: conflicts with "ann":',
        "- .data.a",
        "- .data.b",
    ]
    assert "--force-conflicts" in refused
    assert found(kubectl, "configmap", "box")["data"] == {"a": "1", "b": "1"}


def test_one_conflict_with_a_plain_writer(kubectl):
    """A field that was written without apply has an owner too, which is named with its operation."""
    kubectl("create", "-f", "-", text=kite("box"))
    kubectl("patch", "kite", "box", "--type=merge", "-p", '{"spec":{"colour":"green"}}')
    refused = serverside(kubectl, kite("box", colour="blue"), "--field-manager=ben", code=1)

    assert refused.startswith(
        'error: Apply failed with 1 conflict: conflict with "kubectl-patch" using example.test/v1: '
        ".spec.colour\n"
    )


def test_taking_fields_over(kubectl):
    """Who insists owns the field, and the other owns it no more."""
    serverside(kubectl, config_map("box", a="1", b="1"), "--field-manager=ann")
    forced = serverside(
        kubectl, config_map("box", a="2"), "--field-manager=ben", "--force-conflicts"
    )

    box = found(kubectl, "configmap", "box")
    assert forced == "configmap/box serverside-applied\n"
    assert box["data"] == {"a": "2", "b": "1"}
    assert owners(box) == {("ann", "Apply", ""): {".data.b"}, ("ben", "Apply", ""): {".data.a"}}


def test_owning_together(kubectl):
    """Who says the same owns it as well; it goes when the last of them leaves it out."""
    for manager in ("ann", "ben"):
        serverside(kubectl, config_map("box", a="1", b="1"), f"--field-manager={manager}")
    serverside(kubectl, config_map("box", b="1"), "--field-manager=ann")
    still = found(kubectl, "configmap", "box")
    serverside(kubectl, config_map("box", b="1"), "--field-manager=ben")
    gone = found(kubectl, "configmap", "box")

    assert still["data"] == {"a": "1", "b": "1"}
    assert owners(still)["ann", "Apply", ""] == {".data.b"}
    assert gone["data"] == {"b": "1"}


def test_giving_a_field_up(kubectl):
    """A field without owners is removed; one with a default gets the default again."""
    serverside(kubectl, kite("box", tails=5))
    assert kubectl("get", "kite", "box", "-o", "jsonpath={.spec.tails}") == "5"
    serverside(kubectl, kite("box"))

    assert found(kubectl, "kite", "box")["spec"] == {"colour": "red", "maker": "anna", "tails": 1}


def test_from_client_side_to_server_side(kubectl):
    """What was applied by the client is taken over whole: what is left out then goes."""
    kubectl("apply", "-f", "-", text=config_map("box", a="1", b="1"))
    before = found(kubectl, "configmap", "box")
    assert LAST_APPLIED in before["metadata"]["annotations"]
    serverside(kubectl, config_map("box", a="2"))
    after = found(kubectl, "configmap", "box")

    assert after["data"] == {"a": "2"}
    assert {(who, how) for who, how, _ in owners(after)} == {
        ("kubectl", "Apply"),
        ("kubectl-last-applied", "Apply"),
    }
    assert json.loads(after["metadata"]["annotations"][LAST_APPLIED])["data"] == {"a": "2"}


def test_back_to_client_side(kubectl):
    """What was applied by the server can be applied by the client again."""
    kubectl("apply", "-f", "-", text=config_map("box", a="1"))
    serverside(kubectl, config_map("box", a="2"))
    said = kubectl("apply", "-f", "-", text=config_map("box", a="3"))

    assert said == "configmap/box configured\n"
    assert found(kubectl, "configmap", "box")["data"] == {"a": "3"}


def test_a_dry_run(kubectl):
    """It is judged and shown, conflicts and all, and nothing is kept."""
    said = serverside(kubectl, kite("box"), "--dry-run=server")
    assert said == "kite.example.test/box serverside-applied (server dry run)\n"
    assert "not found" in kubectl("get", "kite", "box", code=1)

    serverside(kubectl, kite("box"), "--field-manager=ann")
    before = found(kubectl, "kite", "box")
    other = kite("box", colour="blue")
    assert ".spec.colour" in serverside(kubectl, other, "--dry-run=server", code=1)
    shown = serverside(kubectl, other, "--dry-run=server", "--force-conflicts", "-o", "json")
    assert json.loads(shown)["spec"]["colour"] == "blue"
    assert found(kubectl, "kite", "box") == before


def test_diff(kubectl):
    """It shows what an apply would change, and changes nothing."""
    serverside(kubectl, kite("box"))
    shown = kubectl("diff", "--server-side", "-f", "-", text=kite("box", colour="blue"), code=1)

    assert {"-  colour: red", "+  colour: blue"} <= set(shown.splitlines())
    assert kubectl("diff", "--server-side", "-f", "-", text=kite("box")) == ""
    assert found(kubectl, "kite", "box")["spec"]["colour"] == "red"


def test_managed_fields_are_shown_on_request(kubectl):
    """Only then, and each entry says who, how, when, and in which version."""
    serverside(kubectl, kite("box"))
    plain = yaml.safe_load(kubectl("get", "kite", "box", "-o", "yaml"))
    [entry] = found(kubectl, "kite", "box")["metadata"]["managedFields"]

    assert "managedFields" not in plain["metadata"]
    assert entry | {"time": ""} == {
        "manager": "kubectl",
        "operation": "Apply",
        "apiVersion": "example.test/v1",
        "time": "",
        "fieldsType": "FieldsV1",
        "fieldsV1": {
            "f:metadata": {"f:labels": {"f:line": {}}},
            "f:spec": {"f:colour": {}, "f:maker": {}},
        },
    }


def test_applying_a_status(kubectl):
    """Only the status is taken of it, and it has an owner of its own."""
    serverside(kubectl, kite("box"))
    reported = status_of("box", tails=3, conditions=[{"type": "Ready", "status": "True"}])
    said = serverside(kubectl, reported, "--subresource=status", "--field-manager=watcher")
    box = found(kubectl, "kite", "box")

    assert said == "kite.example.test/box serverside-applied\n"
    assert (box["spec"]["colour"], box["status"]["tails"]) == ("red", 3)
    assert owners(box)["watcher", "Apply", "status"] == {
        ".status.tails",
        '.status.conditions.k:{"type":"Ready"}.type',
        '.status.conditions.k:{"type":"Ready"}.status',
    }


def test_lists_are_shared_by_key(kubectl):
    """Each condition has its own owner, though they stand in one list."""
    serverside(kubectl, kite("box"))
    for number, kind in enumerate(["Ready", "Aloft"]):
        reported = status_of("box", conditions=[{"type": kind, "status": str(bool(number))}])
        serverside(kubectl, reported, "--subresource=status", f"--field-manager=m{number}")
    conditions = found(kubectl, "kite", "box")["status"]["conditions"]

    assert conditions == [
        {"type": "Ready", "status": "False"},
        {"type": "Aloft", "status": "True"},
    ]


@pytest.mark.parametrize(
    ("manifest", "field"),
    [(kite("box", wings=2), "spec.wings"), (config_map("box") + "colour: red\n", "colour")],
    ids=["custom", "built-in"],
)
@pytest.mark.parametrize(
    ("form", "words"),
    [([], 'unknown field "{}"'), (["--server-side"], ".{}: field not declared in schema")],
    ids=["client", "server"],
)
def test_strict_validation(kubectl, manifest, field, form, words):
    """A field that is not in the schema is refused by its name, whichever side merges."""
    refused = kubectl("apply", *form, "--validate=strict", "-f", "-", text=manifest, code=1)

    assert words.format(field) in refused
    assert "not found" in kubectl("get", "kite,configmap", "box", code=1)


@pytest.mark.parametrize(
    ("manifest", "warning"),
    [
        (kite("box", wings=2), 'Warning: unknown field "spec.wings"'),
        (config_map("box") + "colour: red\n", 'Warning: unknown field "colour"'),
    ],
    ids=["custom", "built-in"],
)
def test_a_warning_is_enough_where_it_was_asked_for(kubectl, manifest, warning):
    """The object is created without the field, and the client gets a warning."""
    said = kubectl("create", "--validate=warn", "-f", "-", text=manifest)

    assert said.splitlines()[0] == warning
    assert "created" in said


def test_who_am_i(kubectl):
    """The administrator, and the user that it impersonates."""
    me = json.loads(kubectl("auth", "whoami", "-o", "json"))["status"]["userInfo"]
    other = kubectl(
        "--as", "ann", "--as-group", "crew", "auth", "whoami", "-o",
        "jsonpath={.status.userInfo.username} {.status.userInfo.groups}",
    )  # fmt: skip

    assert "system:masters" in me["groups"]
    assert other == 'ann ["crew","system:authenticated"]'


@pytest.fixture
def robot(kubectl, kubectl_home, tmp_path):
    """Kubectl with nothing but the token of a service account of the test's own."""
    kubectl("create", "serviceaccount", "robot")
    config = yaml.safe_load(kubectl("config", "view", "--raw", "--flatten"))
    token = kubectl("create", "token", "robot", "--duration=10m").strip()
    user = {"name": config["users"][0]["name"], "user": {"token": token}}
    (tmp_path / "robot").write_text(yaml.safe_dump(config | {"users": [user]}))
    return Kubectl(tmp_path / "robot", kubectl_home, kubectl.namespace)


def let_robot(kubectl, verbs):
    """Give it rights to the config maps of the test."""
    kubectl("create", "role", "robots", f"--verb={verbs}", "--resource=configmaps")
    account = f"--serviceaccount={kubectl.namespace}:robot"
    kubectl("create", "rolebinding", "robots", "--role=robots", account)


def test_impersonation_needs_a_permission(kubectl, robot):
    """Without it the error names the permission; with it the other user's permissions apply."""
    robot("auth", "whoami")
    refused = robot("--as", "admin", "get", "configmaps", code=1)
    without = kubectl("--as", "without-roles", "get", "configmaps", code=1)

    name = f"system:serviceaccount:{kubectl.namespace}:robot"
    assert refused == (
        f'Error from server (Forbidden): users "admin" is forbidden: User "{name}" cannot '
        'impersonate resource "users" in API group "" at the cluster scope\n'
    )
    assert 'User "without-roles" cannot list resource "configmaps"' in without


def test_a_token_of_a_service_account(kubectl, robot):
    """It says who one is, and is worth what was bound to the account."""
    whoami = json.loads(robot("auth", "whoami", "-o", "json"))["status"]["userInfo"]
    before = robot("get", "configmaps", code=1)
    let_robot(kubectl, "get,list,create,patch")
    applied = serverside(robot, config_map("box", a="1"))
    listed = robot("get", "configmaps", "-o", "name").split()
    forbidden = robot("delete", "configmap", "box", code=1)

    name = f"system:serviceaccount:{kubectl.namespace}:robot"
    assert whoami["username"] == name
    assert f'User "{name}" cannot list resource "configmaps"' in before
    assert applied == "configmap/box serverside-applied\n"
    assert "configmap/box" in listed
    assert 'cannot delete resource "configmaps"' in forbidden


@pytest.mark.skipif("E2E_KUBECONFIG" in os.environ, reason="others remember it for some seconds")
def test_a_token_ends_with_its_account(kubectl, robot):
    """It is worth nothing from the next request on."""
    robot("auth", "whoami")
    kubectl("delete", "serviceaccount", "robot")

    assert "Unauthorized" in robot("auth", "whoami", code=1)


def test_applying_takes_the_right_to_create(kubectl, robot):
    """Who may only patch can apply to what is there, and cannot make it."""
    let_robot(kubectl, "get,patch")
    refused = serverside(robot, config_map("box", a="1"), code=1)
    kubectl("create", "-f", "-", text=config_map("box", b="1"))
    applied = serverside(robot, config_map("box", a="1"))

    assert 'cannot create resource "configmaps"' in refused
    assert applied == "configmap/box serverside-applied\n"


def test_what_a_manifest_drops_from_a_list_goes(kubectl):
    """From the published schema kubectl learns how the lists of built-in kinds are merged."""
    account = {
        "apiVersion": "v1",
        "kind": "ServiceAccount",
        "metadata": {"name": "puller"},
        "imagePullSecrets": [{"name": "one"}, {"name": "two"}],
    }
    kubectl("apply", "-f", "-", text=yaml.safe_dump(account))
    account["imagePullSecrets"] = [{"name": "two"}]
    kubectl("apply", "-f", "-", text=yaml.safe_dump(account))

    present = found(kubectl, "serviceaccount", "puller")
    assert present["imagePullSecrets"] == [{"name": "two"}]
