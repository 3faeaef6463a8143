"""Questions about access, and their answers."""

import pytest

from kubekit.api.errors import BadRequest, Invalid, MethodNotAllowed
from kubekit.plane.users import MASTERS, User
from tests.support.kubekit.access_builders import SPACE, Document, group, rule, scenario, user
from tests.support.kubekit.registry_builders import details_of

READ = rule("get list", "pods")
PODS = {"verb": "get", "resource": "pods", "namespace": SPACE}
SUBJECT = "SubjectAccessReview"


@scenario
async def test_a6_a_review_keeps_the_attributes_of_the_user(world):
    """Extra, groups and uid come back as they were sent: webhooks and logs read them there."""
    spec = {
        "user": "ann", "groups": ["staff"], "uid": "7",
        "extra": {"scopes": ["a", "b"], "none": None}, "resourceAttributes": PODS,
    }  # fmt: skip
    await world.give(group("staff"), READ, namespace=SPACE)
    answer = await world.ask(SUBJECT, spec)

    assert answer["spec"] == spec
    assert answer["status"]["allowed"]
    assert answer["kind"] == SUBJECT


@scenario
async def test_a6_the_answer_is_about_the_user_in_the_question(world):
    """Not about the one who asks, and by exactly the groups that are named."""
    await world.give(user("bob"), READ, namespace=SPACE)

    asked: list[Document] = [{"user": "bob"}, {"user": "ann"}, {"groups": ["bob"]}]
    answers = [await world.ask(SUBJECT, {**who, "resourceAttributes": PODS}) for who in asked]
    assert [answer["status"]["allowed"] for answer in answers] == [True, False, False]


@scenario
async def test_a6_a_revoked_right_is_gone_from_the_next_answer(world):
    """Answers are kept no longer than the rights they tell of."""
    await world.role("r", READ)
    await world.bind("b", "Role/r", user("bob"))
    spec = {"resourceAttributes": PODS}
    assert (await world.ask("SelfSubjectAccessReview", spec))["status"]["allowed"]
    await world.delete("RoleBinding", SPACE, "b")

    assert (await world.ask("SelfSubjectAccessReview", spec))["status"] == {"allowed": False}


@scenario
async def test_answers_say_why(world):
    """By which binding, or which roles could not be found."""
    await world.role("r", READ, namespace="")
    await world.bind("b", "ClusterRole/r", group("staff"), namespace="")
    await world.bind("c", "Role/gone", group("lost"))
    asked = [{"groups": [name], "resourceAttributes": PODS} for name in ("staff", "lost", MASTERS)]

    assert [(await world.ask(SUBJECT, spec))["status"] for spec in asked] == [
        {
            "allowed": True,
            "reason": 'RBAC: allowed by ClusterRoleBinding "b" of ClusterRole "r" to Group "staff"',
        },
        {"allowed": False, "reason": 'RBAC: role.rbac.authorization.k8s.io "gone" not found'},
        {"allowed": True},
    ]


@scenario
async def test_questions_about_paths(world):
    """A path, and one that is empty, which only a rule about all paths allows."""
    await world.give(user("bob"), rule("get", non_resource_urls=("/a*",)))
    await world.give(user("ann"), rule("get", non_resource_urls=("*",)))
    await world.give(user("ann"), rule("*", "*"))

    for who, path, allowed in [
        ("bob", "/abc", True), ("bob", "/x", False), ("bob", "", False), ("ann", "", True),
    ]:  # fmt: skip
        spec = {"user": who, "nonResourceAttributes": {"verb": "get", "path": path}}
        assert (await world.ask(SUBJECT, spec))["status"]["allowed"] is allowed


@scenario
async def test_local_questions_are_about_their_namespace(world):
    """A permission there counts, and the namespace is in the response."""
    await world.give(user("ann"), READ, namespace=SPACE)
    spec = {"user": "ann", "resourceAttributes": PODS}
    answer = await world.ask("LocalSubjectAccessReview", spec, namespace=SPACE)

    assert answer["status"]["allowed"]
    assert answer["metadata"] == {"namespace": SPACE}


