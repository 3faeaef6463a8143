"""The cities that the project of the target is offered, where that can be found out."""

from compute.cli.exits import Failure
from compute.cli.shell.prompts import notify
from compute.cli.shell.session import Session, in_project
from compute.views.project.cities import city_offers, usable
from compute.views.project.city_reading import city_objects
from compute.views.reading import ProjectReader


def offered_cities() -> tuple[str, ...] | None:
    """Their codes; None, with the cause on stderr, where no server answers."""
    try:
        return in_project(_offered)
    except Failure as failure:
        notify(f"The cities are not known: {failure}")
        return None


async def _offered(session: Session) -> tuple[str, ...]:
    return usable(city_offers(await city_objects(ProjectReader(session.client, session.namespace))))
