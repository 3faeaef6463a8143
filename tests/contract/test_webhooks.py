"""Webhooks: others who are asked about changes."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Literal

import pytest
from aiohttp import web

from kubekit.api.errors import (
    ApiError,
    BadRequest,
    Conflict,
    Forbidden,
    InternalError,
    Invalid,
    NotFound,
)
from kubekit.api.kinds.admission import MutatingWebhookConfiguration, ValidatingWebhookConfiguration
from kubekit.api.kinds.events import CoreEvent
from kubekit.client.transport import Document, Transport
from tests.contract.collection import Collection, names
from tests.contract.hooks import Hooks, Reply
from tests.contract.kinds import RED
from tests.support.kubekit.admission_builders import add, answer, patch, serving


@asynccontextmanager
async def _hooks(directory: Path, transport: Transport, space: str) -> AsyncIterator[Hooks]:
    async with serving(directory) as server:
        hooks = Hooks(transport, space, server)
        try:
            yield hooks
        finally:
            await hooks.remove()


@pytest.fixture
def hooks(run: Any, transport: Transport, space: str, tmp_path: Path) -> Iterator[Hooks]:
    entrance = _hooks(tmp_path, transport, space)
    yield run(entrance.__aenter__())
    run(entrance.__aexit__(None, None, None))


def no(**status: Any) -> Reply:
    return lambda _request: {"allowed": False, "status": status}


def yes(_request: Document) -> Document:
    return {}


async def test_a_webhook_refuses(hooks: Hooks, config_maps: Collection):
    """The refusal names it and says why; nothing is stored."""
    await hooks.configure("validating", hooks.hook(no(message="not today")))
    with pytest.raises(BadRequest) as refusal:
        await config_maps.make("one")
    assert refusal.value.message == (
        'admission webhook "one.example.com" denied the request: not today'
    )
    assert "one" not in names(await config_maps.list())


@pytest.mark.parametrize(
    ("status", "kind", "words"),
    [
        ({}, BadRequest, "denied the request without explanation"),
        (
            {"code": 403, "reason": "Forbidden", "message": "no"},
            Forbidden,
            "denied the request: no",
        ),
        ({"code": 409, "reason": "Conflict"}, Conflict, "denied the request: Conflict"),
        ({"code": 422, "reason": "Invalid", "message": "x"}, Invalid, "denied the request: x"),
    ],
    ids=["nothing", "forbidden", "conflict", "invalid"],
)
async def test_a_webhook_says_how_it_refuses(
    hooks: Hooks, config_maps: Collection, status: Document, kind: type[ApiError], words: str
):
    """Its code and reason are the client's to act on."""
    await hooks.configure("validating", hooks.hook(no(**status)))
    with pytest.raises(kind) as refusal:
        await config_maps.make("one")
    assert words in refusal.value.message


async def test_every_verb_is_reviewed(hooks: Hooks, config_maps: Collection):
    """With what was, and what will be."""
    await hooks.configure("validating", hooks.hook(yes))
    await config_maps.make("one", data={"a": "1"})
    await config_maps.merge("one", {"data": {"a": "2"}})
    await config_maps.delete("one")
    reviewed = [(r["operation"], r["name"], r["namespace"]) for r in hooks.reviews]
    assert reviewed == [(verb, "one", hooks.space) for verb in ("CREATE", "UPDATE", "DELETE")]
    created, updated, deleted = hooks.reviews
    assert (created["object"]["data"], created["oldObject"]) == ({"a": "1"}, None)
    assert (updated["object"]["data"], updated["oldObject"]["data"]) == ({"a": "2"}, {"a": "1"})
    assert (deleted["object"], deleted["oldObject"]["data"]) == (None, {"a": "2"})
    assert created["kind"] == {"group": "", "version": "v1", "kind": "ConfigMap"}
    assert created["resource"] == {"group": "", "version": "v1", "resource": "configmaps"}
    assert created["userInfo"]["username"]
    assert [r["options"]["kind"] for r in hooks.reviews] == [
        "CreateOptions",
        "UpdateOptions",
        "DeleteOptions",
    ]


async def test_a_patch_is_refused_as_an_update_is(hooks: Hooks, config_maps: Collection):
    """In the webhook's own words, and the object stays as it was."""
    await config_maps.make("one", data={"a": "1"})
    await hooks.configure("validating", hooks.hook(no(message="frozen")))
    with pytest.raises(BadRequest, match="denied the request: frozen"):
        await config_maps.merge("one", {"data": {"a": "2"}})
    assert (await config_maps.get("one"))["data"] == {"a": "1"}


async def test_a_deletion_is_refused(hooks: Hooks, config_maps: Collection):
    """The object stays."""
    await config_maps.make("one")
    keep = hooks.hook(no(message="keep it"), rule={"operations": ["DELETE"]})
    await hooks.configure("validating", keep)
    with pytest.raises(BadRequest, match="keep it"):
        await config_maps.delete("one")
    assert "one" in names(await config_maps.list())


