"""Who runs a world out of a folder, and where: for the commands that come while it runs."""

import asyncio
import os
import shlex
import signal
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeVar

import click
import msgspec

from compute.app.folders import Folder
from compute.app.planes import core_directory
from kubekit.plane import write_private

_FILE: Final = "up.json"
POLL_SECONDS: Final = 0.05  # seconds between two looks
T = TypeVar("T")
ENVIRONMENT: Final = "COMPUTE_DATA"


class RunningState(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What a running world says of itself."""

    pid: int
    url: str
    started: str
    cities: tuple[str, ...] = ()
    version: str = ""


@dataclass(frozen=True, slots=True)
class WorldFolder:
    """A folder that a world is run out of."""

    data: Path

    @property
    def kubeconfig(self) -> Path:
        return self.data / "kubeconfig"

    @property
    def log(self) -> Path:
        return self.data / "up.log"

    def command(self, words: str) -> str:
        """A command about this world, as its user can type it from anywhere."""
        known = self.data == default_data().resolve()
        return f"compute {words}" + ("" if known else f" --data {shlex.quote(str(self.data))}")

    def pid(self) -> int:
        """The process that runs it; 0 where none does."""
        written = core_directory(self.data).process()
        return int(written) if written.isdecimal() else 0

    def state(self) -> RunningState | None:
        """What the process that runs it says, once it is ready."""
        try:
            state = msgspec.json.decode((self.data / _FILE).read_bytes(), type=RunningState)
        except (OSError, msgspec.MsgspecError):
            return None
        return state if state.pid == self.pid() else None

    def note(self, state: RunningState) -> None:
        write_private(self.data / _FILE, msgspec.json.encode(state))

    def forget(self) -> None:
        (self.data / _FILE).unlink(missing_ok=True)

    def require(self) -> RunningState:
        """What the running world says; or a sentence for somebody who thinks that there is one."""
        state = self.state()
        if state is None:
            begun = "is still starting; ask again in a moment"
            absent = f"is not running; `{self.command('up')}` starts it"
            raise click.ClickException(
                f"the world in {self.data} {begun if self.pid() else absent}"
            )
        return state

    async def stop(self, limit: float) -> bool:
        """Tell the process to end, and wait; whether it has ended in time."""
        pid = self.pid()
        if pid:
            os.kill(pid, signal.SIGTERM)
        ends = asyncio.get_running_loop().time() + limit
        while pid and self.pid() == pid:
            if asyncio.get_running_loop().time() > ends:
                return False
            await asyncio.sleep(POLL_SECONDS)
        return True


def default_data() -> Path:
    """Where a world is kept unless somebody says otherwise."""
    named = os.environ.get(ENVIRONMENT)
    if named:
        return Path(named)
    shared = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    return Path(shared) / "compute"


def data_option(function: Callable[..., T]) -> Callable[..., T]:
    """The option that names the folder of a world."""
    return click.option(
        "--data", metavar="DIR", type=Folder(path_type=Path, file_okay=False),
        default=default_data, show_default="~/.local/share/compute",
        help=f"The folder of the world; made if it is not there. Also by {ENVIRONMENT}.",
    )(function)  # fmt: skip


def same_data_option(function: Callable[..., T]) -> Callable[..., T]:
    """The same option behind the name of a subcommand, where people write it too."""
    return click.option(
        "--data", metavar="DIR", type=Folder(path_type=Path, file_okay=False),
        expose_value=False, callback=_meant, help="The folder of the world.",
    )(function)  # fmt: skip


def _meant(context: click.Context, _: click.Parameter, data: Path | None) -> None:
    if data is not None:
        context.obj = WorldFolder(data.resolve())
