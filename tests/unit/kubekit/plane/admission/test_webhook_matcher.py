"""Which changes a webhook hears of."""

import asyncio
from pathlib import Path
from typing import Any

import msgspec
import pytest

from kubekit.api.errors import BadRequest, NotFound
from kubekit.client.options import WriteOptions
from kubekit.plane.registry.admission import AdmissionChain, Attempt
from kubekit.plane.registry.kinds import Kinds
from kubekit.plane.store.records import ChangeType, Draft
from tests.support.kubekit.admission_builders import (
    MUTATING,
    VALIDATING,
    Document,
    Server,
    World,
    hook,
    scenario,
    serving,
    world,
)

CONFIG_MAP, BOAT, BOAT2 = (
    ("v1", "ConfigMap"),
    ("example.com/v1", "Boat"),
    ("example.com/v2", "Boat"),
)
NAMESPACE, GROUP = ("v1", "Namespace"), "admissionregistration.k8s.io/v1"


async def is_called(there: World, server: Server, attempt: Attempt, **said: Any) -> bool:
    """Whether a webhook that says so is asked about the change."""
    client = server.on("x", lambda _: {})
    await there.configure(VALIDATING, "v", hook(client, **said))
    return await is_asked(there, server, attempt)


async def is_asked(there: World, server: Server, attempt: Attempt) -> bool:
    server.reviews.clear()
    waiting = there.webhooks.validate(attempt)
    if waiting is not None:
        await waiting
    return bool(server.reviews)


RULES = [
    ({"operations": ["CREATE"]}, "create", CONFIG_MAP, "", True),
    ({"operations": ["UPDATE", "DELETE"]}, "create", CONFIG_MAP, "", False),
    ({"operations": ["UPDATE"]}, "update", CONFIG_MAP, "", True),
    ({"operations": ["DELETE"]}, "delete", CONFIG_MAP, "", True),
    ({"operations": ["*"]}, "delete", CONFIG_MAP, "", True),
    ({"apiGroups": [""]}, "create", CONFIG_MAP, "", True),
    ({"apiGroups": ["example.com"]}, "create", CONFIG_MAP, "", False),
    ({"apiGroups": ["example.com", ""]}, "create", CONFIG_MAP, "", True),
    ({"apiVersions": ["v9"]}, "create", CONFIG_MAP, "", False),
    ({"resources": ["secrets"]}, "create", CONFIG_MAP, "", False),
    ({"resources": ["*"]}, "create", CONFIG_MAP, "", True),
    ({"resources": ["*"]}, "update", BOAT, "status", False),
    ({"resources": ["boats"]}, "update", BOAT, "status", False),
    ({"resources": ["boats/status"]}, "update", BOAT, "status", True),
    ({"resources": ["boats/status"]}, "update", BOAT, "", False),
    ({"resources": ["boats/status"]}, "update", BOAT, "scale", False),
    ({"resources": ["boats/*"]}, "update", BOAT, "scale", True),
    ({"resources": ["*/status"]}, "update", BOAT, "status", True),
    ({"resources": ["*/*"]}, "update", BOAT, "status", True),
    ({"resources": ["*/*"]}, "create", BOAT, "", True),
    ({"resources": ["*"], "scope": "Namespaced"}, "create", CONFIG_MAP, "", True),
    ({"resources": ["*"], "scope": "Cluster"}, "create", CONFIG_MAP, "", False),
    ({"resources": ["*"], "scope": "*"}, "create", NAMESPACE, "", True),
    ({"resources": ["*"], "scope": "Cluster"}, "create", NAMESPACE, "", True),
    ({"resources": ["*"], "scope": "Namespaced"}, "create", NAMESPACE, "", False),
]


@pytest.mark.parametrize(("rule", "verb", "kind", "part", "called"), RULES, ids=str)
@scenario
async def test_a_rule_selects_changes(
    there: World, server: Server, *, rule: Document, verb: str, kind, part: str, called: bool
):
    """Operations, groups, versions, resources with their parts, and scope must all fit."""
    attempt = there.attempt(verb, kind, subresource=part)
    assert await is_called(there, server, attempt, rule=rule) is called


@scenario
async def test_one_rule_of_several_is_enough(there: World, server: Server):
    """They are alternatives."""
    client = server.on("x", lambda _: {})
    narrow = hook(client)
    rules = narrow["rules"] * 2
    narrow["rules"] = [rules[0] | {"resources": ["secrets"]}, rules[1]]
    await there.configure(VALIDATING, "v", narrow)
    assert await is_asked(there, server, there.attempt())


@pytest.mark.parametrize(
    ("policy", "called"), [("Exact", False), ("Equivalent", True)], ids=["exact", "equivalent"]
)
@scenario
async def test_other_versions_of_a_resource(
    there: World, server: Server, *, policy: str, called: bool
):
    """A rule about one version covers the others, unless the webhook says otherwise."""
    said = {"rule": {"apiVersions": ["v1"]}, "matchPolicy": policy}
    assert await is_called(there, server, there.attempt(kind=BOAT2), **said) is called


