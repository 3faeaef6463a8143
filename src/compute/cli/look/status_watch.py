"""`compute status --watch`: the status again at each change, until the user ends it."""

import sys
from collections.abc import Sequence
from datetime import datetime
from typing import Final

from compute.api.compute import Instance, Workload, WorkloadDeployment
from compute.cli.change.existing_workload import read_workload
from compute.cli.exits import Exit, Failure
from compute.cli.output.formats import show_data
from compute.cli.output.redraw import RedrawnLines
from compute.cli.output.status_screens import fleet_screen, workload_screen
from compute.cli.output.terminal import is_terminal
from compute.cli.shell.contact_notices import ContactNotices
from compute.cli.shell.session import Session
from compute.cli.streams import has_reader, show
from compute.decide.health import MOVING
from compute.views.live import LiveObjects, live_objects
from compute.views.live_history import LiveHistory
from compute.views.reading import ProjectObjects, ProjectReader
from compute.views.workloads import (
    CityView,
    WorkloadChange,
    WorkloadView,
    workload_view,
    workload_views,
    worst_first,
)

_KINDS: Final = (Workload, WorkloadDeployment, Instance)
_TICK: Final = 1.0  # seconds between two drawings while nothing changes


async def follow_status(session: Session, name: str, output: str) -> None:
    """Show one Workload, or all of them where the name is empty."""
    if name:
        await read_workload(session, name)
    screen = StatusScreen(session, name, output)
    try:
        async with live_objects(
            session.client, session.environment, session.namespace, *_KINDS
        ) as live:
            statuses = LiveStatuses(session, live, name)
            contact = ContactNotices(live)
            while has_reader():
                await live.changed_in_bursts(_TICK)
                if contact.report():
                    screen.restart()
                if live.complete and not contact.lost:
                    screen.show(await statuses.views(), session.now())
    finally:
        screen.close()


class LiveStatuses:
    """The Workloads of a namespace as its objects change."""

    def __init__(self, session: Session, live: LiveObjects, name: str) -> None:
        self._session = session
        self._live = live
        self._name = name
        self._history = LiveHistory(ProjectReader(session.client, session.namespace))

    async def views(self) -> Sequence[WorkloadView]:
        """The Workloads as they are now, the worst first. One that is named has its revision."""
        now = self._session.now()
        deployments, instances = self._live.all(WorkloadDeployment), self._live.all(Instance)
        if self._name:
            workload = self._named()
            history = await self._history.of(workload)
            owned = ProjectObjects((workload,), deployments, instances).of(workload)
            return [workload_view(workload, owned.deployments, owned.instances, now, history)]
        return worst_first(workload_views(self._live.all(Workload), deployments, instances, now))

    def _named(self) -> Workload:
        workload = self._live.find(Workload, self._name)
        if workload is None:
            raise Failure(
                f"workload {self._name} was deleted",
                Exit.NOT_FOUND,
                next_step="compute workloads",
                reason="NotFound",
            )
        return workload


class StatusScreen:
    """The status, drawn over itself on a terminal; else again after each change of a row."""

    def __init__(self, session: Session, name: str, output: str) -> None:
        self._session = session
        self._name = name
        self._is_data = output == "jsonl"
        self._redrawn = RedrawnLines() if is_terminal(sys.stdout) and not self._is_data else None
        self._known: dict[str, WorkloadView] | None = None

    def show(self, views: Sequence[WorkloadView], now: datetime) -> None:
        if self._redrawn:
            self._redrawn.draw(self._lines(views, now))
            return
        before, self._known = self._known, {view.name: view for view in views}
        changed = changes(before or {}, views)
        if self._is_data:
            for change in changed:
                show_data(change, "jsonl")
        elif changed or before is None:
            apart = [] if before is None else [""]
            show("\n".join([*apart, *self._lines(views, now)]))

    def restart(self) -> None:
        """Continue below what something else has printed."""
        if self._redrawn:
            self._redrawn.restart()

    def close(self) -> None:
        """Leave the terminal as it was."""
        if self._redrawn:
            self._redrawn.close()

    def _lines(self, views: Sequence[WorkloadView], now: datetime) -> list[str]:
        if self._name:
            return workload_screen(views[0], self._session.target, now)
        return fleet_screen(views, self._session.target, now)


def changes(known: dict[str, WorkloadView], views: Sequence[WorkloadView]) -> list[WorkloadChange]:
    """What a user would call a change: not that a text counts seconds."""
    present = {view.name for view in views}
    gone = [view for name, view in known.items() if name not in present]
    return [
        *(
            WorkloadChange(change="changed" if view.name in known else "added", workload=view)
            for view in views
            if view.name not in known or _news(known[view.name]) != _news(view)
        ),
        *(WorkloadChange(change="gone", workload=view) for view in gone),
    ]


def _news(view: WorkloadView) -> tuple[object, ...]:
    return view.health, view.revision, view.deleting_since, tuple(map(_news_of_city, view.cities))


def _news_of_city(city: CityView) -> tuple[object, ...]:
    cause = city.reason if city.state in MOVING else city.why
    numbers = city.desired, city.ready, city.updated, city.old
    return city.placement, city.city, city.state, numbers, cause, city.paused, city.pinned_revision
