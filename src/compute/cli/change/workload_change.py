"""Changes of a Workload that hold whatever others change at the same time.

A change is a function of the Workload as it is on the server, so a conflict is no reason to ask the
user: the object is read again and the same change is made to it.
"""

from collections.abc import Callable, Iterable
from typing import Final, NamedTuple

from compute.api.compute import Workload
from compute.cli.change.document_patch import patched
from compute.cli.change.existing_workload import check_cities, read_workload
from compute.cli.exits import Exit, Failure
from compute.cli.shell.session import Session
from kubekit.api.errors import Conflict
from kubekit.client.options import WriteOptions

MANAGER: Final = "compute-cli"
WRITE: Final = WriteOptions(field_manager=MANAGER)
_ATTEMPTS: Final = 10


class Changed(NamedTuple):
    """A Workload before and after a change. Both are the same object if nothing was to change."""

    before: Workload
    after: Workload


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
