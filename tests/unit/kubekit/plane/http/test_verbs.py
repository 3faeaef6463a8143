"""Every verb over HTTP, against a real plane."""

import asyncio
import gzip
from collections.abc import Awaitable, Callable
from typing import Any

import msgspec
import pytest

from tests.support.kubekit.http_builders import (
    CONFIG_MAPS,
    Peer,
    Reply,
    config_map,
    connected,
    request,
    serving,
    until,
)

KITES = "/apis/example.test/v1/namespaces/default/kites"
MERGE = "application/merge-patch+json"
TABLE = "Accept: application/json;as=Table;v=v1;g=meta.k8s.io,application/json"
PARTIAL = "Accept: application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io"
PARTIALS = "Accept: application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io"


def outcome_of(tmp_path, tell: Callable[[Peer], Awaitable[Any]]):
    """What a story over one connection returns."""

    async def story():
        async with asyncio.timeout(10), serving(tmp_path) as server, connected(server.port) as peer:
            return await tell(peer)

    return asyncio.run(story())


def kite(name: str, **spec: object) -> bytes:
    document = {"apiVersion": "example.test/v1", "kind": "Kite", "metadata": {"name": name}}
    return msgspec.json.encode(document | {"spec": {"colour": "red", **spec}})


def accepting(path: str, accept: str) -> bytes:
    return request("GET", path, None, "", accept)


async def create(peer: Peer, *names: str) -> None:
    for name in names:
        reply = await peer.ask(request("POST", CONFIG_MAPS, config_map(name, a="b")))
        assert reply.code == 201


def names(reply: Reply) -> list[str]:
    return [item["metadata"]["name"] for item in reply.document["items"]]


def test_an_object_is_created_read_replaced_patched_and_deleted(tmp_path):
    """The five verbs on one object, each with its code."""

    async def tell(peer: Peer):
        path = f"{CONFIG_MAPS}/a"
        created = await peer.ask(request("POST", CONFIG_MAPS, config_map("a", x="1")))
        read = await peer.ask(request("GET", path))
        replaced = await peer.ask(request("PUT", path, config_map("a", x="2")))
        patched = await peer.ask(request("PATCH", path, b'{"data":{"y":"3"}}', MERGE))
        deleted = await peer.ask(request("DELETE", path))
        gone = await peer.ask(request("GET", path))
        return created, read, replaced, patched, deleted, gone

    created, read, replaced, patched, deleted, gone = outcome_of(tmp_path, tell)
    codes = [r.code for r in (created, read, replaced, patched, deleted, gone)]
    assert codes == [201, 200, 200, 200, 200, 404]
    assert created.body == read.body
    assert (replaced.document["data"], patched.document["data"]) == (
        {"x": "2"},
        {"x": "2", "y": "3"},
    )
    uid = read.document["metadata"]["uid"]
    assert deleted.document["status"] == "Success"
    assert deleted.document["details"] == {"name": "a", "kind": "configmaps", "uid": uid}


def test_yaml_and_gzip_are_read(tmp_path):
    """A body may be YAML, and it may be packed once."""

    async def tell(peer: Peer):
        text = b"metadata:\n  name: a\ndata:\n  x: 'yes'\n"
        written = await peer.ask(
            request("POST", CONFIG_MAPS, text, "application/yaml; charset=utf-8")
        )
        packed = gzip.compress(config_map("b", x="no"))
        unpacked = await peer.ask(
            request("POST", CONFIG_MAPS, packed, "application/json", "Content-Encoding: gzip")
        )
        return written, unpacked

    written, unpacked = outcome_of(tmp_path, tell)
    assert (written.code, written.document["data"]) == (201, {"x": "yes"})
    assert (unpacked.code, unpacked.document["data"]) == (201, {"x": "no"})


