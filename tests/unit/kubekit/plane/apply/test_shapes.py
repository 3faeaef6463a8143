"""The present fields of a document, and the fields that an apply of it owns."""

import pytest
from hypothesis import given, strategies as st

from kubekit.api.kinds.coordination import Lease
from kubekit.api.kinds.core import ConfigMap, Namespace, Secret, ServiceAccount
from kubekit.api.kinds.events import CoreEvent, Event
from kubekit.api.resource import Resource
from kubekit.plane.apply.field_sets import FieldSet
from kubekit.plane.apply.managed_fields import created
from kubekit.plane.apply.server_side_apply import applied
from kubekit.plane.apply.shapes import Shape, shape_of
from kubekit.plane.registry import builtins
from tests.support.compute import served_kinds
from tests.support.kubekit.apply_builders import SHAPE, SPEC, author, thing

SELF: FieldSet = {".": {}}


def there(spec):
    """What a creator of this spec owns in it."""
    entries = created(SHAPE, thing(spec), author())
    return entries[0]["fieldsV1"]["f:spec"] if entries else None


def owned(spec):
    """What an applier of this spec owns in it."""
    entries = applied(SHAPE, None, thing(spec), author()).managed_fields
    return entries[0]["fieldsV1"]["f:spec"] if entries else None