@scenario
async def test_the_clients_own_version_is_preferred(there: World, server: Server):
    """Nothing is converted if the webhook accepts the version."""
    await is_called(there, server, there.attempt(kind=BOAT2))
    [review] = server.reviews
    assert (review["kind"]["version"], review["object"]["apiVersion"]) == ("v2", BOAT2[0])


@scenario
async def test_an_event_is_shown_in_the_shape_that_is_wanted(there: World, server: Server):
    """Another version may be another group, with other fields."""
    rule = {"apiGroups": ["events.k8s.io"], "resources": ["events"]}
    attempt = there.attempt(kind=("v1", "Event"), content={"message": "hello"})
    assert await is_called(there, server, attempt, rule=rule)
    [review] = server.reviews
    assert review["object"]["note"] == "hello"
    assert review["resource"]["group"] == "events.k8s.io"
    assert review["requestResource"]["group"] == ""


def labels(**given: str) -> Document:
    return {"matchLabels": given}


@pytest.mark.parametrize(
    ("selector", "called"),
    [
        (labels(size="large"), True),
        (labels(size="small"), False),
        (labels(**{"kubernetes.io/metadata.name": "room"}), True),
        ({"matchExpressions": [{"key": "size", "operator": "DoesNotExist"}]}, False),
        ({}, True),
    ],
    ids=str,
)
@scenario
async def test_a_namespace_is_chosen_by_its_labels(
    there: World, server: Server, *, selector: Document, called: bool
):
    """Those that it has now."""
    assert await is_called(there, server, there.attempt(), namespaceSelector=selector) is called


@pytest.mark.parametrize("verb", ["create", "update"])
@scenario
async def test_a_namespace_is_in_itself(there: World, server: Server, verb: str):
    """Its own new labels count, and the review names it as its namespace."""
    rule = {"resources": ["namespaces"]}
    attempt = there.attempt(verb, NAMESPACE, labels={"size": "small"}, old=None)
    said = {"rule": rule, "namespaceSelector": labels(size="small")}
    assert await is_called(there, server, attempt, **said)
    assert server.reviews[0]["namespace"] == "one"
    without = there.attempt(verb, NAMESPACE, labels={}, old=None)
    assert not await is_asked(there, server, without)


@scenario
async def test_a_namespace_that_goes_is_chosen_by_what_it_was(there: World, server: Server):
    """There is nothing else."""
    attempt = there.attempt("delete", NAMESPACE, labels={"size": "small"})
    said = {"rule": {"resources": ["*"]}, "namespaceSelector": labels(size="small")}
    assert await is_called(there, server, attempt, **said)


@scenario
async def test_w1_a_namespace_that_is_not_there_lets_nothing_through(there: World, server: Server):
    """Without its labels the selector cannot be evaluated."""
    await there.configure(
        VALIDATING, "v", hook(server.client("x"), namespaceSelector=labels(size="large"))
    )
    with pytest.raises(NotFound, match='namespaces "gone" not found'):
        there.webhooks.validate(there.attempt(namespace="gone"))


@scenario
async def test_what_is_left_of_a_namespace_can_be_removed(there: World, server: Server):
    """Without labels, the webhook is skipped: otherwise late objects could never be deleted."""
    client = server.on("x", lambda _: {})
    absent = {"matchExpressions": [{"key": "size", "operator": "DoesNotExist"}]}
    await there.configure(VALIDATING, "v", hook(client, namespaceSelector=absent))
    assert await is_asked(there, server, there.attempt("delete", namespace="gone"))


@scenario
async def test_a_plane_without_namespaces_has_no_labels_for_them(there: World, server: Server):
    """There the name is only a part of the place."""
    client = server.on("x", lambda _: {})
    absent = {"matchExpressions": [{"key": "size", "operator": "DoesNotExist"}]}
    await there.configure(VALIDATING, "v", hook(client, namespaceSelector=absent))
    attempt = there.attempt(namespace="gone")
    there.registry.kinds = there.registry.kinds.without("", "namespaces")
    assert await is_asked(there, server, attempt)


@pytest.mark.parametrize(
    ("new", "old", "called"),
    [
        ({"a": "1"}, None, True),
        ({"a": "2"}, None, False),
        ({}, {"a": "1"}, True),
        ({"a": "1"}, {}, True),
        ({}, {}, False),
    ],
    ids=str,
)
@scenario
async def test_an_object_is_chosen_by_its_labels(
    there: World, server: Server, *, new: Document, old: Document | None, called: bool
):
    """Those before or after the change: leaving a webhook's care is its business too."""
    before = None if old is None else {"metadata": {"name": "one", "labels": old}}
    attempt = there.attempt("create" if old is None else "update", labels=new, old=before)
    assert await is_called(there, server, attempt, objectSelector=labels(a="1")) is called


