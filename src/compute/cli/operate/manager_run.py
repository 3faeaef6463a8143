"""Runs a manager process until it is stopped."""

import asyncio
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import msgspec
import uvloop

from compute.app import logs, process
from compute.app.manager.manager_process import ManagerProcess, manager_setup
from compute.app.manager.operator_config import BadConfig
from compute.app.manager.options import BadOption, ManagerOptions, parse_gates, parse_stand_ins
from compute.app.manager.startup_checks import CheckFailed
from compute.app.plane_server import stop_signal
from compute.app.system_environment import system
from compute.cli.exits import Exit, Failure
from compute.cli.startup import keep_standard_streams
from kubekit.client.connection import Misconfigured
from kubekit.runtime.serving.http_server import ListenFailed
from kubekit.runtime.serving.listen_address import AddressError
from kubekit.runtime.serving.tls import TlsRefused

_HELP: Final = "compute manager --help"


class _Given(msgspec.Struct, frozen=True):
    """The options of the command, as click has read them."""

    management: bool
    cell: bool
    provider: str
    pods_allow_root: bool
    stand_ins: str
    server_config: Path | None
    kubeconfig: Path | None
    federation_kubeconfig: Path | None
    federation_context: str
    cells_kubeconfig: Path | None
    city: str
    leader_elect: bool
    leader_elect_namespace: str
    health_probe_bind_address: str
    feature_gates: str
    log_level: str

    def options(self) -> ManagerOptions:
        shared = {
            name: value
            for name, value in msgspec.structs.asdict(self).items()
            if name not in {"stand_ins", "feature_gates", "log_level"}
        }
        gates = parse_gates(self.feature_gates)
        return ManagerOptions(stand_ins=parse_stand_ins(self.stand_ins), gates=gates, **shared)


def run(options: Mapping[str, object]) -> int:
    """Run until SIGTERM or Ctrl-C."""
    keep_standard_streams()
    given = _Given(**dict[str, Any](options))
    process.harden()
    with (
        _reported(),
        logs.log_to_stderr(given.log_level),
        asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner,
    ):
        runner.run(_run(given.options()))
    return Exit.OK


async def _run(options: ManagerOptions) -> None:
    stop = asyncio.ensure_future(stop_signal())
    await asyncio.sleep(0)  # let it install the signal handlers
    manager = ManagerProcess(manager_setup(options, system()))
    running = asyncio.ensure_future(manager.run())
    process.tune_interpreter()
    await asyncio.wait({stop, running}, return_when=asyncio.FIRST_COMPLETED)
    manager.stop()
    await running


@contextmanager
def _reported() -> Iterator[None]:
    """Turn an error of the configuration, or of a plane, into one sentence."""
    try:
        yield
    except (BadOption, AddressError) as error:
        raise Failure(str(error), Exit.USAGE, next_step=_HELP) from error
    except (BadConfig, Misconfigured, CheckFailed, TlsRefused, ListenFailed) as error:
        raise Failure(str(error)) from error
