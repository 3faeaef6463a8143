"""Three small controllers that follow our rules, to test the runtime with.

`Family` manages the children of each parent, `Mirrors` a copy of it in the hub, and `Counter` the number
of its children in its status. A stale cache may cause extra work, but no harm: every create and delete
is decided again after a live read of the parent, and every delete has a uid precondition.
"""

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final

from msgspec.structs import replace

from kubekit.api.errors import NotFound
from kubekit.api.meta import Object, ObjectMeta
from kubekit.client.client import Client
from kubekit.runtime.clusters import Cluster, Clusters
from kubekit.runtime.reconciling.commit import add_finalizer, remove_finalizer
from kubekit.runtime.requests import DONE, ClusterName, Request, Result, cluster_name
from kubekit.runtime.sources import Source, mapped, own
from tests.sim.kinds import NAMESPACE, Child, CopySpec, Mirror, Parent, ParentStatus

HUB: Final = cluster_name("hub")
FINALIZER: Final = "sim.test/mirror"
BY_PARENT: Final = "parent"


@dataclass(frozen=True, slots=True)
class Plan:
    """The writes that the children of one parent need."""

    create: tuple[Child, ...] = ()
    change: tuple[tuple[Child, Child], ...] = ()
    delete: tuple[Child, ...] = ()


class Family:
    """Creates one child for each copy that a parent wants, and deletes those of a parent that is gone."""

    def __init__(self, projects: Clusters) -> None:
        self._projects = projects

    def sources(self) -> list[Source[Any]]:
        return [own(Parent, self._projects), mapped(Child, self._projects, _to_parent)]

    async def reconcile(self, request: Request) -> Result:
        cluster = self._projects.get(request.cluster)
        parent = cluster.informers.of(Parent).cache.get(request.namespace, request.name)
        children = children_of(cluster, request)
        plan = self.planned(parent, children)
        if plan.create or plan.delete:
            parent = await self.parent(cluster.client, request, parent)
            plan = self.planned(parent, children)
        for child in plan.delete:
            await self.delete(cluster.client, child)
        for child in plan.create:
            await cluster.client.create(child)
        for present, wanted in plan.change:
            await cluster.client.patch(present, wanted)
        return DONE

    def planned(self, parent: Parent | None, children: Iterable[Child]) -> Plan:
        wanted = self.wanted(parent)
        present = {child.metadata.name: child for child in children}
        kept = {name for name, child in present.items() if _is_of(child, parent, wanted)}
        return Plan(
            tuple(child for name, child in wanted.items() if name not in kept),
            tuple(
                (present[name], replace(present[name], spec=child.spec))
                for name, child in wanted.items()
                if name in kept and present[name].spec != child.spec
            ),
            tuple(child for name, child in present.items() if name not in kept),
        )

    def wanted(self, parent: Parent | None) -> dict[str, Child]:
        """The children of a parent, by name."""
        if parent is None or parent.deleting:
            return {}
        children = [self.child(parent, number) for number in range(parent.spec.copies)]
        return {child.metadata.name: child for child in children}

    def child(self, parent: Parent, number: int) -> Child:
        name = f"{parent.metadata.name}-{number}"
        spec = CopySpec(
            parent=parent.metadata.name,
            parent_uid=parent.metadata.uid,
            number=number,
            content=parent.spec.content,
        )
        return Child(metadata=ObjectMeta(name=name, namespace=NAMESPACE), spec=spec)

    async def parent(
        self, client: Client, request: Request, cached: Parent | None
    ) -> Parent | None:
        """The parent, read live."""
        return await client.find(Parent, request.name, request.namespace)

    async def delete(self, client: Client, child: Child) -> None:
        with suppress(NotFound):
            await client.delete(child)


