"""Decisions: which user has a permission, why, from when until when, and the text of a refusal."""

import tracemalloc

import pytest

from kubekit.api.errors import Forbidden
from kubekit.plane.access import authorizer
from kubekit.plane.access.attributes import Attributes
from kubekit.plane.http.interfaces import RbacCheck
from kubekit.plane.store.records import ChangeType, Draft
from kubekit.plane.users import ANONYMOUS, MASTERS, PLANE_USER, User
from tests.support.kubekit.access_builders import BOB, SPACE, account, group, rule, scenario, user
from tests.support.kubekit.registry_builders import details_of

READ = rule("get list", "pods")
MASTER = User("root", (MASTERS,))


@scenario
async def test_a5_without_rules_no_user_may_do_anything(world):
    """Only the plane itself and its masters may."""
    assert not world.may(BOB, "get")
    assert not world.may(ANONYMOUS, "get", path="/api")
    assert world.may(MASTER, "fly", "dragons")
    assert world.may(PLANE_USER, "fly", path="/moon")


@pytest.mark.parametrize(
    ("subject", "who", "holds"),
    [
        (user("bob"), BOB, True),
        (user("Bob"), BOB, False),
        (user("staff"), BOB, False),
        (group("staff"), BOB, True),
        (group("bob"), BOB, False),
        (group("system:authenticated"), BOB, True),
        (account("bot"), User(f"system:serviceaccount:{SPACE}:bot"), True),
        (account("bot"), User("system:serviceaccount:attic:bot"), False),
        (account("bot", "attic"), User("system:serviceaccount:attic:bot"), True),
        (user(f"system:serviceaccount:{SPACE}:bot"), User(f"system:serviceaccount:{SPACE}:bot"), True),
        (account("bot"), User("bot"), False),
    ],
    ids=str,
)  # fmt: skip
@scenario
async def test_a6_users_are_exact(world, subject, who, holds):
    """A subject is the user, group or service account of exactly its name."""
    await world.role("reader", READ)
    await world.bind("readers", "Role/reader", subject)

    assert world.may(who, "get", namespace=SPACE) is holds


@scenario
async def test_a5_a_role_holds_where_it_is_bound(world):
    """In one namespace by a RoleBinding, everywhere by a ClusterRoleBinding; paths everywhere only."""
    await world.role("reader", READ, rule("get", non_resource_urls=("/x",)), namespace="")
    await world.bind("here", "ClusterRole/reader", user("bob"))
    await world.bind("all", "ClusterRole/reader", user("ann"), namespace="")
    ann = User("ann")

    assert world.may(BOB, "get", namespace=SPACE)
    assert not world.may(BOB, "get", namespace="attic")
    assert not world.may(BOB, "list")
    assert not world.may(BOB, "get", path="/x")
    assert not world.may(BOB, "get", path="/x", namespace=SPACE)
    assert world.may(ann, "get", namespace="attic")
    assert world.may(ann, "list")
    assert world.may(ann, "get", path="/x")


@scenario
async def test_a5_a_role_is_that_of_its_own_namespace(world):
    """Roles of the same name elsewhere give nothing here."""
    await world.role("reader", READ, namespace="attic")
    await world.bind("readers", "Role/reader", user("bob"))

    assert not world.may(BOB, "get", namespace=SPACE)


@scenario
async def test_a6_a_right_is_gone_with_the_next_request(world):
    """Whatever it hung on: the binding, the subject, the role or the rule."""
    asked = {"verb": "get", "namespace": SPACE}
    await world.role("reader", READ)
    await world.bind("readers", "Role/reader", user("bob"))
    assert world.may(BOB, **asked)

    await world.patch("Role", SPACE, "reader", {"rules": [rule("list", "pods")]})
    assert not world.may(BOB, **asked)
    await world.patch("Role", SPACE, "reader", {"rules": [READ]})
    assert world.may(BOB, **asked)

    await world.patch("RoleBinding", SPACE, "readers", {"subjects": [user("ann")]})
    assert not world.may(BOB, **asked)
    await world.patch("RoleBinding", SPACE, "readers", {"subjects": [user("ann"), user("bob")]})
    assert world.may(BOB, **asked)

    await world.delete("Role", SPACE, "reader")
    assert not world.may(BOB, **asked)
    await world.role("reader", READ)
    assert world.may(BOB, **asked)

    await world.delete("RoleBinding", SPACE, "readers")
    assert not world.may(BOB, **asked)


