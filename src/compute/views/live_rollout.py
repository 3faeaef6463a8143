"""The rollout of one Workload as it happens: its objects kept current, and judged at each change.

A rollout is also judged while nothing changes, since half a minute without progress is news too.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import datetime
from typing import Final

from compute.api import labels
from compute.api.compute import Instance, Workload, WorkloadDeployment
from compute.decide.progress import Rollout, RolloutSnapshot, observe
from compute.views.live import LiveObjects, live_objects
from kubekit.client.client import Client
from kubekit.client.options import ListOptions
from kubekit.environment import ExecutionEnvironment

_TICK: Final = 1.0  # seconds between two judgements while nothing changes
_PATIENCE: Final = 10.0  # seconds until a rollout is judged without a complete list


class WorkloadGone(Exception):
    """The Workload was deleted, or deleted and created again."""


class LiveRollout:
    """The rollout of one Workload, with the objects that it was read from."""

    def __init__(self, live: LiveObjects, workload: Workload) -> None:
        self._live = live
        self._workload = workload
        self._rollout: Rollout | None = None
        self._snapshot: RolloutSnapshot | None = None

    @property
    def snapshot(self) -> RolloutSnapshot:
        """The objects of the last step."""
        assert self._snapshot is not None  # there was a step
        return self._snapshot

    @property
    def lost_since(self) -> datetime | None:
        """Since when the server cannot be reached; None while it can."""
        return self._live.lost_since

    async def step(self) -> Rollout:
        """The rollout after the next change, or after a second without one."""
        if self._rollout is None:
            await self._live.listed(_PATIENCE)
        else:
            await self._live.changed_in_bursts(_TICK)
        if self._live.complete:
            self._workload = self._present()
        self._snapshot = RolloutSnapshot(
            self._workload,
            self._live.all(WorkloadDeployment),
            self._live.all(Instance),
            self._live.seen_at(),
        )
        self._rollout = observe(self._snapshot, self._rollout)
        return self._rollout

    def _present(self) -> Workload:
        known = self._workload.metadata
        workload = self._live.find(Workload, known.name)
        if workload is None or workload.metadata.uid != known.uid:
            raise WorkloadGone
        return workload


@asynccontextmanager
async def live_rollout(
    client: Client, environment: ExecutionEnvironment, workload: Workload
) -> AsyncIterator[LiveRollout]:
    """Follow the rollout of a Workload for as long as the context is open."""
    meta = workload.metadata
    owned = ListOptions(label_selector=f"{labels.WORKLOAD_UID}={meta.uid}")
    selectors: dict[type, ListOptions] = {
        Workload: ListOptions(field_selector=f"metadata.name={meta.name}"),
        WorkloadDeployment: owned,
        Instance: owned,
    }
    async with live_objects(
        client, environment, meta.namespace, *selectors, selectors=selectors
    ) as live:
        yield LiveRollout(live, workload)
