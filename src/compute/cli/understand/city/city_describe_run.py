"""What `compute cities describe` does."""

from collections.abc import Iterator, Sequence
from datetime import datetime

from compute.api.cities import CITIES
from compute.cli.exits import Exit, Failure
from compute.cli.invocation import spelled, typed
from compute.cli.output import phrases
from compute.cli.output.formats import show_data
from compute.cli.output.tables import plain
from compute.cli.shell.session import Session, in_project
from compute.cli.streams import show
from compute.cli.understand.city_faults import city_fault
from compute.views.project.cities import (
    CityOfferView,
    SiteView,
    city_offers,
    found,
    usable,
)
from compute.views.project.city_reading import city_objects
from compute.views.reading import ProjectReader


def run(code: str, output: str) -> int:
    """Run it. The arguments are those of the command."""
    return in_project(lambda session: _describe(session, code, output))


async def _describe(session: Session, code: str, output: str) -> Exit:
    objects = await city_objects(ProjectReader(session.client, session.namespace))
    cities = city_offers(objects)
    city = found(code, cities)
    if city is None:
        raise _unknown(code, cities, session)
    if output == "table":
        show("\n".join(map(plain, _lines(city, session.now()))))
    else:
        show_data(city, output)
    return Exit.OK


def _unknown(word: str, cities: Sequence[CityOfferView], session: Session) -> Failure:
    """The failure for a city that is unknown, or not offered; with what was probably meant."""
    known = next(
        (
            c
            for c, city in CITIES.items()
            if word.casefold() in {c.casefold(), city.name.casefold()}
        ),
        "",
    )
    offered = ", ".join(usable(cities)) or "no city"
    if known:
        cause = f"{known} ({CITIES[known].name}) is not offered to {session.target.where}; it can use {offered}"
    else:
        codes = [city.code for city in cities]
        cause = city_fault(word, codes) or f"no city has the code {word}"
    return Failure(cause, Exit.NOT_FOUND, next_step="compute cities", reason="NotFound", city=known)


def _lines(city: CityOfferView, now: datetime) -> Iterator[str]:
    country = f", {city.place}" if city.place else ""
    yield f"{city.code} ({city.name}{country})"
    since = f", since {phrases.age(city.since, now)}" if city.since else ""
    yield f"  State:      {city.state}{since}"
    if city.note:
        yield f"  Why:        {city.note}"
    if city.location:
        yield f"  Location:   {city.location} ({city.location_class or 'no class'})"
    yield f"  Sites:      {', '.join(map(_site, city.sites)) or phrases.NONE}"
    yield f"  Instances:  {city.ready} of {city.instances} ready"
    yield f"  Workloads:  {', '.join(city.workloads) or phrases.NONE}"
    if city.reported_at:
        yield f"  Data:       {phrases.age(city.reported_at, now)} old: the cell last reported then"
    if city.next_step:
        yield f"  To do:      {spelled(city.next_step)}"
    elif city.instances:
        yield f"Next:  {typed(f'compute instances --city {city.code}')}"


def _site(site: SiteView) -> str:
    return f"{site.name} ({phrases.counted(site.instances, 'instance')}, {site.ready} ready)"
