"""The door without a socket: documents cross it by value, and only what a wire could carry."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from kubekit.api.errors import BadRequest, Expired, MethodNotAllowed, NotFound, TooLarge
from kubekit.api.kinds.authorization import (
    ResourceAttributes,
    SubjectAccessReview,
    SubjectAccessReviewSpec,
)
from kubekit.api.kinds.core import ConfigMap, Namespace
from kubekit.api.resource import Resource
from kubekit.client.options import (
    EVERYTHING,
    PLAIN_DELETE,
    PLAIN_WATCH,
    PLAIN_WRITE,
    ListOptions,
    PatchType,
    WatchOptions,
)
from kubekit.client.transport import Document, ResourceLocation
from kubekit.plane.local import LocalClient, LocalTransport
from tests.support.kubekit.plane_builders import open_plane

Story = Callable[[LocalTransport], Awaitable[None]]
HOME = ResourceLocation(ConfigMap.RESOURCE, "default")
ONE = ResourceLocation(ConfigMap.RESOURCE, "default", "one")


@pytest.fixture
def told(tmp_path: Path) -> Callable[[Story], None]:
    """Run a story on the door of a fresh plane."""

    async def run(story: Story) -> None:
        async with open_plane(tmp_path) as plane:
            await story(LocalTransport(plane))

    return lambda story: asyncio.run(run(story))


def config(name: str = "one", **more: Any) -> Document:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, **more}


def test_documents_cross_by_value(told):
    """Neither what was handed in nor what came out is the plane's own."""

    async def story(door: LocalTransport) -> None:
        document = config(data={"a": "1"})
        made = await door.create(HOME, document, PLAIN_WRITE)
        document["data"]["a"] = made["data"]["a"] = "changed"
        assert (await door.get(ONE))["data"] == {"a": "1"}
        listed = (await door.list(HOME, EVERYTHING))["items"][0]
        listed["data"]["a"] = "changed"
        assert (await door.get(ONE))["data"] == {"a": "1"}

    told(story)


def deep(levels: int) -> Any:
    value: Any = "x"
    for _ in range(levels):
        value = {"a": value}
    return value


NOT_JSON: dict[str, Any] = {
    "nan": float("nan"),
    "infinity in a list": [1, {"x": float("inf")}],
    "infinity in a tuple": (float("-inf"),),
    "a lone surrogate": "\ud800",
    "an object": object(),
    "a key that is no text": {(1, 2): "x"},
    "too deep": deep(20_000),
    "a large number": 2**64,
    "a circle": None,
}
circle: list[Any] = []
circle.append(circle)
NOT_JSON["a circle"] = circle


@pytest.mark.parametrize("case", NOT_JSON)
def test_what_json_cannot_carry_is_refused(told, case: str):
    """As a request with such a body would be; nothing is stored."""

    async def story(door: LocalTransport) -> None:
        with pytest.raises(BadRequest):
            await door.create(HOME, config(extra=NOT_JSON[case]), PLAIN_WRITE)
        assert (await door.list(HOME, EVERYTHING))["items"] == []

    told(story)


def test_a_null_is_no_fault(told):
    """Only numbers that JSON cannot say are."""

    async def story(door: LocalTransport) -> None:
        made = await door.create(HOME, config(data=None, extra=[1.5, None]), PLAIN_WRITE)
        assert made["metadata"]["name"] == "one"

    told(story)


def test_a_document_has_the_limit_of_a_body(told):
    """More than 3 MiB are not taken."""

    async def story(door: LocalTransport) -> None:
        with pytest.raises(TooLarge):
            await door.create(HOME, config(data={"a": "x" * (3 << 20)}), PLAIN_WRITE)

    told(story)


@pytest.mark.parametrize("document", [None, [], "x", 7], ids=str)
def test_a_document_is_an_object(told, document: Any):
    """Anything else is refused."""

    async def story(door: LocalTransport) -> None:
        with pytest.raises(BadRequest):
            await door.create(HOME, document, PLAIN_WRITE)

    told(story)


NOWHERE = [
    ResourceLocation(
        Resource(group="x.test", version="v1", kind="X", plural="xs"), "default", "one"
    ),
    ResourceLocation(Namespace.RESOURCE, "default", "default"),
    ResourceLocation(ConfigMap.RESOURCE, "", "one"),
    ResourceLocation(ConfigMap.RESOURCE, "default", ""),
    ResourceLocation(ConfigMap.RESOURCE, "default", "one", "status"),
    ResourceLocation(ConfigMap.RESOURCE, "default", "one", "scale"),
    ResourceLocation(ConfigMap.RESOURCE, "default", "one", "nonsense"),  # type: ignore[arg-type] # untyped callers
]


@pytest.mark.parametrize("place", NOWHERE)
def test_a_place_that_is_none(told, place: ResourceLocation):
    """No such kind, a namespace too many or too few, no name, a part that the kind has not."""

    async def story(door: LocalTransport) -> None:
        await door.create(HOME, config(), PLAIN_WRITE)
        with pytest.raises(NotFound):
            await door.get(place)

    told(story)


