"""Roles, bindings, and the questions about them, on any server."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest

from kubekit.api.errors import ApiError, BadRequest, Invalid, MethodNotAllowed, NotFound
from kubekit.api.kinds.authorization import (
    LocalSubjectAccessReview,
    SelfSubjectAccessReview,
    SelfSubjectRulesReview,
    SubjectAccessReview,
)
from kubekit.api.kinds.rbac import ClusterRole, ClusterRoleBinding, Role, RoleBinding
from tests.contract.collection import Collection

Document = dict[str, Any]
READ = {"verbs": ["get", "list"], "apiGroups": [""], "resources": ["configmaps"]}
BINDING = {
    "roleRef": {"kind": "Role", "name": "reader"},
    "subjects": [{"kind": "User", "name": "x"}],
}
TRIES = 200  # twenty a second, until a server must have observed its own objects


@pytest.fixture
def roles(transport, space):
    return Collection(transport, Role.RESOURCE, space)


@pytest.fixture
def bindings(transport, space):
    return Collection(transport, RoleBinding.RESOURCE, space)


@pytest.fixture
def cluster_roles(transport):
    return Collection(transport, ClusterRole.RESOURCE)


@pytest.fixture
def reviews(transport):
    return Collection(transport, SubjectAccessReview.RESOURCE)


async def answered(reviews: Collection, spec: Document) -> Document:
    """The status of a review of this."""
    answer = await reviews.create({"spec": spec})
    assert answer["spec"] == spec
    status: Document = answer["status"]
    return status


async def eventually(look: Callable[[], Awaitable[Any]], fits: Callable[[Any], bool]) -> Any:
    """What is seen once it fits: a server may hear of its own objects with some delay."""
    found = None
    for _ in range(TRIES):
        if fits(found := await look()):
            return found
        await asyncio.sleep(0.05)
    raise AssertionError(f"it never fitted: {found}")


async def until(reviews: Collection, spec: Document, fits: Callable[[Document], bool]) -> Document:
    """The status of a review, once it fits."""
    status: Document = await eventually(lambda: answered(reviews, spec), fits)
    return status


def on_config_maps(who: Document, verb: str, space: str, **more: str) -> Document:
    return who | {
        "resourceAttributes": {"namespace": space, "verb": verb, "resource": "configmaps", **more}
    }


def allowed(status: Document) -> bool:
    return bool(status["allowed"])


async def test_a_role_that_is_bound_allows(roles, bindings, reviews, space):
    """It says by which binding, and allows no other verb, namespace or user."""
    who = {"user": f"ann-{space}"}
    await roles.make("reader", rules=[READ])
    subjects = [{"kind": "User", "name": who["user"]}]
    await bindings.make("readers", **BINDING | {"subjects": subjects})

    status = await until(reviews, on_config_maps(who, "get", space), allowed)
    assert status["reason"] == (
        f'RBAC: allowed by RoleBinding "readers/{space}" of Role "reader" to User "{who["user"]}"'
    )
    for asked in (
        on_config_maps(who, "delete", space),
        on_config_maps(who, "get", "default"),
        on_config_maps({"user": "stranger"}, "get", space),
        on_config_maps({"groups": [who["user"]]}, "get", space),
        on_config_maps(who, "get", space, subresource="status"),
        on_config_maps(who, "get", space, group="apps"),
    ):
        assert not allowed(await answered(reviews, asked))


async def test_a6_a_binding_that_is_deleted_allows_no_more(roles, bindings, reviews, space):
    """Soon after, whatever was decided before."""
    who = {"user": "x", "groups": [f"team-{space}"]}
    await roles.make("reader", rules=[READ])
    subjects = [{"kind": "Group", "name": f"team-{space}"}]
    await bindings.make("readers", **BINDING | {"subjects": subjects})
    asked = on_config_maps(who, "list", space)
    await until(reviews, asked, allowed)

    await bindings.delete("readers")
    await until(reviews, asked, lambda status: not allowed(status))


async def test_service_accounts_are_subjects(roles, bindings, reviews, space):
    """Of the binding's own namespace, where none is named."""
    await roles.make("reader", rules=[READ])
    subjects = [{"kind": "ServiceAccount", "name": "bot"}]
    await bindings.make("readers", **BINDING | {"subjects": subjects})

    who = {"user": f"system:serviceaccount:{space}:bot"}
    status = await until(reviews, on_config_maps(who, "get", space), allowed)
    assert status["reason"].endswith(f'to ServiceAccount "bot/{space}"')
    other = {"user": "system:serviceaccount:default:bot"}
    assert not allowed(await answered(reviews, on_config_maps(other, "get", space)))


