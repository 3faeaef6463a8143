"""``--wait`` and ``--no-wait``, for the commands that start a rollout."""

from collections.abc import Callable
from typing import Final, TypeVar

import click

from compute.cli.exits import Exit
from compute.cli.shell.parameters import timeout_option

T = TypeVar("T")

ROLLOUT_EXITS: Final = (
    Exit.NOT_YET, Exit.FAILED, Exit.UNKNOWN, Exit.BLOCKED, Exit.NOT_FOUND, Exit.CONFLICT,
    Exit.TIMED_OUT, Exit.INTERRUPTED,
)  # fmt: skip
"""How a command that waits for a rollout can end."""


def wait_options(*, default: bool) -> Callable[[Callable[..., T]], Callable[..., T]]:
    """``--wait/--no-wait`` and ``--timeout``. The command gets them as ``wait`` and ``timeout``."""

    def decorated(function: Callable[..., T]) -> Callable[..., T]:
        option = click.option(
            "--wait/--no-wait", " /--detach", "wait", default=default, show_default=True,
            help="Wait for the end of the rollout, which goes on without the command too.",
        )  # fmt: skip
        return option(timeout_option()(function))

    return decorated
