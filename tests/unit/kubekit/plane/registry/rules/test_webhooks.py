"""What a webhook configuration must say, and what is filled in. The texts are Kubernetes'."""

from datetime import UTC, datetime
from typing import Any

import msgspec
import pytest

from kubekit.api.errors import BadRequest, Invalid
from kubekit.api.kinds.admission import MutatingWebhookConfiguration, ValidatingWebhookConfiguration
from kubekit.client.options import PatchType
from kubekit.plane.registry.printing import tables
from tests.support.kubekit.registry_builders import (
    Collection,
    World,
    document_of,
    scenario,
    version,
)

GROUP = "admissionregistration.k8s.io/v1"
VALIDATING, MUTATING = "ValidatingWebhookConfiguration", "MutatingWebhookConfiguration"
Document = dict[str, Any]
FORM = "; desired format: https://host[/path]"
SUBDOMAIN = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or "
    "'.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used "
    "for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
)
LABEL = (
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an "
    "alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', "
    "regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')"
)


def configurations(world: World, kind: str = VALIDATING) -> Collection:
    return world.collection(GROUP, kind, "")


def hook(**said: Any) -> Document:
    whole = {
        "name": "a.example.com",
        "clientConfig": {"url": "https://127.0.0.1:9/x"},
        "rules": [dict(RULE)],
        "sideEffects": "None",
        "admissionReviewVersions": ["v1"],
        **said,
    }
    return {name: value for name, value in whole.items() if value is not ABSENT}


ABSENT: Any = object()
RULE = {
    "operations": ["CREATE"],
    "apiGroups": ["probe.example"],
    "apiVersions": ["v1"],
    "resources": ["pods"],
}


def rule(**said: Any) -> Document:
    return hook(rules=[RULE | said])


def url(text: str) -> Document:
    return hook(clientConfig={"url": text})


def service(**said: Any) -> Document:
    return hook(clientConfig={"service": {"name": "a", "namespace": "b", **said}})


@scenario
async def test_what_is_not_said_is_filled_in(world: World):
    """As Kubernetes fills it in."""
    named = service()
    made = await configurations(world).make("one", webhooks=[hook(), named | {"name": "b.x.y"}])
    first, second = made["webhooks"]
    assert first == hook() | {
        "failurePolicy": "Fail",
        "matchPolicy": "Equivalent",
        "namespaceSelector": {},
        "objectSelector": {},
        "timeoutSeconds": 10,
        "rules": [RULE | {"scope": "*"}],
    }
    assert second["clientConfig"]["service"]["port"] == 443
    assert made["metadata"]["generation"] == 1


@scenario
async def test_one_that_mutates_also_says_whether_it_is_asked_again(world: World):
    """Never, unless it says so."""
    made = await configurations(world, MUTATING).make("one", webhooks=[hook()])
    assert made["webhooks"][0]["reinvocationPolicy"] == "Never"
    other = await configurations(world).make("one", webhooks=[hook()])
    assert "reinvocationPolicy" not in other["webhooks"][0]


@scenario
async def test_null_says_nothing(world: World):
    """Go writes it for what is empty."""
    empty = hook(timeoutSeconds=None, rules=None, matchConditions=None, namespaceSelector=None)
    made = await configurations(world).make("one", webhooks=[empty])
    assert made["webhooks"][0]["timeoutSeconds"] == 10
    assert "rules" not in made["webhooks"][0]
    bare = await configurations(world).make("two", webhooks=None)
    assert "webhooks" not in bare


@scenario
async def test_the_generation_counts_changes_of_webhooks(world: World):
    """And of nothing else."""
    those = configurations(world)
    made = await those.make("one", webhooks=[hook()])
    same = document_of(await those.update(made))
    assert version(same) == version(made)
    labelled = document_of(await those.merge("one", {"metadata": {"labels": {"a": "b"}}}))
    assert labelled["metadata"]["generation"] == 1
    changed = labelled | {"webhooks": [hook(timeoutSeconds=5)]}
    assert document_of(await those.update(changed))["metadata"]["generation"] == 2


