"""From Works to cells: each Work is applied in its cell, and reports the status of the copy.

    Work exists         the copy is created, or updated to the manifest
    Work being deleted  the copy is deleted, and the Work is released once the copy is gone
    Work suspended      the copy stays as it is; its status is reported
    no Work             the copy stays: a hub that lost its Works must not stop instances. Only a copy
                        that was created while its Work was being released is deleted again

An object that was not made from a Work is never changed, unless the policy allows it.
"""

from collections.abc import Sequence
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
from kubekit.api.errors import BadRequest, Forbidden, Invalid, Unavailable
from kubekit.api.kinds.core import Namespace
from kubekit.api.meta import Object
from kubekit.client.client import K
from kubekit.environment import ExecutionEnvironment
from kubekit.runtime import live
from kubekit.runtime.clusters import Cluster
from kubekit.runtime.controller import Controller, ControllerSettings
from kubekit.runtime.controller_factory import ControllerFactory
from kubekit.runtime.reconciling import commit
from kubekit.runtime.requests import DONE, ClusterName, Request, Result, cluster_name
from kubekit.runtime.sources import Source, mapped

_REFUSED: Final = (BadRequest, Forbidden, Invalid)
_RETRY: Final = Result(timedelta(minutes=5))  # the cell may have been fixed by then
_SETTINGS: Final = ControllerSettings(workers=8, longest_backoff=10.0)


def controller(
    kinds: Sequence[type[Object]], planes: EnginePlanes, factory: ControllerFactory
) -> Controller:
    """The controller that applies Works with objects of these kinds, and with namespaces."""
    hubs = planes.hub

    def from_work(_: ClusterName, work: Work) -> list[Request]:
        cell = names.execution_cluster(work.metadata.namespace)
        return [_request(cell, work)] if cell else []

    def from_member(cluster: ClusterName, member: Member) -> list[Request]:
        """A cell that is reachable again may have missed any change."""
        cell = member.metadata.name
        keys = hubs.get(cluster).informers.of(Work).cache.keys(names.execution_namespace(cell))
        return [Request(cluster_name(cell), *key) for key in keys]

    def from_copy(cell: ClusterName, copy: Object) -> list[Request]:
        affected = [work for hub in hubs for work in lookups.works_about(hub, cell, copy)]
        return [_request(cell, work) for work in affected]

    def from_namespace(cell: ClusterName, namespace: Namespace) -> list[Request]:
        name = namespace.metadata.name
        affected = [work for hub in hubs for work in lookups.works_into(hub, cell, name)]
        return [_request(cell, work) for work in affected]

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
    """A Work, and the cell in which it is applied."""

    request: Request
    hub: Cluster
    cell: Cluster
    work: Work


