"""The rules of roles and bindings beyond their schemas, in the words of a real kube-apiserver."""

import pytest

from kubekit.api.errors import Invalid
from tests.support.compute import served_kinds
from tests.support.kubekit.access_builders import GROUP, RBAC, SPACE, rule, scenario, user

REF = {"kind": "ClusterRole", "name": "x"}


def prepared(kind, old=None, **parts):
    """The document after its kind's rules, and what they found wrong."""
    found = served_kinds.everything().require(RBAC, kind)
    head = {"apiVersion": RBAC, "kind": kind, "metadata": {"name": "x"}}
    conformed = found.conform(head | parts)
    assert conformed.errors == conformed.unknown == []
    assert found.prepare is not None
    return conformed.document, [str(error) for error in found.prepare(conformed.document, old)]


NO_GROUP = "rules[0].apiGroups: Required value: resource rules must supply at least one api group"
NO_RESOURCE = "rules[0].resources: Required value: resource rules must supply at least one resource"
NO_VERB = "rules[0].verbs: Required value: verbs must contain at least one value"
MIXED = (
    'rules[0].nonResourceURLs: Invalid value: ["/x"]: rules cannot apply to both regular resources '
    "and non-resource URLs"
)
PATHS = ["/x"]


@pytest.mark.parametrize(
    ("given", "wrong"),
    [
        ({}, [NO_VERB, NO_GROUP, NO_RESOURCE]),
        ({"verbs": None, "apiGroups": None}, [NO_VERB, NO_GROUP, NO_RESOURCE]),
        ({"verbs": ["get"]}, [NO_GROUP, NO_RESOURCE]),
        ({"verbs": ["get"], "apiGroups": [""]}, [NO_RESOURCE]),
        ({"verbs": ["get"], "resources": ["x"]}, [NO_GROUP]),
        ({"nonResourceURLs": PATHS}, [NO_VERB]),
        ({"verbs": ["get"], "nonResourceURLs": PATHS, "apiGroups": [""]}, [MIXED]),
        ({"verbs": ["get"], "nonResourceURLs": PATHS, "resourceNames": ["a"]}, [MIXED]),
        ({"verbs": ["get"], "nonResourceURLs": ["x", "*", "/a*b"]}, []),
        ({"verbs": ["fly", "*"], "apiGroups": ["*"], "resources": ["*/x", "y/z"]}, []),
    ],
    ids=[
        "empty", "null", "verbs only", "no resource", "no group", "no verb", "mixed", "names",
        "odd paths", "odd words",
    ],
)  # fmt: skip
def test_a_rule_is_about_resources_or_about_paths(given, wrong):
    """Verbs always; groups and resources together, or paths alone."""
    assert prepared("ClusterRole", rules=[given])[1] == wrong


def test_a_role_of_a_namespace_has_no_paths():
    """A path is nowhere in particular."""
    given = {"verbs": ["get"], "nonResourceURLs": PATHS, "apiGroups": [""]}

    assert prepared("Role", rules=[given])[1] == [
        'rules[0].nonResourceURLs: Invalid value: ["/x"]: namespaced rules cannot apply to '
        "non-resource URLs",
        MIXED,
    ]


@pytest.mark.parametrize("given", [{}, {"rules": None}, {"rules": []}], ids=str)
def test_no_rules_are_null(given):
    """As Go writes them, since clients compare what they sent with what they get."""
    assert prepared("Role", **given)[0]["rules"] is None


def test_nulls_in_a_rule_count_as_absent():
    """They are left out."""
    given = rule("get", "pods") | {"resourceNames": None}

    assert prepared("Role", rules=[given])[0]["rules"] == [rule("get", "pods")]


@pytest.mark.parametrize(
    ("given", "wrong"),
    [
        (None, []),
        (
            {},
            ["Selectors: Required value: at least one clusterRoleSelector required if aggregationRule "
             "is non-nil"],
        ),
        (
            {"clusterRoleSelectors": [{"matchExpressions": [{"key": "a", "operator": "Foo"}]}]},
            ["Selectors[0].matchExpressions[0].operator: Invalid value: \"Foo\": not a valid "
             "selector operator",
             "Selectors[0]: Invalid value: null: invalid label selector."],
        ),
        ({"clusterRoleSelectors": [{}]}, []),
    ],
    ids=["null", "empty", "operator", "everything"],
)  # fmt: skip
def test_a_sum_says_of_what(given, wrong):
    """At least one selector, and each one that can match."""
    found = prepared("ClusterRole", aggregationRule=given)[1]

    assert [text.removeprefix("aggregationRule.clusterRole") for text in found] == wrong


def test_a_binding_is_completed():
    """The group of the role and of each subject follows from its kind; no subjects are left out."""
    subjects = [user("a"), {"kind": "ServiceAccount", "name": "b", "apiGroup": ""}]
    document, wrong = prepared("RoleBinding", roleRef=REF, subjects=subjects)

    assert wrong == []
    assert document["roleRef"] == {"apiGroup": GROUP, **REF}
    assert document["subjects"] == [
        {"kind": "User", "name": "a", "apiGroup": GROUP},
        {"kind": "ServiceAccount", "name": "b"},
    ]
    assert "subjects" not in prepared("RoleBinding", roleRef=REF, subjects=None)[0]
    assert "subjects" not in prepared("RoleBinding", roleRef=REF, subjects=[])[0]


