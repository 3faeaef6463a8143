"""From Works to cells: each Work is carried out in its cell, and tells how the copy is doing.

    Work there          the copy is made, or brought to what the Work says
    Work being deleted  the copy is deleted, and the Work goes once the copy is gone
    Work suspended      the copy stays as it is; how it does is reported
    no Work             nothing: a hub that lost its Works must not stop what runs; but a copy that was
                        on its way to the cell while its Work was let go of is taken back

What was not made by a Work is never touched, unless the policy says that it may be.
"""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final

import msgspec

from compute.api import names
from compute.api.karmada import MemberCluster as Member
from compute.api.karmada_work import Work
from compute.decide.federation.scheduling import is_ready
from compute.federation import copies, karmada_keys, lookups, reports, works
from compute.federation.planes import EnginePlanes
from compute.federation.reports import ManifestOutcome
from compute.federation.stale_hub import StaleHubGuard
from kubekit.api import scheme
from kubekit.api.errors import BadRequest, Forbidden, Invalid, NotFound, Unavailable
from kubekit.api.kinds.core import Namespace
from kubekit.api.meta import Object
from kubekit.client.client import K
from kubekit.client.options import DeleteOptions
from kubekit.environment import ExecutionEnvironment
from kubekit.runtime.clusters import Cluster
from kubekit.runtime.controller import Controller, ControllerSettings
from kubekit.runtime.controller_factory import ControllerFactory
from kubekit.runtime.reconciling import commit
from kubekit.runtime.requests import DONE, ClusterName, Request, Result, cluster_name
from kubekit.runtime.sources import Source, mapped

_REFUSED: Final = (BadRequest, Forbidden, Invalid)
_ASK_AGAIN: Final = Result(timedelta(minutes=5))  # a cell may have been mended
_SETTINGS: Final = ControllerSettings(workers=8, longest_backoff=10.0)


def controller(
    kinds: Sequence[type[Object]], planes: EnginePlanes, factory: ControllerFactory
) -> Controller:
    """The controller that carries out Works with objects of these kinds, and with namespaces."""
    hubs = planes.hub

    def from_work(_: ClusterName, work: Work) -> list[Request]:
        cell = names.execution_cluster(work.metadata.namespace)
        return [_request(cell, work)] if cell else []

    def from_member(cluster: ClusterName, member: Member) -> list[Request]:
        """A cell that answers again may have missed anything."""
        cell = member.metadata.name
        keys = hubs.get(cluster).informers.of(Work).cache.keys(names.execution_namespace(cell))
        return [Request(cluster_name(cell), *key) for key in keys]

    def from_copy(cell: ClusterName, copy: Object) -> list[Request]:
        found = [work for hub in hubs for work in lookups.works_about(hub, cell, copy)]
        return [_request(cell, work) for work in found]

    def from_namespace(cell: ClusterName, namespace: Namespace) -> list[Request]:
        name = namespace.metadata.name
        found = [work for hub in hubs for work in lookups.works_into(hub, cell, name)]
        return [_request(cell, work) for work in found]

    sources: list[Source[Any]] = [
        mapped(Work, hubs, from_work),
        mapped(Member, hubs, from_member),
        mapped(Namespace, planes.cells, from_copy),
        mapped(Namespace, planes.cells, from_namespace),
        *(mapped(kind, planes.cells, from_copy) for kind in kinds),
    ]
    reconciler = Execution((Namespace, *kinds), planes, factory.environment)
    return factory.controller("engine-execution", reconciler, planes.cells, sources, _SETTINGS)


@dataclass(frozen=True, slots=True)
class _Job:
    """A Work, and the cell that is to carry it out."""

    request: Request
    hub: Cluster
    cell: Cluster
    work: Work


