"""Changes of a Workload that hold whatever others change at the same time.

A change is a function of the Workload as it is on the server, so a conflict is no reason to ask the
user: the object is read again and the same change is made to it.
"""

from collections.abc import Callable, Iterable
from typing import Final, NamedTuple

from compute.api.compute import Workload
from compute.cli.change.document_patch import patched
from compute.cli.exits import Exit, Failure
from compute.cli.shell.groups import nearest
from compute.cli.shell.session import Session
from compute.decide.overrides.annotated import cities_of
from compute.views.reading import ProjectReader
from kubekit.api.errors import Conflict, NotFound
from kubekit.client.options import WriteOptions

MANAGER: Final = "compute-cli"
WRITE: Final = WriteOptions(field_manager=MANAGER)
_ATTEMPTS: Final = 10


class Changed(NamedTuple):
    """A Workload before and after a change. Both are the same object if nothing was to change."""

    before: Workload
    after: Workload


async def read_workload(session: Session, name: str) -> Workload:
    """The Workload; a failure that names the command which lists them where there is none."""
    try:
        return await session.client.get(Workload, name, session.namespace)
    except NotFound as error:
        if error.details is None or not error.details.name:
            raise  # the server does not serve Workloads, or has no such project
        raise await not_found(session, name) from error


async def read_to_change(session: Session, name: str, cities: Iterable[str] = ()) -> Workload:
    """The Workload, which runs in these cities and is not being deleted."""
    workload = await read_workload(session, name)
    if workload.deleting:
        raise Failure(
            f"workload {name} is being deleted; nothing was changed",
            Exit.CONFLICT,
            next_step=f"compute wait {name} --for deleted",
        )
    check_cities(workload, cities)
    return workload


async def change_workload(
    session: Session, name: str, change: Callable[[Workload], Workload]
) -> Changed:
    """Make a change, on the newest version of the Workload."""
    for _ in range(_ATTEMPTS):
        workload = await read_workload(session, name)
        try:
            written = await patched(session.client, workload, change(workload), WRITE)
        except Conflict:
            continue
        return Changed(workload, written)
    raise Failure(
        f"workload {name} is being changed by another client all the time; nothing was changed",
        Exit.CONFLICT,
        next_step=f"compute rollout history {name}",
    )


async def not_found(session: Session, name: str) -> Failure:
    """The failure of a command whose Workload does not exist. It names the one that was meant."""
    known = await ProjectReader(session.client, session.namespace).if_served(Workload)
    near = nearest(name, (workload.metadata.name for workload in known or ()))
    hint = f"; did you mean {near}?" if near else ""
    where = f"{session.target.where}, namespace {session.namespace}"
    return Failure(
        f"there is no workload {name} in {where}{hint}",
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
