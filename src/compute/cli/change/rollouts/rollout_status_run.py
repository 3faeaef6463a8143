"""What `compute rollout status` does."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from compute.cli.change.existing_workload import check_cities, read_workload
from compute.cli.change.rollout_follow import follow_rollout, show_once
from compute.cli.exits import Exit, Failure
from compute.cli.shell.session import Session, in_project
from compute.decide.workload import history
from compute.views.reading import ProjectReader


@dataclass(frozen=True, slots=True)
class _Wanted:
    name: str
    cities: Sequence[str]
    revision: int
    timeout: timedelta
    watch: bool
    output: str


def run(  # noqa: PLR0913, PLR0917 -- one parameter for each option
    name: str,
    cities: Sequence[str],
    revision: int | None,
    watch: bool,  # noqa: FBT001 -- the value of a flag
    timeout: timedelta,
    output: str,
) -> int:
    """Run it. The arguments are those of the command."""
    wanted = _Wanted(name, cities, revision or 0, timeout, watch, output)
    return in_project(lambda session: _status(session, wanted))


async def _status(session: Session, wanted: _Wanted) -> Exit:
    workload = await read_workload(session, wanted.name)
    check_cities(workload, wanted.cities)
    if wanted.revision:
        await _check_revision(session, wanted)
    if not wanted.watch:
        return await show_once(session, wanted.name, cities=wanted.cities, output=wanted.output)
    return await follow_rollout(
        session, wanted.name, cities=wanted.cities, timeout=wanted.timeout, output=wanted.output
    )


async def _check_revision(session: Session, wanted: _Wanted) -> None:
    known = await ProjectReader(session.client, session.namespace).history(wanted.name)
    active = history.current(known)
    if active is None or active.rev != wanted.revision:
        present = f"revision {active.rev} is" if active else "there is no revision yet"
        raise Failure(
            f"revision {wanted.revision} of {wanted.name} is not the active one: {present}",
            Exit.CONFLICT,
            next_step=f"compute rollout history {wanted.name}",
        )
