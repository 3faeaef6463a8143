"""The kinds that every server has of itself."""

import asyncio
from base64 import b64encode
from typing import Any

import pytest

from kubekit.api.errors import BadRequest, Conflict, Invalid
from kubekit.api.kinds.coordination import Lease
from kubekit.api.kinds.core import ServiceAccount
from kubekit.api.kinds.events import CoreEvent, Event
from kubekit.client.transport import Transport
from tests.contract.collection import Collection, names, upto, version
from tests.contract.kinds import SECRET

TIME = "2026-06-01T12:00:00Z"
PRECISE = "2026-06-01T12:00:00.123456Z"


@pytest.fixture
def secrets(transport: Transport, space: str) -> Collection:
    return Collection(transport, SECRET, space)


@pytest.fixture
def leases(transport: Transport, space: str) -> Collection:
    return Collection(transport, Lease.RESOURCE, space)


@pytest.fixture
def core_events(transport: Transport, space: str) -> Collection:
    return Collection(transport, CoreEvent.RESOURCE, space)


@pytest.fixture
def events(transport: Transport, space: str) -> Collection:
    return Collection(transport, Event.RESOURCE, space)


def encoded(text: str) -> str:
    return b64encode(text.encode()).decode()


async def test_a_config_map_holds_texts(config_maps: Collection):
    """Data comes back as it was."""
    made = await config_maps.make("one", data={"a": "1", "b.c_d-E": "two\nlines"})
    assert made["data"] == {"a": "1", "b.c_d-E": "two\nlines"}
    assert (made["apiVersion"], made["kind"]) == ("v1", "ConfigMap")


async def test_a_config_map_has_no_generation(config_maps: Collection):
    """No controller observes one, so there is no generation."""
    made = await config_maps.make("one", data={"a": "1"})
    changed = await config_maps.merge("one", {"data": {"a": "2"}})
    assert "generation" not in made["metadata"]
    assert "generation" not in changed["metadata"]


async def test_a_config_map_holds_bytes(config_maps: Collection):
    """Binary data is written in base64."""
    made = await config_maps.make("one", binaryData={"a": "AAEC"})
    assert made["binaryData"] == {"a": "AAEC"}


@pytest.mark.parametrize("key", ["a b", "", "..", "x" * 254, "a/b"])
async def test_a_config_maps_keys_are_file_names(config_maps: Collection, key: str):
    """The refusal names the key's field."""
    with pytest.raises(Invalid) as refusal:
        await config_maps.make("one", data={key: "x"})
    assert f"data[{key}]" in refusal.value.message


async def test_a_key_is_in_one_of_the_maps(config_maps: Collection):
    """Text and bytes share their names."""
    with pytest.raises(Invalid):
        await config_maps.make("one", data={"a": "x"}, binaryData={"a": "AAEC"})


async def test_an_immutable_config_map_stays(config_maps: Collection):
    """Its data cannot change any more, and neither can its immutability."""
    await config_maps.make("one", data={"a": "1"}, immutable=True)
    with pytest.raises(Invalid) as refusal:
        await config_maps.merge("one", {"data": {"a": "2"}})
    assert "data: Forbidden: field is immutable when `immutable` is set" in refusal.value.message
    with pytest.raises(Invalid):
        await config_maps.merge("one", {"immutable": False})
    labelled = await config_maps.merge("one", {"metadata": {"labels": {"a": "b"}}})
    assert labelled["metadata"]["labels"] == {"a": "b"}


@pytest.mark.parametrize("data", [{"a": 1}, {"a": True}, ["a"], "a", {"a": {"b": "c"}}], ids=str)
async def test_a_config_maps_data_is_a_map_of_texts(config_maps: Collection, data: Any):
    """Another type is refused by its field."""
    with pytest.raises((BadRequest, Invalid)) as refusal:
        await config_maps.make("one", data=data)
    assert "data" in refusal.value.message


async def test_a_core_kind_may_leave_its_kind_out(config_maps: Collection):
    """The path says what it is."""
    made = await config_maps.create({"metadata": {"name": "one"}, "data": {"a": "1"}})
    assert made["data"] == {"a": "1"}


async def test_a_secret_takes_texts(secrets: Collection):
    """Plain texts are encoded on the way in, and are not shown again."""
    made = await secrets.make("one", stringData={"a": "secret"}, data={"b": encoded("x")})
    assert made["data"] == {"a": encoded("secret"), "b": encoded("x")}
    assert "stringData" not in made
    assert made["type"] == "Opaque"


async def test_a_plain_text_outweighs_an_encoded_one(secrets: Collection):
    """What was written for people wins."""
    made = await secrets.make("one", stringData={"a": "new"}, data={"a": encoded("old")})
    assert made["data"] == {"a": encoded("new")}


async def test_a_secret_is_written_in_base64(secrets: Collection):
    """Anything else is refused."""
    with pytest.raises((BadRequest, Invalid)):
        await secrets.make("one", data={"a": "%%%"})
    assert names(await secrets.list()) == []


async def test_the_type_of_a_secret_stays(secrets: Collection):
    """Readers rely on it."""
    await secrets.make("one", type="test.example/one")
    with pytest.raises(Invalid) as refusal:
        await secrets.merge("one", {"type": "test.example/two"})
    assert "type: Invalid value: " in refusal.value.message


async def test_secrets_are_selected_by_type(secrets: Collection):
    """A field of their own."""
    await secrets.make("one", type="test.example/one")
    await secrets.make("two")
    assert names(await secrets.list(field_selector="type=test.example/one")) == ["one"]


