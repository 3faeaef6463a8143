"""From bindings to Works, and back: where an object goes, and how its copies are doing.

One pass does both ways. It chooses clusters, gives each a Work, and takes what the Works report up
into the binding and from there onto the hub's object, so that a report from a cell reaches the hub
in the pass that hears of it.

A Work is deleted because its binding is, or because the binding names its cluster no more; never
because something was not found.
"""

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import msgspec

from compute.api import names
from compute.api.karmada import ClusterPlacement, MemberCluster as Member
from compute.api.karmada_work import ResourceBinding, TargetCluster, Work
from compute.decide.federation.scheduling import NoFit, Placed, is_ready, keepers, schedule
from compute.decide.federation.suspension import holds_scheduling
from compute.federation import interpreter, karmada_keys, lookups, reports, works
from compute.federation.holders import holders
from compute.federation.planes import EnginePlanes
from kubekit.api import scheme
from kubekit.api.errors import AlreadyExists, NotFound
from kubekit.api.meta import Object, ObjectMeta
from kubekit.environment import ExecutionEnvironment
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
        of = lookups.binding_of(work)
        return [Request(cluster, *of)] if of else []

    def from_member(cluster: ClusterName, member: Member) -> list[Request]:
        at = hub.get(cluster)
        concerned = [*lookups.bindings_on(at, member.metadata.name), *lookups.bindings_unplaced(at)]
        return [Request(cluster, b.metadata.namespace, b.metadata.name) for b in concerned]

    sources: list[Source[Any]] = [
        own(ResourceBinding, hub),
        mapped(Work, hub, from_work),
        mapped(Member, hub, from_member),
        *(mapped(kind, hub, from_template) for kind in kinds),
    ]
    reconciler = Bindings(kinds, hub, factory.environment, planes.cells)
    return factory.controller("engine-binding", reconciler, hub, sources)


@dataclass(frozen=True, slots=True)
class _Errand:
    """A binding, what it is about, and the Works there are of it, by cluster."""

    hub: Cluster
    binding: ResourceBinding
    template: Object
    works: dict[str, Work]

    @property
    def targets(self) -> tuple[str, ...]:
        return tuple(target.name for target in self.binding.spec.clusters)

    @property
    def elsewhere(self) -> dict[str, Work]:
        """The Works for clusters that the binding does not name."""
        return {name: work for name, work in self.works.items() if name not in self.targets}


class Bindings:
    """Brings what one binding is about to its clusters, and their reports back."""

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
        there = {
            names.execution_cluster(work.metadata.namespace) or "": work
            for work in lookups.works_of(hub, request.namespace, request.name)
        }
        if binding.deleting:
            await _end(hub, binding, kind, there)
            return DONE
        template = hub.informers.of(kind).cache.get(request.namespace, binding.spec.resource.name)
        if template is None or template.metadata.uid != binding.spec.resource.uid:
            return DONE  # the binding is about to go with what it was about
        # A binding that was lost and made anew finds its clusters again: by the Works of the one
        # before, and where these are lost too, by what the clusters have.
        current = tuple(target.name for target in binding.spec.clusters) or tuple(there)
        current = current or await self._found(hub, binding, kind)
        binding, verdict = await _placed(hub, binding, current)
        errand = _Errand(hub, binding, template, there)
        await _withdraw(errand)
        for cluster in errand.targets:
            if _is_member(hub, cluster):
                await self._dispatch(errand, cluster)
        await self._report(errand, verdict)
        return DONE

    def _kind(self, binding: ResourceBinding | None) -> type[Object] | None:
        """The class of what a binding is about; None when it is nothing of ours."""
        if binding is None:
            return None
        resource = binding.spec.resource
        kind = scheme.lookup(resource.api_version, resource.kind)
        return kind if kind in self._kinds else None

    async def _found(
        self, hub: Cluster, binding: ResourceBinding, kind: type[Object]
    ) -> tuple[str, ...]:
        """The clusters that have what a new binding is about, where there is more than one choice."""
        resource, placement = binding.spec.resource, binding.spec.placement or ClusterPlacement()
        among = keepers(resource, placement, hub.informers.of(Member).cache.list())
        return await holders(self._cells, kind, resource, among) if len(among) > 1 else ()

    async def _dispatch(self, errand: _Errand, cluster: str) -> None:
        """Let a cluster be told what to have, if it is not."""
        present = errand.works.get(cluster)
        if present is None:
            live = None if _still_leaving(errand) else await _read_live(errand, cluster)
            if live is not None:
                made = works.of_binding(
                    live.binding, live.template, cluster, self._environment.uid()
                )
                await errand.hub.client.create(made)
        elif not present.deleting and _renewed(errand, present, cluster) != present:
            live = await _read_live(errand, cluster)
            if live is not None:
                await errand.hub.client.patch(present, _renewed(live, present, cluster))

    async def _report(self, errand: _Errand, verdict: Placed | NoFit | None) -> None:
        """Tell on the hub what the clusters tell."""
        binding, client = errand.binding, errand.hub.client
        now = self._environment.now()
        status = reports.binding_status(binding, verdict, errand.works, now)
        await client.patch_status(binding, msgspec.structs.replace(binding, status=status))
        reported = interpreter.aggregated(errand.template, status.aggregated_status)
        await client.patch_status(errand.template, reported)


