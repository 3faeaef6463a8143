"""A plane as a whole: what it has from the start, and what it does by itself."""

import asyncio
import json
from typing import Any
from uuid import RFC_4122, UUID

import apsw
import pytest

from kubekit.api.errors import InternalError
from kubekit.client.options import EVERYTHING, PLAIN_WRITE, WatchOptions
from kubekit.plane.admission.quota import Quota
from kubekit.plane.plane import DATABASE, Plane
from kubekit.plane.registry import builtins
from kubekit.plane.registry.kinds import Kinds
from kubekit.plane.registry.verbs.watches import Watch
from kubekit.plane.store.records import ChangeType, Draft
from kubekit.plane.store.settings import StoreSettings
from kubekit.plane.store.store import Busy, Store
from tests.support.compute import served_kinds
from tests.support.kubekit import virtual_time
from tests.support.kubekit.definition_builders import definition
from tests.support.kubekit.faulty_disk import FaultyDisk
from tests.support.kubekit.plane_worlds import PlaneWorld, environment, opened


def test_a_new_plane_has_the_namespaces_that_clients_expect(tmp_path):
    """They are there after the first start and after every other."""

    async def scenario():
        async with opened(tmp_path) as world:
            namespaces = world.plane.kinds.require("v1", "Namespace")
            found = world.plane.store.collection(namespaces.storage).range()
            return [record.key for record in found], world.plane.store.revision

    first = virtual_time.run(scenario())
    assert first[0] == ["default", "kube-node-lease", "kube-public", "kube-system"]
    assert virtual_time.run(scenario()) == first


def test_a_plane_in_use_is_refused_to_others(tmp_path):
    """A second one on the same folder would write what the first does not know."""

    async def scenario():
        async with opened(tmp_path):
            with pytest.raises(Busy, match=DATABASE):
                async with opened(tmp_path):
                    pass

    virtual_time.run(scenario())


def test_a_full_disk_does_not_keep_people_from_reading(tmp_path, caplog):
    """A first start makes no namespaces then, says so, and serves what there is."""
    disk = FaultyDisk()

    async def scenario():
        surroundings = environment()
        store = await Store.open(tmp_path / "plane.db", surroundings, threaded=False, vfs=disk.name)
        with disk.failing(on_write=apsw.SQLITE_FULL):
            plane = await Plane.on(store, Kinds(builtins.core()), surroundings)
            namespaces = plane.kinds.require("v1", "Namespace")
            page = await plane.registry.list(namespaces, "", EVERYTHING)
        await plane.close()
        return page.records

    assert virtual_time.run(scenario()) == []
    messages = [record.message for record in caplog.records]
    assert messages == ["nothing can be written", *["namespace not created"] * 4]


def test_a_plane_has_the_kinds_of_its_registry(tmp_path):
    """What is no longer served is gone from every transport at once."""

    async def scenario():
        async with opened(tmp_path) as world:
            plane = world.plane
            plane.registry.kinds = plane.kinds.without("", "configmaps")
            return plane.kinds.by_kind("v1", "ConfigMap")

    assert virtual_time.run(scenario()) is None


def test_quiet_watchers_hear_each_minute_how_far_they_are(tmp_path):
    """Once after each minute in which something happened elsewhere, and only who asked."""

    async def scenario():
        async with opened(tmp_path) as world:
            registry, kind = world.plane.registry, world.kind
            asked = WatchOptions(resource_version="4", allow_bookmarks=True)
            curious = await registry.watch(kind, "kube-system", asked)
            silent = await registry.watch(kind, "kube-system", WatchOptions(resource_version="4"))
            await world.create("elsewhere")
            await asyncio.sleep(59)
            early = curious.take()
            await asyncio.sleep(2)
            return early, [notice.type for notice in curious.take()], silent.take()

    assert virtual_time.run(scenario()) == ([], ["BOOKMARK"], [])


def test_a_watch_that_resumes_from_far_back_gets_every_event(tmp_path):
    """What the ring has lost is read from disk, no more at a time than the reader takes."""

    async def scenario():
        async with opened(tmp_path, settings=StoreSettings(ring_events=8)) as world:
            watch, woken = await _watch_from_far_back(world)
            portions: list[list[str]] = []
            while sum(map(len, portions)) < 60:
                woken.clear()
                portions.append([json.loads(n.data)["metadata"]["name"] for n in watch.take()])
                if not portions[-1]:
                    await woken.wait()
            watch.close()
            return portions

    portions = virtual_time.run(scenario())
    assert [name for portion in portions for name in portion] == [f"c-{n:02}" for n in range(60)]
    assert max(map(len, portions)) < 20