# What a kube-apiserver 1.34 answered for a custom kind with these fields.
FIELDS = [
    pytest.param({"replicas": 1}, {"f:replicas": {}}, {"f:replicas": {}}, id="scalar"),
    pytest.param({"ios": "1"}, {"f:ios": {}}, {"f:ios": {}}, id="int-or-string"),
    pytest.param(
        {"obj": {"a": "x"}}, {"f:obj": {**SELF, "f:a": {}}}, {"f:obj": {"f:a": {}}}, id="object"
    ),
    pytest.param({"atom": {"a": "x"}}, {"f:atom": {}}, {"f:atom": {}}, id="atomic object"),
    pytest.param(
        {"map": {"k": "v", "<&>": "q", 'é"': "z"}},
        {"f:map": {**SELF, "f:<&>": {}, "f:k": {}, 'f:é"': {}}},
        {"f:map": {"f:<&>": {}, "f:k": {}, 'f:é"': {}}},
        id="map",
    ),
    pytest.param(
        {"maps": {"m": {"x": "1"}}},
        {"f:maps": {**SELF, "f:m": {**SELF, "f:x": {}}}},
        {"f:maps": {"f:m": {**SELF, "f:x": {}}}},
        id="map of objects",
    ),
    pytest.param(
        {"items": [{"name": "b", "v": "1"}, {"name": "a"}]},
        {
            "f:items": {
                **SELF,
                'k:{"name":"a"}': {**SELF, "f:name": {}},
                'k:{"name":"b"}': {**SELF, "f:name": {}, "f:v": {}},
            }
        },
        {
            "f:items": {
                'k:{"name":"a"}': {**SELF, "f:name": {}},
                'k:{"name":"b"}': {**SELF, "f:name": {}, "f:v": {}},
            }
        },
        id="list of objects",
    ),
    pytest.param(
        {"ports": [{"port": 443}, {"port": 80, "proto": "UDP"}]},
        {
            "f:ports": {
                **SELF,
                'k:{"port":443,"proto":"TCP"}': {**SELF, "f:port": {}},
                'k:{"port":80,"proto":"UDP"}': {**SELF, "f:port": {}, "f:proto": {}},
            }
        },
        {
            "f:ports": {
                'k:{"port":443,"proto":"TCP"}': {**SELF, "f:port": {}},
                'k:{"port":80,"proto":"UDP"}': {**SELF, "f:port": {}, "f:proto": {}},
            }
        },
        id="keys with defaults",
    ),
    pytest.param(
        {"set": ["b", "a", '<x>\u2028é"\\']},
        {"f:set": {**SELF, 'v:"\\u003cx\\u003e\\u2028é\\"\\\\"': {}, 'v:"a"': {}, 'v:"b"': {}}},
        {"f:set": {'v:"\\u003cx\\u003e\\u2028é\\"\\\\"': {}, 'v:"a"': {}, 'v:"b"': {}}},
        id="set",
    ),
    pytest.param(
        {"nums": [10, 9, 1.0, 1.5, 1e25]},
        {"f:nums": {**SELF, "v:1": {}, "v:1.5": {}, "v:10": {}, "v:1e+25": {}, "v:9": {}}},
        {"f:nums": {"v:1": {}, "v:1.5": {}, "v:10": {}, "v:1e+25": {}, "v:9": {}}},
        id="set of numbers",
    ),
    pytest.param({"list": ["a"]}, {"f:list": {}}, {"f:list": {}}, id="atomic list"),
    pytest.param({"bag": [{}]}, {"f:bag": {}}, {"f:bag": {}}, id="list of anything"),
    pytest.param(
        {"free": {"a": {"b": [1], "c": {}}, "d": None}},
        {"f:free": {**SELF, "f:a": {**SELF, "f:b": {}, "f:c": {}}, "f:d": {}}},
        {"f:free": {"f:a": {**SELF, "f:b": {}, "f:c": {}}, "f:d": {}}},
        id="unknown fields",
    ),
    pytest.param({"any": [1]}, {"f:any": {}}, {"f:any": {}}, id="unknown type"),
    pytest.param(
        {"half": {"k": "v", "u": {"p": 1}, "o": {"z": "1"}}},
        {"f:half": {**SELF, "f:k": {}, "f:o": {**SELF, "f:z": {}}, "f:u": {**SELF, "f:p": {}}}},
        {"f:half": {"f:k": {}, "f:o": {"f:z": {}}, "f:u": {**SELF, "f:p": {}}}},
        id="known and unknown fields",
    ),
    pytest.param(
        {"loose": {"k": 1}}, {"f:loose": {**SELF, "f:k": {}}}, {"f:loose": {"f:k": {}}}, id="loose"
    ),
    pytest.param(
        {"bare": {"a": 1}}, {"f:bare": {**SELF, "f:a": {}}}, {"f:bare": {"f:a": {}}}, id="bare"
    ),
    pytest.param(
        {
            "emb": {
                "apiVersion": "v1",
                "kind": "Pod",
                "metadata": {"name": "p", "labels": {"a": "b"}, "finalizers": ["x"]},
                "spec": {"q": 1},
            }
        },
        {
            "f:emb": {
                **SELF,
                "f:apiVersion": {},
                "f:kind": {},
                "f:metadata": {
                    **SELF,
                    "f:finalizers": {**SELF, 'v:"x"': {}},
                    "f:labels": {**SELF, "f:a": {}},
                    "f:name": {},
                },
                "f:spec": {**SELF, "f:q": {}},
            }
        },
        {
            "f:emb": {
                "f:apiVersion": {},
                "f:kind": {},
                "f:metadata": {
                    "f:finalizers": {'v:"x"': {}},
                    "f:labels": {"f:a": {}},
                    "f:name": {},
                },
                "f:spec": {**SELF, "f:q": {}},
            }
        },
        id="embedded resource",
    ),
    pytest.param(
        {"nul": None, "nulobj": None, "nulmap": {}},
        {"f:nul": {}, "f:nulmap": {}, "f:nulobj": {}},
        {"f:nul": {}, "f:nulmap": {}, "f:nulobj": {}},
        id="nulls",
    ),
    pytest.param(
        {"obj": {}, "map": {}, "items": [], "set": [], "list": [], "free": {}, "atom": {}},
        {f"f:{name}": {} for name in ("atom", "free", "items", "list", "map", "obj", "set")},
        {f"f:{name}": {} for name in ("atom", "free", "list", "map", "obj")},
        id="what is empty",
    ),
    pytest.param({"items": None}, {"f:items": {}}, {"f:items": {}}, id="a list that is null"),
]


@pytest.mark.parametrize(("spec", "made", "said"), FIELDS)
def test_fields_are_those_of_kube_apiserver(spec, made, said):
    """A creator owns all fields, an applier those it sets, without the enclosing objects."""
    assert there(spec) == {**SELF, **made}
    assert owned(spec) == said


@pytest.mark.parametrize("spec", [None, {"items": []}], ids=["no spec", "an empty list"])
def test_an_empty_apply_owns_nothing(spec):
    """An apply without any field makes no entry."""
    assert owned(spec) is None