async def test_a_role_that_is_not_there_is_named(bindings, reviews, space):
    """A misspelled role is the most common reason for a refusal."""
    who = {"user": f"ann-{space}"}
    subjects = [{"kind": "User", "name": who["user"]}]
    await bindings.make("readers", **BINDING | {"subjects": subjects})

    asked = on_config_maps(who, "get", space)
    status = await until(reviews, asked, lambda status: "reason" in status)
    assert status == {
        "allowed": False,
        "reason": 'RBAC: role.rbac.authorization.k8s.io "reader" not found',
    }


async def test_masters_may_everything(reviews):
    """Without any rule."""
    asked = {
        "groups": ["system:masters"],
        "nonResourceAttributes": {"verb": "fly", "path": "/moon"},
    }

    assert await answered(reviews, asked) == {"allowed": True}


async def test_the_default_roles(reviews):
    """The default roles allow discovery to authenticated users, and health to all others."""
    known = {"user": "x", "groups": ["system:authenticated"]}
    path = {"nonResourceAttributes": {"verb": "get", "path": "/apis/x"}}
    assert await answered(reviews, known | path) == {
        "allowed": True,
        "reason": 'RBAC: allowed by ClusterRoleBinding "system:discovery" of ClusterRole '
        '"system:discovery" to Group "system:authenticated"',
    }
    unknown = {"user": "system:anonymous", "groups": ["system:unauthenticated"]}
    assert not allowed(await answered(reviews, unknown | path))
    health = {"nonResourceAttributes": {"verb": "get", "path": "/livez"}}
    assert allowed(await answered(reviews, unknown | health))


@pytest.mark.parametrize(
    "name", ["cluster-admin", "admin", "edit", "view", "system:discovery", "system:basic-user"]
)
async def test_default_roles_are_there(cluster_roles, name):
    """Marked as such, and to be kept up to date."""
    metadata = (await cluster_roles.get(name))["metadata"]

    assert metadata["labels"]["kubernetes.io/bootstrapping"] == "rbac-defaults"
    assert metadata["annotations"]["rbac.authorization.kubernetes.io/autoupdate"] == "true"


@asynccontextmanager
async def made(collection: Collection, name: str, **fields: Any) -> AsyncIterator[None]:
    """An object outside all namespaces, for as long as the test needs it."""
    await collection.make(name, **fields)
    try:
        yield
    finally:
        await collection.delete(name)


@pytest.mark.controllers
async def test_a_sum_of_roles_follows_its_parts(cluster_roles, space):
    """A role with its label adds its rules; one that goes takes them along."""
    mark = {f"sum-{space}": "yes"}
    total = {"aggregationRule": {"clusterRoleSelectors": [{"matchLabels": mark}]}}

    async def rules() -> Any:
        return (await cluster_roles.get(f"total-{space}"))["rules"]

    async with made(cluster_roles, f"total-{space}", **total):
        async with made(cluster_roles, f"part-{space}", rules=[READ], metadata={"labels": mark}):
            await eventually(rules, lambda found: found == [READ])
        await eventually(rules, lambda found: not found)