def test_a_watch_that_resumes_too_slowly_ends_with_an_error(tmp_path):
    """When the rest of the past is forgotten meanwhile, the stream ends with 410."""

    async def scenario():
        async with opened(tmp_path, settings=StoreSettings(ring_events=8)) as world:
            watch, woken = await _watch_from_far_back(world)
            await world.plane.store.compact(world.plane.store.revision)
            types: list[str] = []
            while not watch.ended:
                woken.clear()
                notices = watch.take()
                types += [notice.type for notice in notices]
                if not notices and not watch.ended:
                    await woken.wait()
            return types

    types = virtual_time.run(scenario())
    assert types[-1] == "ERROR"
    assert 0 < types.count("ADDED") < 20


def test_a_plane_at_rest_sets_no_timer(tmp_path):
    """There are no watches and no waiters: then nothing will ever run."""

    async def scenario():
        async with opened(tmp_path) as world:
            watch = await world.plane.registry.watch(world.kind, "", WatchOptions())
            watch.close()
            await world.plane.rest()
            await asyncio.Event().wait()

    with pytest.raises(virtual_time.Deadlock):
        virtual_time.run(scenario())


def test_a_uid_is_a_random_uuid():
    """As any reader of uids expects, and another one each time."""
    source = environment()
    made = [UUID(source.uid()) for _ in range(200)]
    assert {(uid.version, uid.variant) for uid in made} == {(4, RFC_4122)}
    assert len(set(made)) == len(made)


UNREACHABLE = {
    "metadata": {"name": "all"},
    "webhooks": [
        {
            "name": "all.example.com",
            "clientConfig": {"url": "https://127.0.0.1:1/"},
            "rules": [
                {
                    "operations": ["*"],
                    "apiGroups": ["*"],
                    "apiVersions": ["*"],
                    "resources": ["*"],
                }
            ],
            "sideEffects": "None",
            "admissionReviewVersions": ["v1"],
        }
    ],
}


def test_w1_a_plane_opens_while_a_webhook_does_not_answer(tmp_path):
    """Its own objects are created without webhooks: an operator must be able to fix the webhook."""

    async def first():
        async with opened(tmp_path, kinds=ALL) as world:
            await world.plane.rest()
            await _configure(world)
            await _lose_some(world)
            with pytest.raises(InternalError):
                await world.create("refused")

    async def again():
        more: dict[str, Any] = {"kinds": ALL, "definitions": [definition()]}
        async with asyncio.timeout(20), opened(tmp_path, **more) as world:
            with pytest.raises(InternalError):
                await world.create("refused")
            found = world.plane.kinds.by_kind("example.com/v1", "Widget")
            return [world.plane.store.find(*place) for place in LOST], found

    asyncio.run(first())
    made, kind = asyncio.run(again())
    assert None not in made
    assert kind is not None


def test_t6_a_plane_opens_that_is_full(tmp_path, caplog):
    """What exceeds the quota is logged and created later: an operator must be able to free space."""

    async def first():
        async with opened(tmp_path, kinds=ALL) as world:
            await world.plane.rest()
            await _lose_some(world)

    async def again():
        more: dict[str, Any] = {
            "kinds": ALL,
            "definitions": [definition()],
            "quota": Quota(objects=1),
        }
        async with asyncio.timeout(20), opened(tmp_path, **more) as world:
            return [world.plane.store.find(*place) for place in LOST]

    virtual_time.run(first())
    assert virtual_time.run(again()) == [None, None]
    assert {"default object not created", "definition not created"} <= {
        r.message for r in caplog.records
    }


ALL = served_kinds.everything()
LOST = (("rbac.authorization.k8s.io/clusterroles", "view"), ("/serviceaccounts", "default/default"))


async def _lose_some(world: PlaneWorld) -> None:
    """As before an upgrade, or after a namespace was created and not completed."""
    await world.plane._accounts.worker.close()
    for storage, key in LOST:
        record = world.plane.store.find(storage, key)
        assert record is not None
        tail = b'"name":"%b"}}' % key.encode()
        await world.plane.store.write(
            Draft(storage, key, record.revision, ChangeType.DELETED, b'{"metadata":{', tail)
        )


async def _configure(world: PlaneWorld) -> None:
    hooks = world.plane.kinds.require(
        "admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration"
    )
    await world.plane.registry.create(hooks, "", UNREACHABLE, PLAIN_WRITE)


async def _watch_from_far_back(world: PlaneWorld) -> tuple[Watch, asyncio.Event]:
    """A watch from before 60 changes, far more than memory holds, and what tells of more."""
    options = WatchOptions(resource_version=str(world.plane.store.revision))
    for number in range(60):
        await world.create(f"c-{number:02}", data={"text": "x" * 50_000})
    watch = await world.plane.registry.watch(world.kind, "default", options)
    woken = asyncio.Event()
    watch.ready = woken.set
    return watch, woken