def test_lists_come_in_pages(tmp_path):
    """Limit, continue and what remains."""

    async def tell(peer: Peer):
        await create(peer, "a", "b", "c")
        first = await peer.ask(request("GET", f"{CONFIG_MAPS}?limit=2"))
        token = first.document["metadata"]["continue"]
        second = await peer.ask(request("GET", f"{CONFIG_MAPS}?limit=2&continue={token}"))
        everything = await peer.ask(request("GET", "/api/v1/configmaps?limit=-1"))
        return first, second, everything

    first, second, everything = outcome_of(tmp_path, tell)
    assert (names(first), names(second)) == (["a", "b"], ["c"])
    assert first.document["metadata"]["remainingItemCount"] == 1
    assert first.document["kind"] == "ConfigMapList"
    assert "continue" not in second.document["metadata"]
    assert names(everything) == ["a", "b", "c"]


def test_selectors_narrow_a_list(tmp_path):
    """Escapes in a query are undone before it is read."""

    async def tell(peer: Peer):
        await create(peer, "a", "b")
        by_field = await peer.ask(request("GET", f"{CONFIG_MAPS}?fieldSelector=metadata.name%3Db"))
        by_label = await peer.ask(request("GET", f"{CONFIG_MAPS}?labelSelector=a+in+(b)"))
        return names(by_field), names(by_label)

    assert outcome_of(tmp_path, tell) == (["b"], [])


def test_all_of_a_collection_is_deleted_but_what_is_not_selected(tmp_path):
    """Delete on a collection answers with what it deleted."""

    async def tell(peer: Peer):
        await create(peer, "a", "b")
        selector = "fieldSelector=metadata.name%3Da"
        tried = await peer.ask(
            request("DELETE", f"{CONFIG_MAPS}?{selector}", b'{"dryRun":["All"]}')
        )
        deleted = await peer.ask(request("DELETE", f"{CONFIG_MAPS}?{selector}"))
        left = await peer.ask(request("GET", CONFIG_MAPS))
        return names(tried), names(deleted), names(left)

    assert outcome_of(tmp_path, tell) == (["a"], ["a"], ["b"])


def test_dry_runs_change_nothing(tmp_path):
    """By query for writes, by query or body for deletes."""

    async def tell(peer: Peer):
        await create(peer, "a")
        dry = f"{CONFIG_MAPS}/a?dryRun=All&gracePeriodSeconds=0&propagationPolicy=Background"
        replies = [
            await peer.ask(request("POST", f"{CONFIG_MAPS}?dryRun=All", config_map("b"))),
            await peer.ask(request("PUT", f"{CONFIG_MAPS}/a?dryRun=All", config_map("a", x="9"))),
            await peer.ask(
                request("PATCH", f"{CONFIG_MAPS}/a?dryRun=All", b'{"data":null}', MERGE)
            ),
            await peer.ask(request("DELETE", dry)),
            await peer.ask(request("DELETE", f"{CONFIG_MAPS}/a?dryRun=All&orphanDependents=true")),
        ]
        left = await peer.ask(request("GET", CONFIG_MAPS))
        return [reply.code for reply in replies], left.document["items"][0]["data"]

    assert outcome_of(tmp_path, tell) == ([201, 200, 200, 200, 200], {"a": "b"})


def test_a_delete_carries_its_preconditions(tmp_path):
    """In the body, with kind or without; a wrong uid is a conflict."""

    async def tell(peer: Peer):
        await create(peer, "a")
        other = b'{"kind":"DeleteOptions","preconditions":{"uid":"other","resourceVersion":null}}'
        refused = await peer.ask(request("DELETE", f"{CONFIG_MAPS}/a", other))
        policy = b'{"propagationPolicy":"Foreground","orphanDependents":null}'
        foreground = await peer.ask(request("DELETE", f"{CONFIG_MAPS}/a", policy))
        return refused.code, foreground.document["metadata"]["finalizers"]

    assert outcome_of(tmp_path, tell) == (409, ["foregroundDeletion"])


def test_orphaning_has_an_old_form(tmp_path):
    """``orphanDependents`` is what ``propagationPolicy`` was called before."""

    async def tell(peer: Peer):
        await create(peer, "a", "b")
        orphan = await peer.ask(request("DELETE", f"{CONFIG_MAPS}/a?orphanDependents=true"))
        background = await peer.ask(request("DELETE", f"{CONFIG_MAPS}/b?orphanDependents=false"))
        return orphan.document["metadata"]["finalizers"], background.document["status"]

    assert outcome_of(tmp_path, tell) == (["orphan"], "Success")


