"""What `compute instances list` does."""

from collections.abc import Sequence
from typing import Final

import click
import msgspec

from compute.cli.exits import Exit
from compute.cli.invocation import typed
from compute.cli.look.interruption import ends_on_interrupt
from compute.cli.output.formats import show_views
from compute.cli.output.instance_rows import count_line, instance_table
from compute.cli.output.instance_screens import instance_screen
from compute.cli.shell.contact_notices import ContactNotices
from compute.cli.shell.prompts import notify
from compute.cli.shell.session import Session, in_project
from compute.cli.streams import has_reader, show
from compute.decide.instance_state import InstanceState
from compute.views.instance_reading import (
    INSTANCE_KINDS,
    InstanceList,
    LiveInstances,
    read_instances,
)
from compute.views.instances import InstanceFilter
from compute.views.live import live_objects
from compute.views.reading import ProjectReader

_TABLES: Final = frozenset({"table", "wide"})
_WATCHED: Final = _TABLES | {"jsonl"}
STATES: Final = {state.lower(): state for state in InstanceState}
_TICK: Final = 1.0  # seconds between two drawings while nothing changes


class _Wanted(msgspec.Struct, frozen=True):
    filter: InstanceFilter
    output: str
    no_headers: bool


def run(  # noqa: PLR0913 -- one parameter for each option
    *,
    workload: str,
    cities: Sequence[str],
    states: Sequence[str],
    watch: bool,
    no_headers: bool,
    output: str,
) -> int:
    """Run it. The arguments are those of the command."""
    if watch and output not in _WATCHED:
        raise click.BadParameter(
            f"{output} is one document, and -w does not end; use -o jsonl", param_hint="'-o'"
        )
    chosen = InstanceFilter(workload, cities, [STATES[state] for state in states])
    wanted = _Wanted(chosen, output, no_headers)
    if watch:
        with ends_on_interrupt():
            in_project(lambda session: _follow(session, wanted))
    else:
        in_project(lambda session: _list(session, wanted))
    return Exit.OK


async def _list(session: Session, wanted: _Wanted) -> None:
    reader = ProjectReader(session.client, session.namespace)
    now = session.now()
    found = await read_instances(reader, wanted.filter, now)
    if not found.views:
        await _refuse_unknown(session, wanted.filter)
    if wanted.output not in _TABLES:
        show_views("instance", found.views, list(found.views), wanted.output)
    elif found.views:
        wide = wanted.output == "wide"
        show(instance_table(found.views, now, wide=wide, no_headers=wanted.no_headers))
        notify(f"\n{count_line(found.views)}")
    else:
        _explain_absence(session, wanted.filter, found)


def _explain_absence(session: Session, wanted: InstanceFilter, found: InstanceList) -> None:
    where = f"{session.target.inside}, namespace {session.namespace}"
    if found.total:
        notify(f"None of the {found.total} instances {where} matches.")
    elif wanted.workload:
        notify(f"There are no instances {where}.")
        notify(f"What the workload waits for: {typed(f'compute status {wanted.workload}')}")
    else:
        notify(f"There are no instances {where}.")
        notify(f"Deploy some with: {typed('compute deploy web --image IMAGE --city CITY')}")


async def _refuse_unknown(session: Session, wanted: InstanceFilter) -> None:
    """Refuse a name or a code that does not exist: it is a slip, and not an empty list."""
    if not (wanted.workload or wanted.cities):
        return
    from compute.cli.change.existing_workload import read_workload  # noqa: PLC0415 -- only then
    from compute.cli.understand.city_faults import refuse_unknown_cities  # noqa: PLC0415 -- as above

    if wanted.workload:
        await read_workload(session, wanted.workload)
    await refuse_unknown_cities(session, wanted.cities)


async def _follow(session: Session, wanted: _Wanted) -> None:
    """Show the Instances again at each change, until the user ends it."""
    await _refuse_unknown(session, wanted.filter)
    reader = ProjectReader(session.client, session.namespace)
    screen = instance_screen(wanted.output)
    try:
        async with live_objects(
            session.client, session.environment, session.namespace, *INSTANCE_KINDS
        ) as live:
            instances = LiveInstances(live, reader, wanted.filter)
            contact = ContactNotices(live)
            while has_reader():
                await live.changed(_TICK)
                if contact.report():
                    screen.restart()
                if live.complete and not contact.lost:
                    now = session.now()
                    screen.show(await instances.views(now), now)
    finally:
        screen.close()