@pytest.mark.parametrize("kind", [MutatingWebhookConfiguration, ValidatingWebhookConfiguration])
def test_kubectl_shows_how_many_there_are(kind):
    """With the columns of every server."""
    columns = tables.columns(kind.RESOURCE)
    assert [(c["name"], c["type"]) for c in columns] == [
        ("Name", "string"),
        ("Webhooks", "integer"),
        ("Age", "string"),
    ]
    metadata = {"name": "one", "creationTimestamp": "2026-05-01T11:00:00Z"}
    data = msgspec.json.encode({"metadata": metadata, "webhooks": [hook(), hook()]})
    names_only = tables.TableFormat(include="None")
    shown = tables.table(
        kind.RESOURCE, [data], {}, names_only, datetime(2026, 5, 1, 12, tzinfo=UTC)
    )
    assert msgspec.json.decode(shown)["rows"][0]["cells"] == ["one", 2, "60m"]


@scenario
async def test_kubectl_merges_webhooks_by_name(world: World):
    """A change of one leaves the others alone."""
    those = configurations(world)
    await those.make("one", webhooks=[hook(), hook(name="b.example.com")])
    patch = {"webhooks": [{"name": "b.example.com", "timeoutSeconds": 3}]}
    changed = document_of(await those.patch("one", patch, PatchType.STRATEGIC))
    assert [each["timeoutSeconds"] for each in changed["webhooks"]] == [10, 3]