KINDS = 'roleRef.kind: Unsupported value: "{}": supported values: {}'
NAME = "roleRef.name: Required value"


@pytest.mark.parametrize(
    ("kind", "ref", "wrong"),
    [
        ("RoleBinding", {}, [KINDS.format("", '"Role", "ClusterRole"'), NAME]),
        ("RoleBinding", {"kind": "Role", "name": "x"}, []),
        (
            "RoleBinding",
            {"kind": "Foo", "name": "a/b", "apiGroup": "x"},
            ['roleRef.apiGroup: Unsupported value: "x": supported values: "rbac.authorization.k8s.io"',
             KINDS.format("Foo", '"Role", "ClusterRole"'),
             "roleRef.name: Invalid value: \"a/b\": may not contain '/'"],
        ),
        ("ClusterRoleBinding", {"kind": "Role", "name": "x"}, [KINDS.format("Role", '"ClusterRole"')]),
    ],
    ids=["nothing", "role", "all wrong", "role everywhere"],
)  # fmt: skip
def test_which_roles_can_be_bound(kind, ref, wrong):
    """A role of the namespace or a ClusterRole here, a ClusterRole everywhere."""
    assert prepared(kind, roleRef=ref)[1] == wrong


def test_a_binding_without_a_role():
    """It is reported like one whose role has no name."""
    assert len(prepared("RoleBinding")[1]) == 2


@pytest.mark.parametrize(
    ("subject", "wrong"),
    [
        ({}, [".name: Required value",
              '.kind: Unsupported value: "": supported values: "ServiceAccount", "User", "Group"']),
        ({"kind": "User"}, [".name: Required value"]),
        ({"kind": "User", "name": "x", "namespace": "y"}, []),
        ({"kind": "User", "name": "x", "apiGroup": "y"},
         ['.apiGroup: Unsupported value: "y": supported values: "rbac.authorization.k8s.io"']),
        ({"kind": "ServiceAccount", "name": "x", "namespace": "y", "apiGroup": GROUP},
         ['.apiGroup: Unsupported value: "rbac.authorization.k8s.io": supported values: ""']),
        ({"kind": "ServiceAccount"}, [".name: Required value", ".namespace: Required value"]),
        ({"kind": "ServiceAccount", "name": "x", "namespace": "y"}, []),
    ],
    ids=["nothing", "no name", "odd place", "group", "group of account", "no account", "account"],
)  # fmt: skip
def test_what_a_subject_says(subject, wrong):
    """Its kind, its name, and of a service account where it is."""
    found = prepared("ClusterRoleBinding", roleRef=REF, subjects=[subject])[1]

    assert [text.removeprefix("subjects[0]") for text in found] == wrong


def test_a_service_account_is_called_as_one_can_be():
    """A name that no service account can have is a mistake; a user may be called anything."""
    subjects = [{"kind": "ServiceAccount", "name": "A b"}, user("A b")]
    (wrong,) = prepared("RoleBinding", roleRef=REF, subjects=subjects)[1]

    assert wrong.startswith('subjects[0].name: Invalid value: "A b": a lowercase RFC 1123')


@scenario
async def test_the_role_of_a_binding_cannot_be_changed(world):
    """A subject bound to a small role must not become bound to a large one."""
    await world.bind("b", "Role/small", user("x"))

    with pytest.raises(Invalid) as refusal:
        await world.patch("RoleBinding", SPACE, "b", {"roleRef": {"name": "large"}})
    assert refusal.value.message == (
        'RoleBinding.rbac.authorization.k8s.io "b" is invalid: roleRef: Invalid value: '
        '{"APIGroup":"rbac.authorization.k8s.io","Kind":"Role","Name":"large"}: cannot change roleRef'
    )
    await world.patch("RoleBinding", SPACE, "b", {"subjects": [user("y")]})


@pytest.mark.parametrize(
    ("name", "fault"),
    [
        ("system:Some_role", ""), ("ä", ""), ("x" * 300, ""), ("a/b", "may not contain '/'"),
        ("a%", "may not contain '%'"), ("..", "may not be '..'"), (".", "may not be '.'"),
    ],
    ids=["system", "umlaut", "long", "slash", "percent", "dots", "dot"],
)  # fmt: skip
@scenario
async def test_roles_are_called_as_people_like(world, name, fault):
    """Only what would be another path is refused."""
    if not fault:
        await world.role(name, rule("get", "pods"))
        assert world.get("Role", SPACE, name)["metadata"]["name"] == name
        return
    with pytest.raises(Invalid) as refusal:
        await world.role(name, rule("get", "pods"))
    assert refusal.value.message.endswith(f'metadata.name: Invalid value: "{name}": {fault}')
