"""The roles and bindings that a plane makes sure of when it starts."""

import pytest

from kubekit.api.kinds.rbac import ClusterRole
from kubekit.api.meta import ObjectMeta
from kubekit.plane.access import rules
from kubekit.plane.access.bootstrap import ensure_defaults
from kubekit.plane.registry.kinds import Kinds
from kubekit.plane.users import ANONYMOUS, AUTHENTICATED, User
from tests.support.kubekit.access_builders import SPACE, group, policy, rule, scenario, user

AUTO_UPDATE = "rbac.authorization.kubernetes.io/autoupdate"
ZOE = User("zoe", (AUTHENTICATED,))


async def started(world):
    await world.keeper.start()
    await world.keeper.worker.rest()


@scenario
async def test_defaults_are_marked_as_such(world):
    """Kubernetes' tools know them by their label, and leave alone what says so."""
    await started(world)
    metadata = world.get("ClusterRole", "", "system:discovery")["metadata"]

    assert metadata["labels"] == {"kubernetes.io/bootstrapping": "rbac-defaults"}
    assert metadata["annotations"] == {AUTO_UPDATE: "true"}


@scenario
async def test_what_every_user_may(world):
    """Discovery, health and self reviews; anonymous clients see no more than health."""
    await started(world)

    for path in (
        "/api",
        "/apis/compute.datumapis.com/v1alpha",
        "/openapi/v3",
        "/version",
        "/livez",
    ):
        assert world.may(ZOE, "get", path=path)
    asking = {"resource": "selfsubjectaccessreviews", "group": "authorization.k8s.io"}
    assert world.may(ZOE, "create", **asking)
    assert not world.may(ZOE, "get", path="/metrics")
    assert not world.may(ZOE, "list", "namespaces")
    assert world.may(ANONYMOUS, "get", path="/livez")
    assert not world.may(ANONYMOUS, "get", path="/api")
    assert world.may(User("prometheus", ("system:monitoring",)), "get", path="/metrics")


RIGHTS = [
    # resource, verbs of view, of edit, of admin
    ("configmaps", "get list", "create delete", ""),
    ("secrets", "", "get list create", ""),
    ("serviceaccounts", "get", "impersonate create", ""),
    ("serviceaccounts/token", "", "create", ""),
    ("events", "list", "create", ""),
    ("namespaces", "get", "", ""),
    ("leases.coordination.k8s.io", "", "get update", ""),
    ("roles.rbac.authorization.k8s.io", "", "", "get create"),
    ("localsubjectaccessreviews.authorization.k8s.io", "", "", "create"),
    ("clusterroles.rbac.authorization.k8s.io", "", "", ""),
]
VERBS = ("get", "list", "create", "update", "delete", "impersonate", "escalate", "bind")


@pytest.mark.parametrize(("resource", "view", "edit", "admin"), RIGHTS, ids=[r[0] for r in RIGHTS])
@scenario
async def test_view_edit_and_admin_hold_what_the_plane_serves(world, resource, view, edit, admin):
    """Each holds what the smaller one holds. Secrets are not for viewing."""
    await started(world)
    for role in ("view", "edit", "admin"):
        await world.bind(role, f"ClusterRole/{role}", user(role))
    whole, _, its_group = resource.partition(".")
    name, _, part = whole.partition("/")
    asked = {"resource": name, "subresource": part, "group": its_group, "namespace": SPACE}

    held = view.split()
    for role, more in (("view", ""), ("edit", edit), ("admin", admin)):
        held += more.split()
        allowed = {verb for verb in VERBS if world.may(User(role), verb, **asked)}
        assert allowed >= set(held), role
        assert bool(allowed) is bool(held), role
    assert not world.may(User("admin"), "escalate", **asked)


@scenario
async def test_a_second_start_writes_nothing(world):
    """Complete objects are left as they are."""
    await started(world)
    before = world.registry.store.revision
    await ensure_defaults(world.registry)

    assert world.registry.store.revision == before


