"""Where the managers run: real servers with Karmada, or embedded planes with our engine."""

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final, Literal

from bench.load.federation import embedded
from compute.app.planes import CORE
from tests.peers.keeper import Keeper, Unstarted
from tests.peers.stack.running import RunningStack
from tools.peers import catalog

Engine = Literal["karmada", "embedded"]
CITIES: Final = ("DFW", "LHR")
_MODULES: Final[Mapping[Engine, str]] = {
    "karmada": "tests.peers.stack",
    "embedded": embedded.__name__,
}
_PROC: Final = Path("/proc")


class Site(RunningStack):
    """Planes in processes of their own, and the programs beside them."""

    def __init__(self, keeper: Keeper, engine: Engine) -> None:
        super().__init__(keeper)
        self.engine = engine
        self._planes_process = keeper.variables.get(embedded.PROCESS, "")

    @property
    def core(self) -> str:
        """The plane with the Project and its grant: on real servers it is the project's own."""
        return "project" if self.engine == "karmada" else CORE.name

    @property
    def audit_logs(self) -> dict[str, Path]:
        """What accounts asked of each plane; embedded planes write none of that form."""
        return {plane: self.audit_log(plane) for plane in self.planes}

    def processes(self) -> dict[str, str]:
        """The id of every process, by its name: each writes a log that is called like it."""
        found = {"planes and engine": self._planes_process} if self._planes_process else {}
        for entry in _PROC.iterdir():
            log = _output(entry) if entry.name.isdigit() else None
            if log is not None and log.parent == self.logs:
                found[log.stem] = entry.name
        return found | {"bench": str(os.getpid())}


@contextmanager
def running(engine: Engine) -> Iterator[Site]:
    """Start the planes; they end with the context, or with this process."""
    try:
        keeper = Keeper(_MODULES[engine], ["--cities", ",".join(CITIES)])
    except Unstarted as reason:
        raise SystemExit(f"the planes did not start: {reason}") from None
    keep = True
    try:
        yield Site(keeper, engine)
        keep = False
    finally:
        keeper.stop(keep=keep and engine == "karmada")
        if keeper.complaint:
            sys.stderr.write(f"the planes did not last: {keeper.complaint}\n")


def absent() -> str:
    """Why there can be no Karmada here; empty where it can run."""
    lacking = catalog.missing(catalog.chosen(()), catalog.folder())
    names = " ".join(each.name for each in lacking)
    return f"{names} not built: make peers" if lacking else ""


def _output(process: Path) -> Path | None:
    """The file that a process writes to; None where it has ended, or is not ours."""
    try:
        return (process / "fd" / "1").readlink()
    except OSError:
        return None