METADATA = {
    "generateName": "x-",
    "namespace": "n",
    "uid": "u",
    "generation": 1,
    "resourceVersion": "5",
    "creationTimestamp": "2024-05-01T12:00:00Z",
    "selfLink": "/x",
    "labels": {"l": "1"},
    "annotations": {"a": "1"},
    "finalizers": ["example.com/f"],
    "ownerReferences": [{"apiVersion": "v1", "kind": "X", "name": "x", "uid": "u1"}],
}


def test_metadata_that_the_plane_decides_has_no_owner():
    """Names, times, versions and the metadata itself are never tracked; what clients write is."""
    entries = created(SHAPE, thing(**METADATA), author())

    assert entries[0]["fieldsV1"] == {
        "f:metadata": {
            "f:annotations": {**SELF, "f:a": {}},
            "f:finalizers": {**SELF, 'v:"example.com/f"': {}},
            "f:generateName": {},
            "f:labels": {**SELF, "f:l": {}},
            "f:ownerReferences": {**SELF, 'k:{"uid":"u1"}': {}},
        }
    }


NAMED = {"name": "x"}
# What a kube-apiserver 1.34 answered for its own kinds.
BUILTINS = [
    pytest.param(ConfigMap, {"data": {"a": "1"}}, {"f:data": {**SELF, "f:a": {}}}, id="ConfigMap"),
    pytest.param(Secret, {"type": "Opaque"}, {"f:type": {}}, id="Secret"),
    pytest.param(
        ServiceAccount,
        {"secrets": [{"name": "b"}, {"name": "a", "namespace": "x"}], "imagePullSecrets": [NAMED]},
        {
            "f:imagePullSecrets": {},
            "f:secrets": {**SELF, 'k:{"name":"a"}': {}, 'k:{"name":"b"}': {}},
        },
        id="ServiceAccount",
    ),
    pytest.param(
        ServiceAccount,
        {"secrets": [{"name": "a"}, {"name": "a", "namespace": "x"}, {"name": "b"}]},
        {"f:secrets": {**SELF, 'k:{"name":"a"}': {}, 'k:{"name":"b"}': {}}},
        id="entries with one name",
    ),
    pytest.param(
        Lease, {"spec": {"holderIdentity": "h"}}, {"f:spec": {"f:holderIdentity": {}}}, id="Lease"
    ),
    pytest.param(
        CoreEvent,
        {
            "involvedObject": NAMED,
            "source": {"component": "c"},
            "series": {"count": 2},
            "related": NAMED,
            "reportingComponent": "",
            "firstTimestamp": "2024-05-01T12:00:00Z",
        },
        {
            "f:firstTimestamp": {},
            "f:involvedObject": {},
            "f:related": {},
            "f:series": {**SELF, "f:count": {}},
            "f:source": {"f:component": {}},
        },
        id="Event",
    ),
    pytest.param(
        Event, {"regarding": NAMED, "note": "m"}, {"f:note": {}, "f:regarding": {}}, id="new Event"
    ),
    pytest.param(
        Namespace, {"spec": {"finalizers": ["x"]}}, {"f:spec": {"f:finalizers": {}}}, id="Namespace"
    ),
]


@pytest.mark.parametrize(("kind", "content", "expected"), BUILTINS)
def test_builtin_kinds_are_owned_as_in_kubernetes(kind, content, expected):
    """Their lists and maps have the types of Kubernetes' own schemas."""
    found = next(k for k in builtins.core() if k.resource is kind.RESOURCE)
    shape = shape_of(found.resource, found.schema, custom=False)
    document = {"apiVersion": "v1", "kind": "X", "metadata": {"name": "x"}, **content}

    assert created(shape, document, author())[0]["fieldsV1"] == expected


