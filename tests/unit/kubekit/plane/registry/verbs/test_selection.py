"""Selecting objects by name, labels and fields, in lists and over both views of events."""

from typing import Any

import pytest

from kubekit.api.errors import BadRequest
from kubekit.client.options import EVERYTHING, ListOptions
from tests.support.kubekit.registry_builders import (
    SPACE,
    World,
    decoded,
    document_of,
    names,
    scenario,
)

OBJECTS = {
    "a": ({"app": "web", "tier": "front"}, {"color": "red", "size": 1, "loud": True}),
    "b": ({"app": "web", "weight": "5"}, {"color": "blue", "size": 2, "loud": False}),
    "c": ({"draft": "", "webby": "app"}, {"color": "app"}),
}


async def filled(world: World) -> None:
    for name, (labels, spec) in OBJECTS.items():
        await world.widgets.make(name, {"labels": labels}, spec=spec)


@pytest.mark.parametrize(
    ("selector", "found"),
    [
        ("app=web", "ab"),
        ("app==web,tier=front", "a"),
        ("app!=web", "c"),
        ("app in (web,db)", "ab"),
        ("app notin (web)", "c"),
        ("tier", "a"),
        ("!app", "c"),
        ("weight>4", "b"),
        ("weight<5", ""),
        ("app=front", ""),
        ("webby=app", "c"),
        ("draft=", "c"),
        (" ", "abc"),
    ],
)
@scenario
async def test_labels(world: World, selector, found):
    """Every operator means what it means to Kubernetes."""
    await filled(world)
    assert names(await world.widgets.list(ListOptions(label_selector=selector))) == list(found)


@pytest.mark.parametrize(
    ("selector", "found"),
    [
        ("metadata.name=a", "a"),
        ("metadata.name=z", ""),
        ("metadata.name!=a", "bc"),
        (f"metadata.namespace={SPACE}", "abc"),
        ("metadata.namespace=other", ""),
        ("spec.color=red", "a"),
        ("spec.color!=red,metadata.name!=c", "b"),
        ("spec.size=3", "c"),
        ("spec.loud=true", "a"),
        ("spec.loud=false", "b"),
        ("spec.loud=", "c"),
        ("metadata.name=a,spec.color=blue", ""),
    ],
)
@scenario
async def test_fields(world: World, selector, found):
    """Texts, numbers and truths are compared as they are written; what is absent is empty."""
    await filled(world)
    assert names(await world.widgets.list(ListOptions(field_selector=selector))) == list(found)


@scenario
async def test_a_name_without_a_namespace(world: World):
    """The same name may be there in several namespaces."""
    await world.namespaces.make("other")
    for namespace in (SPACE, "other"):
        await world.collection("example.com/v1", "Widget", namespace).make("a")
    everywhere = world.collection("example.com/v1", "Widget", "")
    page = await everywhere.list(ListOptions(field_selector="metadata.name=a"))
    assert [record.key for record in page.records] == ["other/a", f"{SPACE}/a"]


@scenario
async def test_namespaces_by_phase_and_name(world: World):
    """Kinds of Kubernetes' own have fields of their own."""
    for selector in ("status.phase=Active", f"metadata.name={SPACE}", f"name={SPACE}"):
        assert names(await world.namespaces.list(ListOptions(field_selector=selector))) == [SPACE]


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"field_selector": "spec.any=1"}, "field label not supported: spec.any"),
        ({"field_selector": "x"}, "is not of the form field=value"),
        ({"label_selector": "a b c"}, "expected"),
    ],
    ids=["unknown field", "no selector", "no labels"],
)
@scenario
async def test_what_cannot_be_selected_is_a_bad_request(world: World, options, says):
    """The message names the field or the place."""
    with pytest.raises(BadRequest) as refusal:
        await world.widgets.list(ListOptions(**options))
    assert says in refusal.value.message


EVENT: dict[str, Any] = {
    "involvedObject": {"kind": "Widget", "namespace": SPACE, "name": "a"},
    "reason": "Made",
    "type": "Normal",
    "source": {"component": "maker"},
    "message": "it is there",
}


@scenario
async def test_events_have_two_views(world: World):
    """What is written as a core event is read, selected and watched as the other kind, too."""
    core = world.collection("v1", "Event")
    other = world.collection("events.k8s.io/v1", "Event")
    watch = await other.watch()
    await core.make("e", **EVENT)
    seen = other.get("e")
    assert (seen["apiVersion"], seen["regarding"]["name"]) == ("events.k8s.io/v1", "a")
    assert seen["note"] == "it is there"
    for selector in ("regarding.name=a", "reason=Made", "type=Normal"):
        page = await other.list(ListOptions(field_selector=selector))
        assert [decoded(record)["kind"] for record in page.records] == ["Event"]
    assert decoded((await other.list(EVERYTHING)).records[0]) == seen
    (notice,) = watch.take()
    assert b'"events.k8s.io/v1"' in notice.line


@scenario
async def test_events_are_written_by_either_view(world: World):
    """An event of the newer kind is stored in the older form."""
    core = world.collection("v1", "Event")
    other = world.collection("events.k8s.io/v1", "Event")
    made = document_of(
        await other.create(
            other.document(
                "e",
                eventTime="2026-01-01T00:00:00.000000Z",
                reportingController="example.com/c",
                reportingInstance="c-0",
                action="Making",
                regarding={"kind": "Widget", "namespace": SPACE, "name": "a"},
                note="hello",
                reason="Made",
                type="Normal",
            )
        )
    )
    assert made["note"] == "hello"
    assert core.get("e")["message"] == "hello"
    page = await core.list(ListOptions(field_selector="involvedObject.name=a,reason=Made"))
    assert names(page) == ["e"]
    changed = document_of(await other.merge("e", {"metadata": {"labels": {"a": "b"}}}))
    assert changed["metadata"]["labels"] == {"a": "b"}
    assert (await other.delete("e")).gone
