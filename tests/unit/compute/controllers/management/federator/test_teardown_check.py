"""A deployment keeps its finalizer until nothing of it is left in reachable cells."""

from datetime import timedelta

import pytest
from msgspec.structs import replace

from compute.api import finalizers, karmada, labels, names
from compute.api.compute import WorkloadDeployment
from compute.api.karmada_work import ResourceBinding, Work, WorkloadTemplate, WorkSpec
from compute.api.quota import ObjectRef, ResourceClaim, ResourceClaimSpec, ResourceRequest
from compute.controllers.management.federator import controller as federator
from compute.controllers.management.projector import controller as projector
from compute.decide.quota import INSTANCES
from kubekit.api.kinds.core import Namespace
from kubekit.api.kinds.events import Event
from kubekit.api.meta import Object, ObjectMeta
from kubekit.runtime.controller_factory import ControllerFactory
from tests.support.compute.builders import NOW
from tests.support.compute.federation_builders import PROJECT, on_hub, with_meta
from tests.support.compute.management_builders import (
    CELL,
    WEB,
    ClientWithoutEvents,
    ManagementWorld,
    held,
    set_up,
)

REQUESTS = (ResourceRequest(resource_type=INSTANCES, amount=1),)
EXECUTION = "karmada.io/execution-controller"
BOUND = names.resource_binding(WEB, "WorkloadDeployment")


async def work(on: ManagementWorld, *, cell: str = CELL) -> Work:
    """The Work of a cell; it is deleting, and stays."""
    client, space = on.stage.client("hub", "karmada"), names.execution_namespace(cell)
    if await client.find(Namespace, space) is None:
        await client.create(Namespace(metadata=ObjectMeta(name=space)))
    copy = await on.copy()
    metadata = {"name": WEB, "namespace": on.hub_namespace, "labels": copy.metadata.labels}
    manifest = {"apiVersion": copy.api_version, "kind": copy.kind, "metadata": metadata}
    bound = {
        "resourcebinding.karmada.io/name": BOUND,
        "resourcebinding.karmada.io/namespace": on.hub_namespace,
    }
    meta = ObjectMeta(
        name=f"{WEB}-by-karmada", namespace=space, annotations=bound, finalizers=(EXECUTION,)
    )
    spec = WorkSpec(workload=WorkloadTemplate(manifests=(manifest,)))
    made = await client.create(Work(metadata=meta, spec=spec))
    await client.delete(made)
    return made


async def claim(on: ManagementWorld, *, cell: str = CELL, hub_namespace: str = "") -> ResourceClaim:
    """The claim of the first slot."""
    claim_labels = {
        labels.SOURCE_CLUSTER: cell,
        labels.INSTANCE_NAMESPACE: hub_namespace or on.hub_namespace,
    }
    meta = ObjectMeta(name=names.claim(f"{WEB}-0"), namespace="default", labels=claim_labels)
    project = ObjectRef(kind="Project", name=PROJECT)
    made = ResourceClaim(
        metadata=meta, spec=ResourceClaimSpec(consumer_ref=project, requests=REQUESTS)
    )
    return await on.stage.client("shop", "cell").create(made)


async def federated(on: ManagementWorld) -> WorkloadDeployment:
    """A deployment that is on the hub, and bound to a reachable cell."""
    on.start(federator.controllers, projector.controllers)
    await on.deploy()
    await on.cell("True", NOW)
    hub = on.stage.client("hub")
    cluster = await hub.get(karmada.MemberCluster, CELL)
    await hub.patch(cluster, with_meta(cluster, labels={labels.TOPOLOGY_CITY_CODE: "DFW"}))
    await on.copy()
    return await on.project(held)


async def end(on: ManagementWorld, plane: str, obj: Object) -> None:
    """Delete an object with all its finalizers."""
    client, meta = on.stage.client(plane), obj.metadata
    found = await client.find(type(obj), meta.name, meta.namespace)
    if found is not None and meta.finalizers:
        found = await client.patch(found, with_meta(found, finalizers=()))
    if await client.find(type(obj), meta.name, meta.namespace) is not None:
        assert found is not None
        await client.delete(found)


async def is_held(on: ManagementWorld, seconds: float = 60.0) -> bool:
    await on.stage.quiet(seconds)
    found = await on.stage.client("shop").find(WorkloadDeployment, WEB, "default")
    return found is not None and held(found)


async def is_gone(on: ManagementWorld, seconds: float = 2.0) -> None:
    await on.stage.gone("shop", WorkloadDeployment, WEB, "default", seconds)


async def notes(on: ManagementWorld) -> list[str]:
    await on.stage.quiet(1.0)
    events = (await on.stage.client("shop").every(Event)).items
    return [event.note for event in events if event.reason == "Withdrawn"]


def test_it_is_kept_while_its_cell_has_a_work(tmp_path):
    """The machine may still be stopping; the deletion of the Work shows that it has stopped."""

    async def story(on: ManagementWorld) -> None:
        sent = await federated(on)
        left = await work(on)
        await on.stage.client("shop").delete(sent)
        assert await is_held(on)
        await end(on, "hub", left)
        await is_gone(on)
        assert await notes(on) == [f"{WEB} is gone from DFW"]

    set_up(tmp_path, story)


def test_it_is_kept_while_the_engine_has_its_binding(tmp_path):
    """While the binding exists the engine may still dispatch it to a cell."""

    async def story(on: ManagementWorld) -> None:
        sent = await federated(on)
        await on.bind(CELL)
        hub = on.stage.client("hub")
        binding = await hub.get(ResourceBinding, BOUND, on.hub_namespace)
        await on.stage.client("shop").delete(sent)
        assert await is_held(on)
        await hub.delete(binding)
        await is_gone(on)

    set_up(tmp_path, story)