def test_webhooks_are_identified_by_name():
    """Entries of a list inside of entries of a list, of a kind whose schema does not say it."""
    resource = Resource(
        group="admissionregistration.k8s.io",
        version="v1",
        kind="ValidatingWebhookConfiguration",
        plural="validatingwebhookconfigurations",
        namespaced=False,
    )
    text = {"type": "string"}
    conditions = {"type": "array", "items": {"type": "object", "properties": {"name": text}}}
    selector = {"type": "object", "properties": {"matchLabels": {"type": "object"}}}
    webhook = {"name": text, "matchConditions": conditions, "objectSelector": selector}
    webhooks = {"type": "array", "items": {"type": "object", "properties": webhook}}
    shape = shape_of(
        resource, {"type": "object", "properties": {"webhooks": webhooks}}, custom=False
    )
    hook = {"name": "a", "matchConditions": [{"name": "q"}], "objectSelector": {"matchLabels": {}}}

    got = created(shape, {"metadata": {}, "webhooks": [hook]}, author())[0]["fieldsV1"]

    conditions = {**SELF, 'k:{"name":"q"}': {**SELF, "f:name": {}}}
    fields = {**SELF, "f:matchConditions": conditions, "f:name": {}, "f:objectSelector": {}}
    assert got == {"f:webhooks": {**SELF, 'k:{"name":"a"}': fields}}


def test_builtin_sets_are_sets():
    """A list of plain values can be a set too."""
    resource = Resource(
        group="admissionregistration.k8s.io",
        version="v1",
        kind="ValidatingAdmissionPolicyBinding",
        plural="validatingadmissionpolicybindings",
        namespaced=False,
    )
    actions = {"type": "array", "items": {"type": "string"}}
    spec = {"type": "object", "properties": {"validationActions": actions}}
    shape = shape_of(resource, {"type": "object", "properties": {"spec": spec}}, custom=False)
    document = {"metadata": {}, "spec": {"validationActions": ["Deny"]}}

    got = created(shape, document, author())[0]["fieldsV1"]

    assert got == {"f:spec": {"f:validationActions": {**SELF, 'v:"Deny"': {}}}}


def test_the_kinds_of_the_plane_have_shapes():
    """Custom kinds are taken as their schemas say, with or without a status of their own."""
    kind = next(kind for kind in served_kinds.custom("compute") if kind.resource.kind == "Instance")
    shape = shape_of(kind.resource, kind.schema, custom=True, served=["v1"])
    gates = {"controller": {"schedulingGates": [{"name": "quota"}]}}

    got = created(shape, thing(gates, {"phase": "x"}), author())[0]["fieldsV1"]

    gate = {**SELF, 'k:{"name":"quota"}': {**SELF, "f:name": {}}}
    assert got == {"f:spec": {**SELF, "f:controller": {**SELF, "f:schedulingGates": gate}}}


def test_a_kind_without_a_schema_is_taken_as_it_comes():
    """Where nothing is said of the document, its values tell what is in it."""
    shape = Shape.of({"type": "object", "x-kubernetes-preserve-unknown-fields": True})

    got = created(shape, thing({"a": {"b": [1]}}), author())[0]["fieldsV1"]

    assert got == {"f:spec": {**SELF, "f:a": {**SELF, "f:b": {}}}}


NAMES = st.dictionaries(st.sampled_from("ab"), st.text(max_size=1))
ITEMS = st.lists(st.sampled_from("abc"), unique=True, max_size=3).map(
    lambda names: [{"name": name, "v": "1"} for name in names]
)
SPECS = st.fixed_dictionaries(
    {}, optional={"replicas": st.integers(), "obj": NAMES, "map": NAMES, "items": ITEMS}
)


@given(st.lists(SPECS, max_size=12))
def test_what_was_seen_before_changes_no_answer(specs):
    """A shape that saw many documents answers for each as one that saw none."""
    for spec in specs:
        fresh = Shape.of(
            {"type": "object", "properties": {"spec": {"type": "object", "properties": SPEC}}}
        )

        assert there(spec) == created(fresh, thing(spec), author())[0]["fieldsV1"]["f:spec"]


def test_many_different_names_are_forgotten_again():
    """A client that writes ever new names gets right answers, and no memory is kept of them all."""
    for number in range(2000):
        name = f"{number}" * 20
        spec = {"map": {name: "1"}, "items": [{"name": name}]}

        assert there(spec) == {
            **SELF,
            "f:items": {**SELF, f'k:{{"name":"{name}"}}': {**SELF, "f:name": {}}},
            "f:map": {**SELF, f"f:{name}": {}},
        }
