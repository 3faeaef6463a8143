"""What `compute workloads describe` does."""

import asyncio
import sys
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Final

from compute.cli.change.existing_workload import read_workload
from compute.cli.exits import Exit
from compute.cli.look.event_lines import event_lines
from compute.cli.output import phrases
from compute.cli.output.city_rows import (
    STATUS_HEADERS,
    city_table,
    next_steps,
    status_row,
)
from compute.cli.output.formats import show_data
from compute.cli.output.runtime_lines import runtime_lines
from compute.cli.output.sections import condition_lines, header, section, words, wrapped_rows
from compute.cli.output.workload_rows import revision
from compute.cli.shell.session import Session, in_project
from compute.cli.streams import show
from compute.views.details.event_reading import read_events
from compute.views.details.workload_details import (
    PlacementView,
    WorkloadDetail,
    workload_detail,
)
from compute.views.reading import ProjectReader
from compute.views.workloads import WorkloadView, workload_view

_POLICIES: Final = {
    "OrderedReady": "one starts after the other is ready",
    "Parallel": "all start at once",
}


def run(name: str, *, show_values: bool, output: str) -> int:
    """Run it. The arguments are those of the command."""
    in_project(lambda session: _describe(session, name, output, show_values=show_values))
    return Exit.OK


async def _describe(session: Session, name: str, output: str, *, show_values: bool) -> None:
    detail = await _detail(session, name, show_values=show_values)
    if output in {"table", "wide"}:
        show("\n".join(description(detail, session.target.where, session.now())))
    else:
        show_data(detail, output)


async def _detail(session: Session, name: str, *, show_values: bool) -> WorkloadDetail:
    reader = ProjectReader(session.client, session.namespace)
    await read_workload(session, name)
    objects, revisions = await asyncio.gather(reader.of_workload(name), reader.known_history(name))
    events = await read_events(reader, objects.deployments, name)
    now, workload = session.now(), objects.workloads[0]
    summary = workload_view(workload, objects.deployments, objects.instances, now, revisions)
    return workload_detail(workload, summary, events, now, show_values=show_values)


def description(detail: WorkloadDetail, where: str, now: datetime) -> list[str]:
    """All about one Workload, as lines."""
    view = detail.summary
    return [
        *_header(view, where, now),
        "",
        *_cities(view, now),
        *section("Placements", wrapped_rows([_placement(p) for p in detail.placements])),
        *runtime_lines(detail.runtime),
        *section("Labels", words(f"{key}={value}" for key, value in sorted(detail.labels.items()))),
        *section("Set by users", words(_settings(detail, now))),
        *section("Conditions", condition_lines(detail.conditions, now)),
        *section("Events", event_lines(detail.events, now)),
        *_next_steps(view),
    ]


def _header(view: WorkloadView, where: str, now: datetime) -> list[str]:
    deleting = f"since {phrases.age(view.deleting_since, now)}" if view.deleting_since else ""
    return header(
        [
            ("Workload", f"{view.name} in {where}, namespace {view.namespace}"),
            ("Health", f"{view.health}: {view.message}"),
            ("Type", f"{view.runtime}/{view.instance_type}"),
            ("Revision", revision(view.revision, now)),
            ("Created", f"{phrases.age(view.created_at, now)} ago"),
            ("Deleting", deleting),
        ]
    )


def _cities(view: WorkloadView, now: datetime) -> list[str]:
    return city_table(STATUS_HEADERS, [status_row(city, now) for city in view.cities])


def _placement(placement: PlacementView) -> tuple[str, str, str]:
    few, most = placement.min_replicas, placement.max_replicas
    scale = phrases.counted(few, "instance") if most is None else f"{few}..{most} instances"
    follows = f", following {' and '.join(placement.metrics)}" if placement.metrics else ""
    text = f"{scale} per city{follows}; {_POLICIES.get(placement.policy, placement.policy)}"
    return placement.name, ", ".join(placement.cities), text


def _settings(detail: WorkloadDetail, now: datetime) -> Iterator[str]:
    view = detail.summary
    if view.paused_cities:
        yield f"Paused in {', '.join(view.paused_cities)}: changes of the template wait there"
    for city in view.cities:
        if city.pinned_revision is not None:
            yield f"{city.city} is pinned to revision {city.pinned_revision} by an undo"
    for restart in detail.restarts:
        yield f"{restart.city or 'All cities'} restarted {phrases.ago(restart.at, now)}"
    for name, at in detail.replaced_instances.items():
        yield f"Instance {name} replaced {phrases.ago(at, now)}"


def _next_steps(view: WorkloadView) -> Sequence[str]:
    steps = next_steps(view.worst, sys.stdout)
    return ["", "Next steps", *steps] if steps else []
