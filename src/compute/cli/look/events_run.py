"""What `compute events` does."""

import asyncio
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

import click

from compute.api.compute import Workload, WorkloadDeployment
from compute.cli.change.existing_workload import not_found
from compute.cli.exits import Exit
from compute.cli.look.interruption import ends_on_interrupt
from compute.cli.output import terminal
from compute.cli.output.event_table import EventTable
from compute.cli.output.formats import show_data
from compute.cli.shell.contact_notices import ContactNotices
from compute.cli.shell.prompts import notify
from compute.cli.shell.session import Session, in_project
from compute.cli.streams import has_reader, show
from compute.cli.understand.city_faults import refuse_unknown_cities
from compute.views.events import (
    EventFilter,
    EventOrigins,
    EventTimeline,
    EventView,
    timeline,
)
from compute.views.live import LiveObjects, live_objects
from compute.views.reading import ProjectReader
from kubekit.api.kinds.events import CoreEvent

_TABLES: Final = frozenset({"table", "wide"})
_WHOLE: Final = frozenset({"json", "yaml"})  # one document, which ends
_PATIENCE: Final = 60.0  # seconds; then the wait is repeated

ShowEvents = Callable[[Iterable[EventView]], None]


@dataclass(frozen=True, slots=True)
class _Request:
    """What the user asked for."""

    name: str
    cities: tuple[str, ...]
    since: timedelta | None
    watch: bool
    output: str


def run(
    name: str | None, *, cities: tuple[str, ...], watch: bool, since: timedelta | None, output: str
) -> int:
    """Run it. The arguments are those of the command."""
    if watch and output in _WHOLE:
        raise click.BadParameter(
            f"{output} is one document, and -w does not end; use -o jsonl", param_hint="'-o'"
        )
    request = _Request(name or "", cities, since, watch, output)
    with ends_on_interrupt():
        in_project(lambda session: _events(session, request))
    return Exit.OK


async def _events(session: Session, request: _Request) -> None:
    reader = ProjectReader(session.client, session.namespace)
    events, deployments, workload = await asyncio.gather(
        reader.all(CoreEvent),
        reader.if_served(WorkloadDeployment),
        reader.if_found(Workload, request.name) if request.name else _none(),
    )
    after = None if request.since is None else session.now() - request.since
    wanted = EventFilter(request.name, request.cities, after)
    known = timeline(events, EventOrigins.of(deployments or ()), wanted)
    lines = known.lines()
    if request.name and workload is None:
        await _explain_absence(session, request.name, lines)
    if not lines:
        await refuse_unknown_cities(session, request.cities)
    shown = _shower(session, request, lines)
    shown(lines)
    if not request.watch and not lines and request.output in _TABLES:
        notify(_nothing(session, request))
    if request.watch:
        kinds = (CoreEvent, *(() if deployments is None else (WorkloadDeployment,)))
        await _follow(session, known, kinds, shown)


async def _follow(
    session: Session,
    known: EventTimeline,
    kinds: tuple[type[CoreEvent | WorkloadDeployment], ...],
    shown: ShowEvents,
) -> None:
    """Show each new event, until the user ends it."""
    async with live_objects(session.client, session.environment, session.namespace, *kinds) as live:
        contact = ContactNotices(live)
        while has_reader():
            await live.changed(_PATIENCE)
            contact.report()
            if live.complete and not contact.lost:
                shown(_news(live, known, kinds))


def _news(
    live: LiveObjects,
    known: EventTimeline,
    kinds: tuple[type[CoreEvent | WorkloadDeployment], ...],
) -> list[EventView]:
    """The lines that were added or changed since the last time."""
    if WorkloadDeployment in kinds:
        known.origins = known.origins.with_deployments(live.all(WorkloadDeployment))
    events = live.all(CoreEvent)
    known.keep_only(event.metadata.uid for event in events)
    new = [line for event in events if (line := known.add(event))]
    return sorted(new, key=lambda line: line.time)


async def _none() -> None:
    return None


async def _explain_absence(session: Session, name: str, lines: tuple[EventView, ...]) -> None:
    """Refuse a name without events. Others are of a workload that is gone, or of one of its objects."""
    if not lines:
        raise await not_found(session, name)
    if any(line.workload == name for line in lines):
        notify(f"There is no workload {name} any more. What happened to it:")


def _nothing(session: Session, request: _Request) -> str:
    of = f"workload {request.name}" if request.name else session.target.where
    chosen = " that match" if request.cities or request.since is not None else ""
    return f"There are no events of {of}{chosen}. A server keeps an event for about an hour."


def _shower(session: Session, request: _Request, first: tuple[EventView, ...]) -> ShowEvents:
    """The function that prints events in the format that is asked for."""
    if request.output not in _TABLES:
        return lambda events: show_data(list(events), request.output)
    table = EventTable(
        first,
        session.now(),
        live=request.watch,
        wide=request.output == "wide",
        width=terminal.width(sys.stdout),
    )
    headed = False

    def shown(events: Iterable[EventView]) -> None:
        nonlocal headed
        for event in events:
            if not headed:
                show(terminal.styled(table.header(), "bold"))
                headed = True
            for line in table.lines(event).split("\n"):
                show(terminal.styled(line, "yellow") if event.is_warning else line)

    return shown