WRONG = [
    (hook(name=ABSENT), "name: Required value"),
    (hook(name=""), "name: Required value"),
    (
        hook(name="a.b"),
        'name: Invalid value: "a.b": should be a domain with at least three segments separated by '
        "dots",
    ),
    (hook(name="A.b.c"), f'name: Invalid value: "A.b.c": {SUBDOMAIN}'),
    (hook(name="a." * 130 + "b"), "must be no more than 253 characters"),
    (
        url("http://127.0.0.1/x"),
        f"clientConfig.url: Invalid value: \"http\": 'https' is the only allowed URL scheme{FORM}",
    ),
    (
        hook(clientConfig={}),
        "clientConfig: Required value: exactly one of url or service is required",
    ),
    (
        hook(clientConfig=ABSENT),
        "clientConfig: Required value: exactly one of url or service is required",
    ),
    (
        hook(clientConfig={"url": "https://a/", "service": {"name": "a", "namespace": "b"}}),
        "clientConfig: Required value: exactly one of url or service is required",
    ),
    (
        url("https://a b/"),
        'clientConfig.url: Required value: url must be a valid URL: parse "https://a b/": invalid '
        f'character " " in host name{FORM}',
    ),
    (url(""), f'clientConfig.url: Invalid value: "": host must be specified{FORM}'),
    (url("https:///x"), f'clientConfig.url: Invalid value: "": host must be specified{FORM}'),
    (
        url("https://u:p@a/"),
        'clientConfig.url: Invalid value: "u:p": user information is not permitted in the URL',
    ),
    (
        url("https://a/#f"),
        'clientConfig.url: Invalid value: "f": fragments are not permitted in the URL',
    ),
    (
        url("https://a/?q"),
        'clientConfig.url: Invalid value: "q": query parameters are not permitted in the URL',
    ),
    (url("https://a/\x01"), "net/url: invalid control character in URL"),
    (url("https://a/%zz"), f'invalid URL escape "%zz"{FORM}'),
    (url("https://a:b/"), f'invalid port ":b" after host{FORM}'),
    (url("https://[::1]x/"), "invalid port"),
    (url(":x"), f"missing protocol scheme{FORM}"),
    (url("https://[::1/"), f"missing ']' in host{FORM}"),
    (
        url("//a/b"),
        f"clientConfig.url: Invalid value: \"\": 'https' is the only allowed URL scheme{FORM}",
    ),
    (service(name=""), "clientConfig.service.name: Required value"),
    (service(namespace=""), "clientConfig.service.namespace: Required value"),
    (
        service(port=0),
        "clientConfig.service.port: Invalid value: 0: port is not valid: must be between 1 and "
        "65535, inclusive",
    ),
    (service(port=70000), "clientConfig.service.port: Invalid value: 70000"),
    (
        service(path="foo"),
        "clientConfig.service.path: Invalid value: \"foo\": must start with a '/'",
    ),
    (
        service(path="/foo//bar"),
        'clientConfig.service.path: Invalid value: "/foo//bar": segment[1] may not be empty',
    ),
    (
        service(path="/foo/ba r/"),
        f'clientConfig.service.path: Invalid value: "/foo/ba r/": segment[1]: {SUBDOMAIN}',
    ),
    (
        service(path="//"),
        'clientConfig.service.path: Invalid value: "//": segment[0] may not be empty',
    ),
    (
        hook(sideEffects="Some"),
        'sideEffects: Unsupported value: "Some": supported values: "None", "NoneOnDryRun"',
    ),
    (
        hook(sideEffects=ABSENT),
        "sideEffects: Required value: must specify one of None, NoneOnDryRun",
    ),
    (
        hook(failurePolicy="X"),
        'failurePolicy: Unsupported value: "X": supported values: "Fail", "Ignore"',
    ),
    (
        hook(matchPolicy="X"),
        'matchPolicy: Unsupported value: "X": supported values: "Equivalent", "Exact"',
    ),
    (
        hook(timeoutSeconds=0),
        "timeoutSeconds: Invalid value: 0: the timeout value must be between 1 and 30 seconds",
    ),
    (hook(timeoutSeconds=31), "timeoutSeconds: Invalid value: 31"),
    (
        hook(admissionReviewVersions=ABSENT),
        "admissionReviewVersions: Required value: must specify one of v1, v1beta1",
    ),
    (
        hook(admissionReviewVersions=["v2"]),
        'admissionReviewVersions: Invalid value: ["v2"]: must include at least one of v1, v1beta1',
    ),
    (
        hook(admissionReviewVersions=["v1", "v1"]),
        'admissionReviewVersions[1]: Invalid value: "v1": duplicate version',
    ),
    (
        hook(admissionReviewVersions=["v1", "V_"]),
        f'admissionReviewVersions[1]: Invalid value: "V_": {LABEL}',
    ),
    (rule(operations=[]), "rules[0].operations: Required value"),
    (
        rule(operations=["X"]),
        'rules[0].operations[0]: Unsupported value: "X": supported values: "*", "CONNECT", '
        '"CREATE", "DELETE", "UPDATE"',
    ),
    (
        rule(operations=["*", "CREATE"]),
        'rules[0].operations: Invalid value: ["*","CREATE"]: if \'*\' is present, must not specify '
        "other operations",
    ),
    (rule(apiGroups=[]), "rules[0].apiGroups: Required value"),
    (
        rule(apiGroups=["*", "a"]),
        'rules[0].apiGroups: Invalid value: ["*","a"]: if \'*\' is present, must not specify other '
        "API groups",
    ),
    (rule(apiVersions=[]), "rules[0].apiVersions: Required value"),
    (rule(apiVersions=[""]), "rules[0].apiVersions[0]: Required value"),
    (rule(apiVersions=["*", "v1"]), "must not specify other API versions"),
    (rule(resources=[]), "rules[0].resources: Required value"),
    (rule(resources=[""]), "rules[0].resources[0]: Required value"),
    (
        rule(resources=["*", "pods"]),
        'rules[0].resources: Invalid value: ["*","pods"]: if \'*\' is present, must not specify '
        "other resources without subresources",
    ),
    (
        rule(resources=["*/*", "pods"]),
        'rules[0].resources: Invalid value: ["*/*","pods"]: if \'*/*\' is present, must not '
        "specify other resources",
    ),
    (
        rule(resources=["pods/*", "pods/status"]),
        "rules[0].resources[1]: Invalid value: \"pods/status\": if 'pods/*' is present, must not "
        "specify pods/status",
    ),
    (
        rule(resources=["*/status", "pods/status"]),
        "rules[0].resources[1]: Invalid value: \"pods/status\": if '*/status' is present, must not "
        "specify pods/status",
    ),
    (
        rule(scope="X"),
        'rules[0].scope: Unsupported value: "X": supported values: "*", "Cluster", "Namespaced"',
    ),
    (rule(scope=""), 'rules[0].scope: Unsupported value: ""'),
    (
        hook(namespaceSelector={"matchLabels": {"a b": "c"}}),
        'namespaceSelector.matchLabels: Invalid value: "a b"',
    ),
    (
        hook(objectSelector={"matchLabels": {"a": "c d"}}),
        'objectSelector.matchLabels: Invalid value: "c d"',
    ),
    (
        hook(namespaceSelector={"matchExpressions": [{"key": "a", "operator": "In"}]}),
        "namespaceSelector.matchExpressions[0].values: Required value: must be specified when "
        "`operator` is 'In' or 'NotIn'",
    ),
    (
        hook(objectSelector={"matchExpressions": [{"key": "a", "operator": "X"}]}),
        'objectSelector.matchExpressions[0].operator: Invalid value: "X": not a valid selector '
        "operator",
    ),
    (
        hook(
            objectSelector={
                "matchExpressions": [{"key": "a", "operator": "Exists", "values": ["x"]}]
            }
        ),
        "objectSelector.matchExpressions[0].values: Forbidden: may not be specified when "
        "`operator` is 'Exists' or 'DoesNotExist'",
    ),
    (
        hook(
            objectSelector={"matchExpressions": [{"key": "", "operator": "In", "values": ["x y"]}]}
        ),
        'objectSelector.matchExpressions[0].key: Invalid value: ""',
    ),
    (
        hook(matchConditions=[{"name": "a", "expression": " "}]),
        "matchConditions[0].expression: Required value",
    ),
    (
        hook(matchConditions=[{"expression": "true"}]),
        "matchConditions[0].name: Required value",
    ),
    (
        hook(matchConditions=[{"name": "a b", "expression": "true"}]),
        'matchConditions[0].name: Invalid value: "a b"',
    ),
    (
        hook(matchConditions=[{"name": f"a{n}", "expression": "true"} for n in range(65)]),
        "matchConditions: Too many: 65: must have at most 64 items",
    ),
    (
        hook(matchConditions=[{"name": "a", "expression": "object.x +"}]),
        'matchConditions[0].expression: Invalid value: "object.x +": compilation failed: ERROR: '
        "<input>:1:11: Syntax error",
    ),
    (
        hook(matchConditions=[{"name": "a", "expression": "1"}]),
        'matchConditions[0].expression: Invalid value: "1": must evaluate to bool',
    ),
    (
        hook(matchConditions=[{"name": "a", "expression": "params.x == 1"}]),
        "undeclared reference to 'params'",
    ),
]


