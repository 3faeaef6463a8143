"""What `compute rollout pause` does."""

from collections.abc import Sequence

from compute.cli.change.workload_change import change_workload, read_to_change
from compute.cli.exits import Exit
from compute.cli.invocation import typed
from compute.cli.output.formats import show_views
from compute.cli.shell.prompts import notify
from compute.cli.shell.session import Session, in_project
from compute.cli.streams import show
from compute.decide.overrides import paused
from compute.decide.overrides.city_pauses import is_wholly_paused
from compute.views.changes import PauseView, pause_view


def run(name: str, cities: Sequence[str], output: str) -> int:
    """Run it. The arguments are those of the command."""
    return in_project(lambda session: _pause(session, name, cities, output))


async def _pause(session: Session, name: str, cities: Sequence[str], output: str) -> Exit:
    await read_to_change(session, name, cities)
    before, after = await change_workload(session, name, lambda w: paused(w, cities))
    view = pause_view(before, after)
    if output != "table":
        show_views("workload", [view], view, output)
        return Exit.OK
    is_new = is_wholly_paused(after) and not is_wholly_paused(before)
    _show(view, cities, already=not (view.changed_cities or is_new))
    return Exit.OK


def _show(view: PauseView, cities: Sequence[str], *, already: bool) -> None:
    where = f" in {', '.join(cities)}" if cities else ""
    if already:
        show(f"workload/{view.name} is paused{where} already")
        return
    show(f"workload/{view.name} paused{where}")
    resume = f"compute rollout resume {view.name}"
    resume += f" --city {','.join(cities)}" if cities else ""
    notify("Changes of the template are held back there; scaling and repair go on.")
    notify(f"Continue with: {typed(resume)}")
