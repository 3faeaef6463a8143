"""A stale cache causes reconcile passes, but creates and deletes nothing."""

from typing import Any

import msgspec

from compute.api import annotations, finalizers
from compute.api.compute import Instance, WorkloadDeployment
from compute.controllers.management.federator import controller as federator
from compute.controllers.management.projector import controller as projector
from compute.decide.federation import projection
from kubekit.api.kinds.core import Namespace
from kubekit.api.meta import ObjectMeta
from tests.support.compute.builders import instance
from tests.support.compute.federation_builders import PROJECT, on_hub, original, with_meta
from tests.support.compute.management_builders import (
    WEB,
    ClientWithoutDeployments,
    ClientWithoutEvents,
    ManagementWorld,
    held,
    hub_namespace_of,
    set_up,
    upstream,
)


async def _behind(on: ManagementWorld, namespace: str = "default") -> WorkloadDeployment:
    """A deployment in a cache that never changes; the hub is not engaged yet."""
    await hub_namespace_of(on.stage, PROJECT, namespace)
    made = with_meta(original(), namespace=namespace, uid="", generation=0)
    sent = await on.stage.client("shop").create(made)
    await on.leave("projects", "hub")
    await on.engage("projects", ClientWithoutEvents(on.stage.planes["shop"]))
    on.start(federator.controllers)
    await on.stage.rest()
    return sent


async def _hub_comes(on: ManagementWorld) -> None:
    await on.stage.engage("hub", "hub")
    await on.stage.rest(120)


def test_a_deployment_that_is_gone_is_not_copied(tmp_path):
    """A deployment that only the cache still has is not copied to the hub."""

    async def story(on: ManagementWorld) -> None:
        await on.stage.client("shop").delete(await _behind(on))
        await _hub_comes(on)

        assert await on.stage.client("hub").find(Namespace, on.hub_namespace) is None

    set_up(tmp_path, story)


def test_a_deployment_that_is_gone_with_its_namespace_is_not_copied(tmp_path):
    """Nor is the old namespace read."""

    async def story(on: ManagementWorld) -> None:
        shop = on.stage.client("shop")
        hub_namespace = await hub_namespace_of(on.stage, PROJECT, "team")
        await _behind(on, "team")
        await shop.delete(await shop.get(Namespace, "team"))
        await on.stage.gone("shop", Namespace, "team")
        await _hub_comes(on)

        assert await on.stage.client("hub").find(Namespace, hub_namespace) is None

    set_up(tmp_path, story)


def test_an_invalid_deployment_is_not_copied(tmp_path):
    """The copy is written from the live deployment."""

    async def story(on: ManagementWorld) -> None:
        sent = await _behind(on)
        spec = msgspec.structs.replace(sent.spec, city_code="San José")
        await on.stage.client("shop").patch(sent, msgspec.structs.replace(sent, spec=spec))
        await _hub_comes(on)

        assert await on.stage.client("hub").find(Namespace, on.hub_namespace) is None

    set_up(tmp_path, story)


def test_the_hub_namespace_of_an_earlier_namespace_deletes_nothing_of_the_next(tmp_path):
    """A stale namespace in a cache does not decide which copies are strays."""

    async def story(on: ManagementWorld) -> None:
        shop, hub = on.stage.client("shop"), on.stage.client("hub")
        hub_namespace = await hub_namespace_of(on.stage, PROJECT, "team")
        noted = {annotations.FEDERATION_NAMESPACE: hub_namespace}
        made = with_meta(original(), namespace="team", uid="", generation=0, annotations=noted)
        sent = await shop.create(with_meta(made, finalizers=(finalizers.FEDERATOR,)))
        await on.leave("projects")
        await on.engage("projects", ClientWithoutEvents(on.stage.planes["shop"]))
        on.start(federator.controllers)
        copy = await on.stage.named("hub", WorkloadDeployment, WEB, hub_namespace)
        await on.stage.rest()
        await on.change("shop", sent, finalizers=())
        await shop.delete(await shop.get(Namespace, "team"))
        await on.stage.gone("shop", Namespace, "team")
        next_namespace = await hub_namespace_of(on.stage, PROJECT, "team")
        next_meta = ObjectMeta(name=next_namespace, labels=upstream("team"))
        await hub.create(Namespace(metadata=next_meta))
        await hub.create(with_meta(copy, namespace=next_namespace, uid="", resource_version=""))
        await on.stage.rest(120)

        assert await hub.find(WorkloadDeployment, WEB, next_namespace) is not None

    set_up(tmp_path, story)


def test_an_orphan_that_is_gone_is_not_deleted(tmp_path):
    """Another controller has deleted it."""

    async def story(on: ManagementWorld) -> None:
        hub = on.stage.client("hub")
        await hub.create(Namespace(metadata=ObjectMeta(name=on.hub_namespace, labels=upstream())))
        orphan = await hub.create(with_meta(on_hub(), namespace=on.hub_namespace, uid=""))
        await on.leave("projects", "hub")
        await on.engage("hub", ClientWithoutEvents(on.stage.planes["hub"]))
        on.start(federator.controllers)
        await on.stage.rest()
        await hub.delete(orphan)
        await on.stage.engage("projects", PROJECT)
        await on.stage.rest()

        assert on.stage.factory.metrics.controller("federator").errors == 0
        assert await on.stage.quiet() == []

    set_up(tmp_path, story)


def test_a_hub_that_does_not_serve_deployments_is_not_taken_for_empty(tmp_path):
    """Its "not found" is about the kind, so no finalizer is removed because of it."""

    async def story(on: ManagementWorld) -> None:
        on.start(federator.controllers)
        sent = await on.deploy()
        await on.copy()
        await on.stage.rest()
        await on.leave("hub")
        await on.engage("hub", ClientWithoutDeployments(on.stage.planes["hub"]))
        await on.stage.client("shop").delete(sent)
        await on.stage.rest(120)
        assert held(await on.project())
        await on.leave("hub")
        await on.stage.engage("hub", "hub")

        await on.stage.gone("shop", WorkloadDeployment, WEB, "default")
        assert await on.stage.client("hub").find(WorkloadDeployment, WEB, on.hub_namespace) is None

    set_up(tmp_path, story)


def test_a_projection_that_is_gone_with_its_namespace_is_left_alone(tmp_path):
    """The cache still has it when its copy is deleted."""

    async def story(on: ManagementWorld) -> None:
        shop, hub = on.stage.client("shop"), on.stage.client("hub")
        hub_namespace = await hub_namespace_of(on.stage, PROJECT, "team")
        head: dict[str, Any] = {"labels": upstream("team"), "uid": "", "generation": 0}
        await hub.create(
            Namespace(metadata=ObjectMeta(name=hub_namespace, labels=upstream("team")))
        )
        copy = await hub.create(instance(0, namespace=hub_namespace, **head))
        owner = with_meta(original(), namespace="team", uid="", generation=0)
        await shop.create(projection(copy, await shop.create(owner)))
        await on.leave("projects")
        await on.engage("projects", ClientWithoutEvents(on.stage.planes["shop"]))
        on.start(projector.controllers)
        await on.stage.rest()
        await shop.delete(await shop.get(Namespace, "team"))
        await on.stage.gone("shop", Namespace, "team")
        await hub.delete(copy)
        await on.stage.rest()

        assert await shop.find(Instance, f"{WEB}-0", "team") is None
        assert await on.stage.quiet() == []

    set_up(tmp_path, story)
