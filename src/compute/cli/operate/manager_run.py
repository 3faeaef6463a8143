"""Runs a manager process until it is stopped."""

import asyncio
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final

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
from kubekit.runtime.serving.tls import TlsRefused

_HELP: Final = "compute manager --help"


def run(given: Mapping[str, Any]) -> int:
    """Run until SIGTERM or Ctrl-C. ``given`` is what click has read."""
    keep_standard_streams()
    process.harden()
    others = dict(given)
    with (
        _reported(),
        logs.log_to_stderr(others.pop("log_level")),
        asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner,
    ):
        stand_ins = parse_stand_ins(others.pop("stand_ins"))
        gates = parse_gates(others.pop("feature_gates"))
        runner.run(_run(ManagerOptions(stand_ins=stand_ins, gates=gates, **others)))
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
    except BadOption as error:
        raise Failure(str(error), Exit.USAGE, next_step=_HELP) from error
    except (BadConfig, Misconfigured, CheckFailed, TlsRefused, ListenFailed) as error:
        raise Failure(str(error)) from error
