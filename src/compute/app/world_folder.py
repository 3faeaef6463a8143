"""The folder of a world, and the process that runs a world from it."""

import asyncio
import os
import shlex
import signal
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import msgspec

from compute.app.data_folder import (
    ENVIRONMENT,
    KUBECONFIG,
    STATE,
    RunningState,
    default_data,
    written_state,
)
from compute.app.planes import core_directory
from kubekit.plane import write_private

__all__ = ["ENVIRONMENT", "POLL_SECONDS", "RunningState", "WorldFolder", "default_data"]

POLL_SECONDS: Final = 0.05


@dataclass(frozen=True, slots=True)
class WorldFolder:
    """A folder that a world runs from."""

    data: Path

    @property
    def kubeconfig(self) -> Path:
        return self.data / KUBECONFIG

    @property
    def log(self) -> Path:
        return self.data / "up.log"

    def command(self, arguments: str) -> str:
        """A command for this world, as the user can type it in any folder."""
        is_default = self.data == default_data().resolve()
        return f"compute {arguments}" + (
            "" if is_default else f" --data {shlex.quote(str(self.data))}"
        )

    def pid(self) -> int:
        """The process that runs the world; 0 where there is none."""
        written = core_directory(self.data).process()
        return int(written) if written.isdecimal() else 0

    def state(self) -> RunningState | None:
        """The state of the process that runs the world, once it is ready."""
        state = written_state(self.data)
        return state if state and state.pid == self.pid() else None

    def write_state(self, state: RunningState) -> None:
        write_private(self.data / STATE, msgspec.json.encode(state))

    def remove_state(self) -> None:
        (self.data / STATE).unlink(missing_ok=True)

    async def stop(self, limit: float) -> bool:
        """Send SIGTERM to the process and wait. Returns whether it ended in time."""
        pid = self.pid()
        if pid:
            os.kill(pid, signal.SIGTERM)
        deadline = asyncio.get_running_loop().time() + limit
        while pid and self.pid() == pid:
            if asyncio.get_running_loop().time() > deadline:
                return False
            await asyncio.sleep(POLL_SECONDS)
        return True
