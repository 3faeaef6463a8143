"""Engines with stale caches, for tests of the federation engine."""

from collections.abc import Callable, Coroutine
from contextlib import suppress
from pathlib import Path
from typing import Any

from compute.api import names
from compute.api.compute import WorkloadDeployment
from compute.api.karmada import MemberCluster as Member, PropagationPolicy
from compute.api.karmada_work import ResourceBinding, Work
from kubekit.api.errors import Conflict, NotFound, Unavailable
from kubekit.api.kinds.core import ConfigMap, Namespace, Secret
from kubekit.api.meta import Object, ObjectMeta
from kubekit.client.client import Client, K
from kubekit.plane.local import LocalClient
from kubekit.runtime.clusters import Clusters
from kubekit.runtime.requests import ClusterName, Reconciler, Request, cluster_name
from tests.support.compute.engine_builders import (
    NS,
    WD,
    arrived,
    change,
    engage,
    member,
    remove,
    send,
    settle,
    start,
)
from tests.support.compute.federation_builders import with_meta
from tests.support.kubekit.stage import Stage, staged

HUB, CELL = cluster_name("hub"), cluster_name("dfw")
BINDING = names.resource_binding(WD, "WorkloadDeployment")


PLACE = names.execution_namespace("dfw")


KINDS: tuple[type[Object], ...] = (
    WorkloadDeployment,
    ConfigMap,
    Secret,
    Namespace,
    Member,
    PropagationPolicy,
    ResourceBinding,
    Work,
)


async def frozen(stage: Stage, role: str, name: str, client: Client | None = None) -> Clusters:
    """Stop the watch events of these caches; requests are still answered."""
    clusters = Clusters(role, stage.environment)
    client = client or LocalClient(stage.planes[name])
    cluster = await clusters.engage(cluster_name(name), client)
    stage.roles[f"late {role}"] = clusters  # closed with the others
    for kind in KINDS:
        await cluster.informers.of(kind).wait_synced()
    await cluster.scope.close()  # stops the watches
    return clusters


def halted(tmp_path: Path, story: Callable[[Stage], Coroutine[Any, Any, None]]) -> None:
    """Run a story with a hub and a cell whose engine has been stopped."""

    async def tell(stage: Stage) -> None:
        hub = stage.client("hub")
        await engage(stage, "dfw")
        await hub.create(member())
        await hub.create(Namespace(metadata=ObjectMeta(name=NS)))
        start(stage)
        await send(stage)
        await arrived(stage)
        await settle(stage)
        await stage.scope.close()
        await story(stage)

    staged(tmp_path, tell, ("hub", "hub"))


def recreated(of: K, **meta: Any) -> K:
    """The object as it is created again."""
    fresh = {"uid": "", "resource_version": "", "generation": 0, "creation_timestamp": None}
    return with_meta(of, **(fresh | meta))


async def removed_at_once(stage: Stage, obj: Object) -> None:
    """Remove an object from the hub in spite of its finalizers."""
    await change(stage, "hub", obj, lambda it: with_meta(it, finalizers=()))
    await remove(stage, "hub", obj)


async def reconcile_once(
    reconciler: Reconciler, cluster: ClusterName, namespace: str, name: str
) -> None:
    """One reconcile pass. A write that depends on an old version may end in a Conflict."""
    with suppress(NotFound, Conflict, Unavailable):
        await reconciler.reconcile(Request(cluster, namespace, name))