def causes(refusal: pytest.ExceptionInfo[ApiError]) -> list[str]:
    details = refusal.value.details
    assert details is not None
    return [f"{cause.field}: {cause.message}" for cause in details.causes]


NO_VERB = "rules[0].verbs: Required value: verbs must contain at least one value"
NO_GROUP = "rules[0].apiGroups: Required value: resource rules must supply at least one api group"
NO_RESOURCE = "rules[0].resources: Required value: resource rules must supply at least one resource"


@pytest.mark.parametrize(
    ("rule", "wrong"),
    [
        ({}, [NO_VERB, NO_GROUP, NO_RESOURCE]),
        ({"verbs": ["get"], "apiGroups": [""]}, [NO_RESOURCE]),
        (
            {"verbs": ["get"], "nonResourceURLs": ["/x"]},
            [
                'rules[0].nonResourceURLs: Invalid value: ["/x"]: namespaced rules cannot apply to '
                "non-resource URLs"
            ],
        ),
    ],
    ids=["empty", "no resource", "path"],
)
async def test_what_is_wrong_with_a_rule(roles, rule, wrong):
    """Each fault of it."""
    with pytest.raises(Invalid) as refusal:
        await roles.make("reader", rules=[rule])

    assert causes(refusal) == wrong


async def test_a_role_without_rules(roles):
    """It allows nothing, and says so with null."""
    assert (await roles.make("empty", rules=[]))["rules"] is None


async def test_names_of_roles_are_free(roles):
    """But for what would be another path."""
    await roles.make("system:Some_role", rules=[READ])
    assert (await roles.get("system:Some_role"))["rules"] == [READ]

    with pytest.raises(Invalid) as refusal:
        await roles.make("a/b", rules=[READ])
    assert causes(refusal) == ["metadata.name: Invalid value: \"a/b\": may not contain '/'"]


@pytest.mark.parametrize(
    ("parts", "wrong"),
    [
        (
            {"roleRef": {"kind": "Foo", "name": "a/b", "apiGroup": "x"}},
            [
                'roleRef.apiGroup: Unsupported value: "x": supported values: '
                '"rbac.authorization.k8s.io"',
                'roleRef.kind: Unsupported value: "Foo": supported values: "Role", "ClusterRole"',
                "roleRef.name: Invalid value: \"a/b\": may not contain '/'",
            ],
        ),
        (
            BINDING | {"subjects": [{"kind": "Foo", "name": "x"}, {"kind": "User"}]},
            [
                'subjects[0].kind: Unsupported value: "Foo": supported values: "ServiceAccount", '
                '"User", "Group"',
                "subjects[1].name: Required value",
            ],
        ),
        (
            BINDING | {"subjects": [{"kind": "User", "name": "x", "apiGroup": "y"}]},
            [
                'subjects[0].apiGroup: Unsupported value: "y": supported values: '
                '"rbac.authorization.k8s.io"'
            ],
        ),
    ],
    ids=["role", "subjects", "group"],
)
async def test_what_is_wrong_with_a_binding(bindings, parts, wrong):
    """Each fault of it."""
    with pytest.raises(Invalid) as refusal:
        await bindings.make("readers", **parts)

    assert causes(refusal) == wrong


async def test_a_binding_is_completed(bindings):
    """With the groups that follow from the kinds."""
    made = await bindings.make("readers", **BINDING)

    group = "rbac.authorization.k8s.io"
    assert made["roleRef"] == {"apiGroup": group, "kind": "Role", "name": "reader"}
    assert made["subjects"] == [{"apiGroup": group, "kind": "User", "name": "x"}]


async def test_the_role_of_a_binding_cannot_be_changed(bindings):
    """The subjects can."""
    await bindings.make("readers", **BINDING)

    with pytest.raises(Invalid) as refusal:
        await bindings.merge("readers", {"roleRef": {"name": "writer"}})
    assert causes(refusal) == [
        'roleRef: Invalid value: {"APIGroup":"rbac.authorization.k8s.io","Kind":"Role",'
        '"Name":"writer"}: cannot change roleRef'
    ]
    await bindings.merge("readers", {"subjects": []})


