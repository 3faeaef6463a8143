"""What people, or accidents, change behind the back of the controllers is mended."""

import asyncio
from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from compute.api import annotations, labels, names
from compute.api.compute import Instance, Workload, WorkloadDeployment
from compute.api.core import Namespace
from compute.api.karmada import PropagationPolicy
from compute.api.networking import NetworkBinding, SubnetClaim
from compute.api.quota import ResourceClaim
from tests.integration.test_traps import nothing_else_is_left, uids, with_finalizers
from tests.integration.worlds import PROJECT, Watched, is_ready, told, workload
from tests.runtime_builders import annotated

Edit = Callable[[Any], Any]


def labelled(obj: Any, **changes: str | None) -> Any:
    """The object with labels set, or taken off where the value is None."""
    kept = {k: v for k, v in obj.metadata.labels.items() if k not in changes}
    told_ = kept | {k: v for k, v in changes.items() if v is not None}
    return msgspec.structs.replace(
        obj, metadata=msgspec.structs.replace(obj.metadata, labels=told_)
    )


def unlabelled(obj: Any) -> Any:
    return msgspec.structs.replace(obj, metadata=msgspec.structs.replace(obj.metadata, labels={}))


def unannotated(obj: Any) -> Any:
    return msgspec.structs.replace(
        obj, metadata=msgspec.structs.replace(obj.metadata, annotations={})
    )


def unowned(obj: Any) -> Any:
    return msgspec.structs.replace(
        obj, metadata=msgspec.structs.replace(obj.metadata, owner_references=())
    )


def more(obj: WorkloadDeployment) -> WorkloadDeployment:
    scale = msgspec.structs.replace(obj.spec.scale_settings, min_replicas=3)
    return msgspec.structs.replace(obj, spec=msgspec.structs.replace(obj.spec, scale_settings=scale))


def elsewhere(obj: WorkloadDeployment) -> WorkloadDeployment:
    return msgspec.structs.replace(obj, spec=msgspec.structs.replace(obj.spec, city_code="LHR"))


def of_nobody(obj: WorkloadDeployment) -> WorkloadDeployment:
    ref = msgspec.structs.replace(obj.spec.workload_ref, uid="somebody-else")
    return msgspec.structs.replace(obj, spec=msgspec.structs.replace(obj.spec, workload_ref=ref))


def emptied(obj: Any) -> Any:
    return msgspec.structs.replace(obj, status=type(obj.status)())


SPEC = {
    "project: labels": (PROJECT, WorkloadDeployment, unlabelled),
    "project: annotations": (PROJECT, WorkloadDeployment, unannotated),
    "project: owner": (PROJECT, WorkloadDeployment, unowned),
    "project: finalizers": (PROJECT, WorkloadDeployment, with_finalizers),
    "project: replicas": (PROJECT, WorkloadDeployment, more),
    "project: city": (PROJECT, WorkloadDeployment, elsewhere),
    "project: workload": (PROJECT, WorkloadDeployment, of_nobody),
    "project: projection labels": (PROJECT, Instance, unlabelled),
    "project: projection owner": (PROJECT, Instance, unowned),
    "hub: labels": ("hub", WorkloadDeployment, unlabelled),
    "hub: annotations": ("hub", WorkloadDeployment, unannotated),
    "hub: replicas": ("hub", WorkloadDeployment, more),
    "hub: city": ("hub", WorkloadDeployment, elsewhere),
    "hub: copy labels": ("hub", Instance, unlabelled),
    "hub: copy owner": ("hub", Instance, unowned),
    "hub: namespace labels": ("hub", Namespace, unlabelled),
    "cell: labels": ("dfw", WorkloadDeployment, unlabelled),
    "cell: annotations": ("dfw", WorkloadDeployment, unannotated),
    "cell: finalizers": ("dfw", WorkloadDeployment, with_finalizers),
    "cell: replicas": ("dfw", WorkloadDeployment, more),
    "cell: instance labels": ("dfw", Instance, unlabelled),
    "cell: namespace labels": ("dfw", Namespace, unlabelled),
}
STATUS = {
    "project: workload": (PROJECT, Workload),
    "project: deployment": (PROJECT, WorkloadDeployment),
    "project: projection": (PROJECT, Instance),
    "hub: deployment": ("hub", WorkloadDeployment),
    "hub: copy": ("hub", Instance),
    "cell: deployment": ("dfw", WorkloadDeployment),
}
GONE = {
    "project: deployment": (PROJECT, WorkloadDeployment),
    "project: projection": (PROJECT, Instance),
    "project: claim": (PROJECT, ResourceClaim),
    "hub: deployment": ("hub", WorkloadDeployment),
    "hub: copy": ("hub", Instance),
    "hub: policy": ("hub", PropagationPolicy),
    "hub: namespace": ("hub", Namespace),
    "cell: deployment": ("dfw", WorkloadDeployment),
    "cell: instance": ("dfw", Instance),
    "cell: binding": ("dfw", NetworkBinding),
    "cell: claim": ("dfw", SubnetClaim),
    "cell: namespace": ("dfw", Namespace),
}
HARMLESS = {"project: projection", "project: claim", "hub: copy", "hub: policy", "cell: binding", "cell: claim"}


