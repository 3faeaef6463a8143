"""The objects that views of Instances are made of, read from a project once, or kept current."""

import asyncio
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from compute.api import names
from compute.api.compute import Instance, Workload, WorkloadDeployment
from compute.decide import joins
from compute.views.instances import Histories, InstanceFilter, InstanceView, instance_views
from compute.views.live import LiveObjects
from compute.views.reading import ProjectReader
from kubekit.api.errors import InternalError, Timeout, TooManyRequests, Unavailable
from kubekit.api.kinds.core import ConfigMap

INSTANCE_KINDS: Final = (Workload, WorkloadDeployment, Instance)
_PASSING: Final = (Unavailable, Timeout, TooManyRequests, InternalError)

_Version = tuple[
    str, int, int
]  # uid, generation, and the generation that the platform has observed


@dataclass(frozen=True, slots=True)
class InstanceList:
    """The Instances that are wanted, and how many there are in all."""

    views: tuple[InstanceView, ...]
    total: int


async def read_histories(reader: ProjectReader, workloads: Iterable[str]) -> Histories:
    """The history of each of these Workloads."""
    wanted = list(dict.fromkeys(workloads))
    found = await asyncio.gather(
        *(reader.if_found(ConfigMap, names.history(name)) for name in wanted)
    )
    return dict(zip(wanted, found, strict=True))


async def read_instances(
    reader: ProjectReader, wanted: InstanceFilter, now: datetime
) -> InstanceList:
    """The Instances of the namespace that are wanted."""
    objects = await reader.everything()
    histories = await read_histories(reader, _workloads(objects.instances, wanted))
    views = instance_views(
        objects.workloads, objects.deployments, objects.instances, histories, now
    )
    return InstanceList(tuple(v for v in views if wanted.admits(v)), len(views))


class LiveInstances:
    """The Instances of a namespace that are wanted, as its objects change.

    A history is read when its Workload has changed, and again once the platform has observed the change:
    it records the revision in between.
    """

    def __init__(self, live: LiveObjects, reader: ProjectReader, wanted: InstanceFilter) -> None:
        self._live = live
        self._reader = reader
        self._wanted = wanted
        self._read: dict[str, _Version] = {}
        self._histories: dict[str, ConfigMap | None] = {}

    async def views(self, now: datetime) -> tuple[InstanceView, ...]:
        """The Instances as they are now."""
        workloads, instances = self._live.all(Workload), self._live.all(Instance)
        present = {workload.metadata.name: _version(workload) for workload in workloads}
        changed = {
            name: present[name]
            for name in _workloads(instances, self._wanted)
            if name in present and self._read.get(name) != present[name]
        }
        with suppress(*_PASSING):  # what was read before is shown until the server answers
            self._histories.update(await read_histories(self._reader, changed))
            self._read.update(changed)
        deployments = self._live.all(WorkloadDeployment)
        views = instance_views(workloads, deployments, instances, self._histories, now)
        return tuple(view for view in views if self._wanted.admits(view))


def _version(workload: Workload) -> _Version:
    meta = workload.metadata
    return meta.uid, meta.generation, workload.status.observed_generation


def _workloads(instances: Iterable[Instance], wanted: InstanceFilter) -> list[str]:
    known = dict.fromkeys(map(joins.workload_name, instances))
    return [name for name in known if name and wanted.workload in {"", name}]