@pytest.mark.parametrize("kind", [MUTATING, VALIDATING])
@scenario
async def test_w1_configurations_are_sent_to_no_webhook(there: World, server: Server, kind: str):
    """Otherwise a webhook that denies everything could never be removed."""
    everything = {"resources": ["*/*"]}
    no = server.on("x", lambda _: {"allowed": False})
    for sort in (MUTATING, VALIDATING):
        await there.configure(sort, "no", hook(no, rule=everything))
    assert there.webhooks.validate(there.attempt(kind=(GROUP, kind))) is None
    assert there.webhooks.mutate(there.attempt("delete", kind=(GROUP, kind))) is None


@scenario
async def test_a_configuration_holds_as_soon_as_it_is_written(there: World, server: Server):
    """So does its change, and its end."""
    client = server.on("x", lambda _: {"allowed": False})
    made = await there.configure(VALIDATING, "v", hook(client))
    with pytest.raises(BadRequest):
        await is_asked(there, server, there.attempt())
    version = made["metadata"]["resourceVersion"]
    narrow = hook(client, rule={"operations": ["DELETE"]})
    await there.configure(VALIDATING, "v", narrow, version=version)
    assert not await is_asked(there, server, there.attempt())
    await there.remove(VALIDATING, "v")
    assert not await is_asked(there, server, there.attempt("delete"))


@scenario
async def test_kinds_that_come_later_are_matched(there: World, server: Server):
    """Cached matches are dropped when the kinds change."""
    kinds = there.registry.kinds
    attempt = there.attempt(kind=BOAT2)
    first = kinds.require(*BOAT)
    there.registry.kinds = Kinds(tuple(kind for kind in kinds if kind is not first))
    said = {"rule": {"apiVersions": ["v1"]}}
    assert not await is_called(there, server, attempt, **said)
    there.registry.kinds = kinds
    assert await is_asked(there, server, attempt)


@scenario
async def test_webhooks_are_among_those_asked_only_while_there_are_any(
    there: World, server: Server
):
    """They come first, so that a plugin that counts at the end counts what is stored."""

    def other(_attempt: Attempt) -> None:
        return

    admission = AdmissionChain([other], [other])
    there.webhooks.register(admission)
    assert (admission.mutating, admission.validating) == ([other], [other])
    await there.configure(VALIDATING, "v", hook(server.client("x")))
    assert admission.mutating == [other]
    assert admission.validating == [there.webhooks.validate, other]
    await there.configure(MUTATING, "m", hook(server.client("x")))
    assert admission.mutating == [there.webhooks.mutate, other]
    await there.remove(VALIDATING, "v")
    await there.remove(MUTATING, "m")
    assert (admission.mutating, admission.validating) == ([other], [other])


@scenario
async def test_a_webhook_with_side_effects_refuses_trials(there: World, server: Server):
    """None can be configured any more; an older one is not called without need."""
    made = await there.configure(VALIDATING, "v", hook(server.client("x")))
    made["webhooks"][0]["sideEffects"] = "Some"
    tail = msgspec.json.encode(made)[1:-1]
    storage = "admissionregistration.k8s.io/validatingwebhookconfigurations"
    head = b'{"metadata":{"name":"v","x":{'
    draft = Draft(
        storage,
        "v",
        int(made["metadata"]["resourceVersion"]),
        ChangeType.MODIFIED,
        head,
        b'"a":0}},' + tail + b"}",
    )
    await there.store.write(draft)
    with pytest.raises(BadRequest, match="does not support dry run"):
        await is_asked(there, server, there.attempt(options=WriteOptions(dry_run=True)))


@scenario
async def test_a_closed_plugin_stops_watching_the_store(there: World, server: Server):
    """After the end no change of the store is followed."""
    client = server.on("x", lambda _: {})
    await there.webhooks.close()
    await there.configure(VALIDATING, "v", hook(client))
    assert there.webhooks.validate(there.attempt()) is None


def test_configurations_of_earlier_hold_from_the_start(tmp_path: Path):
    """A reopened plane calls the same webhooks as before."""

    async def story() -> None:
        async with serving(tmp_path) as server:
            client = server.on("x", lambda _: {})
            async with world(tmp_path) as before:
                await before.configure(VALIDATING, "v", hook(client))
            async with world(tmp_path) as again:
                assert await is_asked(again, server, again.attempt())

    asyncio.run(story())


@scenario
async def test_w1_what_cannot_be_read_takes_nothing_back(there: World, server: Server):
    """The last readable version of a configuration stays in force."""
    made = await there.configure(VALIDATING, "v", hook(server.on("x", lambda _: {})))
    storage = "admissionregistration.k8s.io/validatingwebhookconfigurations"
    revision = int(made["metadata"]["resourceVersion"])
    head = b'{"webhooks":"none","metadata":{'
    await there.store.write(
        Draft(storage, "v", revision, ChangeType.MODIFIED, head, b'"name":"v"}}')
    )
    assert await is_asked(there, server, there.attempt())
