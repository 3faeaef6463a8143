"""Where a world keeps its data, and what its process writes about itself there.

It imports nothing of a plane: every command that looks for a running world reads it.
"""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import msgspec

STATE: Final = "up.json"
KUBECONFIG: Final = "kubeconfig"
ENVIRONMENT: Final = "COMPUTE_DATA"


class RunningState(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What the process of a world writes about itself once it is ready."""

    pid: int
    url: str
    started: str
    cities: tuple[str, ...] = ()
    version: str = ""


def default_data(variables: Mapping[str, str] = os.environ) -> Path:
    """The default folder of a world."""
    named = variables.get(ENVIRONMENT)
    if named:
        return Path(named)
    home = variables.get("HOME")
    shared = (
        variables.get("XDG_DATA_HOME") or (Path(home) if home else Path.home()) / ".local/share"
    )
    return Path(shared) / "compute"


def is_world(data: Path) -> bool:
    """Whether the folder holds a world: no other folder has the database of its core plane."""
    return (data / "planes" / "core" / "plane.db").is_file()


def written_state(data: Path) -> RunningState | None:
    """What the last process of the world wrote; it may have ended since."""
    try:
        return msgspec.json.decode((data / STATE).read_bytes(), type=RunningState)
    except (OSError, msgspec.MsgspecError):
        return None
