"""Changes that users, or accidents, make behind the controllers are undone."""

from typing import Any

import msgspec
import pytest

from compute.api import annotations
from compute.api.compute import Instance, Workload, WorkloadDeployment
from compute.api.karmada import PropagationPolicy
from compute.api.networking import NetworkBinding, SubnetClaim
from compute.api.quota import ResourceClaim
from kubekit.api.kinds.core import Namespace
from tests.integration.test_cells import cut
from tests.integration.test_traps import nothing_else_is_left, uids, with_finalizers
from tests.integration.worlds import PROJECT, Watched, reason_of, run_story, workload
from tests.support.kubekit.runtime_builders import annotated

ENGINE = "karmada.io/"  # what the engine notes down for itself
WEB = annotated(workload(cities=("DFW",)), **{annotations.MAX_UNAVAILABLE: "1"})


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
    return msgspec.structs.replace(
        obj, spec=msgspec.structs.replace(obj.spec, scale_settings=scale)
    )


def elsewhere(obj: WorkloadDeployment) -> WorkloadDeployment:
    return msgspec.structs.replace(obj, spec=msgspec.structs.replace(obj.spec, city_code="LHR"))


def emptied(obj: Any) -> Any:
    return msgspec.structs.replace(obj, status=type(obj.status)())


SPEC = {
    "project: labels": (PROJECT, WorkloadDeployment, unlabelled),
    "project: annotations": (PROJECT, WorkloadDeployment, unannotated),
    "project: owner": (PROJECT, WorkloadDeployment, unowned),
    "project: finalizers": (PROJECT, WorkloadDeployment, with_finalizers),
    "project: replicas": (PROJECT, WorkloadDeployment, more),
    "project: city": (PROJECT, WorkloadDeployment, elsewhere),
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
MACHINES_STAY = {
    "project: projection",
    "project: claim",
    "hub: copy",
    "hub: policy",
    "cell: binding",
    "cell: claim",
}


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


def _said(obj: Any) -> tuple[Any, ...]:
    """What the controllers say of an object."""
    meta = obj.metadata
    noted = {key: value for key, value in meta.annotations.items() if ENGINE not in key}
    return meta.labels, noted, meta.finalizers, obj.spec


@pytest.mark.parametrize(("plane", "kind", "edit"), SPEC.values(), ids=SPEC)
def test_w35_what_is_edited_is_as_it_was(plane, kind, edit):
    """Everything is served as before, and the Instance that ran still runs."""

    async def story(world: Watched) -> None:
        await world.deploy(WEB)
        await world.rest()
        before = await uids(world, "dfw", Instance)
        found = await ours(world, plane, kind)
        await world.client(plane).patch(found, edit(found))
        await world.rest()
        await world.served("web")
        await nothing_else_is_left(world, "web-home-dfw-0")
        if edit is not elsewhere:
            assert await uids(world, "dfw", Instance) == before
        restored = await ours(world, plane, kind)
        assert _said(restored) == _said(found)

    run_story(story)


@pytest.mark.parametrize(("plane", "kind"), STATUS.values(), ids=STATUS)
def test_a_status_that_is_wiped_is_reported_again(plane, kind):
    """What can be observed is observed again, and no earlier report is trusted."""

    async def story(world: Watched) -> None:
        await world.deploy(WEB)
        await world.rest()
        before = await uids(world, "dfw", Instance)
        found = await ours(world, plane, kind)
        await world.client(plane).patch_status(found, emptied(found))
        await world.rest()
        await world.served("web")
        assert await uids(world, "dfw", Instance) == before

    run_story(story)


@pytest.mark.parametrize(("plane", "kind"), GONE.values(), ids=GONE)
def test_what_is_deleted_comes_back(plane, kind, request):
    """Nothing runs unseen or unclaimed meanwhile, and nothing is left over."""

    async def story(world: Watched) -> None:
        await world.deploy(WEB)
        await world.rest()
        before = await uids(world, "dfw", Instance)
        found = await ours(world, plane, kind)
        await world.client(plane).delete(found)
        await world.rest()
        await world.served("web", seconds=300.0)
        await nothing_else_is_left(world, "web-home-dfw-0")
        if request.node.callspec.id in MACHINES_STAY:
            assert await uids(world, "dfw", Instance) == before

    run_story(story)


def test_a_deployment_that_a_user_gives_to_another_is_reported_until_it_is_removed():
    """What names another Workload is never taken, and its name comes free when it goes."""

    async def story(world: Watched) -> None:
        await world.deploy(WEB)
        found = await ours(world, PROJECT, WorkloadDeployment)
        ref = msgspec.structs.replace(found.spec.workload_ref, uid="another-uid")
        spec = msgspec.structs.replace(found.spec, workload_ref=ref)
        given = await world.user.patch(found, msgspec.structs.replace(found, spec=spec))
        await world.named(
            PROJECT,
            Workload,
            "web",
            true=lambda w: reason_of(w, "Available") == "DeploymentNameTaken",
        )
        await world.user.delete(given)
        await world.served("web")
        await nothing_else_is_left(world, "web-home-dfw-0")

    run_story(story)


@pytest.mark.parametrize("edit", [unlabelled, unannotated, with_finalizers])
def test_what_lost_its_keys_in_a_cell_still_goes_with_its_workload(edit):
    """A machine that no object names any more would run indefinitely."""

    async def story(world: Watched) -> None:
        await world.deploy(WEB)
        await cut(world, "dfw")
        await world.rest()
        found = await ours(world, "dfw", WorkloadDeployment)
        await world.client("dfw").patch(found, edit(found))
        await world.user.delete(await world.user.get(Workload, "web", "default"))
        await cut(world, "dfw", "false")
        await world.gone(PROJECT, Workload, "web", "default", seconds=300.0)
        await nothing_else_is_left(world)

    run_story(story)
