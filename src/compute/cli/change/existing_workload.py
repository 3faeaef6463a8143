"""A Workload that a command names, with a failure that helps where there is none.

It is apart from `workload_change`, because commands that only read should not import changes.
"""

from collections.abc import Iterable

from compute.api.compute import Workload
from compute.cli.exits import Exit, Failure
from compute.cli.shell.groups import nearest
from compute.cli.shell.session import Session
from compute.decide.overrides.annotated import cities_of
from compute.views.reading import ProjectReader
from kubekit.api.errors import NotFound


async def read_workload(session: Session, name: str) -> Workload:
    """The Workload; a failure that names the command which lists them where there is none."""
    try:
        return await session.client.get(Workload, name, session.namespace)
    except NotFound as error:
        if error.details is None or not error.details.name:
            raise  # the server does not serve Workloads, or has no such project
        raise await not_found(session, name) from error


async def not_found(session: Session, name: str) -> Failure:
    """The failure of a command whose Workload does not exist. It names the one that was meant."""
    known = await ProjectReader(session.client, session.namespace).if_served(Workload)
    near = nearest(name, (workload.metadata.name for workload in known or ()))
    hint = f"; did you mean {near}?" if near else ""
    where = f"{session.target.inside}, namespace {session.namespace}"
    return Failure(
        f"there is no workload {name} {where}{hint}",
        Exit.NOT_FOUND,
        next_step="compute workloads",
        reason="NotFound",
    )


def check_cities(workload: Workload, cities: Iterable[str]) -> None:
    """Refuse a city that the Workload does not run in, and name those that it does."""
    known = cities_of(workload)
    for city in cities:
        if city not in known:
            near = nearest(city, known)
            hint = f"did you mean {near}? " if near else ""
            name = workload.metadata.name
            raise Failure(
                f"workload {name} does not run in {city}: {hint}it runs in {', '.join(known)}",
                Exit.USAGE,
                next_step=f"compute status {name}",
                city=city,
            )
