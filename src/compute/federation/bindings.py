"""From bindings to Works, and back: which clusters get an object, and the status of its copies.

One reconcile pass does both. It chooses clusters, creates a Work for each, and aggregates the status
of the Works into the binding and from there into the hub's object. So the watch event of a status
from a cell takes one pass to reach the hub's object.

A Work is deleted only if its binding is deleted, or no longer names its cluster. An object that is
merely not found never causes a deletion.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import msgspec

from compute.api import names
from compute.api.karmada import ClusterPlacement, MemberCluster as Member
from compute.api.karmada_work import ResourceBinding, TargetCluster, Work
from compute.decide.federation.scheduling import NoFit, Placed, is_ready, keepers, schedule
from compute.decide.federation.suspension import suspends_scheduling
from compute.federation import interpreter, karmada_keys, lookups, reports, works
from compute.federation.holders import holders
from compute.federation.planes import EnginePlanes
from kubekit.api import scheme
from kubekit.api.meta import Object, ObjectMeta, with_spec
from kubekit.environment import ExecutionEnvironment
from kubekit.runtime import live
from kubekit.runtime.clusters import Cluster, Clusters
from kubekit.runtime.controller import Controller
from kubekit.runtime.controller_factory import ControllerFactory
from kubekit.runtime.reconciling import commit
from kubekit.runtime.requests import DONE, ClusterName, Request, Result
from kubekit.runtime.sources import Source, mapped, own


def controller(
    kinds: Sequence[type[Object]], planes: EnginePlanes, factory: ControllerFactory
) -> Controller:
    """The controller of bindings, for objects of these kinds."""
    hub = planes.hub

    def from_template(cluster: ClusterName, template: Object) -> list[Request]:
        meta = template.metadata
        return [Request(cluster, meta.namespace, names.resource_binding(meta.name, template.kind))]

    def from_work(cluster: ClusterName, work: Work) -> list[Request]:
        key = lookups.binding_of(work)
        return [Request(cluster, *key)] if key else []

    def from_member(cluster: ClusterName, member: Member) -> list[Request]:
        plane, name = hub.get(cluster), member.metadata.name
        affected = [*lookups.bindings_on(plane, name), *lookups.bindings_unplaced(plane)]
        return [Request(cluster, b.metadata.namespace, b.metadata.name) for b in affected]

    sources: list[Source[Any]] = [
        own(ResourceBinding, hub),
        mapped(Work, hub, from_work),
        mapped(Member, hub, from_member),
        *(mapped(kind, hub, from_template) for kind in kinds),
    ]
    reconciler = Bindings(kinds, hub, factory.environment, planes.cells)
    return factory.controller("engine-binding", reconciler, hub, sources)


@dataclass(frozen=True, slots=True)
class _Dispatch:
    """A binding, the object it is about, and its existing Works, by cluster."""

    hub: Cluster
    binding: ResourceBinding
    template: Object
    works: dict[str, Work]

    @property
    def targets(self) -> tuple[str, ...]:
        return tuple(target.name for target in self.binding.spec.clusters)

    @property
    def surplus(self) -> dict[str, Work]:
        """The Works for clusters that the binding does not name."""
        return {name: work for name, work in self.works.items() if name not in self.targets}


class Bindings:
    """Sends the object of one binding to its clusters, and brings their status back."""

    def __init__(
        self,
        kinds: Sequence[type[Object]],
        hub: Clusters,
        environment: ExecutionEnvironment,
        cells: Iterable[Cluster] = (),
    ) -> None:
        self._kinds = kinds
        self._hub = hub
        self._cells = cells
        self._environment = environment

    async def reconcile(self, request: Request) -> Result:
        hub = self._hub.get(request.cluster)
        cache = hub.informers.of(ResourceBinding).cache
        binding = cache.get(request.namespace, request.name)
        kind = self._kind(binding)
        if binding is None or kind is None:
            return DONE
        existing = {
            names.execution_cluster(work.metadata.namespace) or "": work
            for work in lookups.works_of(hub, request.namespace, request.name)
        }
        if binding.deleting:
            await _delete_works(hub, binding, kind, existing)
            return DONE
        template = hub.informers.of(kind).cache.get(request.namespace, binding.spec.resource.name)
        if template is None or template.metadata.uid != binding.spec.resource.uid:
            return DONE  # the garbage collector is about to delete the binding
        # A binding that was lost and created again keeps its clusters: they are known from the Works
        # of the earlier binding or, if these are lost too, from the copies in the clusters.
        current = tuple(target.name for target in binding.spec.clusters) or tuple(existing)
        current = current or await self._clusters_with_copy(hub, binding, kind)
        binding, verdict = await _scheduled_binding(hub, binding, current)
        dispatch = _Dispatch(hub, binding, template, existing)
        await _withdraw(dispatch)
        for cluster in dispatch.targets:
            if _is_member(hub, cluster):
                await self._dispatch(dispatch, cluster)
        await self._report(dispatch, verdict)
        return DONE

    def _kind(self, binding: ResourceBinding | None) -> type[Object] | None:
        """The class of the object that a binding is about; None if the engine does not handle it."""
        if binding is None:
            return None
        resource = binding.spec.resource
        kind = scheme.lookup(resource.api_version, resource.kind)
        return kind if kind in self._kinds else None

    async def _clusters_with_copy(
        self, hub: Cluster, binding: ResourceBinding, kind: type[Object]
    ) -> tuple[str, ...]:
        """The clusters that already have a copy, for a new binding that could get several clusters."""
        resource, placement = binding.spec.resource, binding.spec.placement or ClusterPlacement()
        among = keepers(resource, placement, hub.informers.of(Member).cache.list())
        return await holders(self._cells, kind, resource, among) if len(among) > 1 else ()

    async def _dispatch(self, dispatch: _Dispatch, cluster: str) -> None:
        """Create or update the Work for a cluster."""
        present = dispatch.works.get(cluster)
        if present is None:
            fresh = None if _still_leaving(dispatch) else await _read_live(dispatch, cluster)
            if fresh is not None:
                work = works.of_binding(
                    fresh.binding, fresh.template, cluster, self._environment.uid()
                )
                await dispatch.hub.client.create(work)
        elif not present.deleting and _updated(dispatch, present, cluster) != present:
            fresh = await _read_live(dispatch, cluster)
            if fresh is not None:
                await dispatch.hub.client.patch(present, _updated(fresh, present, cluster))

    async def _report(self, dispatch: _Dispatch, verdict: Placed | NoFit | None) -> None:
        """Write the aggregated status of the clusters to the binding and to the object."""
        binding, client = dispatch.binding, dispatch.hub.client
        now = self._environment.now()
        status = reports.binding_status(binding, verdict, dispatch.works, now)
        await client.patch_status(binding, msgspec.structs.replace(binding, status=status))
        reported = interpreter.aggregated(dispatch.template, status.aggregated_status)
        await client.patch_status(dispatch.template, reported)


async def _scheduled_binding(
    hub: Cluster, binding: ResourceBinding, current: tuple[str, ...]
) -> tuple[ResourceBinding, Placed | NoFit | None]:
    """The binding with its clusters, and the decision: None where another scheduler decides."""
    if suspends_scheduling(binding.spec):
        return await _with_clusters(hub, binding, current), None
    members = hub.informers.of(Member).cache.list()
    verdict = _decided(hub, binding, current, members)
    if not _keeps(verdict, current):
        listed = await hub.client.every(Member)  # a cache may lack the cluster, or its labels
        if listed.unreadable:
            return binding, Placed(current)
        verdict = _decided(hub, binding, current, listed.items)
    chosen = verdict.clusters if isinstance(verdict, Placed) else ()
    return await _with_clusters(hub, binding, chosen), verdict


async def _with_clusters(
    hub: Cluster, binding: ResourceBinding, chosen: Iterable[str]
) -> ResourceBinding:
    clusters = tuple(TargetCluster(name=name) for name in chosen)
    return await hub.client.patch(binding, with_spec(binding, clusters=clusters))


def _decided(
    hub: Cluster, binding: ResourceBinding, current: tuple[str, ...], members: Sequence[Member]
) -> Placed | NoFit:
    load = {
        member.metadata.name: lookups.load(hub, member.metadata.name)
        for member in (() if current else members)  # the load matters only for a new choice
    }
    placement = binding.spec.placement or ClusterPlacement()
    return schedule(binding.spec.resource, placement, current, members, load)


def _keeps(verdict: Placed | NoFit, current: tuple[str, ...]) -> bool:
    return not current or (
        isinstance(verdict, Placed) and all(name in verdict.clusters for name in current)
    )


def _is_member(hub: Cluster, cluster: str) -> bool:
    """Whether a cluster is a member. While scheduling is suspended, a binding may name one that left."""
    member = hub.informers.of(Member).cache.get("", cluster)
    return member is not None and not member.deleting


async def _withdraw(dispatch: _Dispatch) -> None:
    """Delete the Works of clusters that the binding, read live, does not name."""
    leaving = {name: work for name, work in dispatch.surplus.items() if not work.deleting}
    binding = await live.current(dispatch.hub.client, dispatch.binding) if leaving else None
    if binding is not None:
        named = [target.name for target in binding.spec.clusters]
        for name, work in leaving.items():
            if name not in named:
                await live.delete(dispatch.hub.client, work)


def _still_leaving(dispatch: _Dispatch) -> bool:
    """Whether a reachable cluster still has the object: it must delete the copy before another cluster
    gets one. An unreachable cluster is not waited for.
    """
    members = dispatch.hub.informers.of(Member).cache
    others = (members.get("", name) for name in dispatch.surplus)
    return any(other is not None and is_ready(other) for other in others)


def _updated(dispatch: _Dispatch, present: Work, cluster: str) -> Work:
    """The Work as it should be, unless it was made from a later version of the same object."""
    work_id = present.metadata.labels.get(karmada_keys.WORK_ID, "")
    desired = works.of_binding(dispatch.binding, dispatch.template, cluster, work_id)
    return present if _is_newer(present, desired) else works.updated(present, desired)


async def _read_live(dispatch: _Dispatch, cluster: str) -> _Dispatch | None:
    """The dispatch with binding and object read live; None if either is gone, or the cluster is not
    named.

    The cache of Works may be newer than the caches of bindings and objects. Then a cached object may
    be an earlier one of the same name, or lack a recent annotation. A Work made from it would reach
    the cluster. Another engine with newer caches would undo that, in a loop.
    """
    binding = await live.current(dispatch.hub.client, dispatch.binding)
    if binding is None or cluster not in [target.name for target in binding.spec.clusters]:
        return None
    template = await live.same(dispatch.hub.client, dispatch.template)
    if template is None:
        return None
    return replace(dispatch, binding=binding, template=template)


def _is_newer(present: Work, desired: Work) -> bool:
    pairs = zip(works.heads(present), works.heads(desired), strict=False)
    return any(works.is_newer(old.metadata, new.metadata) for old, new in pairs)


async def _delete_works(
    hub: Cluster, binding: ResourceBinding, kind: type[Object], existing: dict[str, Work]
) -> None:
    """Delete the Works of a deleted binding, unless its object still exists.

    A binding that was deleted by mistake is created again and takes over its Works, so no instance
    stops. It is created in the same pass. If that waited for the watch event of the deletion, the
    object could be deleted meanwhile, and its Works would stay.
    """
    bound = binding.spec.resource
    template = await live.with_uid(hub.client, kind, bound.name, bound.namespace, bound.uid)
    exists = template is not None and not template.deleting
    if not exists:
        name = names.work(bound.namespace, bound.name, bound.kind)
        for cluster in dict.fromkeys((*(t.name for t in binding.spec.clusters), *existing)):
            # One that an earlier release made has another name.
            known = existing[cluster].metadata.name if cluster in existing else name
            work = await hub.client.find(Work, known, names.execution_namespace(cluster))
            if work is not None and not work.deleting:
                await live.delete(hub.client, work)
    await commit.remove_finalizer(hub.client, binding, karmada_keys.BINDING)
    if exists:
        await live.create(hub.client, _recreated(binding))


def _recreated(binding: ResourceBinding) -> ResourceBinding:
    """The same binding, to be created again with the same owner."""
    meta = binding.metadata
    metadata = ObjectMeta(
        name=meta.name,
        namespace=meta.namespace,
        labels=meta.labels,
        annotations=meta.annotations,
        finalizers=(karmada_keys.BINDING,),
        owner_references=meta.owner_references,
    )
    return ResourceBinding(metadata=metadata, spec=binding.spec)
