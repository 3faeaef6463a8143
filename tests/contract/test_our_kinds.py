"""The kinds that we publish, as any server serves them from their CRDs."""

from typing import Any

import msgspec
import pytest

from compute.api.compute import Instance, Workload, WorkloadDeployment
from compute.api.networking import Location, Network
from compute.api.resource_manager import Project
from kubekit.api.errors import Invalid, NotFound
from kubekit.api.meta import Object, ObjectMeta
from kubekit.client.client import Client
from kubekit.client.options import WatchOptions
from kubekit.client.transport import Document, Transport
from tests.contract.collection import Collection
from tests.support.compute import builders

KINDS: list[type[Object]] = [Workload, WorkloadDeployment, Instance, Network, Location, Project]


@pytest.fixture
def workloads(transport: Transport, space: str) -> Collection:
    return Collection(transport, Workload.RESOURCE, space)


def document(obj: Object) -> Document:
    written: Document = msgspec.to_builtins(obj, str_keys=True)
    return written


def workload(name: str, space: str) -> Workload:
    made = builders.workload(name)
    return msgspec.structs.replace(made, metadata=ObjectMeta(name=name, namespace=space))


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.RESOURCE.kind)
async def test_our_kinds_are_served(transport: Transport, space: str, kind: type[Object]):
    """Each has a collection."""
    namespace = space if kind.RESOURCE.namespaced else ""
    listing = await Collection(transport, kind.RESOURCE, namespace).list()
    assert listing["kind"] == kind.RESOURCE.list_kind
    assert listing["apiVersion"] == kind.RESOURCE.api_version


async def test_a_workload_comes_back_as_it_was(transport: Transport, space: str):
    """What our class writes, the server keeps, and our class reads."""
    client = Client(transport)
    asked = workload("web", space)
    made = await client.create(asked)
    assert made.spec == asked.spec
    assert await client.get(Workload, "web", space) == made


async def test_a_difference_is_written_and_nothing_else(transport: Transport, space: str):
    """A typed patch changes what differs, bound to the version that was read."""
    client = Client(transport)
    made = await client.create(workload("web", space))
    metadata = msgspec.structs.replace(made.metadata, labels={"a": "b"})
    patched = await client.patch(made, msgspec.structs.replace(made, metadata=metadata))
    assert patched.metadata.labels == {"a": "b"}
    assert patched.spec == made.spec
    assert patched.metadata.generation == 1


async def test_a_typed_watch_reads_our_class(transport: Transport, space: str):
    """Changes come as objects, bookmarks as versions."""
    client = Client(transport)
    listing = await client.list(Workload, space)
    made = await client.create(workload("web", space))
    options = WatchOptions(resource_version=listing.resource_version)
    async with client.watch(Workload, space, options) as changes:
        seen = await anext(changes)
    assert (seen.type, seen.object) == ("ADDED", made)


async def test_a_typed_delete_removes_the_object_it_was_given(transport: Transport, space: str):
    """An older object of the same name is not meant."""
    client = Client(transport)
    made = await client.create(workload("web", space))
    await client.delete(made)
    assert await client.find(Workload, "web", space) is None


async def test_a_status_of_ours_is_patched(transport: Transport, space: str):
    """The typed status goes by its own path."""
    client = Client(transport)
    made = await client.create(workload("web", space))
    status = msgspec.structs.replace(made.status, replicas=2)
    patched = await client.patch_status(made, msgspec.structs.replace(made, status=status))
    assert patched.status.replicas == 2
    assert patched.metadata.generation == 1


BROKEN: dict[str, tuple[Any, str]] = {
    "no placements": ({"placements": None}, "spec.placements"),
    "no template": ({"template": None}, "spec.template"),
    "a text for a list": ({"placements": "DFW"}, "spec.placements"),
}


@pytest.mark.parametrize("case", BROKEN)
async def test_a_workload_that_breaks_its_schema(workloads: Collection, space: str, case: str):
    """The refusal names the field."""
    change, field = BROKEN[case]
    asked = document(workload("web", space))
    spec = {k: v for k, v in (asked["spec"] | change).items() if v is not None}
    with pytest.raises(Invalid) as refusal:
        await workloads.create(asked | {"spec": spec})
    assert field in refusal.value.message
    with pytest.raises(NotFound):
        await workloads.get("web")


async def test_a_workload_drops_what_its_schema_does_not_know(workloads: Collection, space: str):
    """A misspelt field does not get in."""
    asked = document(workload("web", space))
    made = await workloads.create(asked | {"spec": asked["spec"] | {"replcas": 3}})
    assert "replcas" not in made["spec"]
