"""Whether cells are reachable: the Lease and the condition Ready of each cell.

The Lease records when a cell last answered. It is the only object that is written while nothing
changes.
"""

import asyncio
import logging
from datetime import datetime, timedelta
from typing import Final

import msgspec

from compute.api import names
from compute.api.karmada import MemberCluster as Member
from compute.api.neighbour_reasons import NeighbourReason
from compute.decide.federation.scheduling import is_ready
from compute.federation import karmada_keys, reports
from compute.federation.planes import EnginePlanes
from kubekit.api import times
from kubekit.api.errors import ApiError
from kubekit.api.kinds.coordination import Lease, LeaseSpec
from kubekit.api.kinds.core import Namespace
from kubekit.api.meta import ObjectMeta
from kubekit.environment import ExecutionEnvironment
from kubekit.runtime.clusters import Cluster
from kubekit.runtime.controller import Controller, ControllerSettings
from kubekit.runtime.controller_factory import ControllerFactory
from kubekit.runtime.requests import DONE, ClusterName, Request, Result, cluster_name
from kubekit.runtime.sources import mapped, own

PROBE_INTERVAL: Final = timedelta(seconds=10)
CELL_TIMEOUT: Final = timedelta(seconds=40)  # after that the state of a silent cell is unknown
SHORTEST_TIMEOUT: Final = timedelta(seconds=5)
_PROBES: Final = 4  # within the timeout, so that one lost answer means nothing
_SHORTEST_INTERVAL: Final = timedelta(seconds=2.5)  # writes of one Lease that are no conflict loop
_TIMEOUT: Final = 8.0  # seconds for an answer
_PROBED: Final = "default"  # the namespace that every cell has
# A cell that hangs blocks a worker until the timeout, and must not delay the probes of other cells.
_SETTINGS: Final = ControllerSettings(workers=32, per_cluster=32, level=logging.DEBUG)


def controller(
    planes: EnginePlanes, factory: ControllerFactory, timeout: timedelta = CELL_TIMEOUT
) -> Controller:
    """The controller that probes every cell, and reports one that is silent for the timeout."""

    def from_namespace(cluster: ClusterName, namespace: Namespace) -> list[Request]:
        member = names.execution_cluster(namespace.metadata.name)
        return [Request(cluster, "", member)] if member else []

    def from_cell(cell: ClusterName, namespace: Namespace) -> list[Request]:
        """A cell that has just been engaged is probed at once."""
        once = namespace.metadata.name == _PROBED
        return [Request(hub.name, "", cell) for hub in planes.hub] if once else []

    sources = [
        own(Member, planes.hub),
        mapped(Namespace, planes.hub, from_namespace),
        mapped(Namespace, planes.cells, from_cell),
    ]
    reconciler = Heartbeat(planes, factory.environment, timeout)
    return factory.controller("engine-heartbeat", reconciler, planes.hub, sources, _SETTINGS)


class Heartbeat:
    """Probes one cell every few seconds, and reports on the hub whether it is reachable."""

    def __init__(
        self, planes: EnginePlanes, environment: ExecutionEnvironment, timeout: timedelta
    ) -> None:
        self._planes = planes
        self._environment = environment
        self._timeout = timeout
        self._interval = min(PROBE_INTERVAL, max(_SHORTEST_INTERVAL, timeout / _PROBES))
        self._started: dict[str, datetime] = {}  # when this process started to probe each member

    async def reconcile(self, request: Request) -> Result:
        hub = self._planes.hub.get(request.cluster)
        member = hub.informers.of(Member).cache.get("", request.name)
        if member is None:
            self._started.pop(request.name, None)
            return DONE
        namespaces = hub.informers.of(Namespace).cache
        namespace = namespaces.get("", names.execution_namespace(request.name))
        if namespace is None or namespace.deleting:
            return DONE  # not a member yet, or no longer
        now = self._environment.now()
        self._started.setdefault(request.name, now)
        lease = await hub.client.find(Lease, request.name, karmada_keys.CLUSTER_NAMESPACE)
        renewed = _renewed(lease)
        age = now - renewed if renewed else self._interval
        if timedelta() <= age < self._interval and is_ready(member):
            return Result(self._interval - age)  # another process has just probed the cell
        if await self._answers(request.name):
            now = self._environment.now()
            await self._renew(hub, lease, request.name, now)
            await self._report_ready(hub, member, now)
            return Result(self._interval)
        return await self._report_silence(hub, member, renewed)

    async def _answers(self, name: str) -> bool:
        """Whether the cell answers a read that any server can answer at once."""
        cell = self._planes.cells.find(cluster_name(name))
        if cell is None:
            return False
        try:
            async with asyncio.timeout(_TIMEOUT):
                await cell.client.find(Namespace, _PROBED)
        except (ApiError, OSError):  # TimeoutError is one of these
            return False
        return True

    async def _renew(self, hub: Cluster, lease: Lease | None, name: str, now: datetime) -> None:
        spec = LeaseSpec(
            holder_identity=name,
            lease_duration_seconds=max(1, int(self._timeout.total_seconds())),
            renew_time=times.format_micro(now),
        )
        if lease is None:
            metadata = ObjectMeta(name=name, namespace=karmada_keys.CLUSTER_NAMESPACE)
            await hub.client.create(Lease(metadata=metadata, spec=spec))
        else:
            await hub.client.patch(lease, msgspec.structs.replace(lease, spec=spec))

    async def _report_ready(self, hub: Cluster, member: Member, now: datetime) -> None:
        reason = NeighbourReason.CLUSTER_READY
        ready = reports.with_ready(member, "True", reason, "the cell answers", now)
        await hub.client.patch_status(member, ready)

    async def _report_silence(
        self, hub: Cluster, member: Member, renewed: datetime | None
    ) -> Result:
        """Report a cell as Unknown once it has been silent for long enough.

        The time counts from the start of this process at the earliest: nothing is known from before.
        """
        now, name = self._environment.now(), member.metadata.name
        started = self._started[name]
        silent = now - max(started, renewed or started)
        if silent <= self._timeout:
            return Result(min(self._interval, self._timeout - silent + timedelta(seconds=1)))
        when = f"since {times.format_time(renewed)}" if renewed else "yet"
        reason = NeighbourReason.CLUSTER_STATUS_UNKNOWN
        message = f"the cell has not answered {when}"
        unknown = reports.with_ready(member, "Unknown", reason, message, now)
        await hub.client.patch_status(member, unknown)
        return Result(self._interval)


def _renewed(lease: Lease | None) -> datetime | None:
    """When a lease was last renewed; None if it never was."""
    return times.parse(lease.spec.renew_time) if lease and lease.spec.renew_time else None
