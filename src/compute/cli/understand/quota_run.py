"""What `compute quota` does."""

import sys
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Final

from compute.cli.exits import Exit
from compute.cli.output import phrases
from compute.cli.output.formats import show_data
from compute.cli.output.tables import indented, plain, table
from compute.cli.output.terminal import width
from compute.cli.shell.prompts import notify
from compute.cli.shell.session import Session, in_project
from compute.cli.streams import show
from compute.cli.understand.city_faults import refuse_unknown_cities
from compute.decide.quota.units import order, unit_of
from compute.views.project.quota import QuotaRow, QuotaView, QuotaWaiter, quota_view
from compute.views.project.quota_reading import QuotaReader

_HEADERS: Final = ("RESOURCE", "UNIT", "LIMIT", "USED", "AVAILABLE", "USAGE")
_WAITING: Final = ("INSTANCE", "CITY", "SINCE", "REASON", "NEEDS")
_INDENT: Final = 2


def run(*, cities: Sequence[str], constrained: bool, output: str) -> int:
    """Run it. The arguments are those of the command."""
    return in_project(lambda session: _quota(session, cities, output, constrained=constrained))


async def _quota(
    session: Session, cities: Sequence[str], output: str, *, constrained: bool
) -> Exit:
    objects = await QuotaReader(session.client, session.namespace).objects()
    view = quota_view(objects, project=session.project, cities=cities, constrained=constrained)
    await _check_cities(session, cities, view)
    if output != "table":
        show_data(view.rows, output)
    elif sections := list(_sections(view, session.now())):
        show("\n\n".join(sections))
    if not objects.buckets:
        notify("No limits: this server enforces no quota, or you may not read it.")
    elif not view.rows:
        notify("Nothing is used up.")
    return Exit.OK


async def _check_cities(session: Session, cities: Sequence[str], view: QuotaView) -> None:
    """Refuse a code that no city has. In a city that is known there may just be nothing."""
    there = {*view.cities, *(each.city for each in view.waiting)}
    empty = [code for code in cities if code not in there]
    await refuse_unknown_cities(session, empty)
    for code in empty:
        notify(f"Nothing runs in {code}.")


def _sections(view: QuotaView, now: datetime) -> Iterator[str]:
    columns = width(sys.stdout)
    if view.rows:
        yield table(_HEADERS, map(_row, view.rows), width=columns)
    if view.cities and view.rows:
        kinds = sorted({kind for use in view.use.values() for kind in use}, key=order)
        headers = ("CITY", *(unit_of(kind).display_name.upper() for kind in kinds))
        rows = [
            (city, *(_number(view.use[city].get(kind, 0)) for kind in kinds))
            for city in view.cities
        ]
        yield "\n".join(["Used in each city:", *indented(table(headers, rows).split("\n"))])
    if view.waiting:
        rows = [_waiter(each, now) for each in view.waiting]
        waiting = table(_WAITING, rows, width=columns and columns - _INDENT)
        yield "\n".join(["Waiting for quota:", *indented(waiting.split("\n"), _INDENT)])
        causes = dict.fromkeys(f"{each.reason}: {each.why}" for each in view.waiting if each.why)
        yield "\n".join(map(plain, causes))


def _row(row: QuotaRow) -> tuple[str, ...]:
    amounts = (_number(each) for each in (row.limit, row.used, row.available))
    usage = f"{phrases.bar(row.share)} {row.share:.0%}"
    return (row.display_name, row.unit or phrases.NONE, *amounts, usage)


def _waiter(waiter: QuotaWaiter, now: datetime) -> tuple[str, ...]:
    age = phrases.age(waiter.since, now)
    return waiter.instance, waiter.city, age, waiter.reason, waiter.needs


def _number(amount: float) -> str:
    return f"{amount:.15g}"
