"""A deployment that is gone deletes nothing of its successor."""

from compute.api import annotations, finalizers
from compute.api.compute import WorkloadDeployment
from compute.controllers.management.federator import controller as federator
from kubekit.api.kinds.core import Namespace
from kubekit.api.meta import ObjectMeta
from tests.support.compute.federation_builders import on_hub, original, with_meta
from tests.support.compute.management_builders import (
    WEB,
    ClientWithoutEvents,
    ManagementWorld,
    set_up,
    upstream,
)


async def _leaving(on: ManagementWorld) -> WorkloadDeployment:
    """A deleting deployment in a cache that never changes; the hub is not engaged yet."""
    noted = {annotations.FEDERATION_NAMESPACE: on.hub_namespace}
    held = with_meta(original(), uid="", generation=0, annotations=noted)
    shop = on.stage.client("shop")
    made = await shop.create(with_meta(held, finalizers=(finalizers.FEDERATOR,)))
    await shop.delete(made)
    await on.leave("projects", "hub")
    await on.engage("projects", ClientWithoutEvents(on.stage.planes["shop"]))
    on.start(federator.controllers)
    await on.stage.rest()
    return await shop.get(WorkloadDeployment, WEB, "default")


def test_a_copy_of_the_next_deployment_stays(tmp_path):
    """A stale cache of the predecessor does not delete the copy of its successor."""

    async def story(on: ManagementWorld) -> None:
        shop, hub = on.stage.client("shop"), on.stage.client("hub")
        await on.change("shop", await _leaving(on), finalizers=())
        await on.stage.gone("shop", WorkloadDeployment, WEB, "default")
        await on.deploy()
        await hub.create(Namespace(metadata=ObjectMeta(name=on.hub_namespace, labels=upstream())))
        await hub.create(with_meta(on_hub(), namespace=on.hub_namespace, uid=""))
        await on.stage.engage("hub", "hub")
        await on.stage.rest(120)

        assert await shop.find(WorkloadDeployment, WEB, "default") is not None
        assert await hub.find(WorkloadDeployment, WEB, on.hub_namespace) is not None

    set_up(tmp_path, story)


def test_a_copy_of_a_deleted_deployment_is_deleted(tmp_path):
    """While it exists, its copy is deleted, however stale the cache is."""

    async def story(on: ManagementWorld) -> None:
        hub = on.stage.client("hub")
        await _leaving(on)
        await hub.create(Namespace(metadata=ObjectMeta(name=on.hub_namespace, labels=upstream())))
        await hub.create(with_meta(on_hub(), namespace=on.hub_namespace, uid=""))
        await on.stage.engage("hub", "hub")
        await on.stage.gone("hub", WorkloadDeployment, WEB, on.hub_namespace)

    set_up(tmp_path, story)