async def test_mutating_webhooks_review_deletions(hooks: Hooks, config_maps: Collection):
    """There is nothing to complete, but they may say no."""
    await config_maps.make("one")
    keep = hooks.hook(no(message="keep it"), rule={"operations": ["DELETE"]})
    await hooks.configure("mutating", keep, name="m")
    with pytest.raises(BadRequest, match="keep it"):
        await config_maps.delete("one")


async def test_a_webhook_completes_an_object(hooks: Hooks, config_maps: Collection):
    """What it adds is stored and answered."""
    await hooks.configure("mutating", hooks.hook(lambda _: patch(add("/data", {"by": "hook"}))))
    made = await config_maps.make("one")
    assert made["data"] == {"by": "hook"}
    assert (await config_maps.get("one"))["data"] == {"by": "hook"}


async def test_what_a_webhook_adds_is_completed_and_judged(hooks: Hooks, widgets: Collection):
    """Defaults are filled in, and rules hold."""
    part = patch(add("/spec/parts", [{"name": "wing"}]))
    await hooks.configure("mutating", hooks.hook(lambda _: part))
    made = await widgets.make("one", spec=RED)
    assert made["spec"]["parts"] == [{"name": "wing", "size": 1}]


async def test_what_a_webhook_breaks_is_refused(hooks: Hooks, widgets: Collection):
    """As if the client had written it."""
    await hooks.configure("mutating", hooks.hook(lambda _: patch(add("/spec/colour", "pink"))))
    with pytest.raises(Invalid, match=r"spec\.colour"):
        await widgets.make("one", spec=RED)


async def test_a_label_that_a_webhook_adds_must_be_one(hooks: Hooks, config_maps: Collection):
    """Metadata is judged after it as well."""
    bad = patch(add("/metadata/labels", {"a b": "c"}))
    await hooks.configure("mutating", hooks.hook(lambda _: bad))
    with pytest.raises(Invalid, match=r"metadata\.labels"):
        await config_maps.make("one")


async def test_webhooks_see_what_others_did(hooks: Hooks, config_maps: Collection):
    """One after the other; validating webhooks come last."""

    def grow(request: Document) -> Document:
        data = request["object"].get("data") or {}
        return patch(add("/data", data | {str(len(data)): "x"}))

    await hooks.configure("mutating", hooks.hook(grow, "two"), name="b")
    await hooks.configure("mutating", hooks.hook(grow, "one"), name="a")
    await hooks.configure("validating", hooks.hook(yes, "three"))
    hooks.reviews.clear()
    await config_maps.make("one")
    seen = [(r["path"].partition("?")[0], r["object"].get("data")) for r in hooks.reviews]
    assert seen == [("/one", None), ("/two", {"0": "x"}), ("/three", {"0": "x", "1": "x"})]


async def test_a_webhook_is_asked_again_if_it_wants(hooks: Hooks, config_maps: Collection):
    """After others changed what it saw."""
    first = hooks.hook(yes, "one", reinvocationPolicy="IfNeeded")
    second = hooks.hook(lambda _: patch(add("/data", {"a": "b"})), "two")
    await hooks.configure("mutating", first, second)
    await config_maps.make("one")
    asked = [r["path"].partition("?")[0] for r in hooks.reviews]
    assert asked == ["/one", "/two", "/one"]


@pytest.mark.parametrize("policy", ["Fail", "Ignore"])
async def test_a_webhook_that_is_not_there(hooks: Hooks, config_maps: Collection, policy: str):
    """Whether that matters is the configuration's to say."""
    client = {"url": "https://127.0.0.1:9/x"}
    await hooks.configure("validating", hooks.at(client, failurePolicy=policy, timeoutSeconds=2))
    if policy == "Ignore":
        await config_maps.make("one")
        return
    with pytest.raises(InternalError) as refusal:
        await config_maps.make("one")
    assert refusal.value.message == (
        'Internal error occurred: failed calling webhook "one.example.com": failed to call '
        'webhook: Post "https://127.0.0.1:9/x?timeout=2s": dial tcp 127.0.0.1:9: connect: '
        "connection refused"
    )


@pytest.mark.slow
async def test_w1_a_webhook_that_hangs(hooks: Hooks, config_maps: Collection):
    """It has the time that it asked for, and others are served meanwhile."""

    async def hang(_request: web.Request) -> web.StreamResponse:
        await asyncio.Event().wait()
        raise AssertionError("it is never set")

    selector = {"matchLabels": {"slow": "yes"}}
    stuck = hooks.at(hooks.server.at("x", hang), timeoutSeconds=5, objectSelector=selector)
    await hooks.configure("validating", stuck)
    slow = asyncio.ensure_future(config_maps.make("slow", metadata={"labels": {"slow": "yes"}}))
    await config_maps.make("quick")
    assert not slow.done()
    with pytest.raises(InternalError, match="context deadline exceeded"):
        await slow


