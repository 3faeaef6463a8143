"""``--wait`` and ``--no-wait``, for the commands that start a rollout."""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from datetime import timedelta
from typing import TypeVar

import click

from compute.cli.change.rollout_follow import follow_rollout
from compute.cli.exits import Exit
from compute.cli.invocation import typed
from compute.cli.shell.parameters import timeout_option
from compute.cli.shell.prompts import notify
from compute.cli.shell.session import Session

T = TypeVar("T")

ROLLOUT_EXITS = (
    Exit.NOT_YET, Exit.FAILED, Exit.UNKNOWN, Exit.BLOCKED, Exit.NOT_FOUND, Exit.CONFLICT,
    Exit.TIMED_OUT, Exit.INTERRUPTED,
)  # fmt: skip
"""How a command that waits for a rollout can end."""


@dataclass(frozen=True, slots=True)
class WaitChoice:
    """Whether to wait for the end of a rollout, how long, and how to show it."""

    wait: bool
    timeout: timedelta
    output: str


def wait_options(*, default: bool) -> Callable[[Callable[..., T]], Callable[..., T]]:
    """``--wait/--no-wait`` and ``--timeout``. The command gets them as ``wait`` and ``timeout``."""

    def decorated(function: Callable[..., T]) -> Callable[..., T]:
        option = click.option(
            "--wait/--no-wait", " /--detach", "wait", default=default, show_default=True,
            help="Wait for the end of the rollout, which goes on without the command too.",
        )  # fmt: skip
        return option(timeout_option()(function))

    return decorated


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