class Mirrors:
    """Keeps a copy of each parent in the hub, which is deleted before the parent."""

    def __init__(self, projects: Clusters, hubs: Clusters) -> None:
        self._projects = projects
        self._hubs = hubs

    def sources(self) -> list[Source[Any]]:
        return [own(Parent, self._projects), mapped(Mirror, self._hubs, _to_mirrored)]

    async def reconcile(self, request: Request) -> Result:
        cluster, hub = self._projects.get(request.cluster), self._hubs.get(HUB)
        name = mirror_name(request.cluster, request.name)
        seen = cluster.informers.of(Parent).cache.get(request.namespace, request.name)
        mirror = hub.informers.of(Mirror).cache.get(NAMESPACE, name)
        if _in_order(seen, mirror):
            return DONE
        # The mirror is read before the parent: so it cannot belong to a later one of that name.
        mirror = await hub.client.find(Mirror, name, NAMESPACE)
        parent = await cluster.client.find(Parent, request.name, request.namespace)
        if parent is not None and parent.deleting:
            # Read again: one that was not there before the parent was read may have come since.
            mirror = await self.own_mirror(hub.client, parent, name)
            await self.let_go(cluster.client, hub.client, parent, mirror)
        elif parent is not None:
            fresh = self.mirror(parent, request.cluster)
            await self.keep(cluster.client, hub.client, parent, fresh, mirror)
        elif mirror is not None:
            await self.delete(hub.client, mirror)
        return DONE

    async def keep(
        self, client: Client, hub: Client, parent: Parent, fresh: Mirror, present: Mirror | None
    ) -> None:
        """Add the finalizer to the parent, then mirror it."""
        await add_finalizer(client, parent, FINALIZER)
        if present is not None and present.spec.parent_uid != parent.metadata.uid:
            await self.delete(hub, present)
            present = None
        if present is None:
            await hub.create(fresh)
        else:
            await hub.patch(present, replace(present, spec=fresh.spec))

    async def let_go(
        self, client: Client, hub: Client, parent: Parent, present: Mirror | None
    ) -> None:
        """Delete the mirror, and once it is gone remove the finalizer of the parent."""
        if FINALIZER not in parent.metadata.finalizers:
            return
        while present is not None:
            await self.delete(hub, present)
            present = await self.own_mirror(hub, parent, present.metadata.name)
        await remove_finalizer(client, parent, FINALIZER)

    async def own_mirror(self, hub: Client, parent: Parent, name: str) -> Mirror | None:
        """The mirror of this parent, by uid, read live."""
        found = await hub.find(Mirror, name, NAMESPACE)
        return found if found and found.spec.parent_uid == parent.metadata.uid else None

    def mirror(self, parent: Parent, cluster: ClusterName) -> Mirror:
        name = mirror_name(cluster, parent.metadata.name)
        spec = CopySpec(
            cluster=cluster,
            parent=parent.metadata.name,
            parent_uid=parent.metadata.uid,
            content=parent.spec.content,
        )
        return Mirror(metadata=ObjectMeta(name=name, namespace=NAMESPACE), spec=spec)

    async def delete(self, hub: Client, mirror: Mirror) -> None:
        with suppress(NotFound):
            await hub.delete(mirror)


class Counter:
    """Writes the number of children of each parent into its status."""

    def __init__(self, projects: Clusters) -> None:
        self._projects = projects

    def sources(self) -> list[Source[Any]]:
        return [own(Parent, self._projects), mapped(Child, self._projects, _to_parent)]

    async def reconcile(self, request: Request) -> Result:
        cluster = self._projects.get(request.cluster)
        parent = cluster.informers.of(Parent).cache.get(request.namespace, request.name)
        if parent is None or parent.deleting:
            return DONE
        own_children = [
            child
            for child in children_of(cluster, request)
            if child.spec.parent_uid == parent.metadata.uid
        ]
        status = self.status(parent, len(own_children))
        with suppress(NotFound):
            await cluster.client.patch_status(parent, replace(parent, status=status))
        return DONE

    def status(self, parent: Parent, children: int) -> ParentStatus:
        return ParentStatus(children=children)


def mirror_name(cluster: ClusterName, parent: str) -> str:
    return f"{cluster}.{parent}"


def children_of(cluster: Cluster, request: Request) -> list[Child]:
    cache = cluster.informers.of(Child).cache
    cache.add_index(BY_PARENT, _parent_of)
    return cache.by(BY_PARENT, request.name)


def _parent_of(child: Object) -> list[str]:
    assert isinstance(child, Child)
    return [child.spec.parent]


def _to_parent(cluster: ClusterName, child: Child) -> list[Request]:
    return [Request(cluster, child.metadata.namespace, child.spec.parent)]


def _to_mirrored(_: ClusterName, mirror: Mirror) -> list[Request]:
    return [Request(cluster_name(mirror.spec.cluster), NAMESPACE, mirror.spec.parent)]


def _is_of(child: Child, parent: Parent | None, wanted: dict[str, Child]) -> bool:
    """Whether a child belongs to this parent, by uid."""
    return (
        parent is not None
        and child.metadata.name in wanted
        and child.spec.parent_uid == parent.metadata.uid
    )


def _in_order(parent: Parent | None, mirror: Mirror | None) -> bool:
    """Whether there is nothing to do, as far as the caches know."""
    if parent is None:
        return mirror is None
    return (
        not parent.deleting
        and FINALIZER in parent.metadata.finalizers
        and mirror is not None
        and mirror.spec.parent_uid == parent.metadata.uid
        and mirror.spec.content == parent.spec.content
    )
