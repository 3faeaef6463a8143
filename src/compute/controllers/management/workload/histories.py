"""The history of each Workload: a revision for every spec, from any writer.

The last recorded revision is remembered, so an unchanged Workload costs no read. After a restart
each history is read once.
"""

from dataclasses import dataclass
from datetime import datetime
from weakref import WeakKeyDictionary

from compute.api import names
from compute.api.compute import Workload
from compute.controllers.management.fleet_metrics import FleetMetrics
from compute.decide.deployment.drains import PlannedEvent
from compute.decide.workload import history, workload_events
from kubekit.api.errors import AlreadyExists
from kubekit.api.kinds.core import ConfigMap
from kubekit.api.meta import EPOCH, ManagedFieldsEntry, with_metadata
from kubekit.environment import ExecutionEnvironment
from kubekit.runtime import live
from kubekit.runtime.clusters import Cluster
from kubekit.runtime.reporting.events import EventRecorder
from kubekit.runtime.watching.index import Key


@dataclass(slots=True)
class RevisionState:
    """The recorded revision of a Workload.

    ``waiting``: its deployments report that it is served, and its Instances are not ready yet.
    ``found``: the history as it was written, until the revision is healthy.
    """

    uid: str
    generation: int
    healthy: bool = False
    waiting: bool = False
    found: ConfigMap | None = None


class Histories:
    """Keeps the histories of the Workloads of all projects."""

    def __init__(
        self, environment: ExecutionEnvironment, recorder: EventRecorder, metrics: FleetMetrics
    ) -> None:
        self._environment = environment
        self._recorder = recorder
        self._metrics = metrics
        # The states of a cluster are dropped with it.
        self._of: WeakKeyDictionary[Cluster, dict[Key, RevisionState]] = WeakKeyDictionary()

    async def keep(
        self, project: Cluster, workload: Workload, written: Workload | None = None
    ) -> None:
        """Record the spec of a Workload, unless it is the newest revision already.

        The Workload is read live: caches do not keep managed fields, and may have an old spec. One that
        this pass has just ``written``, with its finalizer, is new: there is usually no history of it.
        """
        if self._state(project, workload):
            return
        try:
            found = None if written is not None else await _read(project, workload)
            await self._keep(project, workload, found, written)
        except AlreadyExists:
            await self._keep(project, workload, await _read(project, workload), written)

    async def _keep(
        self,
        project: Cluster,
        workload: Workload,
        found: ConfigMap | None,
        written: Workload | None,
    ) -> None:
        if not _is_recorded(found, workload):
            current = written or await live.current(project.client, workload)
            if current is None:
                return
            found = await self._record(project, current, found)
            workload = current
        meta, newest = workload.metadata, history.current(found)
        state = RevisionState(meta.uid, meta.generation, healthy=bool(newest and newest.healthy_at))
        state.found = None if state.healthy else found
        self._of.setdefault(project, {})[_key(workload)] = state

    def unserved(self, project: Cluster, workload: Workload) -> RevisionState | None:
        """The state of a Workload whose spec is recorded and was not served everywhere yet."""
        state = self._state(project, workload)
        return state if state is not None and not state.healthy else None

    async def mark_healthy(
        self, project: Cluster, workload: Workload, state: RevisionState
    ) -> bool:
        """Mark the newest revision as served in every city. False if it is not recorded."""
        found, state.found = state.found or await _read(project, workload), None
        if found is None or not _is_recorded(found, workload):
            self.forget(project, _key(workload))
            return False
        marked = history.mark_healthy(found, self._environment.now())
        if marked is not None:
            written = history.current(await project.client.patch(found, marked))
            if written is not None:
                self._metrics.record_rollout(written.timestamp, self._environment.now())
                self._report(project, workload, workload_events.proven(written))
        state.healthy, state.waiting = True, False
        return True

    def waits(self, project: Cluster, key: Key) -> bool:
        """Whether the Workload of this name waits for its Instances to be ready."""
        state = self._of.get(project, {}).get(key)
        return state is not None and state.waiting

    def forget(self, project: Cluster, key: Key) -> None:
        self._of.get(project, {}).pop(key, None)

    def _state(self, project: Cluster, workload: Workload) -> RevisionState | None:
        """The state of exactly this spec of this Workload."""
        state = self._of.get(project, {}).get(_key(workload))
        meta = workload.metadata
        matches = state is not None and (state.uid, state.generation) == (meta.uid, meta.generation)
        return state if matches else None

    async def _record(
        self, project: Cluster, workload: Workload, found: ConfigMap | None
    ) -> ConfigMap | None:
        """Record the newest revision. A history of an earlier Workload of the name is replaced."""
        client, now = project.client, self._environment.now()
        if found is not None and _has_other_owner(found, workload):
            await client.delete(found)
            found = None
        recorded = history.record(found, workload, _author(workload), now)
        if recorded is None:
            return found
        before = history.current(found)
        if found is None:
            written = await client.create(recorded)
        else:
            written = await client.patch(found, _with_owner(recorded, workload))
        newest = history.current(written)
        if newest is not None:
            self._report(project, workload, workload_events.revision(before, newest))
        return written

    def _report(self, project: Cluster, workload: Workload, event: PlannedEvent) -> None:
        self._recorder.event(
            project.client, workload, event.type, event.reason, event.note, "RecordRevision"
        )


async def _read(project: Cluster, workload: Workload) -> ConfigMap | None:
    meta = workload.metadata
    return await project.client.find(ConfigMap, names.history(meta.name), meta.namespace)


def _is_recorded(found: ConfigMap | None, workload: Workload) -> bool:
    """Whether the spec of this Workload is the newest revision in the history."""
    newest = history.current(found)
    if found is None or newest is None or _has_other_owner(found, workload):
        return False
    return history.spec_of(newest) == workload.spec


def _author(workload: Workload) -> str:
    """The last writer of the spec: the newest field manager that owns a part of it."""
    writers = [
        entry
        for entry in workload.metadata.managed_fields
        if entry.fields_v1.spec is not None and not entry.subresource
    ]
    return max(writers, key=_written, default=ManagedFieldsEntry()).manager


def _written(entry: ManagedFieldsEntry) -> datetime:
    return entry.time or EPOCH


def _has_other_owner(found: ConfigMap, workload: Workload) -> bool:
    """Whether it belongs to an earlier Workload of this name, and is about to be deleted."""
    owners = [o for o in found.metadata.owner_references if o.kind == workload.kind]
    return bool(owners) and all(owner.uid != workload.metadata.uid for owner in owners)


def _with_owner(found: ConfigMap, workload: Workload) -> ConfigMap:
    """The history, owned by its Workload. A history that was restored by hand has no owner."""
    owners = found.metadata.owner_references
    if any(owner.uid == workload.metadata.uid for owner in owners):
        return found
    return with_metadata(found, owner_references=(*owners, workload.reference()))


def _key(workload: Workload) -> Key:
    return workload.metadata.namespace, workload.metadata.name