class Execution:
    """Carries out one Work. A request names the cell, and the Work by its place on the hub."""

    def __init__(
        self, kinds: Sequence[type[Object]], planes: EnginePlanes, environment: ExecutionEnvironment
    ) -> None:
        self._kinds = kinds
        self._planes = planes
        self._environment = environment
        self._setbacks = StaleHubGuard()
        # Works whose copies were made, and that were not seen on the hub since: another engine may
        # have let go of them meanwhile, when there was no copy yet.
        self._sent: dict[Request, Work] = {}

    async def reconcile(self, request: Request) -> Result:
        hub, cell = self._planes.hub.sole(), self._planes.cells.get(request.cluster)
        work = hub.informers.of(Work).cache.get(request.namespace, request.name)
        if work is None:
            self._setbacks.forget(request)
            if sent := self._sent.get(request):
                await self._take_back(_Job(request, hub, cell, sent))
            return DONE
        job = _Job(request, hub, cell, work)
        try:
            return await self._carried_out(job)
        except Unavailable:
            if self._answers(job):
                raise
            return _ASK_AGAIN  # and at once when it answers again

    async def _carried_out(self, job: _Job) -> Result:
        work = job.work
        if work.deleting:
            await self._remove(job)
            return DONE
        if work.spec.suspend_dispatching:
            return await self._report_held(job)
        now = self._environment.now()
        told = _all([await self._applied(job, one) for one in work.spec.workload.manifests])
        if told and reports.work_status(work, told, now) != work.status:
            told = _all([await _confirmed(job, outcome) for outcome in told])
        if told is None:  # what is waited for asks for another look
            return self._setbacks.look_again(job.request, now)
        self._setbacks.forget(job.request)
        status = reports.work_status(work, told, now)
        told_of = msgspec.structs.replace(work, status=status)
        written = await job.hub.client.patch_status(work, told_of) is not work
        if written or (job.request in self._sent and await _is_current(job)):
            self._sent.pop(job.request, None)
        refused = any(outcome.trouble and outcome.copy is None for outcome in told)
        return _ASK_AGAIN if refused else DONE

    async def _report_held(self, job: _Job) -> Result:
        """Report how the copies of a Work do that is not carried out for now."""
        work, now = job.work, self._environment.now()
        there = [self._copy(job, one) for one in work.spec.workload.manifests]
        status = reports.held_status(work, there, now)
        if status != work.status:
            there = [await _read_live(job, copy) for copy in there]
            status = reports.held_status(work, there, now)
            held = msgspec.structs.replace(work, status=status)
            await job.hub.client.patch_status(work, held)
        return DONE

    def _copy(self, job: _Job, manifest: works.Manifest) -> Object | None:
        """The copy that was made of a manifest, as the cache has it."""
        kind = self._kind(manifest)
        if kind is None:
            return None
        head = msgspec.convert(manifest, Object).metadata
        copy = job.cell.informers.of(kind).cache.get(head.namespace, head.name)
        return copy if copy is not None and copies.is_of(copy, job.work) else None

    def _answers(self, job: _Job) -> bool:
        """Whether the hub thinks that the cell answers: if not, trying over and over is no use."""
        member = job.hub.informers.of(Member).cache.get("", job.cell.name)
        return member is not None and is_ready(member)

    async def _applied(self, job: _Job, manifest: works.Manifest) -> ManifestOutcome | None:
        """What became of a manifest; None while something has to happen in the cell first."""
        kind = self._kind(manifest)
        if kind is None:
            return ManifestOutcome(
                None, f"{manifest.get('kind')} is not a kind that is sent to cells"
            )
        wanted = scheme.decode_as(kind, manifest)
        try:
            return await self._apply(job, wanted)
        except _REFUSED as refusal:
            return ManifestOutcome(None, f"the cell refuses it: {refusal.message}")

    async def _apply(self, job: _Job, wanted: K) -> ManifestOutcome | None:
        """The copy as it should be. A cell that has no place for it yet will say when it has."""
        meta, client = wanted.metadata, job.cell.client
        copy = job.cell.informers.of(type(wanted)).cache.get(meta.namespace, meta.name)
        if copy is None:
            if not _has_room(job.cell, wanted) or not await _is_current(job):
                return None
            copy = await client.find(type(wanted), meta.name, meta.namespace)
        if copy is None:
            self._sent[job.request] = job.work
            return ManifestOutcome(await client.create(wanted))
        ours = copies.is_of(copy, job.work)
        if copy.deleting or (ours and await self._is_ahead(job, copy, wanted)):
            return None
        if not ours and not copies.may_take(wanted):
            return ManifestOutcome(None, _occupied(copy))
        return await _brought(job, copy, copies.renewed(copy, wanted))

    async def _is_ahead(self, job: _Job, copy: K, wanted: K) -> bool:
        """Whether a copy is of a later version than the Work, and is to stay so.

        Our cache is behind; or the hub itself is, and then only what runs is worth waiting for.
        """
        if not works.is_newer(copy.metadata, wanted.metadata):
            return False
        if not await _is_current(job):
            return True
        marked = msgspec.structs.replace(copies.renewed(copy, wanted), metadata=copy.metadata)
        return marked != copy and self._setbacks.hold(job.request, self._environment.now())

    async def _remove(self, job: _Job) -> None:
        """Delete what a Work made, and let the Work go once that is gone."""
        live = await job.hub.client.find(Work, job.work.metadata.name, job.work.metadata.namespace)
        if live is None or live.metadata.uid != job.work.metadata.uid:
            return
        left = [await self._left(job, one) for one in live.spec.workload.manifests]
        if not any(left):
            await commit.remove_finalizer(job.hub.client, live, karmada_keys.EXECUTION)

    async def _take_back(self, job: _Job) -> None:
        """Delete what came into the cell after its Work had gone, unless another Work has it now."""
        for manifest in job.work.spec.workload.manifests:
            kind, head = self._kind(manifest), msgspec.convert(manifest, Object).metadata
            copy = await job.cell.client.find(kind, head.name, head.namespace) if kind else None
            if copy is None or not copies.is_of(copy, job.work):
                continue
            meta = job.work.metadata
            if await job.hub.client.find(Work, meta.name, meta.namespace) is not None:
                return  # a cache that is behind; or the next Work of this name, whose it is now
            unchanged = DeleteOptions(resource_version=copy.metadata.resource_version)
            with suppress(NotFound):
                await job.cell.client.delete(copy, unchanged)
        del self._sent[job.request]

    async def _left(self, job: _Job, manifest: works.Manifest) -> bool:
        """Whether there is still something of a manifest in the cell."""
        kind = self._kind(manifest)
        if kind is None:
            return False
        head = msgspec.convert(manifest, Object).metadata
        client = job.cell.client
        copy = await client.find(kind, head.name, head.namespace)
        if copy is None or not copies.is_of(copy, job.work):
            return False
        if job.work.spec.preserve_resources_on_deletion:
            await client.patch(copy, copies.let_go(copy))
            return False
        if not copy.deleting:
            with suppress(NotFound):
                await client.delete(copy)
        return await client.find(kind, head.name, head.namespace) is not None

    def _kind(self, manifest: works.Manifest) -> type[Object] | None:
        kind = scheme.lookup(manifest.get("apiVersion", ""), manifest.get("kind", ""))
        return kind if kind in self._kinds else None


