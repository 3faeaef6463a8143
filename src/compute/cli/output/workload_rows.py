"""Workloads as rows of a table, and a line that counts them."""

import sys
from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from typing import Final

from compute.cli.output import phrases
from compute.cli.output.tables import fitting, plain, table
from compute.cli.output.terminal import styled, width
from compute.decide.health import HealthStatus
from compute.views.workloads import RevisionSummary, WorkloadView

HEADERS: Final = (
    "NAME", "HEALTH", "READY", "UP-TO-DATE", "CITIES", "PLACEMENTS", "IMAGE", "AGE", "WHY",
)  # fmt: skip
FLEET_HEADERS: Final = ("NAME", "HEALTH", "READY", "UPDATED", "CITIES", "AGE", "WHY")
# Left out on a narrow terminal, the first first: the health and its cause stay.
_LESS_IMPORTANT: Final = ("IMAGE", "PLACEMENTS", "AGE", "UP-TO-DATE", "UPDATED", "CITIES")
_COLOURS: Final = {
    HealthStatus.UNAVAILABLE: "red",
    HealthStatus.DEGRADED: "yellow",
    HealthStatus.UNKNOWN: "yellow",
    HealthStatus.PROGRESSING: "cyan",
    HealthStatus.AVAILABLE: "green",
}
_HEALTHS: Final = {health.value: health for health in HealthStatus}
_LONGEST_IMAGE: Final = 40


def workload_table(
    views: Sequence[WorkloadView], now: datetime, *, wide: bool, no_headers: bool = False
) -> str:
    """The Workloads as a table. On a narrow terminal it has fewer columns, unless it is wide."""
    headers = (*HEADERS[:-1], "INSTANCE TYPE", "REASON", HEADERS[-1]) if wide else HEADERS
    rows = [_row(view, now, wide=wide) for view in views]
    most = 0 if wide else width(sys.stdout)
    shown, cells = fitting(headers, rows, most, _LESS_IMPORTANT)
    return table(shown, cells, width=most, style=health_coloured, no_headers=no_headers)


def fleet_table(views: Sequence[WorkloadView], now: datetime, *, wide: bool) -> str:
    """The Workloads with the cause of each that is not well; on a narrow terminal as above."""
    rows = [
        (
            view.name,
            view.health.value,
            f"{view.ready}/{view.desired}",
            f"{view.updated}/{view.desired}",
            phrases.listed(view.codes),
            phrases.age(view.created_at, now),
            why(view),
        )
        for view in views
    ]
    most = 0 if wide else width(sys.stdout)
    headers, cells = fitting(FLEET_HEADERS, rows, most, _LESS_IMPORTANT)
    return table(headers, cells, width=most, style=health_coloured)


def why(view: WorkloadView) -> str:
    """The cause in the worst city, or that all is well."""
    for city in view.worst:
        return f"{city.city}: {city.why}"
    return view.message if view.health is not HealthStatus.AVAILABLE else phrases.NONE


def fleet_line(views: Sequence[WorkloadView]) -> str:
    """How many Workloads there are of each health, the worst first."""
    counted = Counter(view.health for view in views)
    parts = [
        f"{counted[health]} {health.value.lower()}" for health in HealthStatus if counted[health]
    ]
    return f"{phrases.counted(len(views), 'workload')}: {', '.join(parts)}"


def revision(active: RevisionSummary | None, now: datetime) -> str:
    """The active revision: its number, what changed, who changed it, and when."""
    if active is None:
        return "none recorded yet"
    by = f" by {active.actor}" if active.actor else ""
    when = f", {phrases.ago(active.at, now)}" if active.at else ""
    note = f' "{plain(active.note)}"' if active.note else ""
    return f"{active.number} ({active.changes}{by}{when}){note}"


def health_coloured(_: int, text: str) -> str:
    """A cell in the colour of the health that it names, if it names one."""
    health = _HEALTHS.get(text.strip())
    colour = _COLOURS.get(health) if health else None
    return styled(text, colour) if colour else text


def _row(view: WorkloadView, now: datetime, *, wide: bool) -> tuple[str, ...]:
    image = view.images or phrases.NONE
    if not wide and len(image) > _LONGEST_IMAGE:
        image = f"…{image[1 - _LONGEST_IMAGE :]}"
    cells = (
        view.name,
        view.health.value,
        f"{view.ready}/{view.desired}",
        f"{view.updated}/{view.desired}",
        phrases.listed(view.codes),
        str(view.placements),
        image,
        phrases.age(view.created_at, now),
    )
    reason = next((city.reason for city in view.worst), "") or phrases.NONE
    return (*cells, view.instance_type, reason, why(view)) if wide else (*cells, why(view))
