"""A projection belongs to the current deployment, even if a cache shows its predecessor."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from compute.api.compute import Instance, WorkloadDeployment
from compute.controllers.management.projector import controller as projector
from kubekit.api.kinds.core import Namespace
from kubekit.api.meta import ObjectMeta
from kubekit.client.client import Client, K, TypedEvent
from kubekit.client.options import PLAIN_WATCH, WatchOptions
from tests.support.compute.builders import condition
from tests.support.compute.federation_builders import on_hub, with_meta
from tests.support.compute.management_builders import (
    WEB,
    ClientWithoutEvents,
    ManagementWorld,
    set_up,
    upstream,
)


class _Half(ClientWithoutEvents):
    """A plane that reports no change of its deployments, and every other change."""

    @asynccontextmanager
    async def watch(
        self, kind: type[K], namespace: str = "", options: WatchOptions = PLAIN_WATCH
    ) -> AsyncIterator[AsyncIterator[TypedEvent[K]]]:
        of = ClientWithoutEvents if kind is WorkloadDeployment else Client
        async with of.watch(self, kind, namespace, options) as seen:
            yield seen


def test_a_projection_stays_with_the_next_deployment(tmp_path):
    """A stale cache of the predecessor does not make it the owner."""

    async def story(on: ManagementWorld) -> None:
        shop, hub = on.stage.client("shop"), on.stage.client("hub")
        before = await on.deploy()
        await on.leave("projects")
        await on.engage("projects", _Half(on.stage.planes["shop"]))
        on.start(projector.controllers)
        await on.stage.rest()
        await shop.delete(before)
        now = await on.deploy()
        await hub.create(Namespace(metadata=ObjectMeta(name=on.hub_namespace, labels=upstream())))
        await hub.create(with_meta(on_hub(), namespace=on.hub_namespace, uid=""))
        await on.write_back()
        await on.stage.named("shop", Instance, f"{WEB}-0")
        await on.write_back(0, condition("Ready", "False", "Pending"))
        await on.stage.rest()

        shown = await shop.get(Instance, f"{WEB}-0", "default")
        assert [owner.uid for owner in shown.metadata.owner_references] == [now.metadata.uid]
        assert shown.status.conditions == (condition("Ready", "False", "Pending"),)

    set_up(tmp_path, story)
