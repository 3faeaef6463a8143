"""Stopping a world, and deleting its data."""

import asyncio
import shutil
from pathlib import Path
from typing import Final

from compute.app.data_folder import is_world
from compute.app.world_folder import WorldFolder
from compute.cli.exits import Exit, Failure
from compute.cli.shell.prompts import can_ask, confirmed
from compute.cli.startup import echo

_STOP_TIMEOUT: Final = 30.0  # seconds
_CORE: Final = "planes/core"
# Everything that a world writes. What else is in the folder belongs to the user, and stays.
_WRITTEN: Final = (
    "accounts.key", "audit.log", "audit.log.[0-9]*", "kubeconfig", "pki", "token", "tokens.json",
    "up.json", "up.log", "planes/cells", "planes/hub", "planes/projects", _CORE,
)  # fmt: skip


def stop(folder: WorldFolder) -> bool:
    """Stop the process of the world. Returns whether there was one."""
    pid = folder.pid()
    if not pid:
        return False
    echo(f"Stopping process {pid}")
    try:
        ended = asyncio.run(folder.stop(_STOP_TIMEOUT))
    except PermissionError as error:
        raise Failure(f"process {pid} belongs to another user") from error
    if not ended:
        raise Failure(
            f"process {pid} has not ended after {_STOP_TIMEOUT:g} s: see {folder.log}; "
            f"`kill -9 {pid}` ends it, and loses no acknowledged write",
            next_step=folder.command("up status"),
        )
    return True


def consent(folder: WorldFolder, command: str, *, yes: bool) -> bool:
    """Whether the data may be deleted. Without a terminal nothing is guessed."""
    data = folder.data
    if not is_world(data):
        raise Failure(f"{data} holds no world; nothing was deleted", Exit.NOT_FOUND)
    if yes:
        return True
    is_running = f", which is running (process {folder.pid()})" if folder.pid() else ""
    if not can_ask():
        raise Failure(
            f"this deletes all data of the world in {data}{is_running}: confirm it with -y",
            Exit.USAGE,
            next_step=folder.command(f"{command} -y"),
        )
    return confirmed(f"Delete all data of the world in {data}{is_running}?", default=False)


def delete_data(folder: WorldFolder) -> None:
    """Delete what the world has written. The core plane is last: it marks the folder as a world."""
    if folder.pid():
        raise Failure(
            f"the world in {folder.data} was started again; nothing was deleted",
            Exit.CONFLICT,
            next_step=folder.command("down"),
        )
    try:
        for pattern in _WRITTEN:
            for path in folder.data.glob(pattern):
                _delete(path)
        kept = _remaining(folder.data)
    except OSError as error:
        raise Failure(f"{error.filename}: cannot be deleted: {error.strerror}") from error
    echo(f"Deleted all data of the world in {folder.data}.")
    if kept:
        echo(f"Kept, because no world wrote it: {', '.join(kept)}")


def _delete(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink()


def _remaining(data: Path) -> list[str]:
    """The files that are no world's. Folders that are empty now are removed."""
    for folder in (data / "planes", data):
        if folder.is_dir() and not any(folder.iterdir()):
            folder.rmdir()
    return sorted(path.name for path in data.iterdir()) if data.is_dir() else []