@scenario
async def test_missing_rights_and_subjects_are_added_and_others_kept(world):
    """A user removed some and added some: the default ones come back, the user's own stay."""
    await started(world)
    mine = rule("get", non_resource_urls=("/mine",))
    await world.patch(
        "ClusterRole", "", "system:discovery",
        {"rules": [mine], "metadata": {"labels": {"kubernetes.io/bootstrapping": None, "a": "b"}}},
    )  # fmt: skip
    await world.patch("ClusterRoleBinding", "", "system:discovery", {"subjects": [group("mine")]})
    assert not world.may(ZOE, "get", path="/api")
    await ensure_defaults(world.registry)

    role = world.get("ClusterRole", "", "system:discovery")
    assert world.may(ZOE, "get", path="/api")
    assert world.may(User("x", ("mine",)), "get", path="/mine")
    assert role["metadata"]["labels"] == {"a": "b", "kubernetes.io/bootstrapping": "rbac-defaults"}


@scenario
async def test_a_sum_gets_its_selector_back(world):
    """And keeps added ones."""
    await started(world)
    selectors = [{"matchLabels": {"mine": "true"}}]
    await world.patch(
        "ClusterRole", "", "view", {"aggregationRule": {"clusterRoleSelectors": selectors}}
    )
    await ensure_defaults(world.registry)

    found = world.get("ClusterRole", "", "view")["aggregationRule"]["clusterRoleSelectors"]
    assert [list(selector["matchLabels"]) for selector in found] == [
        ["mine"], ["rbac.authorization.k8s.io/aggregate-to-view"],
    ]  # fmt: skip


@scenario
async def test_autoupdate_false_is_respected(world):
    """The annotation means that the role and the binding must stay as they are."""
    await started(world)
    left = {"metadata": {"annotations": {AUTO_UPDATE: "false"}}}
    await world.patch("ClusterRole", "", "system:discovery", left | {"rules": []})
    await world.patch("ClusterRole", "", "view", left | {"aggregationRule": None})
    await world.patch("ClusterRoleBinding", "", "system:discovery", left | {"subjects": []})
    before = world.registry.store.revision
    await ensure_defaults(world.registry)

    assert world.registry.store.revision == before


@scenario
async def test_a_binding_to_another_role_is_made_anew(world):
    """A binding's role cannot be changed, so it is deleted first, unless it is to be left alone."""
    await world.bind("cluster-admin", "ClusterRole/nothing", user("x"), namespace="")
    await world.bind("system:discovery", "ClusterRole/nothing", user("x"), namespace="")
    left = {"metadata": {"annotations": {AUTO_UPDATE: "false"}}}
    await world.patch("ClusterRoleBinding", "", "system:discovery", left)
    await started(world)

    remade = world.get("ClusterRoleBinding", "", "cluster-admin")
    kept = world.get("ClusterRoleBinding", "", "system:discovery")
    assert remade["roleRef"]["name"] == "cluster-admin"
    assert [subject["name"] for subject in remade["subjects"]] == ["system:masters"]
    assert kept["roleRef"]["name"] == "nothing"


@scenario
async def test_a_role_too_large_to_compare_is_left_as_it_is(world, monkeypatch, caplog):
    """A user that may escalate roles must not be able to prevent the next start of the plane."""
    await started(world)
    before = world.registry.store.revision
    monkeypatch.setattr(rules, "MOST_COMPARISONS", 1)
    await ensure_defaults(world.registry)

    assert world.registry.store.revision == before
    assert {record.message for record in caplog.records} == {"default object not created"}


@scenario
async def test_a_plane_without_roles_needs_no_defaults(world):
    """Some serve Kubernetes' plain kinds only."""
    before = world.registry.store.revision
    world.registry.kinds = Kinds(tuple(k for k in world.registry.kinds if k.resource.group == ""))
    await ensure_defaults(world.registry)

    assert world.registry.store.revision == before


@scenario
async def test_more_roles_are_made_sure_of_beside_the_defaults(world):
    """They are treated alike: made where they are missing, completed where rights are."""
    sweeper = ClusterRole(metadata=ObjectMeta(name="sweeper"), rules=(policy("delete", "pods"),))
    await world.keeper.start([sweeper])
    await world.keeper.worker.rest()
    await world.patch("ClusterRole", "", "sweeper", {"rules": []})
    await ensure_defaults(world.registry, [sweeper])

    await world.bind("sweeper", "ClusterRole/sweeper", user("bob"))
    assert world.may(User("bob"), "delete", namespace=SPACE)