async def test_a_binding_everywhere_gives_only_roles_of_everywhere(transport):
    """There are many namespaces that a role could be of."""
    collection = Collection(transport, ClusterRoleBinding.RESOURCE)
    with pytest.raises(Invalid) as refusal:
        await collection.make("contract-never", roleRef={"kind": "Role", "name": "x"})

    assert causes(refusal) == [
        'roleRef.kind: Unsupported value: "Role": supported values: "ClusterRole"'
    ]


async def test_a6_a_review_keeps_the_attributes_of_the_user(reviews):
    """Extra, groups and uid, as they were sent."""
    spec = {
        "resourceAttributes": {"verb": "get", "resource": "x"},
        "user": "ann",
        "groups": ["b", "a"],
        "extra": {"scopes": ["1", "2"]},
        "uid": "7",
    }

    assert await answered(reviews, spec) == {"allowed": False}


NEITHER = (
    "spec.resourceAttributes: Invalid value: null: exactly one of nonResourceAttributes or "
    "resourceAttributes must be specified"
)
NO_SUBJECT = 'spec.user: Invalid value: "": at least one of user or group must be specified'


@pytest.mark.parametrize(
    ("spec", "wrong"),
    [
        ({}, [NEITHER, NO_SUBJECT]),
        (
            {"user": "a", "resourceAttributes": {}, "nonResourceAttributes": {"path": "/x"}},
            [
                'spec.nonResourceAttributes: Invalid value: {"Path":"/x","Verb":""}: cannot be '
                "specified in combination with resourceAttributes"
            ],
        ),
        (
            {"user": "a", "resourceAttributes": {"fieldSelector": {}}},
            [
                "spec.resourceAttributes.fieldSelector.requirements: Required value: when "
                "spec.resourceAttributes.fieldSelector is specified, requirements or rawSelector is "
                "required"
            ],
        ),
    ],
    ids=["nothing", "both", "selector"],
)
async def test_what_is_wrong_with_a_review(reviews, spec, wrong):
    """Each fault of it."""
    with pytest.raises(Invalid) as refusal:
        await reviews.create({"spec": spec})

    assert causes(refusal) == wrong


async def test_reviews_in_a_namespace_are_about_it(transport, space):
    """About no other."""
    local = Collection(transport, LocalSubjectAccessReview.RESOURCE, space)
    asked = on_config_maps({"user": "a"}, "get", space)
    assert await answered(local, asked) == {"allowed": False}

    with pytest.raises(Invalid) as refusal:
        await local.create({"spec": on_config_maps({"user": "a"}, "get", "default")})
    assert causes(refusal) == [
        'spec.resourceAttributes.namespace: Invalid value: "default": must match metadata.namespace'
    ]


async def test_reviews_of_oneself(transport, space):
    """Whether one may, and all that one may; the latter needs a namespace."""
    mine = Collection(transport, SelfSubjectAccessReview.RESOURCE)
    status = await answered(mine, on_config_maps({}, "get", space))
    assert isinstance(status["allowed"], bool)

    rules = Collection(transport, SelfSubjectRulesReview.RESOURCE)
    answer = await rules.create({"spec": {"namespace": space}})
    assert not answer["status"]["incomplete"]
    assert isinstance(answer["status"]["resourceRules"], list)
    with pytest.raises(BadRequest, match="no namespace on request"):
        await rules.create({"spec": {}})


async def test_reviews_are_not_stored(reviews):
    """There is nothing to list or to get."""
    await answered(reviews, {"user": "a", "resourceAttributes": {"verb": "get", "resource": "x"}})

    with pytest.raises(MethodNotAllowed):
        await reviews.list()
    with pytest.raises(NotFound):
        await reviews.get("x")
