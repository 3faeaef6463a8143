"""The typed client over HTTP: against a real plane, and against a server that writes odd things."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest

from compute.api.compute import Workload
from kubekit.api.errors import Conflict, Expired, InternalError, NotFound, Unavailable
from kubekit.api.kinds.core import ConfigMap
from kubekit.api.meta import ObjectMeta
from kubekit.api.scheme import DecodeError
from kubekit.client.connection import Connection
from kubekit.client.credentials import BearerToken
from kubekit.client.http.client import HttpClient
from kubekit.client.options import ListOptions, WatchOptions
from kubekit.client.reading import Listing, TypedEvent
from kubekit.plane.http.server import Server
from tests.support.compute import builders
from tests.support.kubekit.http_builders import QUICKLY, TOKEN, known_tokens
from tests.support.kubekit.plane_builders import environment as plane_environment, open_plane
from tests.unit.kubekit.client.http.scripted import environment, events, reply, run, serving, status


@asynccontextmanager
async def plane(directory: Path) -> AsyncIterator[HttpClient]:
    """A client of a real plane, over a socket."""
    async with open_plane(directory) as made:
        server = Server(("127.0.0.1", 0), None, known_tokens(), plane_environment(), QUICKLY)
        server.mount("/", made)
        await server.start()
        try:
            async with client(server.url) as opened:
                yield opened
        finally:
            await server.close()


@asynccontextmanager
async def client(url: str) -> AsyncIterator[HttpClient]:
    connection = Connection(server=url, credentials=BearerToken(TOKEN))
    async with HttpClient(connection, environment()) as made:
        yield made


def config(name: str, **data: str) -> ConfigMap:
    return ConfigMap(metadata=ObjectMeta(name=name, namespace="default"), data=data)


def encoded(name: str, version: str = "7", **fields: Any) -> dict[str, Any]:
    metadata = {"name": name, "namespace": "room", "resourceVersion": version, "uid": "u"}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, **fields}


def test_objects_come_in_our_classes(tmp_path):
    """What is created, read, changed and deleted is of the class that was asked for."""

    async def asked():
        async with plane(tmp_path) as client:
            made = await client.create(config("one", a="1"))
            assert await client.get(ConfigMap, "one", "default") == made
            desired = msgspec.structs.replace(made, data={"a": "2"})
            changed = await client.patch(made, desired)
            assert changed.data == {"a": "2"}
            assert await client.patch(changed, changed) is changed
            with pytest.raises(Conflict):
                await client.patch(made, msgspec.structs.replace(made, data={"a": "3"}))
            await client.delete(changed)
            assert await client.find(ConfigMap, "one", "default") is None
            with pytest.raises(NotFound):
                await client.get(ConfigMap, "one", "default")

    run(asked())


def test_a_status_has_its_own_path(tmp_path):
    """A status is written where it belongs, and the rest is not."""

    async def asked():
        async with plane(tmp_path) as client:
            metadata = ObjectMeta(name="web", namespace="default")
            workload = msgspec.structs.replace(builders.workload("web"), metadata=metadata)
            made = await client.create(workload)
            status = msgspec.structs.replace(made.status, replicas=3)
            written = await client.patch_status(made, msgspec.structs.replace(made, status=status))
            assert written.status.replicas == 3
            assert (await client.get(Workload, "web", "default")).status.replicas == 3

    run(asked())


def test_lists_come_in_pages(tmp_path):
    """A page says how to go on; all pages together are the collection."""

    async def asked():
        async with plane(tmp_path) as client:
            for number in range(5):
                await client.create(config(f"c{number}"))
            first = await client.list(ConfigMap, "default", ListOptions(limit=2))
            every = await client.every(ConfigMap, "default", page=2)
            return first, every

    first, every = run(asked())
    assert len(first.items) == 2
    assert first.continue_
    assert [item.metadata.name for item in every.items] == [f"c{number}" for number in range(5)]
    assert isinstance(every.items[0], ConfigMap)
    assert every.unreadable == ()


def test_changes_come_in_our_classes(tmp_path):
    """A watch gives objects, with their names and versions beside them."""

    async def asked():
        async with plane(tmp_path) as client:
            since = (await client.list(ConfigMap, "default")).resource_version
            made = await client.create(config("one", a="1"))
            changed = await client.patch(made, msgspec.structs.replace(made, data={"a": "2"}))
            await client.delete(changed)
            options = WatchOptions(resource_version=since)
            async with client.watch(ConfigMap, "default", options) as stream:
                return [await anext(stream) for _ in range(3)], made, changed

    seen, made, changed = run(asked())
    assert [one.type for one in seen] == ["ADDED", "MODIFIED", "DELETED"]
    assert [one.object for one in seen[:2]] == [made, changed]
    assert [(one.namespace, one.name) for one in seen] == [("default", "one")] * 3
    assert seen[0].resource_version == made.metadata.resource_version


async def listed(page: dict[str, Any]) -> Listing[ConfigMap]:
    step = reply(body=msgspec.json.encode(page))
    async with serving(step) as server, client(server.url) as opened:
        return await opened.list(ConfigMap, "room")


async def watched(*lines: bytes) -> list[TypedEvent[ConfigMap]]:
    async with (
        serving(events(*lines)) as server,
        client(server.url) as opened,
        opened.watch(ConfigMap, "room") as stream,
    ):
        return [seen async for seen in stream]


def test_a_list_of_null_is_empty():
    """Go writes null for a list without items."""
    assert run(listed({"metadata": {"resourceVersion": "9"}, "items": None})) == Listing((), "9")


def test_one_bad_object_does_not_hide_the_others():
    """An object that its class cannot read is named beside those that it can."""
    bad = encoded("bad", data=[1])
    nulls = encoded("nulls", data=None, binaryData=None)
    page = {"metadata": {"resourceVersion": "9", "continue": "x"}, "items": [bad, nulls]}
    found = run(listed(page))
    assert [item.metadata.name for item in found.items] == ["nulls"]
    assert [(one.namespace, one.name) for one in found.unreadable] == [("room", "bad")]
    assert (found.resource_version, found.continue_) == ("9", "x")


def test_an_answer_that_is_no_list():
    """What is no list is an error of the server, not of the caller."""
    with pytest.raises(Unavailable, match="its answer is no list"):
        run(listed({"kind": "Other", "items": 7}))


def line(change: str, document: object) -> bytes:
    return msgspec.json.encode({"type": change, "object": document}) + b"\n"


def test_a_bookmark_tells_how_far_it_is():
    """A bookmark has a version and no object, even where the class would take it for one."""
    bookmark = {"kind": "ConfigMap", "apiVersion": "v1", "metadata": {"resourceVersion": "12"}}
    assert run(watched(line("BOOKMARK", bookmark))) == [TypedEvent("BOOKMARK", None, "12")]


def test_an_event_that_cannot_be_read_is_named():
    """A bad object in a watch is reported, and the next change is seen."""
    bad, good = line("ADDED", encoded("bad", data=[1])), line("ADDED", encoded("good"))
    first, second = run(watched(bad + good))
    assert (first.object, first.name, first.resource_version) == (None, "bad", "7")
    assert "data" in (first.unreadable or "")
    assert (second.name, second.unreadable) == ("good", None)


def test_an_event_with_nulls_is_read():
    """Null means absent here too."""
    (seen,) = run(watched(line("MODIFIED", encoded("one", data=None))))
    assert seen.object is not None
    assert (seen.type, seen.object.data) == ("MODIFIED", {})


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (line("ERROR", msgspec.json.decode(status(410, "Expired"))), Expired),
        (line("ERROR", 7), InternalError),
        (line("ODD", encoded("one")), InternalError),
        (b"nonsense\n", InternalError),
    ],
    ids=["410", "no status", "odd", "nonsense"],
)
def test_errors_of_a_stream_are_raised(text, kind):
    """A stream that gives up, or makes no sense, raises what that means."""
    with pytest.raises(kind):
        run(watched(text))


def test_an_object_that_cannot_be_read_is_an_error_of_its_own():
    """The error about a single object that its class cannot read names the field."""

    async def asked():
        step = reply(body=msgspec.json.encode(encoded("one", data=[1])))
        async with serving(step) as server, client(server.url) as opened:
            await opened.get(ConfigMap, "one", "room")

    with pytest.raises(DecodeError, match="data"):
        run(asked())