BOTH = {"resourceAttributes": {}, "nonResourceAttributes": {"path": "/x"}}
NEITHER = (
    "spec.resourceAttributes: Invalid value: null: exactly one of nonResourceAttributes or "
    "resourceAttributes must be specified"
)
NO_SUBJECT = 'spec.user: Invalid value: "": at least one of user or group must be specified'
TWO = (
    'spec.nonResourceAttributes: Invalid value: {"Path":"/x","Verb":""}: cannot be specified in '
    "combination with resourceAttributes"
)
WRONG = {
    "nothing": (SUBJECT, None, {}, [NEITHER, NO_SUBJECT]),
    "both": (SUBJECT, BOTH, {}, [TWO, NO_SUBJECT]),
    "null": (SUBJECT, {"user": "a", "resourceAttributes": None}, {}, [NEITHER]),
    "metadata": (
        SUBJECT,
        {"user": "a", "resourceAttributes": {}},
        {"metadata": {"name": "x"}},
        ['metadata: Invalid value: {"name":"x"}: must be empty'],
    ),
    "of oneself": ("SelfSubjectAccessReview", {}, {}, [NEITHER]),
    "another namespace": (
        "LocalSubjectAccessReview",
        {"user": "a", "resourceAttributes": {"namespace": "x"}},
        {"namespace": SPACE},
        ['spec.resourceAttributes.namespace: Invalid value: "x": must match metadata.namespace'],
    ),
    "a path in a namespace": (
        "LocalSubjectAccessReview",
        {"user": "a", "nonResourceAttributes": {"path": "/x", "verb": "get"}},
        {"namespace": SPACE, "metadata": {"name": "x"}},
        [
            'metadata: Invalid value: {"name":"x"}: must be empty except for namespace',
            'spec.nonResourceAttributes: Invalid value: {"Path":"/x","Verb":"get"}: disallowed on '
            "this kind of request",
        ],
    ),
}


@pytest.mark.parametrize(("kind", "spec", "more", "wrong"), WRONG.values(), ids=WRONG)
@scenario
async def test_what_is_wrong_with_a_question(world, kind, spec, more, wrong):
    """All errors are reported, in Kubernetes' words."""
    with pytest.raises(Invalid) as refusal:
        await world.ask(kind, spec, **more)

    causes = details_of(refusal).causes
    assert [f"{cause.field}: {cause.message}" for cause in causes] == wrong


def one(**parts):
    return {"requirements": [{"key": "a", "operator": "In", "values": ["b"]} | parts]}


SELECTORS = {
    "empty": ({}, "requirements: Required value: when {} is specified, requirements or rawSelector is required"),
    "twice": (
        {"rawSelector": "a=b", **one()},
        'rawSelector: Invalid value: "a=b": may not specified at the same time as requirements',
    ),
    "no values": (
        one(values=[]), "requirements[0].values: Required value: must be specified when `operator` is 'In' or 'NotIn'"
    ),
    "values": (
        one(operator="Exists"),
        "requirements[0].values: Forbidden: may not be specified when `operator` is 'Exists' or 'DoesNotExist'",
    ),
}  # fmt: skip


@pytest.mark.parametrize("place", ["fieldSelector", "labelSelector"])
@pytest.mark.parametrize(("selector", "wrong"), SELECTORS.values(), ids=SELECTORS)
@scenario
async def test_what_is_wrong_with_a_selector(world, place, selector, wrong):
    """Of fields and of labels alike."""
    with pytest.raises(Invalid) as refusal:
        await world.ask(SUBJECT, {"user": "a", "resourceAttributes": {place: selector}})

    path = f"spec.resourceAttributes.{place}"
    causes = details_of(refusal).causes
    assert [f"{c.field}: {c.message}" for c in causes] == [f"{path}.{wrong}".format(path)]


@scenario
async def test_keys_of_selectors(world):
    """A field must have a name; a label must have one that a label can have."""
    for place, key, words in [
        ("fieldSelector", "", "Required value: must be specified"),
        ("labelSelector", "%", 'Invalid value: "%": '),
    ]:
        spec = {"user": "a", "resourceAttributes": {place: one(key=key)}}
        with pytest.raises(Invalid) as refusal:
            await world.ask(SUBJECT, spec)
        (cause,) = details_of(refusal).causes
        assert cause.field == f"spec.resourceAttributes.{place}.requirements[0].key"
        assert cause.message.startswith(words)