async def test_w1_an_answer_to_another_question(hooks: Hooks, config_maps: Collection):
    """It is none."""

    async def reply(_request: web.Request) -> web.Response:
        return web.json_response(answer("x", {}))

    await hooks.configure("validating", hooks.at(hooks.server.at("x", reply)))
    with pytest.raises(InternalError, match=r'expected response\.uid=".*", got "x"'):
        await config_maps.make("one")


async def test_w1_another_certificate(hooks: Hooks, config_maps: Collection, tmp_path: Path):
    """Another server at the address is not trusted."""
    async with serving(tmp_path) as other:
        client = hooks.server.on("x", yes) | {"caBundle": other.ca_bundle}
        await hooks.configure("validating", hooks.at(client))
        with pytest.raises(InternalError, match="failed to verify certificate"):
            await config_maps.make("one")


async def test_w1_a_patch_to_another_namespace(hooks: Hooks, config_maps: Collection):
    """No webhook moves an object."""
    move = patch(add("/metadata/namespace", "default"))
    await hooks.configure("mutating", hooks.hook(lambda _: move))
    with pytest.raises((BadRequest, InternalError)):
        await config_maps.make("one")
    assert "one" not in names(await config_maps.list())


async def test_a_dry_run_is_marked_as_one(hooks: Hooks, config_maps: Collection):
    """And is asked about like any other change."""
    await hooks.configure("validating", hooks.hook(no(message="not even so")))
    with pytest.raises(BadRequest, match="not even so"):
        await config_maps.create(config_maps.document("one"), dry_run=True)
    assert hooks.reviews[0]["dryRun"] is True


async def test_a_webhook_chooses_its_objects(hooks: Hooks, config_maps: Collection):
    """By their labels, before or after the change."""
    selector = {"matchLabels": {"guarded": "yes"}}
    await hooks.configure("validating", hooks.hook(yes, objectSelector=selector))
    await config_maps.make("plain")
    await config_maps.make("one", metadata={"labels": {"guarded": "yes"}})
    await config_maps.merge("one", {"metadata": {"labels": {"guarded": None}}})
    await config_maps.merge("one", {"data": {"a": "b"}})
    assert [r["operation"] for r in hooks.reviews] == ["CREATE", "UPDATE"]


async def test_a_webhook_chooses_its_namespaces(hooks: Hooks, config_maps: Collection):
    """By their labels too."""
    selector = {"matchLabels": {"kubernetes.io/metadata.name": hooks.space, "no": "such"}}
    await hooks.configure("validating", hooks.hook(no(), namespaceSelector=selector))
    await config_maps.make("one")


async def test_parts_of_an_object_are_resources_of_their_own(hooks: Hooks, widgets: Collection):
    """A rule about the status is not one about the object."""
    await widgets.make("one", spec=RED)
    rule = {"resources": ["widgets/status"]}
    await hooks.configure("validating", hooks.hook(yes, rule=rule))
    await widgets.merge("one", {"metadata": {"labels": {"a": "b"}}})
    await widgets.merge("one", {"status": {"phase": "Done"}}, "status")
    assert {r["subResource"] for r in hooks.reviews} == {"status"}
    # A server whose cache is behind the write before tries again from what is there, and asks again:
    # but never twice about a change of the same object.
    befores = [r["oldObject"]["metadata"]["resourceVersion"] for r in hooks.reviews]
    assert len(befores) == len(set(befores))
    assert hooks.reviews[0]["object"]["status"]["phase"] == "Done"


@pytest.mark.parametrize(("part", "kept"), [("status", "spec"), ("", "status")])
async def test_a_webhook_reaches_as_far_as_the_request(
    hooks: Hooks, widgets: Collection, part: Literal["", "status"], kept: str
):
    """What a part of an object must not change, a mutating webhook cannot change either."""
    await widgets.make("one", spec=RED)
    await widgets.merge("one", {"status": {"phase": "New"}}, "status")
    both = patch(add("/spec/colour", "blue"), add("/status/phase", "Old"))
    await hooks.configure("mutating", hooks.hook(lambda _: both))
    before = await widgets.get("one")
    after = await widgets.merge("one", {"spec": {"title": "ab"}, "status": {"seen": 3}}, part)
    assert after[kept] == before[kept]


async def test_a_scale_is_asked_about_as_such(hooks: Hooks, widgets: Collection):
    """In the shape of a Scale."""
    await widgets.make("one", spec=RED | {"replicas": 1})
    await hooks.configure("validating", hooks.hook(yes, rule={"resources": ["widgets/scale"]}))
    await widgets.merge("one", {"spec": {"replicas": 2}}, "scale")
    [review] = hooks.reviews
    assert review["kind"] == {"group": "autoscaling", "version": "v1", "kind": "Scale"}
    assert review["object"]["spec"] == {"replicas": 2}


