"""The status of one Workload and of all, as lines."""

import sys
from collections.abc import Sequence
from datetime import datetime

from compute.cli.output import phrases
from compute.cli.output.city_rows import STATUS_HEADERS, city_table, next_steps, status_row
from compute.cli.output.tables import plain
from compute.cli.output.workload_rows import fleet_line, fleet_table, revision
from compute.cli.target.chosen import Target
from compute.views.workloads import WorkloadView


def fleet_screen(views: Sequence[WorkloadView], target: Target, now: datetime) -> list[str]:
    """All Workloads, as lines."""
    if not views:
        return [no_workloads(target)]
    return [*fleet_table(views, now, wide=False).split("\n"), "", fleet_line(views)]


def no_workloads(target: Target) -> str:
    return f"There are no workloads {target.inside}, namespace {target.namespace}."


def workload_screen(view: WorkloadView, target: Target, now: datetime) -> list[str]:
    """All about one Workload, as lines: the header, a row for each city, and what to type next."""
    lines = [
        ("Workload", f"{view.name} {target.inside}, namespace {view.namespace}"),
        ("Health", _health(view)),
        ("Image", view.images or "none: a virtual machine"),
        ("Type", f"{view.runtime}/{view.instance_type}"),
        ("Revision", revision(view.revision, now)),
        ("Created", f"{phrases.age(view.created_at, now)} ago"),
    ]
    header = [f"{label:<10} {plain(text)}" for label, text in lines]
    body = city_table(STATUS_HEADERS, [status_row(city, now) for city in view.cities])
    steps = next_steps(view.worst, sys.stdout)
    after = ["", "Next steps", *steps] if steps else []
    return [*header, "", *body, *after]


def _health(view: WorkloadView) -> str:
    return f"{view.health.value}: {view.message}"
