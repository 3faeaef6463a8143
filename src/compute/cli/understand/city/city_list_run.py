"""What `compute cities list` does."""

import sys
from collections.abc import Sequence
from datetime import datetime
from typing import Final

from compute.cli.exits import Exit
from compute.cli.invocation import spelled
from compute.cli.output import phrases
from compute.cli.output.formats import show_data, show_names
from compute.cli.output.tables import table
from compute.cli.output.terminal import width
from compute.cli.shell.prompts import notify
from compute.cli.shell.session import Session, in_project
from compute.cli.streams import show
from compute.views.project.cities import CityOfferView, CityUsability, city_offers
from compute.views.project.city_reading import city_objects
from compute.views.reading import ProjectReader

_HEADERS: Final = ("CODE", "NAME", "REGION", "READY", "SITES", "INSTANCES", "NOTE")
_READY: Final = {CityUsability.READY: "yes", CityUsability.UNKNOWN: "unknown"}


def run(*, everywhere: bool, output: str) -> int:
    """Run it. The arguments are those of the command."""
    return in_project(lambda session: _list(session, output, everywhere=everywhere))


async def _list(session: Session, output: str, *, everywhere: bool) -> Exit:
    objects = await city_objects(ProjectReader(session.client, session.namespace))
    cities = city_offers(objects, everywhere=everywhere)
    match output:
        case "table":
            _show(cities, session)
        case "name":
            show_names("city", (city.code for city in cities))
        case _:
            show_data(cities, output)
    return Exit.OK


def _show(cities: Sequence[CityOfferView], session: Session) -> None:
    if not cities:
        notify(f"No city is offered to {session.target.where}.")
        return
    rows = [_row(city, session.now()) for city in cities]
    show(table(_HEADERS, rows, width=width(sys.stdout)))
    problems = [city for city in cities if city.note and city.state != CityUsability.NOT_OFFERED]
    if problems:
        notify(spelled(f"`compute cities describe {problems[0].code}` has more."))


def _row(city: CityOfferView, now: datetime) -> tuple[str, ...]:
    age = f" ({phrases.age(city.reported_at, now)} old)" if city.reported_at else ""
    return (
        city.code,
        city.name,
        city.place or phrases.NONE,
        _READY.get(city.state, "no"),
        phrases.listed((site.name for site in city.sites), most=2),
        f"{city.ready}/{city.instances}{age}" if city.instances else "0",
        city.note or phrases.NONE,
    )