async def test_a_service_account(transport: Transport, space: str):
    """An identity for programs."""
    accounts = Collection(transport, ServiceAccount.RESOURCE, space)
    made = await accounts.make("robot")
    assert (made["apiVersion"], made["kind"]) == ("v1", "ServiceAccount")
    assert "robot" in names(await accounts.list())


async def test_a_lease_is_held(leases: Collection):
    """Times of a lease keep their microseconds."""
    spec = {"holderIdentity": "a", "leaseDurationSeconds": 15, "renewTime": PRECISE}
    made = await leases.make("one", spec=spec)
    assert made["spec"] == spec


@pytest.mark.parametrize("seconds", [0, -1])
async def test_a_lease_lasts(leases: Collection, seconds: int):
    """A lease over no time is none."""
    with pytest.raises(Invalid) as refusal:
        await leases.make("one", spec={"leaseDurationSeconds": seconds})
    assert "spec.leaseDurationSeconds" in refusal.value.message


async def test_one_of_many_gets_the_lease(leases: Collection):
    """Of all who take a lease from the same version, one succeeds."""
    made = await leases.make("one", spec={"holderIdentity": ""})

    async def take_over(who: str) -> str | None:
        try:
            await leases.update(made | {"spec": {"holderIdentity": who}})
        except Conflict:
            return None
        return who

    winners = [w for w in await asyncio.gather(*map(take_over, "abcdefgh")) if w]
    assert len(winners) == 1
    assert (await leases.get("one"))["spec"]["holderIdentity"] == winners[0]


def core_event(space: str) -> dict[str, Any]:
    return {
        "involvedObject": {"kind": "Widget", "namespace": space, "name": "one", "uid": "u-1"},
        "reason": "Placed",
        "message": "It was placed.",
        "type": "Normal",
        "source": {"component": "placer"},
        "firstTimestamp": TIME,
        "lastTimestamp": TIME,
        "count": 3,
    }


async def test_an_event_is_seen_from_both_groups(core_events, events: Collection, space: str):
    """The same event, in the fields of either version."""
    made = await core_events.make("one", **core_event(space))
    seen = await events.get("one")
    assert (seen["apiVersion"], seen["kind"]) == ("events.k8s.io/v1", "Event")
    assert seen["regarding"] == made["involvedObject"]
    assert (seen["note"], seen["reason"], seen["type"]) == ("It was placed.", "Placed", "Normal")
    assert seen["deprecatedSource"] == {"component": "placer"}
    assert seen["deprecatedCount"] == 3
    assert seen["metadata"]["uid"] == made["metadata"]["uid"]
    assert version(seen) == version(made)


async def test_a_new_event_is_seen_as_an_old_one(core_events, events: Collection, space: str):
    """What the newer group wrote, the older reads."""
    await events.make(
        "one",
        eventTime=PRECISE,
        regarding={"kind": "Widget", "namespace": space, "name": "one"},
        reason="Placed",
        action="Place",
        note="It was placed.",
        type="Normal",
        reportingController="test.example/placer",
        reportingInstance="placer-1",
    )
    seen = await core_events.get("one")
    assert (seen["apiVersion"], seen["kind"]) == ("v1", "Event")
    assert seen["message"] == "It was placed."
    assert seen["involvedObject"]["name"] == "one"
    assert seen["reportingComponent"] == "test.example/placer"
    assert seen["eventTime"] == PRECISE
    assert (seen["firstTimestamp"], seen["lastTimestamp"]) == (None, None)


async def test_an_old_event_may_have_the_time_and_the_series_of_a_new_one(
    core_events: Collection, events: Collection, space: str
):
    """Only v1 takes the fields of both shapes, so that every reader finds its own."""
    new = {
        "eventTime": PRECISE,
        "reportingComponent": "test.example/placer",
        "reportingInstance": "placer-1",
        "action": "Place",
        "series": {"count": 3, "lastObservedTime": PRECISE},
    }
    made = await core_events.make("one", **core_event(space) | new)
    await core_events.merge("one", {"count": 4, "series": {"count": 4}})
    old, seen = await core_events.get("one"), await events.get("one")
    assert {name: made[name] for name in new} == new
    assert (old["count"], old["lastTimestamp"]) == (4, TIME)
    assert (seen["deprecatedCount"], seen["series"]["count"]) == (4, 4)
    assert (seen["deprecatedLastTimestamp"], seen["eventTime"]) == (TIME, PRECISE)


async def test_an_event_is_watched_from_both_groups(core_events, events: Collection, space: str):
    """A change by one view is visible in the other, in its own fields."""
    start = version(await events.list())
    async with events.watch(resource_version=start) as stream:
        await core_events.make("one", **core_event(space))
        seen = (await upto(stream, "ADDED", "one"))[-1].object
    assert seen["apiVersion"] == "events.k8s.io/v1"
    assert seen["note"] == "It was placed."


@pytest.mark.parametrize(
    ("selector", "found"),
    [
        ("involvedObject.name=one", ["one"]),
        ("involvedObject.name=two", []),
        ("involvedObject.kind=Widget,reason=Placed", ["one"]),
        ("type!=Normal", []),
        ("involvedObject.uid=u-1", ["one"]),
    ],
)
async def test_events_are_selected_by_what_they_are_about(
    core_events: Collection, space: str, selector: str, found: list[str]
):
    """As kubectl describe asks for them."""
    await core_events.make("one", **core_event(space))
    assert names(await core_events.list(field_selector=selector)) == found


async def test_an_event_is_about_its_own_namespace(core_events: Collection):
    """An event of one namespace speaks of an object there."""
    with pytest.raises(Invalid) as refusal:
        await core_events.make("one", **core_event("default"))
    assert "involvedObject.namespace" in refusal.value.message
