"""What `compute rollout resume` does."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from compute.cli.change.waiting import WaitChoice, end_of_rollout
from compute.cli.change.workload_change import change_workload, read_to_change
from compute.cli.exits import Exit
from compute.cli.invocation import typed
from compute.cli.output.formats import show_views
from compute.cli.shell.prompts import notify
from compute.cli.shell.session import Session, in_project
from compute.cli.streams import show
from compute.decide.overrides import resumed
from compute.decide.overrides.city_pauses import is_wholly_paused
from compute.views.changes import PauseView, pause_view


@dataclass(frozen=True, slots=True)
class _Wanted:
    name: str
    cities: Sequence[str]
    wait: WaitChoice


def run(*, name: str, cities: Sequence[str], wait: bool, timeout: timedelta, output: str) -> int:
    """Run it. The arguments are those of the command."""
    wanted = _Wanted(name, cities, WaitChoice(wait, timeout, output))
    return in_project(lambda session: _resume(session, wanted))


async def _resume(session: Session, wanted: _Wanted) -> Exit:
    await read_to_change(session, wanted.name, wanted.cities)
    before, after = await change_workload(session, wanted.name, lambda w: resumed(w, wanted.cities))
    view = pause_view(before, after)
    if wanted.wait.output != "table":
        show_views("workload", [view], view, wanted.wait.output)
        return await end_of_rollout(session, wanted.name, wanted.wait, wanted.cities)
    where = f" in {', '.join(wanted.cities)}" if wanted.cities else ""
    if not view.changed_cities and not is_wholly_paused(before):
        show(f"workload/{view.name} is not paused{where}")
        return Exit.OK if not wanted.wait.wait else await _end(session, wanted)
    show(f"workload/{view.name} resumed{where}")
    _notify_rest(view)
    return await _end(session, wanted)


async def _end(session: Session, wanted: _Wanted) -> Exit:
    return await end_of_rollout(session, wanted.name, wanted.wait, wanted.cities)


def _notify_rest(view: PauseView) -> None:
    if view.paused_cities:
        rest = typed(f"compute rollout resume {view.name}")
        notify(f"Still paused: {', '.join(view.paused_cities)}. Continue there with: {rest}")