@pytest.mark.parametrize(("wrong", "words"), WRONG, ids=[words[:60] for _, words in WRONG])
@scenario
async def test_what_is_wrong_is_told_by_its_field(world: World, wrong: Document, words: str):
    """In the words that a Kubernetes server has for it."""
    with pytest.raises(Invalid) as refusal:
        await configurations(world).make("one", webhooks=[wrong])
    assert words in refusal.value.message
    if words.partition(":")[0].rpartition("]")[2].replace(".", "").isalpha():
        assert "webhooks[0]" in refusal.value.message


@scenario
async def test_a_bundle_that_is_no_base64_is_no_bundle(world: World):
    """Such a document is none of its kind, and a bad request."""
    wrong = hook(clientConfig={"url": "https://a/", "caBundle": "%%"})
    with pytest.raises(BadRequest, match=r"clientConfig\.caBundle: Invalid value"):
        await configurations(world).make("one", webhooks=[wrong])


@scenario
async def test_how_often_to_ask_is_one_of_two(world: World):
    """Never or IfNeeded."""
    with pytest.raises(Invalid) as refusal:
        await configurations(world, MUTATING).make("one", webhooks=[hook(reinvocationPolicy="X")])
    assert (
        'webhooks[0].reinvocationPolicy: Unsupported value: "X": supported values: "IfNeeded", '
        '"Never"' in refusal.value.message
    )


@scenario
async def test_names_of_webhooks_differ(world: World):
    """Within one configuration."""
    with pytest.raises(Invalid, match="Duplicate value"):
        await configurations(world).make("one", webhooks=[hook(), hook()])


RIGHT = [
    url("HTTPS://a/b"),
    url("https://a:99999/"),
    url("https://[::1]:8/"),
    url("https://a:/"),
    service(path="/"),
    service(path=""),
    service(path="/foo/bar/"),
    hook(clientConfig={"url": "https://a/", "caBundle": "aGFs\nbG8="}),
    hook(admissionReviewVersions=["v1beta1"]),
    hook(sideEffects="NoneOnDryRun"),
    hook(failurePolicy="Ignore", matchPolicy="Exact", timeoutSeconds=30),
    hook(objectSelector={"matchExpressions": [{"key": "a", "operator": "In", "values": ["b"]}]}),
    rule(operations=["CONNECT", "DELETE", "UPDATE"]),
    rule(apiGroups=[""]),
    rule(resources=["pods", "pods"]),
    rule(resources=["a/b/c"]),
    rule(resources=["*", "pods/status"]),
    rule(scope="Namespaced"),
    hook(matchConditions=[{"name": "a.b/c", "expression": "request.userInfo.username == 'x'"}]),
    hook(matchConditions=[{"name": "a", "expression": "!has(object.spec) || oldObject == null"}]),
]


@pytest.mark.parametrize("right", RIGHT, ids=str)
@scenario
async def test_what_is_right_is_taken(world: World, right: Document):
    """Whatever a Kubernetes server takes."""
    made = await configurations(world).make("one", webhooks=[right])
    assert made["webhooks"][0]["name"] == "a.example.com"