@pytest.mark.parametrize("ready", ["Unknown", "False"])
def test_a_cell_that_becomes_unreachable_is_not_waited_for(tmp_path, ready):
    """It may be unreachable for long; an event reports what is left, and where."""

    async def story(on: ManagementWorld) -> None:
        sent = await federated(on)
        await work(on)
        await on.stage.client("shop").delete(sent)
        assert await is_held(on)
        await on.cell(ready, NOW + timedelta(minutes=2))
        await is_gone(on)
        (note,) = await notes(on)
        assert note == f"{WEB} is deleted on the hub, and in {CELL} once that is reachable"

    set_up(tmp_path, story)


def test_an_unknown_cell_is_not_waited_for(tmp_path):
    """Its Cluster was deleted on the hub."""

    async def story(on: ManagementWorld) -> None:
        sent = await federated(on)
        await work(on, cell="forgotten")
        await on.stage.client("shop").delete(sent)
        await is_gone(on)

    set_up(tmp_path, story)


@pytest.mark.parametrize("ahead", [-600, 0, 600])
def test_a_cell_that_does_nothing_is_waited_for_five_minutes(tmp_path, ahead):
    """It is reachable, but its controllers may be down. The clock of the project does not count."""

    async def story(on: ManagementWorld) -> None:
        now = on.stage.environment.now
        wrong = replace(on.stage.environment, now=lambda: now() + timedelta(seconds=ahead))
        on.stage.factory = ControllerFactory(wrong, on.stage.factory.metrics, "test")
        sent = await federated(on)
        await work(on)
        await on.stage.client("shop").delete(sent)
        assert await is_held(on, 290.0)
        await is_gone(on, 20.0)

    set_up(tmp_path, story)


def test_a_work_that_the_cache_lacks_is_found(tmp_path):
    """It is read live by its name in the cells of the city."""

    async def story(on: ManagementWorld) -> None:
        sent = await federated(on)
        hub = on.stage.client("hub")
        space = names.execution_namespace(CELL)
        await hub.create(Namespace(metadata=ObjectMeta(name=space)))
        name = names.work(on.hub_namespace, WEB, "WorkloadDeployment")
        meta = ObjectMeta(name=name, namespace=space)  # says nothing of what it is about
        young = await hub.create(Work(metadata=meta, spec=WorkSpec()))
        await on.stage.client("shop").delete(sent)
        assert await is_held(on)
        await hub.delete(young)
        await is_gone(on, 300.0)

    set_up(tmp_path, story)


def test_it_is_kept_while_an_instance_is_shown(tmp_path):
    """A copy that outlives its deployment counts while its cell is reachable."""

    async def story(on: ManagementWorld) -> None:
        sent = await federated(on)
        copy = await on.write_back()
        copy = await on.change("hub", copy, finalizers=("example.com/slow",))
        await on.stage.client("shop").delete(sent)
        assert await is_held(on)
        await end(on, "hub", copy)
        await is_gone(on)

    set_up(tmp_path, story)


def test_it_is_kept_while_its_quota_is_not_released(tmp_path):
    """The claim of a slot is deleted by the cell that made it."""

    async def story(on: ManagementWorld) -> None:
        sent = await federated(on)
        left = await claim(on)
        await on.stage.client("shop").delete(sent)
        assert await is_held(on)
        await end(on, "shop", left)
        await is_gone(on)

    set_up(tmp_path, story)


def test_a_cell_that_is_back_is_waited_for_though_no_cache_shows_it_yet(tmp_path):
    """That a cell is unreachable is read live before a machine is given up for it."""

    async def story(on: ManagementWorld) -> None:
        await on.cell("Unknown", NOW)
        await on.engage("hub", ClientWithoutEvents(on.stage.planes["hub"], karmada.MemberCluster))
        sent = await federated(on)
        left = await claim(on)
        await on.stage.client("shop").delete(sent)
        assert await is_held(on)
        await end(on, "shop", left)
        await is_gone(on)

    set_up(tmp_path, story)


@pytest.mark.parametrize(
    "of",
    [{"cell": "unreachable"}, {"hub_namespace": "ns-other"}],
    ids=["of an unreachable cell", "of others"],
)
def test_claims_that_no_cell_releases_block_nothing(tmp_path, of):
    """They are of an unreachable cell, or of another namespace's Instance."""

    async def story(on: ManagementWorld) -> None:
        sent = await federated(on)
        await claim(on, **of)
        await on.stage.client("shop").delete(sent)
        await is_gone(on)

    set_up(tmp_path, story)


def test_objects_of_another_deployment_are_not_waited_for(tmp_path):
    """Another deployment has taken the name on the hub: the binding belongs to that one."""

    async def story(on: ManagementWorld) -> None:
        hub = on.stage.client("hub")
        await hub.create(Namespace(metadata=ObjectMeta(name=on.hub_namespace)))
        await hub.create(with_meta(on_hub(), namespace=on.hub_namespace, uid="", labels={}))
        await on.bind(CELL)
        sent = await on.deploy(finalizers=(finalizers.FEDERATOR,))
        await on.stage.client("shop").delete(sent)
        on.start(federator.controllers)
        await on.stage.gone("shop", WorkloadDeployment, WEB, "default")
        assert await hub.find(ResourceBinding, BOUND, on.hub_namespace) is not None

    set_up(tmp_path, story)