async def _placed(
    hub: Cluster, binding: ResourceBinding, current: tuple[str, ...]
) -> tuple[ResourceBinding, Placed | NoFit | None]:
    """The binding with its clusters, and what was decided: None where that is not ours to decide."""
    if holds_scheduling(binding.spec):
        return await _with_clusters(hub, binding, current), None
    members = hub.informers.of(Member).cache.list()
    verdict = _scheduled(hub, binding, current, members)
    if not _keeps(verdict, current):
        listed = await hub.client.every(Member)  # a cache may lack the cluster, or its labels
        if listed.unreadable:
            return binding, Placed(current)
        verdict = _scheduled(hub, binding, current, listed.items)
    chosen = verdict.clusters if isinstance(verdict, Placed) else ()
    return await _with_clusters(hub, binding, chosen), verdict


async def _with_clusters(
    hub: Cluster, binding: ResourceBinding, chosen: Iterable[str]
) -> ResourceBinding:
    spec = msgspec.structs.replace(
        binding.spec, clusters=tuple(TargetCluster(name=name) for name in chosen)
    )
    return await hub.client.patch(binding, msgspec.structs.replace(binding, spec=spec))


def _scheduled(
    hub: Cluster, binding: ResourceBinding, current: tuple[str, ...], members: Sequence[Member]
) -> Placed | NoFit:
    load = {
        member.metadata.name: lookups.load(hub, member.metadata.name)
        for member in (() if current else members)  # nobody asks for the load of a choice made
    }
    placement = binding.spec.placement or ClusterPlacement()
    return schedule(binding.spec.resource, placement, current, members, load)


def _keeps(verdict: Placed | NoFit, current: tuple[str, ...]) -> bool:
    return not current or (
        isinstance(verdict, Placed) and all(name in verdict.clusters for name in current)
    )


def _is_member(hub: Cluster, cluster: str) -> bool:
    """Whether a cluster takes anything. Where scheduling is suspended, one that has left stays named."""
    member = hub.informers.of(Member).cache.get("", cluster)
    return member is not None and not member.deleting


async def _withdraw(errand: _Errand) -> None:
    """Take the Works away from clusters that the binding, read live, does not name."""
    leaving = {name: work for name, work in errand.elsewhere.items() if not work.deleting}
    live = await _live(errand) if leaving else None
    if live is not None:
        named = [target.name for target in live.spec.clusters]
        for name, work in leaving.items():
            if name not in named:
                await _delete(errand.hub, work)


def _still_leaving(errand: _Errand) -> bool:
    """Whether a cluster that answers has the object yet: it must have let go of it before another
    gets it. One that does not answer is not waited for.
    """
    members = errand.hub.informers.of(Member).cache
    others = (members.get("", name) for name in errand.elsewhere)
    return any(other is not None and is_ready(other) for other in others)


def _renewed(errand: _Errand, present: Work, cluster: str) -> Work:
    """The Work as it should be, unless it was made from a later version of the same object."""
    work_id = present.metadata.labels.get(karmada_keys.WORK_ID, "")
    desired = works.of_binding(errand.binding, errand.template, cluster, work_id)
    return present if _is_newer(present, desired) else works.renewed(present, desired)


async def _read_live(errand: _Errand, cluster: str) -> _Errand | None:
    """The errand as the server has it; None when it has ended, or is not for the cluster.

    Works may be heard of by somebody who has heard nothing of what they are about. What he knows is
    of an earlier life then, or lacks what was noted on it since: written into a Work, it would be
    sent to the cluster, and undone by whoever knows better, over and over.
    """
    live = await _live(errand)
    if live is None or cluster not in [target.name for target in live.spec.clusters]:
        return None
    meta = errand.template.metadata
    template = await errand.hub.client.find(type(errand.template), meta.name, meta.namespace)
    if template is None or template.metadata.uid != meta.uid:
        return None
    return replace(errand, binding=live, template=template)


async def _live(errand: _Errand) -> ResourceBinding | None:
    """The binding as the server has it; None when it is gone or about to go."""
    meta = errand.binding.metadata
    live = await errand.hub.client.find(ResourceBinding, meta.name, meta.namespace)
    same = live is not None and live.metadata.uid == meta.uid and not live.deleting
    return live if same else None


def _is_newer(present: Work, desired: Work) -> bool:
    pairs = zip(works.heads(present), works.heads(desired), strict=False)
    return any(works.is_newer(old.metadata, new.metadata) for old, new in pairs)


async def _end(
    hub: Cluster, binding: ResourceBinding, kind: type[Object], there: dict[str, Work]
) -> None:
    """Let everything of a binding go, unless what it is about lives on.

    A binding that somebody deleted by mistake is made anew, and its Works are taken over: nothing
    that runs is to stop for that. It is made at once: that it has gone may be heard of late, and
    without it nobody takes the Works away when what they are about goes.
    """
    bound = binding.spec.resource
    template = await hub.client.find(kind, bound.name, bound.namespace)
    lives = template is not None and not template.deleting and template.metadata.uid == bound.uid
    if not lives:
        name = names.work(bound.namespace, bound.name, bound.kind)
        for cluster in dict.fromkeys((*(t.name for t in binding.spec.clusters), *there)):
            work = await hub.client.find(Work, name, names.execution_namespace(cluster))
            if work is not None and not work.deleting:
                await _delete(hub, work)
    await commit.remove_finalizer(hub.client, binding, karmada_keys.BINDING)
    if lives:
        with suppress(AlreadyExists):
            await hub.client.create(_anew(binding))


def _anew(binding: ResourceBinding) -> ResourceBinding:
    """The same binding, to be made again. It goes with what it is about, as before."""
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


async def _delete(hub: Cluster, work: Work) -> None:
    with suppress(NotFound):
        await hub.client.delete(work)
