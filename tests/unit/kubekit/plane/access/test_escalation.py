"""Privilege escalation is refused."""

import pytest

from kubekit.api.errors import Forbidden, NotFound
from kubekit.client.options import PLAIN_DELETE, PLAIN_WRITE
from kubekit.plane.users import MASTERS, User
from tests.support.kubekit.access_builders import BOB, GROUP, SPACE, group, rule, scenario, user

READ = rule("get list", "pods")
MORE = rule("delete", "pods")
ALL = (rule("*", "*", groups=("*",)), rule("*", non_resource_urls=("*",)))


def on_roles(verbs, resources="roles", **more):
    return rule(verbs, resources, groups=(GROUP,), **more)


@scenario
async def test_a5_a_role_needs_all_its_rights_held(world):
    """A user may grant the permissions that it has, in the same namespace, and no more."""
    await world.give(user("bob"), READ, namespace=SPACE)

    await world.role("reader", rule("list", "pods"), by=BOB)
    with pytest.raises(Forbidden) as refusal:
        await world.role("more", rule("delete get", "pods"), rule("get", "nodes"), by=BOB)
    assert refusal.value.message == (
        'roles.rbac.authorization.k8s.io "more" is forbidden: user "bob" '
        '(groups=["staff" "system:authenticated"]) is attempting to grant RBAC permissions not '
        "currently held:\n"
        '{APIGroups:[""], Resources:["nodes"], Verbs:["get"]}\n'
        '{APIGroups:[""], Resources:["pods"], Verbs:["delete"]}'
    )
    for namespace in ("attic", ""):
        with pytest.raises(Forbidden):
            await world.role("reader", READ, namespace=namespace, by=BOB)


@scenario
async def test_a5_a_role_grows_only_by_what_is_held(world):
    """Updates and patches are checked like creations."""
    await world.give(user("bob"), READ, namespace=SPACE)
    await world.role("reader", READ)

    with pytest.raises(Forbidden):
        await world.patch("Role", SPACE, "reader", {"rules": [READ, MORE]}, by=BOB)
    await world.patch("Role", SPACE, "reader", {"rules": [rule("get", "pods")]}, by=BOB)


@scenario
async def test_a5_bookkeeping_grants_no_permission(world):
    """Finalizers and owners of a larger role may change; its labels may not: they could aggregate it."""
    await world.role("large", READ)
    kept = {"metadata": {"finalizers": ["example.com/x"]}}

    await world.patch("Role", SPACE, "large", kept, by=BOB)
    with pytest.raises(Forbidden):
        await world.patch("Role", SPACE, "large", {"metadata": {"labels": {"a": "b"}}}, by=BOB)


@scenario
async def test_a5_escalate_lets_write_any_role(world):
    """By the name of the role too, once it is there: a new one has no name yet."""
    await world.role("mine", READ)
    await world.give(user("bob"), on_roles("escalate", resource_names=("mine",)), namespace=SPACE)
    await world.give(user("ann"), on_roles("escalate"), namespace=SPACE)

    await world.patch("Role", SPACE, "mine", {"rules": [MORE]}, by=BOB)
    await world.role("other", MORE, by=User("ann"))
    with pytest.raises(Forbidden):
        await world.role("more", MORE, by=BOB)


@scenario
async def test_a5_a_binding_needs_the_rights_of_its_role(world):
    """A user without ``bind`` cannot bind a role with more permissions than its own."""
    await world.give(user("bob"), READ, namespace=SPACE)
    await world.role("small", READ)
    await world.role("large", READ, MORE)

    await world.bind("small", "Role/small", user("ann"), by=BOB)
    with pytest.raises(Forbidden) as refusal:
        await world.bind("large", "Role/large", user("bob"), by=BOB)
    assert refusal.value.message.startswith('rolebindings.rbac.authorization.k8s.io "large" is')
    assert not world.may(BOB, "delete", namespace=SPACE)


@scenario
async def test_a5_a_binding_everywhere_needs_the_rights_everywhere(world):
    """Rights in a namespace do not suffice, nor do those to all resources for a path."""
    everything = (rule("get", "*", groups=("*",)), rule("get", non_resource_urls=("*",)))
    await world.role("all", *everything, namespace="")
    await world.give(user("bob"), everything[0])
    await world.give(user("ann"), *everything)
    await world.give(user("eve"), everything[0], namespace=SPACE)

    with pytest.raises(Forbidden) as refusal:
        await world.bind("me", "ClusterRole/all", user("bob"), namespace="", by=BOB)
    assert refusal.value.message.endswith('{NonResourceURLs:["*"], Verbs:["get"]}')
    with pytest.raises(Forbidden):
        await world.bind("me", "ClusterRole/all", user("eve"), namespace="", by=User("eve"))
    await world.bind("me", "ClusterRole/all", user("bob"), namespace="", by=User("ann"))


