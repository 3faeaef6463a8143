"""The transport without a socket: documents are passed by value, and only what JSON can represent."""

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
def run(tmp_path: Path) -> Callable[[Story], None]:
    """Run a story on the transport of a fresh plane."""

    async def scenario(story: Story) -> None:
        async with open_plane(tmp_path) as plane:
            await story(LocalTransport(plane))

    return lambda story: asyncio.run(scenario(story))


def config(name: str = "one", **more: Any) -> Document:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, **more}


def test_documents_cross_by_value(run):
    """Neither what was handed in nor what came out is the plane's own."""

    async def story(transport: LocalTransport) -> None:
        document = config(data={"a": "1"})
        made = await transport.create(HOME, document, PLAIN_WRITE)
        document["data"]["a"] = made["data"]["a"] = "changed"
        assert (await transport.get(ONE))["data"] == {"a": "1"}
        listed = (await transport.list(HOME, EVERYTHING))["items"][0]
        listed["data"]["a"] = "changed"
        assert (await transport.get(ONE))["data"] == {"a": "1"}

    run(story)


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
def test_what_json_cannot_carry_is_refused(run, case: str):
    """As a request with such a body would be; nothing is stored."""

    async def story(transport: LocalTransport) -> None:
        with pytest.raises(BadRequest):
            await transport.create(HOME, config(extra=NOT_JSON[case]), PLAIN_WRITE)
        assert (await transport.list(HOME, EVERYTHING))["items"] == []

    run(story)


def test_a_null_is_no_fault(run):
    """Only numbers that JSON cannot say are."""

    async def story(transport: LocalTransport) -> None:
        made = await transport.create(HOME, config(data=None, extra=[1.5, None]), PLAIN_WRITE)
        assert made["metadata"]["name"] == "one"

    run(story)


def test_a_document_has_the_limit_of_a_body(run):
    """More than 3 MiB are not taken."""

    async def story(transport: LocalTransport) -> None:
        with pytest.raises(TooLarge):
            await transport.create(HOME, config(data={"a": "x" * (3 << 20)}), PLAIN_WRITE)

    run(story)


@pytest.mark.parametrize("document", [None, [], "x", 7], ids=str)
def test_a_document_is_an_object(run, document: Any):
    """Anything else is refused."""

    async def story(transport: LocalTransport) -> None:
        with pytest.raises(BadRequest):
            await transport.create(HOME, document, PLAIN_WRITE)

    run(story)


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
def test_a_place_that_is_none(run, place: ResourceLocation):
    """No such kind, a namespace too many or too few, no name, a part that the kind has not."""

    async def story(transport: LocalTransport) -> None:
        await transport.create(HOME, config(), PLAIN_WRITE)
        with pytest.raises(NotFound):
            await transport.get(place)

    run(story)


def test_all_namespaces_are_only_read(run):
    """Nothing is created or cleared without saying in which namespace."""

    async def story(transport: LocalTransport) -> None:
        everywhere = ResourceLocation(ConfigMap.RESOURCE)
        with pytest.raises(MethodNotAllowed):
            await transport.create(everywhere, config(), PLAIN_WRITE)
        with pytest.raises(MethodNotAllowed):
            await transport.delete_collection(everywhere, EVERYTHING, PLAIN_DELETE)

    run(story)


def test_every_verb_reaches_the_plane(run):
    """Create, update, patch, list in pages, delete, clear."""

    async def story(transport: LocalTransport) -> None:
        made = await transport.create(HOME, config(), PLAIN_WRITE)
        updated = await transport.update(ONE, made | {"data": {"a": "1"}}, PLAIN_WRITE)
        patched = await transport.patch(ONE, PatchType.MERGE, {"data": {"b": "2"}}, PLAIN_WRITE)
        assert (updated["data"], patched["data"]) == ({"a": "1"}, {"a": "1", "b": "2"})
        await transport.create(HOME, config("two"), PLAIN_WRITE)
        page = await transport.list(HOME, ListOptions(limit=1))
        assert page["metadata"]["remainingItemCount"] == 1
        assert page["metadata"]["continue"]
        assert (await transport.delete(ONE, PLAIN_DELETE))["status"] == "Success"
        cleared = await transport.delete_collection(HOME, EVERYTHING, PLAIN_DELETE)
        assert cleared["kind"] == "ConfigMapList"
        assert (await transport.list(HOME, EVERYTHING))["items"] == []

    run(story)


def test_a_held_object_is_the_answer_to_its_delete(run):
    """A finalizer holds it; it comes back marked."""

    async def story(transport: LocalTransport) -> None:
        document = config()
        document["metadata"]["finalizers"] = ["test.example/hold"]
        await transport.create(HOME, document, PLAIN_WRITE)
        marked = await transport.delete(ONE, PLAIN_DELETE)
        assert "deletionTimestamp" in marked["metadata"]

    run(story)


def test_a_watch_waits_for_what_comes(run):
    """A reader that asked too early is woken by the change."""

    async def story(transport: LocalTransport) -> None:
        async with transport.watch(HOME, PLAIN_WATCH) as changes:
            waiting = asyncio.ensure_future(anext(changes))
            await asyncio.sleep(0)
            await transport.create(HOME, config(), PLAIN_WRITE)
            assert (await waiting).object["metadata"]["name"] == "one"

    run(story)


def test_a_watch_from_a_forgotten_version_is_refused(tmp_path: Path):
    """As an error, whether the plane says so at once or in the stream."""

    async def story() -> None:
        async with open_plane(tmp_path) as plane:
            transport = LocalTransport(plane)
            made = await transport.create(HOME, config(), PLAIN_WRITE)
            await transport.patch(ONE, PatchType.MERGE, {"data": {"a": "1"}}, PLAIN_WRITE)
            await plane.store.compact(int(made["metadata"]["resourceVersion"]))
            with pytest.raises(Expired):
                async with transport.watch(HOME, WatchOptions(resource_version="1")) as changes:
                    await anext(changes)

    asyncio.run(story())


def test_a_watch_that_the_plane_ends_is_over(tmp_path: Path):
    """When a plane closes, its readers see the end of their streams."""

    async def story() -> None:
        async with open_plane(tmp_path) as plane:
            transport = LocalTransport(plane)
            async with transport.watch(HOME, PLAIN_WATCH) as changes:
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
