"""`compute cities list`: the cities that the project can use, and why not the others."""

import sys
from collections.abc import Sequence
from datetime import datetime
from typing import Final

import click

from compute.cli.exits import Exit
from compute.cli.invocation import spelled
from compute.cli.output import phrases
from compute.cli.output.formats import output_option, show_data, show_names
from compute.cli.output.tables import table
from compute.cli.output.terminal import width
from compute.cli.shell.commands import command as compute_command
from compute.cli.shell.prompts import notify
from compute.cli.shell.session import Session, in_project
from compute.cli.streams import show
from compute.views.project.cities import CityOfferView, CityUsability, city_offers
from compute.views.project.city_reading import city_objects
from compute.views.reading import ProjectReader

_HEADERS: Final = ("CODE", "NAME", "REGION", "READY", "SITES", "INSTANCES", "NOTE")
_READY: Final = {CityUsability.READY: "yes", CityUsability.UNKNOWN: "unknown"}


@compute_command(
    examples=("compute cities", "compute cities list --all", "compute cities -o json"), target=True
)
@click.option("--all", "everywhere", is_flag=True, help="Also cities that are not offered.")
@output_option("table", "json", "yaml", "name")
def command(*, everywhere: bool, output: str) -> int:
    """List the cities that the project can use.

    A city that cannot be used now has the reason in NOTE. SITES are the cells that run instances
    of the project; INSTANCES are those that are ready, of all.
    """
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