@scenario
async def test_a6_a_subject_named_twice_is_lost_at_once(world):
    """A binding may name a user twice, and its group; deleting it leaves nothing behind."""
    await world.role("reader", READ)
    subjects = [user("bob"), group("staff"), user("bob")]
    await world.bind("readers", "Role/reader", *subjects)
    await world.bind("more", "Role/reader", group("staff"))

    await world.delete("RoleBinding", SPACE, "readers")
    assert world.may(BOB, "get", namespace=SPACE)
    await world.delete("RoleBinding", SPACE, "more")
    assert not world.may(BOB, "get", namespace=SPACE)


@scenario
async def test_a6_users_do_not_share_decisions(world):
    """A decision is that of the user and its groups, in any order of requests."""
    await world.role("reader", READ)
    await world.bind("readers", "Role/reader", group("staff"))

    assert world.may(BOB, "get", namespace=SPACE)
    assert not world.may(User("bob"), "get", namespace=SPACE)
    assert not world.may(User("ann", ("guests",)), "get", namespace=SPACE)
    assert world.may(User("ann", ("guests", "staff")), "get", namespace=SPACE)


@scenario
async def test_a5_names_in_rules_have_decisions_of_their_own(world):
    """Kept decisions about one object say nothing about another, or about all of them."""
    await world.role("one", rule("get list", "pods", resource_names=("a",)))
    await world.bind("one", "Role/one", user("bob"))
    asked = {"verb": "get", "namespace": SPACE}

    assert [world.may(BOB, **asked, name=name) for name in ("b", "a", "c", "", "a")] == [
        False, True, False, False, True,
    ]  # fmt: skip
    assert not world.may(BOB, "list", namespace=SPACE)
    assert world.may(BOB, "list", namespace=SPACE, name="a")


@scenario
async def test_the_check_of_the_server_allows_permitted_requests(world):
    """It says nothing then."""
    await world.give(user("bob"), READ)

    RbacCheck().check(world, BOB, Attributes(verb="get", resource="pods", namespace=SPACE))


@scenario
async def test_a5_an_unreadable_binding_grants_nothing(world, caplog):
    """A role that another program left in the store is passed over; the others still count."""
    await world.role("reader", READ)
    await world.bind("readers", "Role/reader", user("bob"))
    head = b'{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"Role","metadata":{'
    tail = b'"name":"odd","namespace":"room"},"rules":"all"}'
    storage = "rbac.authorization.k8s.io/roles"
    draft = Draft(storage, f"{SPACE}/odd", 0, ChangeType.ADDED, head, tail)
    await world.registry.store.write(draft)
    await world.bind("odd", "Role/odd", user("ann"))

    assert world.may(BOB, "get", namespace=SPACE)
    assert not world.may(User("ann"), "get", namespace=SPACE)
    assert [record.message for record in caplog.records] == ["an access rule cannot be read"]


@scenario
async def test_a5_a_rule_may_name_the_empty_name(world):
    """It is then about requests without a name, and about no others."""
    await world.role("none", rule("get", "pods", resource_names=("",)))
    await world.bind("none", "Role/none", user("bob"))

    assert world.may(BOB, "get", namespace=SPACE)
    assert not world.may(BOB, "get", namespace=SPACE, name="a")


@scenario
async def test_a6_decisions_are_dropped_when_they_are_too_many(world, monkeypatch):
    """A user that asks about ever new things takes no memory, and decisions stay right."""
    monkeypatch.setattr(authorizer, "MOST_DECISIONS", 3)
    await world.role("reader", READ)
    await world.bind("readers", "Role/reader", user("bob"))

    assert [world.may(BOB, "get", namespace=f"n{number}") for number in range(10)] == [False] * 10
    assert world.may(BOB, "get", namespace=SPACE)


@scenario
async def test_a6_long_words_do_not_fill_the_memory(world):
    """Every user may ask for its permissions, with megabytes of text: they are not cached for long."""
    tracemalloc.start()
    try:
        for number in range(100):
            assert not world.may(BOB, "get", f"{number}{'x' * (1 << 20)}")
        kept, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert kept < 32 << 20


