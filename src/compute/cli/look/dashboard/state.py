"""What the dashboard shows, from objects that are kept current by list and watch."""

from collections.abc import AsyncGenerator
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Final, Protocol

from compute.api.compute import Instance, Workload, WorkloadDeployment
from compute.cli.shell.session import Session
from compute.decide.instance_state import InstanceState
from compute.views.instances import InstanceView, instance_views
from compute.views.live import LiveObjects, live_objects
from compute.views.reading import ProjectObjects
from compute.views.workloads import WorkloadView, workload_views, worst_first

_TICK: Final = 1.0  # seconds; ages grow without a change
_STATES: Final = tuple(InstanceState)


@dataclass(frozen=True)
class DashboardState:
    """The objects of a namespace at one instant. ``lost_since`` is set without contact to the server."""

    objects: ProjectObjects
    now: datetime
    lost_since: datetime | None = None

    @cached_property
    def workloads(self) -> tuple[WorkloadView, ...]:
        """The Workloads, the worst first."""
        known = self.objects
        return worst_first(
            workload_views(known.workloads, known.deployments, known.instances, self.seen_at)
        )

    @property
    def seen_at(self) -> datetime:
        """The time that the objects are from."""
        return self.lost_since or self.now

    def find(self, name: str) -> WorkloadView | None:
        return next((view for view in self.workloads if view.name == name), None)

    def instances_of(self, name: str) -> tuple[InstanceView, ...]:
        """The Instances of a Workload, the worst first."""
        found = next((w for w in self.objects.workloads if w.metadata.name == name), None)
        if found is None:
            return ()
        own = self.objects.of(found)
        views = instance_views(own.workloads, own.deployments, own.instances, {}, self.seen_at)
        return tuple(sorted(views, key=lambda view: _STATES.index(view.state)))


class StateSource(Protocol):
    """Where the states come from."""

    def states(self) -> AsyncGenerator[DashboardState, None]:
        """Each state after the next change, or after a second without one."""
        ...


@dataclass(frozen=True, slots=True)
class LiveStates:
    """The states of the namespace of a session."""

    session: Session

    async def states(self) -> AsyncGenerator[DashboardState, None]:
        session = self.session
        kinds = (Workload, WorkloadDeployment, Instance)
        async with live_objects(
            session.client, session.environment, session.namespace, *kinds
        ) as live:
            await live.listed()
            while True:
                yield self._state(live)
                await live.changed_in_bursts(_TICK)

    def _state(self, live: LiveObjects) -> DashboardState:
        objects = ProjectObjects(
            live.all(Workload), live.all(WorkloadDeployment), live.all(Instance)
        )
        return DashboardState(objects, self.session.now(), live.lost_since)
