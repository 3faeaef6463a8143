"""Projections while planes, projects and deployments are added and removed."""

from collections.abc import Callable

from compute.api.compute import Instance, WorkloadDeployment
from compute.controllers.management.federator import controller as federator
from compute.controllers.management.hub import copies
from compute.controllers.management.projector import controller as projector
from kubekit.api.kinds.core import Namespace
from kubekit.api.meta import ObjectMeta
from kubekit.runtime.requests import cluster_name
from tests.support.compute.builders import condition, instance
from tests.support.compute.federation_builders import PROJECT, original, with_meta
from tests.support.compute.management_builders import (
    WEB,
    ManagementWorld,
    held,
    hub_namespace_of,
    set_up,
    upstream,
)

FIRST = f"{WEB}-0"
READY = condition("Ready", "True", "Available")
WAITING = condition("Ready", "False", "Provisioning", "it is being set up")


def test_projections_are_deleted_with_their_deployment(tmp_path):
    """And none is created while it is deleting."""

    async def story(on: ManagementWorld) -> None:
        await on.show_one(READY)
        await on.stage.client("shop").delete(await on.project())

        await on.stage.gone("shop", WorkloadDeployment, WEB, "default")
        await on.stage.gone("shop", Instance, FIRST, "default")
        await on.stage.gone("hub", Instance, FIRST, on.hub_namespace)
        await on.stage.rest()
        assert await on.stage.quiet() == []

    set_up(tmp_path, story)


def test_no_projection_is_created_for_a_deleting_deployment(tmp_path):
    """It would have to be deleted at once."""

    async def story(on: ManagementWorld) -> None:
        await on.show_one(READY)
        slow = await on.change("hub", await on.copy(), finalizers=("example.com/slow",))
        await on.stage.client("shop").delete(await on.project())
        await on.project(lambda d: d.deleting)
        await on.stage.client("shop").delete(await on.shown(READY))
        await on.stage.rest()

        assert await on.stage.client("shop").find(Instance, FIRST, "default") is None
        await on.change("hub", slow, finalizers=())

    set_up(tmp_path, story)


def test_a_namespace_can_be_deleted_with_its_projections(tmp_path):
    """Everything is deleted with the namespace, and nothing is created in it."""

    async def story(on: ManagementWorld) -> None:
        shop = on.stage.client("shop")
        hub_namespace = await hub_namespace_of(on.stage, PROJECT, "team")
        on.start(federator.controllers, projector.controllers, copies.controllers)
        await shop.create(with_meta(original(), namespace="team", uid="", generation=0))
        await on.stage.named("hub", WorkloadDeployment, WEB, hub_namespace)
        copy = instance(0, namespace=hub_namespace, uid="", generation=0, labels=upstream("team"))
        await on.stage.client("hub").create(copy)
        await on.stage.named("shop", Instance, FIRST, "team")
        await shop.delete(await shop.get(Namespace, "team"))

        await on.stage.gone("shop", Namespace, "team")
        await on.stage.rest()
        assert await on.stage.quiet() == []

    set_up(tmp_path, story)


def test_an_unreachable_hub_is_not_taken_for_empty(tmp_path):
    """Projections stay; once the hub is reachable only differences are written."""

    async def story(on: ManagementWorld) -> None:
        await on.show_one(READY)
        await on.write_back(1, READY)
        await on.shown(READY, name=f"{WEB}-1")
        on.hub.cut()
        hub = on.stage.client("hub")
        await hub.delete(await hub.get(Instance, f"{WEB}-1", on.hub_namespace))
        await on.stage.rest(120)
        await on.shown(READY, name=f"{WEB}-1")
        on.hub.heal()

        await on.stage.gone("shop", Instance, f"{WEB}-1", "default")
        await on.shown(READY)

    set_up(tmp_path, story)


def test_a_restart_before_the_hub_is_reachable_deletes_nothing(tmp_path):
    """A cache that is not synced proves nothing."""

    async def story(on: ManagementWorld) -> None:
        shown = await on.show_one(READY)
        await on.stage.rest()
        before = len(on.stage.writes)
        await on.leave("projects", "hub")
        await on.stage.engage("projects", PROJECT)
        await on.stage.rest()
        await on.stage.engage("hub", "hub")
        await on.stage.rest()

        assert on.stage.writes[before:] == []
        assert (await on.shown(READY)).metadata.uid == shown.metadata.uid

    set_up(tmp_path, story)


def test_two_projectors_reach_the_same_state(tmp_path):
    """Neither spoils what the other does, and one event is written."""
    broken = condition("Ready", "False", "ImageUnavailable", "no such image")

    async def story(on: ManagementWorld) -> None:
        on.start(federator.controllers, projector.controllers, copies=2)
        await on.deploy()
        await on.project(held)
        for ordinal in range(4):
            await on.write_back(ordinal, broken)
        for ordinal in range(4):
            await on.shown(broken, name=f"{WEB}-{ordinal}")
        await on.stage.rest()

        assert await on.stage.quiet() == []
        expected = [(f"{WEB}-{n}", "Warning", "ImageUnavailable") for n in range(4)]
        await on.reported((WEB, "Normal", "Federated"), *expected)

    set_up(tmp_path, story)


def test_the_counts_of_a_deployment_requeue_no_instance(tmp_path):
    """A change of one of a thousand instances must not requeue all of them."""

    async def story(on: ManagementWorld) -> None:
        await on.show_one(READY)
        await on.stage.rest()
        before = on.passes("projector")
        for ready in range(1, 6):
            await on.report(ready_replicas=ready)
            await on.project(_counts(ready))
        await on.stage.rest()

        assert on.passes("projector") == before

    set_up(tmp_path, story)


def test_a_project_that_is_engaged_later_gets_its_projections(tmp_path):
    """The hub reports an Instance once; the project may be engaged after that."""

    async def story(on: ManagementWorld) -> None:
        await on.show_one(READY)
        await on.stage.rest()
        await on.planes.projects.disengage(cluster_name(PROJECT))
        await on.write_back(0, WAITING)
        await on.stage.rest()
        await on.stage.engage("projects", PROJECT)

        await on.shown(WAITING)

    set_up(tmp_path, story)


def test_a_deployment_that_is_created_again_owns_the_projection(tmp_path):
    """The owner is the current deployment, by its uid, and not an earlier one of the name."""

    async def story(on: ManagementWorld) -> None:
        on.start(projector.controllers)
        await on.stage.client("hub").create(
            Namespace(metadata=ObjectMeta(name=on.hub_namespace, labels=upstream()))
        )
        first = await on.deploy()
        copy = instance(0, namespace=on.hub_namespace, uid="", generation=0, labels=upstream())
        await on.stage.client("hub").create(with_meta(copy, name=FIRST))
        await on.stage.named("shop", Instance, FIRST)
        await on.stage.client("shop").delete(first)
        second = await on.deploy()

        await on.stage.named(
            "shop",
            Instance,
            FIRST,
            true=lambda i: i.metadata.owner_references == (second.reference(),),
        )

    set_up(tmp_path, story)


def _counts(ready: int) -> Callable[[WorkloadDeployment], bool]:
    return lambda deployment: deployment.status.ready_replicas == ready
