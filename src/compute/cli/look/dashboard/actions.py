"""What the keys of the dashboard do: the changes that the commands of the same names make."""

import asyncio
from dataclasses import dataclass
from typing import Protocol

from compute.api.compute import Workload
from compute.cli.change.workload_change import change_workload, read_to_change
from compute.cli.exits import Failure
from compute.cli.look.event_lines import event_lines
from compute.cli.look.workload.workload_describe_run import description
from compute.cli.shell.session import Session
from compute.decide.overrides import is_paused, paused, restarted, resumed
from compute.decide.overrides.annotated import cities_of
from compute.decide.workload.undo_plan import UndoChoice, UndoPlan, plan_undo
from compute.decide.workload_edits.scaling import ScaleFlags, rescaled
from compute.views.changes import UndoView, undo_view
from compute.views.details.event_reading import read_events
from compute.views.details.workload_details import workload_detail
from compute.views.reading import ProjectReader
from compute.views.workloads import workload_view


class DashboardActions(Protocol):
    """The actions on one Workload. Each gives a sentence, and raises a `Failure` or an `ApiError`."""

    async def restart(self, name: str) -> str: ...

    async def planned_undo(self, name: str) -> UndoView: ...

    async def undo(self, name: str, revision: int) -> str: ...

    async def pause_or_resume(self, name: str) -> str: ...

    async def scale(self, name: str, count: int) -> str: ...

    async def description(self, name: str) -> list[str]: ...

    async def events(self, name: str) -> list[str]: ...


@dataclass(frozen=True, slots=True)
class SessionActions:
    """The actions in the namespace of a session."""

    session: Session

    async def restart(self, name: str) -> str:
        await read_to_change(self.session, name)
        now = self.session.now()
        changed = await change_workload(self.session, name, lambda w: restarted(w, (), now))
        return f"{name} restarts in {', '.join(cities_of(changed.after))}"

    async def planned_undo(self, name: str) -> UndoView:
        workload = await read_to_change(self.session, name)
        history = await ProjectReader(self.session.client, self.session.namespace).history(name)
        plan = plan_undo(workload, history, UndoChoice())
        if isinstance(plan, UndoPlan):
            return undo_view(plan, written=False)
        raise Failure(
            f"{name} cannot be undone: {plan.why}", next_step=f"compute rollout history {name}"
        )

    async def undo(self, name: str, revision: int) -> str:
        history = await ProjectReader(self.session.client, self.session.namespace).history(name)

        def undone(workload: Workload) -> Workload:
            plan = plan_undo(workload, history, UndoChoice(revision))
            return plan.workload if isinstance(plan, UndoPlan) else workload

        await change_workload(self.session, name, undone)
        return f"{name} goes back to revision {revision}"

    async def pause_or_resume(self, name: str) -> str:
        workload = await read_to_change(self.session, name)
        is_held = any(is_paused(workload, city) for city in cities_of(workload))
        await change_workload(self.session, name, resumed if is_held else paused)
        if is_held:
            return f"{name} is resumed"
        return f"{name} is paused: changes of its template wait"

    async def scale(self, name: str, count: int) -> str:
        await read_to_change(self.session, name)
        flags = ScaleFlags(minimum=count)
        await change_workload(self.session, name, lambda w: rescaled(w, flags))
        return f"{name} is scaled to {count} in each city"

    async def description(self, name: str) -> list[str]:
        reader = ProjectReader(self.session.client, self.session.namespace)
        objects, revisions = await asyncio.gather(
            reader.of_workload(name), reader.known_history(name)
        )
        events = await read_events(reader, objects.deployments, name)
        now, (workload,) = self.session.now(), objects.workloads
        summary = workload_view(workload, objects.deployments, objects.instances, now, revisions)
        detail = workload_detail(workload, summary, events, now)
        return description(detail, self.session.target.where, now)

    async def events(self, name: str) -> list[str]:
        reader = ProjectReader(self.session.client, self.session.namespace)
        objects = await reader.of_workload(name)
        events = await read_events(reader, objects.deployments, name)
        return event_lines(events, self.session.now())