def test_status_and_scale_are_places_of_their_own(tmp_path):
    """Each can be read, replaced and patched."""

    async def tell(peer: Peer):
        await peer.ask(request("POST", KITES, kite("k", tails=2)))
        status = b'{"status":{"tails":2}}'
        patched = await peer.ask(request("PATCH", f"{KITES}/k/status", status, MERGE))
        read = await peer.ask(request("GET", f"{KITES}/k/status"))
        scale = await peer.ask(request("GET", f"{KITES}/k/scale"))
        wanted = scale.document | {"spec": {"replicas": 5}}
        scaled = await peer.ask(request("PUT", f"{KITES}/k/scale", msgspec.json.encode(wanted)))
        return patched, read, scale, scaled, await peer.ask(request("GET", f"{KITES}/k"))

    patched, read, scale, scaled, last = outcome_of(tmp_path, tell)
    assert patched.document["status"] == read.document["status"] == {"tails": 2}
    assert (scale.document["kind"], scale.document["spec"]) == ("Scale", {"replicas": 2})
    assert (scaled.code, scaled.document["spec"]) == (200, {"replicas": 5})
    assert last.document["spec"]["tails"] == 5


@pytest.mark.parametrize("part", ["status", "scale"])
def test_a5_a_part_cannot_be_watched(tmp_path, part):
    """A user who may read a subresource would see the whole object."""
    path = KITES.replace("/namespaces/", "/watch/namespaces/")

    async def tell(peer: Peer):
        await peer.ask(request("POST", KITES, kite("k", tails=2)))
        return await peer.ask(request("GET", f"{path}/k/{part}"))

    assert outcome_of(tmp_path, tell).code == 404


def test_unknown_fields_are_warned_of_in_a_header(tmp_path):
    """By default the object is taken without them; a field's name cannot break the header."""

    async def tell(peer: Peer):
        body = b'{"metadata":{"name":"a"},"odd\\r\\nX: \\"y\\"":1}'
        return await peer.ask(request("POST", CONFIG_MAPS, body))

    reply = outcome_of(tmp_path, tell)
    assert reply.code == 201
    assert reply.headers["warning"].startswith('299 - "unknown field ')
    assert "x" not in reply.headers


def test_very_many_warnings_are_cut_off(tmp_path):
    """The answer matters more than the hundredth warning."""

    async def tell(peer: Peer):
        extra = {f"odd{n:0>90}": n for n in range(200)}
        body = msgspec.json.encode({"metadata": {"name": "a"}, **extra})
        return await peer.ask(request("POST", CONFIG_MAPS, body))

    reply = outcome_of(tmp_path, tell)
    assert reply.code == 201
    assert 10 < reply.names.count("warning") < 60


def test_objects_are_shown_as_rows(tmp_path):
    """A Table for one object, for a list, and for what was just written."""

    async def tell(peer: Peer):
        created = await peer.ask(
            request("POST", CONFIG_MAPS, config_map("a"), "application/json", TABLE)
        )
        one = await peer.ask(accepting(f"{CONFIG_MAPS}/a", TABLE))
        many = await peer.ask(accepting(f"{CONFIG_MAPS}?includeObject=None", TABLE))
        return created, one, many

    for reply in outcome_of(tmp_path, tell):
        assert reply.document["kind"] == "Table"
        assert [row["cells"][0] for row in reply.document["rows"]] == ["a"]


def test_objects_are_shown_by_their_metadata_alone(tmp_path):
    """Who only counts or owns things need not read them whole."""

    async def tell(peer: Peer):
        await create(peer, "a")
        one = await peer.ask(accepting(f"{CONFIG_MAPS}/a", PARTIAL))
        return one, await peer.ask(accepting(CONFIG_MAPS, PARTIALS))

    one, many = outcome_of(tmp_path, tell)
    assert (one.document["kind"], "data" in one.document) == ("PartialObjectMetadata", False)
    assert many.document["kind"] == "PartialObjectMetadataList"
    assert many.document["apiVersion"] == "meta.k8s.io/v1"
    assert names(many) == ["a"]


