"""The history of each Workload: a revision for every spec that was seen, whoever wrote it.

What has been written is remembered, so that a Workload at rest costs no reading. After a restart
each history is read once.
"""

from dataclasses import dataclass
from datetime import datetime
from weakref import WeakKeyDictionary

import msgspec

from compute.api import names
from compute.api.compute import Workload
from compute.controllers.management.fleet_metrics import FleetMetrics
from compute.controllers.management.workload import reads
from compute.decide.deployment.drains import DrainEvent
from compute.decide.workload import history, story
from kubekit.api.kinds.core import ConfigMap
from kubekit.api.meta import EPOCH, ManagedFieldsEntry
from kubekit.environment import ExecutionEnvironment
from kubekit.runtime.clusters import Cluster
from kubekit.runtime.reporting.events import EventRecorder
from kubekit.runtime.watching.index import Key


@dataclass(slots=True)
class Kept:
    """What the history is known to say of a Workload.

    ``waiting``: its deployments say that all is served, and its Instances do not yet.
    """

    uid: str
    generation: int
    healthy: bool = False
    waiting: bool = False


class Histories:
    """Keeps the histories of the Workloads of all projects."""

    def __init__(
        self, environment: ExecutionEnvironment, recorder: EventRecorder, metrics: FleetMetrics
    ) -> None:
        self._environment = environment
        self._recorder = recorder
        self._metrics = metrics
        # With the cluster that it is of goes what is remembered of it.
        self._of: WeakKeyDictionary[Cluster, dict[Key, Kept]] = WeakKeyDictionary()

    async def keep(self, project: Cluster, workload: Workload) -> None:
        """Record the spec of a Workload, unless it is the newest revision already.

        It is read live: no cache knows who wrote it, and none may bring an old spec back.
        """
        if self._kept(project, workload):
            return
        found = await _found(project, workload)
        newest = history.current(found)
        if not _tells_of(found, workload):
            live = await reads.live(project, workload)
            if live is None or live.deleting:
                return
            newest = await self._record(project, live, found)
            workload = live
        meta = workload.metadata
        kept = Kept(meta.uid, meta.generation, healthy=bool(newest and newest.healthy_at))
        self._of.setdefault(project, {})[_key(workload)] = kept

    def unproven(self, project: Cluster, workload: Workload) -> Kept | None:
        """What is remembered of a Workload whose spec is in the history, and was never served yet."""
        kept = self._kept(project, workload)
        return kept if kept is not None and not kept.healthy else None

    async def mark_healthy(self, project: Cluster, workload: Workload, kept: Kept) -> bool:
        """Say of the newest revision that every city served it. False when it is not there."""
        found = await _found(project, workload)
        if found is None or not _tells_of(found, workload):
            self.forget(project, _key(workload))
            return False
        marked = history.mark_healthy(found, self._environment.now())
        if marked is not None:
            written = history.current(await project.client.patch(found, marked))
            if written is not None:
                self._metrics.rolled_out(written.timestamp, self._environment.now())
                self._tell(project, workload, story.proven(written))
        kept.healthy, kept.waiting = True, False
        return True

    def waits(self, project: Cluster, key: Key) -> bool:
        """Whether the Workload of this name waits for the word of its Instances."""
        kept = self._of.get(project, {}).get(key)
        return kept is not None and kept.waiting

    def forget(self, project: Cluster, key: Key) -> None:
        self._of.get(project, {}).pop(key, None)

    def _kept(self, project: Cluster, workload: Workload) -> Kept | None:
        """What is remembered of the very spec of this Workload."""
        kept = self._of.get(project, {}).get(_key(workload))
        meta = workload.metadata
        is_of_it = kept is not None and (kept.uid, kept.generation) == (meta.uid, meta.generation)
        return kept if is_of_it else None

    async def _record(
        self, project: Cluster, workload: Workload, found: ConfigMap | None
    ) -> history.Revision | None:
        """The newest revision. The Workload is live, so a history of another's is left over."""
        client, now = project.client, self._environment.now()
        if found is not None and _is_of_another(found, workload):
            await client.delete(found)
            found = None
        recorded = history.record(found, workload, _author(workload), now)
        if recorded is None:
            return history.current(found)
        before = history.current(found)
        if found is None:
            written = await client.create(recorded)
        else:
            written = await client.patch(found, _owned(recorded, workload))
        newest = history.current(written)
        if newest is not None:
            self._tell(project, workload, story.revision(before, newest))
        return newest

    def _tell(self, project: Cluster, workload: Workload, news: DrainEvent) -> None:
        self._recorder.event(
            project.client, workload, news.type, news.reason, news.note, "RecordRevision"
        )


async def _found(project: Cluster, workload: Workload) -> ConfigMap | None:
    meta = workload.metadata
    return await project.client.find(ConfigMap, names.history(meta.name), meta.namespace)


def _tells_of(found: ConfigMap | None, workload: Workload) -> bool:
    """Whether the spec of this Workload is the newest in the history."""
    newest = history.current(found)
    if found is None or newest is None or _is_of_another(found, workload):
        return False
    return history.spec_of(newest) == workload.spec


def _author(workload: Workload) -> str:
    """Who wrote the spec last, as far as the server tells: the newest of those who own a part."""
    writers = [
        entry
        for entry in workload.metadata.managed_fields
        if entry.fields_v1.spec is not None and not entry.subresource
    ]
    return max(writers, key=_written, default=ManagedFieldsEntry()).manager


def _written(entry: ManagedFieldsEntry) -> datetime:
    return entry.time or EPOCH


def _is_of_another(found: ConfigMap, workload: Workload) -> bool:
    """Whether it is that of an earlier Workload of this name, with which it is about to go."""
    owners = [o for o in found.metadata.owner_references if o.kind == workload.kind]
    return bool(owners) and all(owner.uid != workload.metadata.uid for owner in owners)


def _owned(found: ConfigMap, workload: Workload) -> ConfigMap:
    """The history, which goes with its Workload: one that was restored by hand has no owner."""
    owners = found.metadata.owner_references
    if any(owner.uid == workload.metadata.uid for owner in owners):
        return found
    metadata = msgspec.structs.replace(
        found.metadata, owner_references=(*owners, workload.reference())
    )
    return msgspec.structs.replace(found, metadata=metadata)


def _key(workload: Workload) -> Key:
    return workload.metadata.namespace, workload.metadata.name