UNREAD = {
    "fields: a set": ({"fieldSelector": one(values=["a", "b"])}, ["fieldSelector"]),
    "fields: presence": ({"fieldSelector": one(operator="Exists", values=[])}, ["fieldSelector"]),
    "fields: no text": ({"fieldSelector": {"rawSelector": "a in"}}, ["fieldSelector"]),
    "fields": ({"fieldSelector": {"rawSelector": "a=b"}}, []),
    "labels: a set": ({"labelSelector": one(values=["a", "b"])}, []),
    "labels: operator": ({"labelSelector": one(operator="Foo")}, ["labelSelector"]),
    "labels: no text": ({"labelSelector": {"rawSelector": "a in"}}, ["labelSelector"]),
}


@pytest.mark.parametrize(("asked", "names"), UNREAD.values(), ids=UNREAD)
@scenario
async def test_an_unparsable_selector_is_ignored(world, asked, names):
    """Rules do not depend on selectors, so the decision stands; the response names ignored ones."""
    await world.give(user("bob"), READ, namespace=SPACE)
    spec = {"user": "bob", "resourceAttributes": PODS | asked}
    status = (await world.ask(SUBJECT, spec))["status"]

    errors = [f"spec.resourceAttributes.{name} ignored due to parse error" for name in names]
    assert status["allowed"]
    assert status.get("evaluationError", "") == "".join(errors)


@pytest.mark.parametrize("place", ["labelSelector", "fieldSelector"])
@scenario
async def test_a6_a_selector_too_long_for_any_request_is_passed_over(world, place):
    """It is not parsed: every user may send it, and parsing would block other requests."""
    selector = ",".join(["a=b"] * 3000)
    spec = {"resourceAttributes": {**PODS, place: {"rawSelector": selector}}}
    answer = await world.ask("SelfSubjectAccessReview", spec)

    error = f"spec.resourceAttributes.{place} ignored due to parse error"
    assert answer["status"]["evaluationError"] == error


@scenario
async def test_a6_very_many_errors_are_not_all_reported(world):
    """The first hundred errors are enough to fix a review, and take no time."""
    selector = {"requirements": [{"key": ""}] * 1000}
    with pytest.raises(Invalid) as refusal:
        await world.ask(
            "SelfSubjectAccessReview", {"resourceAttributes": {**PODS, "labelSelector": selector}}
        )
    assert len(details_of(refusal).causes) == 100


@scenario
async def test_two_unparsable_selectors(world):
    """Both are reported."""
    raw = {"rawSelector": "a in"}
    spec = {"user": "a", "resourceAttributes": {"fieldSelector": raw, "labelSelector": raw}}
    status = (await world.ask(SUBJECT, spec))["status"]

    assert status["evaluationError"].startswith("[spec.resourceAttributes.fieldSelector ignored")
    assert status["evaluationError"].count("ignored due to parse error") == 2


@scenario
async def test_all_that_one_may_do(world):
    """The rules of a namespace and of everywhere, as they were written; missing roles are reported."""
    paths = rule("get", non_resource_urls=("/x",))
    await world.give(user("bob"), READ, namespace=SPACE)
    await world.give(user("bob"), rule("get", "pods", resource_names=("a",)), paths)
    await world.give(user("bob"), rule("fly", "pods"), namespace="attic")
    await world.bind("lost", "Role/gone", user("bob"))
    answer = await world.ask("SelfSubjectRulesReview", {"namespace": SPACE})

    assert answer["status"] == {
        "resourceRules": [rule("get", "pods", resource_names=("a",)), READ],
        "nonResourceRules": [paths],
        "incomplete": False,
        "evaluationError": 'role.rbac.authorization.k8s.io "gone" not found',
    }
    assert answer["spec"] == {}


@scenario
async def test_all_that_a_user_without_roles_may_do(world):
    """Nothing: the lists are empty; and the namespace is required."""
    answer = await world.ask("SelfSubjectRulesReview", {"namespace": "x"}, by=User("zoe"))

    assert answer["status"] == {"resourceRules": [], "nonResourceRules": [], "incomplete": False}
    for spec in (None, {}, {"namespace": ""}):
        with pytest.raises(BadRequest, match="no namespace on request"):
            await world.ask("SelfSubjectRulesReview", spec)


@scenario
async def test_a_review_without_a_handler(world):
    """A plane may serve a kind without a handler."""
    world.registry.virtual_handlers.clear()

    with pytest.raises(MethodNotAllowed):
        await world.ask(SUBJECT, {})