def test_all_namespaces_are_only_read(told):
    """Nothing is created or cleared without saying in which namespace."""

    async def story(door: LocalTransport) -> None:
        everywhere = ResourceLocation(ConfigMap.RESOURCE)
        with pytest.raises(MethodNotAllowed):
            await door.create(everywhere, config(), PLAIN_WRITE)
        with pytest.raises(MethodNotAllowed):
            await door.delete_collection(everywhere, EVERYTHING, PLAIN_DELETE)

    told(story)


def test_every_verb_reaches_the_plane(told):
    """Create, update, patch, list in pages, delete, clear."""

    async def story(door: LocalTransport) -> None:
        made = await door.create(HOME, config(), PLAIN_WRITE)
        updated = await door.update(ONE, made | {"data": {"a": "1"}}, PLAIN_WRITE)
        patched = await door.patch(ONE, PatchType.MERGE, {"data": {"b": "2"}}, PLAIN_WRITE)
        assert (updated["data"], patched["data"]) == ({"a": "1"}, {"a": "1", "b": "2"})
        await door.create(HOME, config("two"), PLAIN_WRITE)
        page = await door.list(HOME, ListOptions(limit=1))
        assert page["metadata"]["remainingItemCount"] == 1
        assert page["metadata"]["continue"]
        assert (await door.delete(ONE, PLAIN_DELETE))["status"] == "Success"
        cleared = await door.delete_collection(HOME, EVERYTHING, PLAIN_DELETE)
        assert cleared["kind"] == "ConfigMapList"
        assert (await door.list(HOME, EVERYTHING))["items"] == []

    told(story)


def test_a_held_object_is_the_answer_to_its_delete(told):
    """A finalizer holds it; it comes back marked."""

    async def story(door: LocalTransport) -> None:
        document = config()
        document["metadata"]["finalizers"] = ["test.example/hold"]
        await door.create(HOME, document, PLAIN_WRITE)
        marked = await door.delete(ONE, PLAIN_DELETE)
        assert "deletionTimestamp" in marked["metadata"]

    told(story)


def test_a_watch_waits_for_what_comes(told):
    """A reader that asked too early is woken by the change."""

    async def story(door: LocalTransport) -> None:
        async with door.watch(HOME, PLAIN_WATCH) as changes:
            waiting = asyncio.ensure_future(anext(changes))
            await asyncio.sleep(0)
            await door.create(HOME, config(), PLAIN_WRITE)
            assert (await waiting).object["metadata"]["name"] == "one"

    told(story)


def test_a_watch_from_a_forgotten_version_is_refused(tmp_path: Path):
    """As an error, whether the plane says so at once or in the stream."""

    async def story() -> None:
        async with open_plane(tmp_path) as plane:
            door = LocalTransport(plane)
            made = await door.create(HOME, config(), PLAIN_WRITE)
            await door.patch(ONE, PatchType.MERGE, {"data": {"a": "1"}}, PLAIN_WRITE)
            await plane.store.compact(int(made["metadata"]["resourceVersion"]))
            with pytest.raises(Expired):
                async with door.watch(HOME, WatchOptions(resource_version="1")) as changes:
                    await anext(changes)

    asyncio.run(story())


def test_a_watch_that_the_plane_ends_is_over(tmp_path: Path):
    """When a plane closes, its readers see the end of their streams."""

    async def story() -> None:
        async with open_plane(tmp_path) as plane:
            door = LocalTransport(plane)
            async with door.watch(HOME, PLAIN_WATCH) as changes:
                waiting = asyncio.ensure_future(anext(changes, None))
                await asyncio.sleep(0)
                plane.registry.close()
                assert await waiting is None

    asyncio.run(story())


def test_a_typed_watch_ends_like_the_one_below_it(tmp_path: Path):
    """A forgotten version is raised, the end of the plane is the end, and nothing stays open."""

    async def story() -> None:
        async with open_plane(tmp_path) as plane:
            client, before = LocalClient(plane), plane.registry.watching
            made = await client.raw.create(HOME, config(), PLAIN_WRITE)
            await client.raw.patch(ONE, PatchType.MERGE, {"data": {"a": "1"}}, PLAIN_WRITE)
            async with client.watch(ConfigMap, "default") as changes:
                assert (await anext(changes)).name == "one"
                assert plane.registry.watching == before + 1
            assert plane.registry.watching == before
            await plane.store.compact(int(made["metadata"]["resourceVersion"]))
            with pytest.raises(Expired):
                async with client.watch(
                    ConfigMap, "default", WatchOptions(resource_version="1")
                ) as changes:
                    await anext(changes)
            assert plane.registry.watching == before

    asyncio.run(story())


def test_a_typed_question_is_answered(tmp_path: Path):
    """What is only asked is not kept, by whichever method of the client it is made."""

    async def story() -> SubjectAccessReview:
        async with open_plane(tmp_path) as plane:
            attributes = ResourceAttributes(verb="get", resource="configmaps")
            spec = SubjectAccessReviewSpec(
                user="root", groups=("system:masters",), resource_attributes=attributes
            )
            return await LocalClient(plane).create(SubjectAccessReview(spec=spec))

    assert asyncio.run(story()).status.allowed
