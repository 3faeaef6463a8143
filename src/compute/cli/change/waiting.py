"""The end of a rollout that a command started, for ``--wait``."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import timedelta

from compute.cli.change.rollout_follow import follow_rollout
from compute.cli.exits import Exit
from compute.cli.invocation import typed
from compute.cli.shell.prompts import notify
from compute.cli.shell.session import Session


@dataclass(frozen=True, slots=True)
class WaitChoice:
    """Whether to wait for the end of a rollout, how long, and how to show it."""

    wait: bool
    timeout: timedelta
    output: str


async def end_of_rollout(
    session: Session, name: str, choice: WaitChoice, cities: Collection[str] = ()
) -> Exit:
    """Follow the rollout to its end, or say how to. With -o json the data was printed before."""
    if not choice.wait:
        if choice.output == "table":
            notify(f"Watch it with: {typed(f'compute rollout status {name}')}")
        return Exit.OK
    return await follow_rollout(
        session, name, cities=cities, timeout=choice.timeout,
        output="table" if choice.output == "table" else "name",
    )  # fmt: skip


def notify_paused(name: str, cities: Collection[str]) -> None:
    """Say in which cities a change waits, and how it continues."""
    if cities:
        named = ", ".join(cities)
        resume = typed(f"compute rollout resume {name} --city {','.join(cities)}")
        notify(f"Paused in {named}: the change waits there. Continue with: {resume}")