async def _confirmed(job: _Job, outcome: ManifestOutcome) -> ManifestOutcome | None:
    """The outcome with the copy as it is; None when that has gone, which asks for another look.

    A cache that is behind would bring back what another engine, which hears of changes sooner, has
    told already.
    """
    if outcome.copy is None:
        return outcome
    present = await _read_live(job, outcome.copy)
    return None if present is None else ManifestOutcome(present, outcome.trouble)


async def _read_live(job: _Job, copy: Object | None) -> Object | None:
    """A copy as the cell has it; None where there is none."""
    if copy is None:
        return None
    return await job.cell.client.find(type(copy), copy.metadata.name, copy.metadata.namespace)


def _all(outcomes: Sequence[ManifestOutcome | None]) -> list[ManifestOutcome] | None:
    """The outcomes; None while one of them is missing."""
    there = [outcome for outcome in outcomes if outcome is not None]
    return there if len(there) == len(outcomes) else None


def _has_room(cell: Cluster, wanted: Object) -> bool:
    if not wanted.RESOURCE.namespaced:
        return True
    room = cell.informers.of(Namespace).cache.get("", wanted.metadata.namespace)
    return room is not None and not room.deleting


async def _brought(job: _Job, copy: K, renewed: K) -> ManifestOutcome | None:
    """The copy once it is what the Work says; None when the Work says something else by now.

    One that a cache shows may be of an earlier life, or lack what was noted on the object since.
    """
    if renewed == copy:
        return ManifestOutcome(copy)
    return (
        ManifestOutcome(await job.cell.client.patch(copy, renewed))
        if await _is_current(job)
        else None
    )


async def _is_current(job: _Job) -> bool:
    """Whether the Work, read live, is the one that is being carried out."""
    meta = job.work.metadata
    live = await job.hub.client.find(Work, meta.name, meta.namespace)
    return (
        live is not None
        and not live.deleting
        and (live.metadata.uid, live.metadata.generation) == (meta.uid, meta.generation)
    )


def _occupied(copy: Object) -> str:
    where = "/".join(filter(None, (copy.metadata.namespace, copy.metadata.name)))
    return (
        f"the cell already has a {copy.kind} {where} that the hub did not make; delete it there, "
        "or set conflictResolution: Overwrite in the policy to take it over"
    )


def _request(cell: str, work: Work) -> Request:
    return Request(cluster_name(cell), work.metadata.namespace, work.metadata.name)