@scenario
async def test_a5_bind_lets_bind_that_role(world):
    """Of the name and kind, in the namespace, that the right is for."""
    binding = on_roles("bind", "clusterroles", resource_names=("large",))
    await world.give(user("bob"), binding, namespace=SPACE)
    for name in ("large", "other"):
        await world.role(name, MORE, namespace="")
    await world.role("large", MORE)

    await world.bind("one", "ClusterRole/large", user("ann"), by=BOB)
    for role, namespace in [
        ("ClusterRole/other", SPACE), ("Role/large", SPACE), ("ClusterRole/large", "attic"),
        ("ClusterRole/large", ""),
    ]:  # fmt: skip
        with pytest.raises(Forbidden):
            await world.bind("two", role, user("bob"), namespace=namespace, by=BOB)


@scenario
async def test_a5_a_binding_gains_no_subject_for_nothing(world):
    """Adding a subject grants the role; an update without changes does not."""
    await world.role("large", MORE)
    await world.bind("large", "Role/large", user("ann"))
    added = {"subjects": [user("ann"), user("bob")]}

    with pytest.raises(Forbidden):
        await world.patch("RoleBinding", SPACE, "large", added, by=BOB)
    await world.patch("RoleBinding", SPACE, "large", {"metadata": {"finalizers": []}}, by=BOB)


@scenario
async def test_a5_a_role_that_is_not_there_can_be_bound_only_with_bind(world):
    """Its rules are not known yet."""
    with pytest.raises(NotFound) as refusal:
        await world.bind("x", "Role/gone", user("bob"), by=BOB)
    assert refusal.value.message == 'rolebindings.rbac.authorization.k8s.io "gone" not found'

    await world.give(user("bob"), on_roles("bind"), namespace=SPACE)
    await world.bind("x", "Role/gone", user("bob"), by=BOB)


@scenario
async def test_a5_a_sum_of_roles_takes_all_rights(world):
    """It could become anything, so it is for cluster-admins: to make, to change, to make plain."""
    total = {"aggregationRule": {"clusterRoleSelectors": [{"matchLabels": {"a": "b"}}]}}
    await world.role("total", namespace="", **total)

    for attempt in (
        world.role("mine", namespace="", by=BOB, **total),
        world.patch("ClusterRole", "", "total", {"metadata": {"labels": {"x": "y"}}}, by=BOB),
        world.patch("ClusterRole", "", "total", {"aggregationRule": None}, by=BOB),
    ):
        with pytest.raises(Forbidden, match="must have cluster-admin privileges to use the"):
            await attempt
    await world.give(user("bob"), *ALL)
    await world.role("mine", namespace="", by=BOB, **total)


@scenario
async def test_a5_masters_and_the_plane_give_what_they_like(world):
    """They hold everything."""
    master = User("root", (MASTERS,))

    await world.role("all", *ALL, namespace="", by=master)
    await world.bind("all", "ClusterRole/all", group("staff"), namespace="", by=master)
    assert world.may(BOB, "fly", "dragons")


@scenario
async def test_a_refusal_names_the_missing_roles(world):
    """The missing rights may be in them."""
    await world.bind("lost", "Role/gone", user("bob"))

    with pytest.raises(Forbidden) as refusal:
        await world.role("more", MORE, by=BOB)
    assert refusal.value.message.endswith(
        '; resolution errors: [roles.rbac.authorization.k8s.io "gone" not found]'
    )


@scenario
async def test_a5_a_role_too_large_to_compare_is_refused(world):
    """Its combinations multiply; the comparison is not even started, and nothing is granted."""
    words = " ".join(f"w{number}" for number in range(200))

    with pytest.raises(Forbidden, match="split the role"):
        await world.role("huge", rule(words, words), by=BOB)


@scenario
async def test_a_refusal_lists_as_much_as_anybody_reads(world):
    """A hundred lines, and how many more there are."""
    words = " ".join(f"w{number}" for number in range(150))

    with pytest.raises(Forbidden) as refusal:
        await world.role("wide", rule("get", words), by=BOB)
    assert refusal.value.message.count("\n") == 101
    assert refusal.value.message.endswith("\nand 50 more")


@scenario
async def test_other_kinds_are_none_of_its_business(world):
    """A ConfigMap is written without a check of roles."""
    kind = world.kind("ConfigMap", "v1")
    document = {"metadata": {"name": "x"}}
    await world.registry.create(kind, SPACE, document, PLAIN_WRITE, BOB)
    await world.registry.delete(kind, SPACE, "x", PLAIN_DELETE, BOB)
    await world.role("reader", READ)
    await world.registry.delete(world.kind("Role"), SPACE, "reader", PLAIN_DELETE, BOB)