class Execution:
    """Applies one Work. A request names the cell, and namespace and name of the Work on the hub."""

    def __init__(
        self, kinds: Sequence[type[Object]], planes: EnginePlanes, environment: ExecutionEnvironment
    ) -> None:
        self._kinds = kinds
        self._planes = planes
        self._environment = environment
        self._stale_hub = StaleHubGuard()
        # Works whose copies were created, until a later write confirms that the Work still exists.
        # Another engine may have released the Work while there was no copy yet.
        self._sent: dict[Request, Work] = {}

    async def reconcile(self, request: Request) -> Result:
        hub, cell = self._planes.hub.sole(), self._planes.cells.get(request.cluster)
        work = hub.informers.of(Work).cache.get(request.namespace, request.name)
        if work is None:
            self._stale_hub.forget(request)
            if sent := self._sent.get(request):
                await self._delete_sent(_Job(request, hub, cell, sent))
            return DONE
        job = _Job(request, hub, cell, work)
        try:
            return await self._apply_work(job)
        except Unavailable:
            if self._is_reachable(job):
                raise
            return _RETRY  # a cell that is reachable again requeues the request earlier

    async def _apply_work(self, job: _Job) -> Result:
        work = job.work
        if work.deleting:
            await self._remove(job)
            return DONE
        if work.spec.suspend_dispatching:
            return await self._report_held(job)
        now = self._environment.now()
        manifests = work.spec.workload.manifests
        outcomes = _all([await self._apply_manifest(job, manifest) for manifest in manifests])
        if outcomes and reports.work_status(work, outcomes, now) != work.status:
            outcomes = _all([await _confirmed(job, outcome) for outcome in outcomes])
        if outcomes is None:  # the watch event of the missing object requeues the request
            return self._stale_hub.requeue(job.request, now)
        self._stale_hub.forget(job.request)
        status = reports.work_status(work, outcomes, now)
        reported = msgspec.structs.replace(work, status=status)
        written = await job.hub.client.patch_status(work, reported) is not work
        if written or (job.request in self._sent and await _is_current(job)):
            self._sent.pop(job.request, None)
        refused = any(outcome.error and outcome.copy is None for outcome in outcomes)
        return _RETRY if refused else DONE

    async def _report_held(self, job: _Job) -> Result:
        """Report the state of the copies of a suspended Work."""
        work, now = job.work, self._environment.now()
        existing = [self._copy(job, manifest) for manifest in work.spec.workload.manifests]
        status = reports.held_status(work, existing, now)
        if status != work.status:
            existing = [await _read_live(job, copy) for copy in existing]
            status = reports.held_status(work, existing, now)
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

    def _is_reachable(self, job: _Job) -> bool:
        """Whether the cell is Ready on the hub: if not, retrying with backoff is no use."""
        member = job.hub.informers.of(Member).cache.get("", job.cell.name)
        return member is not None and is_ready(member)

    async def _apply_manifest(self, job: _Job, manifest: works.Manifest) -> ManifestOutcome | None:
        """The outcome of a manifest; None while the cell is not ready for it."""
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
        """Create or update the copy. If the cell lacks its namespace, a watch event requeues the request."""
        meta, client = wanted.metadata, job.cell.client
        copy = job.cell.informers.of(type(wanted)).cache.get(meta.namespace, meta.name)
        if copy is None:
            if not _has_namespace(job.cell, wanted) or not await _is_current(job):
                return None
            copy = await client.find(type(wanted), meta.name, meta.namespace)
        if copy is None:
            self._sent[job.request] = job.work
            return ManifestOutcome(await client.create(wanted))
        ours = copies.is_of(copy, job.work)
        if copy.deleting or (ours and await self._is_ahead(job, copy, wanted)):
            return None
        if not ours and not copies.may_overwrite(wanted):
            return ManifestOutcome(None, _conflict_message(copy))
        return await _update(job, copy, copies.updated(copy, wanted))

    async def _is_ahead(self, job: _Job, copy: K, wanted: K) -> bool:
        """Whether a copy was made from a later version than the Work has, and stays as it is.

        Either the cache is behind, or the hub was restored from a backup. After a restore, a changed
        copy stays for a grace period.
        """
        if not works.is_newer(copy.metadata, wanted.metadata):
            return False
        if not await _is_current(job):
            return True
        expected = msgspec.structs.replace(copies.updated(copy, wanted), metadata=copy.metadata)
        return expected != copy and self._stale_hub.hold(job.request, self._environment.now())

    async def _remove(self, job: _Job) -> None:
        """Delete the copies of a Work, and release the Work once they are gone."""
        work = await live.same(job.hub.client, job.work)
        if work is None:
            return
        manifests = work.spec.workload.manifests
        if all([await self._delete_copy(job, manifest) for manifest in manifests]):
            await commit.remove_finalizer(job.hub.client, work, karmada_keys.EXECUTION)

    async def _delete_sent(self, job: _Job) -> None:
        """Delete a copy that was created after its Work was gone, unless a new Work has the same name."""
        for manifest in job.work.spec.workload.manifests:
            kind, head = self._kind(manifest), msgspec.convert(manifest, Object).metadata
            copy = await job.cell.client.find(kind, head.name, head.namespace) if kind else None
            if copy is None or not copies.is_of(copy, job.work):
                continue
            meta = job.work.metadata
            if await job.hub.client.find(Work, meta.name, meta.namespace) is not None:
                return  # the cache is behind; or the copy belongs to the next Work of this name
            await live.delete_as_read(job.cell.client, copy)
        del self._sent[job.request]

    async def _delete_copy(self, job: _Job, manifest: works.Manifest) -> bool:
        """Delete the copy of a manifest, or release it. Returns whether nothing is left to delete."""
        kind = self._kind(manifest)
        if kind is None:
            return True
        head = msgspec.convert(manifest, Object).metadata
        client = job.cell.client
        copy = await client.find(kind, head.name, head.namespace)
        if copy is None or not copies.is_of(copy, job.work):
            return True
        if job.work.spec.preserve_resources_on_deletion:
            await client.patch(copy, copies.released(copy))
            return True
        if not copy.deleting:
            await live.delete(client, copy)
        return await client.find(kind, head.name, head.namespace) is None

    def _kind(self, manifest: works.Manifest) -> type[Object] | None:
        kind = scheme.lookup(manifest.get("apiVersion", ""), manifest.get("kind", ""))
        return kind if kind in self._kinds else None


async def _confirmed(job: _Job, outcome: ManifestOutcome) -> ManifestOutcome | None:
    """The outcome with the copy read live; None if it is gone: its watch event requeues the request.

    From a stale cache, an older status would replace a newer one that another engine has reported.
    """
    if outcome.copy is None:
        return outcome
    present = await _read_live(job, outcome.copy)
    return None if present is None else ManifestOutcome(present, outcome.error)


async def _read_live(job: _Job, copy: Object | None) -> Object | None:
    """A copy, read live; None if there is none."""
    if copy is None:
        return None
    return await job.cell.client.find(type(copy), copy.metadata.name, copy.metadata.namespace)


def _all(outcomes: Sequence[ManifestOutcome | None]) -> list[ManifestOutcome] | None:
    """The outcomes; None while one of them is missing."""
    present = [outcome for outcome in outcomes if outcome is not None]
    return present if len(present) == len(outcomes) else None


def _has_namespace(cell: Cluster, wanted: Object) -> bool:
    if not wanted.RESOURCE.namespaced:
        return True
    namespace = cell.informers.of(Namespace).cache.get("", wanted.metadata.namespace)
    return namespace is not None and not namespace.deleting


async def _update(job: _Job, copy: K, updated: K) -> ManifestOutcome | None:
    """Update the copy; None if the Work has changed by now.

    The cached Work may be an earlier one of the same name, or lack a recent annotation.
    """
    if updated == copy:
        return ManifestOutcome(copy)
    return (
        ManifestOutcome(await job.cell.client.patch(copy, updated))
        if await _is_current(job)
        else None
    )


async def _is_current(job: _Job) -> bool:
    """Whether the Work, read live, is the one that is being applied."""
    work = await live.current(job.hub.client, job.work)
    return work is not None and work.metadata.generation == job.work.metadata.generation


def _conflict_message(copy: Object) -> str:
    key = "/".join(filter(None, (copy.metadata.namespace, copy.metadata.name)))
    return (
        f"the cell already has a {copy.kind} {key} that the hub did not make; delete it there, "
        "or set conflictResolution: Overwrite in the policy to take it over"
    )


def _request(cell: str, work: Work) -> Request:
    return Request(cluster_name(cell), work.metadata.namespace, work.metadata.name)
