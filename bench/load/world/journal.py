"""Records the times of each Instance's progress: a listener of the commits of a world's planes.

It adds as little cost as possible: of a document only gates and conditions are read, times are kept in
arrays, and its own time is measured.
"""

import asyncio
import time
from array import array
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from typing import Final

from bench.load.world.progress import Stage, read_instance, read_workload
from compute.api.compute import GROUP
from compute.app.planes import PlaneRef, Role
from kubekit.plane.plane import Plane
from kubekit.plane.store.records import ChangeEvent, ChangeType

INSTANCES: Final = f"{GROUP}/instances"
WORKLOADS: Final = f"{GROUP}/workloads"
LEASES: Final = "coordination.k8s.io/leases"  # a heartbeat is no work


class Journal:
    """An observer of a world's planes. Instances are identified by their names, which are unique."""

    def __init__(self) -> None:
        self.writes: Counter[tuple[Role, str]] = Counter()  # by role of the plane, and resource
        self.spent = 0  # nanoseconds of listening
        self._wanted: dict[str, int] = {}  # Instances of each Workload that is waited for
        self._accepted: dict[str, int] = {}
        self._serving: set[str] = set()
        self._gone: set[str] = set()
        self._rows: dict[str, int] = {}
        self._times = [array("q") for _ in Stage]
        self._shown = 0  # Instances that are Ready in their project
        self._awaited: tuple[Callable[[], bool], asyncio.Future[int]] | None = None

    def opened(self, home: PlaneRef, plane: Plane) -> None:
        plane.store.listen(partial(self._on_change, home.role))

    def closing(self, home: PlaneRef, plane: Plane) -> None:
        """There is nothing to release: a closed store sends no changes."""

    def reset(self, wanted: dict[str, int]) -> None:
        """Reset, and expect this number of Instances of each Workload."""
        self._wanted = wanted
        self._accepted, self._serving, self._gone, self._rows = {}, set(), set(), {}
        self._times = [array("q") for _ in Stage]
        self._shown = 0

    @property
    def work(self) -> int:
        """The number of writes without heartbeats."""
        return sum(count for (_, kind), count in self.writes.items() if kind != LEASES)

    @property
    def arrived(self) -> int:
        """Instances that are Ready in their project."""
        return self._shown

    async def shown(self, limit: float) -> int:
        """The time at which the last Instance was Ready in its project."""
        return await self._until(self._all_shown, limit)

    async def served(self, limit: float) -> int:
        """The time at which every Workload says that all of it runs."""
        return await self._until(lambda: self._serving >= self._wanted.keys(), limit)

    async def gone(self, limit: float) -> int:
        """The time at which no Workload was left."""
        return await self._until(lambda: self._gone >= self._wanted.keys(), limit)

    def hops(self) -> dict[str, Sequence[int]]:
        """Nanoseconds of each hop, for every Instance that is Ready in its project."""
        starts = array("q", (self._accepted[name.partition("-")[0]] for name in self._rows))
        hops: dict[str, Sequence[int]] = {}
        before = starts
        for stage in Stage:
            after = self._times[stage]
            hops[stage.name.lower()] = _between(before, after)
            before = after
        hops["all"] = _between(starts, before)
        return hops

    def _on_change(self, role: Role, resource: str, event: ChangeEvent) -> None:
        now = time.perf_counter_ns()
        self.writes[role, resource] += 1
        if resource == INSTANCES and event.change is not ChangeType.DELETED:
            self._instance(role, event, now)
        elif resource == WORKLOADS:
            self._workload(event, now)
        self.spent += time.perf_counter_ns() - now

    def _instance(self, role: Role, event: ChangeEvent, now: int) -> None:
        name = event.record.key.rpartition("/")[2]
        if role == "cell" and event.change is ChangeType.ADDED:
            self._created(name, now)
            return
        row = self._rows.get(name)
        if row is None:
            return
        seen = read_instance(event.record.data)
        if role == "cell":
            for stage in seen.stages():
                self._came(row, stage, now)
        elif seen.says("Ready"):
            self._came_on(row, Stage.COPIED if role == "hub" else Stage.PROJECTED, now)
            self._check_awaited(now)

    def _created(self, name: str, now: int) -> None:
        """An Instance was created; the times of a former one with its name are reset."""
        row = self._rows.setdefault(name, len(self._rows))
        if row == len(self._times[Stage.CREATED]):
            for times in self._times:
                times.append(0)
        self._shown -= bool(self._times[Stage.PROJECTED][row])
        for times in self._times:
            times[row] = 0
        self._times[Stage.CREATED][row] = now

    def _came(self, row: int, stage: Stage, now: int) -> None:
        times = self._times[stage]
        if not times[row]:
            times[row] = now
            self._shown += stage is Stage.PROJECTED

    def _came_on(self, row: int, stage: Stage, now: int) -> None:
        """A copy reached this stage, if its original did: copies of a former Instance do not count."""
        if self._times[stage - 1][row]:
            self._came(row, stage, now)

    def _workload(self, event: ChangeEvent, now: int) -> None:
        name = event.record.key.rpartition("/")[2]
        if name not in self._wanted:
            return
        self._accepted.setdefault(name, now)
        if event.change is ChangeType.DELETED:
            self._gone.add(name)
        elif read_workload(event.record.data).serves(self._wanted[name]):
            self._serving.add(name)
        else:
            self._serving.discard(name)
        self._check_awaited(now)

    def _all_shown(self) -> bool:
        return self._shown == sum(self._wanted.values())

    async def _until(self, true: Callable[[], bool], limit: float) -> int:
        if true():
            return time.perf_counter_ns()
        self._awaited = true, asyncio.get_running_loop().create_future()
        async with asyncio.timeout(limit):
            return await self._awaited[1]

    def _check_awaited(self, now: int) -> None:
        if self._awaited and not self._awaited[1].done() and self._awaited[0]():
            self._awaited[1].set_result(now)


def _between(before: Sequence[int], after: Sequence[int]) -> Sequence[int]:
    return array("q", (b - a for a, b in zip(before, after, strict=True) if a and b))