WATCHES = {
    "in the query": f"{CONFIG_MAPS}?watch=true",
    "with bookmarks": f"{CONFIG_MAPS}?watch=1&resourceVersion=0&allowWatchBookmarks=true",
    "with what is there": f"{CONFIG_MAPS}?watch&sendInitialEvents=true&allowWatchBookmarks=true"
    "&resourceVersionMatch=NotOlderThan&timeoutSeconds=600",
    "old form": "/api/v1/watch/namespaces/default/configmaps",
    "old form, one object": "/api/v1/watch/namespaces/default/configmaps/a",
    "old form, everywhere": "/api/v1/watch/configmaps",
}


@pytest.mark.parametrize("path", WATCHES.values(), ids=WATCHES.keys())
def test_a_watch_tells_what_is_there(tmp_path, path):
    """In all the ways to ask for one; when its plane goes, it ends and the connection stays."""
    watched, after = _watched(tmp_path, request("GET", path), "a")
    events = [msgspec.json.decode(line) for line in watched.body.splitlines()]
    assert (watched.code, after) == (200, 404)
    assert [e["object"]["metadata"]["name"] for e in events if e["type"] == "ADDED"] == ["a"]


@pytest.mark.parametrize(
    ("accept", "kind"),
    [(TABLE, "Table"), (PARTIAL, "PartialObjectMetadata")],
    ids=["rows", "metadata"],
)
def test_a_watch_can_tell_in_other_forms(tmp_path, accept, kind):
    """Each line is in the requested format."""
    watched, _ = _watched(tmp_path, accepting(f"{CONFIG_MAPS}?watch=1", accept), "a", "b")
    events = [msgspec.json.decode(line) for line in watched.body.splitlines()]
    assert [(e["type"], e["object"]["kind"]) for e in events] == [("ADDED", kind)] * 2


@pytest.mark.slow
def test_a_watch_ends_after_its_time(tmp_path):
    """The shortest time that can be asked for is one second."""

    async def tell(peer: Peer):
        watched = await peer.ask(request("GET", f"{CONFIG_MAPS}?watch=1&timeoutSeconds=1"))
        return watched.body, (await peer.ask(request("GET", CONFIG_MAPS))).code

    assert outcome_of(tmp_path, tell) == (b"", 200)


def test_a_watch_of_a_compacted_version_gets_410(tmp_path):
    """410 as an answer, or as the last line of the stream; in any form it is the same Status."""

    async def story():
        async with serving(tmp_path) as server, connected(server.port) as peer:
            await create(peer, "a", "b")
            store = server.mounted("/").registry.store
            await store.compact(store.revision)
            await create(peer, "c")
            return await peer.ask(
                accepting(f"{CONFIG_MAPS}?watch=1&resourceVersion=1&timeoutSeconds=1", TABLE)
            )

    reply = asyncio.run(story())
    lines = reply.body.splitlines()
    status = msgspec.json.decode(lines[-1])
    assert (status.get("object") or status)["code"] == 410


def test_a_trailing_slash_and_escapes_name_the_same_place(tmp_path):
    """What a path means does not depend on how it is spelled."""

    async def tell(peer: Peer):
        await create(peer, "a.b")
        paths = [f"{CONFIG_MAPS}/a.b/", f"{CONFIG_MAPS}/%61%2Eb", f"{CONFIG_MAPS}/a.b?pretty=true"]
        return [(await peer.ask(request("GET", path))).code for path in paths]

    assert outcome_of(tmp_path, tell) == [200, 200, 200]


def _watched(tmp_path, asked: bytes, *names: str):
    """What a watch tells until its plane is taken away, and what the path answers then."""

    async def story():
        async with serving(tmp_path) as server, connected(server.port) as peer:
            await create(peer, *names)
            await peer.send(asked)
            await until(lambda: server.watches == 1)
            server.unmount("/")
            return await peer.reply(), (await peer.ask(request("GET", CONFIG_MAPS))).code

    return asyncio.run(story())
