"""`compute rollout pause`: holds changes of the template back, everywhere or in some cities."""

from collections.abc import Sequence

from compute.cli.change.workload_change import change_workload, read_to_change
from compute.cli.exits import Exit
from compute.cli.invocation import typed
from compute.cli.output.formats import output_option, show_views
from compute.cli.shell.commands import command as compute_command
from compute.cli.shell.parameters import city_option, workload_argument
from compute.cli.shell.prompts import notify
from compute.cli.shell.session import Session, in_project
from compute.cli.streams import show
from compute.decide.overrides import paused
from compute.decide.overrides.city_pauses import is_wholly_paused
from compute.views.changes import PauseView, pause_view


@compute_command(
    examples=("compute rollout pause web", "compute rollout pause web --city LHR,SIN"),
    exits=(Exit.NOT_FOUND, Exit.CONFLICT),
    target=True,
)
@workload_argument
@city_option
@output_option("table", "json", "yaml", "name")
def command(name: str, cities: Sequence[str], output: str) -> int:
    """Hold back changes of the template, everywhere or in some cities.

    What runs keeps running; scaling and the replacement of broken instances go on. Without --city, cities
    that are added later are paused too.
    """
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
