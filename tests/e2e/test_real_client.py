"""Our own client and a real kube-apiserver: the whole life of each of our kinds."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from msgspec.structs import replace

from compute.api.compute import Instance, Workload, WorkloadDeployment
from kubekit.api.errors import Conflict
from kubekit.api.kinds.core import Namespace
from kubekit.api.meta import Object, ObjectMeta
from kubekit.client.http.client import HttpClient
from kubekit.client.kubeconfig import load
from kubekit.client.options import PLAIN_WATCH
from tests.support.compute.builders import NOW, condition, deployment, instance, workload
from tests.support.kubekit.plane_builders import environment

KINDS: dict[type[Object], Callable[[], Any]] = {
    Workload: workload,
    WorkloadDeployment: deployment,
    Instance: instance,
}
READY = condition("Ready", reason="Running", message="It runs.", since=NOW)

pytestmark = [pytest.mark.peer, pytest.mark.e2e, pytest.mark.slow]
each_kind = pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.RESOURCE.kind)


def on_real(server, script):
    """What a script answers that is given a client and a namespace of its own."""

    async def run():
        surroundings = environment()
        async with HttpClient(load(surroundings, [server.kubeconfig]), surroundings) as client:
            space = await client.create(Namespace(metadata=ObjectMeta(generate_name="client-")))
            async with asyncio.timeout(60):
                return await script(client, space.metadata.name)

    return asyncio.run(run())


def new(kind, space):
    """An object as a caller creates it: the server fills in its own fields."""
    made = KINDS[kind]()
    meta = ObjectMeta(name=made.metadata.name, namespace=space, labels=made.metadata.labels)
    return replace(made, metadata=meta)


def painted(obj, colour):
    labels = {**obj.metadata.labels, "colour": colour}
    return replace(obj, metadata=replace(obj.metadata, labels=labels))


@each_kind
def test_the_life_of_an_object_in_a_watch(real_server, kind):
    """Creation, change and deletion of an object are reported in this order, and nothing else is."""

    async def script(client, space):
        start = (await client.list(kind, space)).resource_version
        options = replace(PLAIN_WATCH, resource_version=start)
        async with client.watch(kind, space, options) as events:
            made = await client.create(new(kind, space))
            red = await client.patch(made, painted(made, "red"))
            await client.delete(red)
            seen = [await anext(events) for _ in range(3)]
        return [(one.type, one.object.metadata.labels.get("colour")) for one in seen]

    assert on_real(real_server, script) == [
        ("ADDED", None),
        ("MODIFIED", "red"),
        ("DELETED", "red"),
    ]


@each_kind
def test_what_is_sent_is_what_is_read(real_server, kind):
    """The server's schema, which is ours, keeps every field and every value of an object."""

    async def script(client, space):
        sent = new(kind, space)
        await client.create(sent)
        read = await client.get(kind, sent.metadata.name, space)
        return sent.spec, read.spec

    sent, read = on_real(real_server, script)
    assert read == sent


@each_kind
def test_a_status_is_written_by_itself(real_server, kind):
    """It is read back as it was written, and the generation, which counts specs, stays."""

    async def script(client, space):
        made = await client.create(new(kind, space))
        desired = replace(made, status=replace(made.status, conditions=(READY,)))
        await client.patch_status(made, desired)
        return await client.get(kind, made.metadata.name, space)

    read = on_real(real_server, script)
    assert (read.status.conditions, read.metadata.generation) == ((READY,), 1)


@each_kind
def test_applying_is_repeatable(real_server, kind):
    """Applying what was applied before changes nothing.

    The first write after a creation may: it stores the default of a status, which a creation drops.
    """

    async def script(client, space):
        return [await client.apply(new(kind, space), "tests") for _ in range(3)]

    _, second, third = on_real(real_server, script)
    assert third.metadata.resource_version == second.metadata.resource_version


@each_kind
def test_a_change_of_what_has_changed_is_a_conflict(real_server, kind):
    """A patch is bound to the version that was read."""

    async def script(client, space):
        made = await client.create(new(kind, space))
        await client.patch(made, painted(made, "red"))
        with pytest.raises(Conflict):
            await client.patch(made, painted(made, "blue"))
        return (await client.get(kind, made.metadata.name, space)).metadata.labels["colour"]

    assert on_real(real_server, script) == "red"


@each_kind
def test_pages_make_up_the_list(real_server, kind):
    """A collection that is asked for in pages has each object once."""
    names = [f"one-{number}" for number in range(5)]

    async def script(client, space):
        for name in names:
            obj = new(kind, space)
            await client.create(replace(obj, metadata=replace(obj.metadata, name=name)))
        return await client.every(kind, space, page=2)

    listing = on_real(real_server, script)
    assert ([one.metadata.name for one in listing.items], listing.unreadable) == (names, ())