@pytest.mark.parametrize("policy", ["Equivalent", "Exact"])
async def test_other_versions_of_a_resource(
    hooks: Hooks, transport: Transport, space: str, policy: str
):
    """They are meant too, and shown as the webhook wants them, unless it says otherwise."""
    rule = {"apiGroups": ["events.k8s.io"], "resources": ["events"]}
    await hooks.configure("validating", hooks.hook(yes, rule=rule, matchPolicy=policy))
    events = Collection(transport, CoreEvent.RESOURCE, space)
    about = {"kind": "Widget", "namespace": space, "name": "one"}
    await events.make("one", involvedObject=about, reason="Why", message="hello")
    if policy == "Exact":
        assert hooks.reviews == []
        return
    [review] = hooks.reviews
    assert review["object"]["note"] == "hello"
    assert review["requestKind"] == {"group": "", "version": "v1", "kind": "Event"}


async def test_conditions_say_whether_to_ask(hooks: Hooks, config_maps: Collection):
    """All of them must hold."""
    conditions = [
        {"name": "creates", "expression": "request.operation == 'CREATE'"},
        {"name": "large", "expression": "has(object.data) && size(object.data) > 1"},
    ]
    await hooks.configure("validating", hooks.hook(yes, matchConditions=conditions))
    await config_maps.make("small", data={"a": "1"})
    await config_maps.make("large", data={"a": "1", "b": "2"})
    assert [r["name"] for r in hooks.reviews] == ["large"]


@pytest.mark.parametrize("policy", ["Fail", "Ignore"])
async def test_a_condition_that_cannot_be_evaluated(
    hooks: Hooks, config_maps: Collection, policy: str
):
    """It refuses the change, or lets the webhook be."""
    conditions = [{"name": "odd", "expression": "object.nope == 1"}]
    odd = hooks.hook(yes, matchConditions=conditions, failurePolicy=policy)
    await hooks.configure("validating", odd)
    if policy == "Ignore":
        await config_maps.make("one")
        assert hooks.reviews == []
        return
    with pytest.raises(Forbidden) as refusal:
        await config_maps.make("one")
    assert refusal.value.message == (
        "configmaps \"one\" is forbidden: expression 'object.nope == 1' resulted in error: "
        "no such key: nope"
    )


async def test_w1_configurations_are_sent_to_no_webhook(hooks: Hooks, transport: Transport):
    """One that refuses everything can be removed."""
    rule = {"apiGroups": ["admissionregistration.k8s.io"], "resources": ["*/*"]}
    everything = {"matchLabels": {"watched": hooks.space}}
    guard = hooks.hook(no(message="never"), rule=rule, objectSelector=everything)
    guard.pop("namespaceSelector")
    await hooks.configure("validating", guard)
    collection = Collection(transport, ValidatingWebhookConfiguration.RESOURCE)
    name = f"{hooks.space}-other"
    await collection.make(name, metadata={"labels": {"watched": hooks.space}})
    await collection.delete(name)
    with pytest.raises(NotFound):
        await collection.get(name)


async def test_a_configuration_says_what_it_must(transport: Transport, space: str):
    """Each field that is wrong is named."""
    collection = Collection(transport, ValidatingWebhookConfiguration.RESOURCE)
    with pytest.raises(Invalid) as refusal:
        await collection.make(space, webhooks=[{"name": "a", "clientConfig": {}}])
    for words in (
        'webhooks[0].name: Invalid value: "a": should be a domain with at least three segments',
        "webhooks[0].sideEffects: Required value: must specify one of None, NoneOnDryRun",
        "webhooks[0].clientConfig: Required value: exactly one of url or service is required",
        "webhooks[0].admissionReviewVersions: Required value: must specify one of v1, v1beta1",
    ):
        assert words in refusal.value.message


async def test_a_configuration_is_completed(transport: Transport, space: str):
    """What it does not say is filled in."""
    collection = Collection(transport, MutatingWebhookConfiguration.RESOURCE)
    hook = {
        "name": "one.example.com",
        "clientConfig": {"url": "https://127.0.0.1:9/"},
        "sideEffects": "None",
        "admissionReviewVersions": ["v1"],
    }
    made = await collection.make(space, webhooks=[hook])
    await collection.delete(space)
    assert made["metadata"]["generation"] == 1
    assert made["webhooks"] == [
        hook
        | {
            "failurePolicy": "Fail",
            "matchPolicy": "Equivalent",
            "namespaceSelector": {},
            "objectSelector": {},
            "reinvocationPolicy": "Never",
            "timeoutSeconds": 10,
        }
    ]