@pytest.mark.parametrize(
    ("binding", "subject", "who", "reason"),
    [
        ("", group("staff"), BOB, 'ClusterRoleBinding "given" of ClusterRole "r" to Group "staff"'),
        (SPACE, user("bob"), BOB, 'RoleBinding "given/room" of ClusterRole "r" to User "bob"'),
        (
            SPACE,
            account("bot"),
            User(f"system:serviceaccount:{SPACE}:bot"),
            'RoleBinding "given/room" of ClusterRole "r" to ServiceAccount "bot/room"',
        ),
        (
            "",
            account("bot", "attic"),
            User("system:serviceaccount:attic:bot"),
            'ClusterRoleBinding "given" of ClusterRole "r" to ServiceAccount "bot/attic"',
        ),
    ],
    ids=["group everywhere", "user here", "account here", "account everywhere"],
)
@scenario
async def test_the_reason_of_a_permission(world, binding, subject, who, reason):
    """The reason names the binding, the role and the subject that fitted."""
    await world.role("r", READ, namespace="")
    await world.bind("given", "ClusterRole/r", subject, namespace=binding)
    asked = Attributes(verb="get", resource="pods", namespace=SPACE)

    assert world.access.decide(who, asked).reason == f"RBAC: allowed by {reason}"


@scenario
async def test_the_first_subject_that_fits_is_named(world):
    """Of several in one binding, it is the one that stands first."""
    await world.role("r", READ)
    await world.bind("given", "Role/r", group("staff"), user("bob"))
    asked = Attributes(verb="get", resource="pods", namespace=SPACE)

    assert world.access.decide(BOB, asked).reason.endswith('to Group "staff"')


REFUSALS = {
    "in a namespace": (
        {"verb": "list", "resource": "pods", "namespace": "ns"},
        'pods is forbidden: User "bob" cannot list resource "pods" in API group "" '
        'in the namespace "ns"',
    ),
    "everywhere": (
        {"verb": "list", "resource": "pods"},
        'pods is forbidden: User "bob" cannot list resource "pods" in API group "" '
        "at the cluster scope",
    ),
    "one object": (
        {"verb": "get", "resource": "deployments", "group": "apps", "name": "x", "namespace": "ns"},
        'deployments.apps "x" is forbidden: User "bob" cannot get resource "deployments" '
        'in API group "apps" in the namespace "ns"',
    ),
    "a part": (
        {"verb": "update", "resource": "pods", "subresource": "status", "name": "x"},
        'pods "x" is forbidden: User "bob" cannot update resource "pods/status" in API group "" '
        "at the cluster scope",
    ),
    "a path": ({"verb": "get", "path": "/x"}, 'forbidden: User "bob" cannot get path "/x"'),
}


@pytest.mark.parametrize(("asked", "words"), REFUSALS.values(), ids=REFUSALS)
@scenario
async def test_refusals_are_worded_as_kubernetes_words_them(world, asked, words):
    """People and programs look for these words."""
    with pytest.raises(Forbidden) as refusal:
        world.access.check(BOB, Attributes(**asked))

    assert refusal.value.message == words
    details = details_of(refusal)
    assert (details.name, details.group, details.kind) == (
        asked.get("name", ""), asked.get("group", ""), asked.get("resource", ""),
    )  # fmt: skip


@scenario
async def test_a_refusal_names_roles_that_are_not_there(world):
    """Most often one is misspelled; each is named once."""
    asked = Attributes(verb="get", resource="pods", namespace=SPACE)
    await world.bind("one", "Role/gone", user("bob"))
    assert world.access.decide(BOB, asked).reason == (
        'RBAC: role.rbac.authorization.k8s.io "gone" not found'
    )

    await world.bind("two", "Role/gone", group("staff"))
    await world.bind("three", "ClusterRole/lost", user("bob"), namespace="")
    with pytest.raises(Forbidden) as refusal:
        RbacCheck().check(world, BOB, asked)

    assert refusal.value.message.endswith(
        'in the namespace "room": RBAC: [clusterrole.rbac.authorization.k8s.io "lost" not found, '
        'role.rbac.authorization.k8s.io "gone" not found]'
    )


@scenario
async def test_l1_names_cannot_break_the_words_of_a_refusal(world):
    """A name with quotes, line ends and escapes stays on its line and in its quotes."""
    with pytest.raises(Forbidden) as refusal:
        world.access.check(User('a"\n\x1b\u2028'), Attributes(verb="get", path="/x"))

    assert refusal.value.message == r'forbidden: User "a\"\n\x1b\u2028" cannot get path "/x"'


@scenario
async def test_what_was_stored_before_is_read(world):
    """A plane that starts again knows what was given."""
    await world.role("reader", READ)
    await world.bind("readers", "Role/reader", user("bob"))
    again = authorizer.Authorizer(world.registry.store)
    asked = Attributes(verb="get", resource="pods", namespace=SPACE)

    assert again.decide(BOB, asked).allowed
    again.close()
    await world.delete("RoleBinding", SPACE, "readers")
    assert again.decide(BOB, asked).allowed  # it hears no more
    assert not world.access.decide(BOB, asked).allowed