async def ours(world: Watched, plane: str, kind: type[Any]) -> Any:
    """The object of a kind that is about the one Workload there is."""
    space = await world.space()
    found = [
        each
        for each in (await world.client(plane).every(kind)).items
        if kind is not Namespace or each.metadata.name == space
    ]
    (one,) = found
    return one


@pytest.mark.parametrize(("plane", "kind", "edit"), SPEC.values(), ids=SPEC)
def test_w35_what_is_edited_is_as_it_was(plane, kind, edit):
    """Everything is served as before, and the Instance that ran still runs."""

    async def story(world: Watched) -> None:
        await world.deploy(workload(cities=("DFW",)))
        await world.rest()
        before = await uids(world, "dfw", Instance)
        found = await ours(world, plane, kind)
        await world.client(plane).patch(found, edit(found))
        await world.rest()
        await world.served("web")
        await nothing_else_is_left(world, "web-home-dfw-0")
        if "city" not in str(edit):
            assert await uids(world, "dfw", Instance) == before
        mended = await ours(world, plane, kind)
        assert mended.metadata.labels == found.metadata.labels
        assert mended.metadata.annotations == found.metadata.annotations
        assert mended.spec == found.spec

    told(story)


@pytest.mark.parametrize(("plane", "kind"), STATUS.values(), ids=STATUS)
def test_a_status_that_is_wiped_is_told_again(plane, kind):
    """Nobody's word is taken for what can be seen."""

    async def story(world: Watched) -> None:
        await world.deploy(workload(cities=("DFW",)))
        await world.rest()
        before = await uids(world, "dfw", Instance)
        found = await ours(world, plane, kind)
        await world.client(plane).patch_status(found, emptied(found))
        await world.rest()
        await world.served("web")
        assert await uids(world, "dfw", Instance) == before

    told(story)


@pytest.mark.parametrize(("plane", "kind"), GONE.values(), ids=GONE)
def test_what_is_deleted_comes_back(plane, kind, request):
    """Nothing runs unseen or unclaimed meanwhile, and nothing is left over."""

    async def story(world: Watched) -> None:
        await world.deploy(workload(cities=("DFW",)))
        await world.rest()
        before = await uids(world, "dfw", Instance)
        found = await ours(world, plane, kind)
        await world.client(plane).delete(found)
        await world.rest()
        await world.served("web", seconds=300.0)
        await nothing_else_is_left(world, "web-home-dfw-0")
        if request.node.callspec.id in HARMLESS:
            assert await uids(world, "dfw", Instance) == before

    told(story)
