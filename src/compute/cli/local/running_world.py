"""The running world of a folder, for commands that need one."""

import asyncio
import logging
from collections.abc import Coroutine
from typing import Any, Final, TypeVar

from compute.app.world_folder import RunningState, WorldFolder
from compute.cli.exits import Exit, Failure
from compute.cli.shell.errors import failure_of
from kubekit.api.errors import ApiError

T = TypeVar("T")
_NOT_RUNNING: Final = "NotRunning"


def running(folder: WorldFolder) -> RunningState:
    """The state of the running world; a failure where none runs, or where it is still starting."""
    if state := folder.state():
        return state
    if folder.pid():
        raise Failure(
            f"the world in {folder.data} is still starting; try again in a moment",
            Exit.NOT_YET,
            next_step=folder.command("up status"),
        )
    raise Failure(
        f"the world in {folder.data} is not running",
        Exit.UNKNOWN,
        next_step=folder.command("up --detach"),
        reason=_NOT_RUNNING,
    )


def run_request(request: Coroutine[Any, Any, T]) -> T:
    """The result of a request to a running world. A refusal is a failure of the command."""
    logging.lastResort = None  # what a user has to know is printed, and in the user's words
    try:
        return asyncio.run(request)
    except ApiError as refusal:
        raise failure_of(refusal) from refusal
