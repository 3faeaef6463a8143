"""`compute up`: the whole world on this machine."""

from datetime import timedelta
from pathlib import Path
from typing import Final

import click

from compute.app.logs import LEVELS
from compute.cli.exits import Exit
from compute.cli.local.data_options import data_option
from compute.cli.local.up_status import status
from compute.cli.shell.commands import ComputeGroup
from compute.cli.shell.parameters import DURATION

_PORT: Final = 7443
_SHORTEST_TIMEOUT: Final = timedelta(seconds=5)  # of `compute.app.world_timing`, as a test checks


def _not_too_short(_: click.Context, parameter: click.Parameter, value: timedelta) -> timedelta:
    if value < _SHORTEST_TIMEOUT:
        raise click.BadParameter(
            f"a cell needs {_SHORTEST_TIMEOUT.seconds}s at least to answer",
            param=parameter,
        )
    return value


@click.group(
    cls=ComputeGroup,
    invoke_without_command=True,
    examples=(
        "compute up",
        "compute up --detach --cities DFW,LHR,SIN",
        "compute up --cities DFW,IAD --cell-timeout 5s",
    ),
    exits=(Exit.CONFLICT,),
)
@data_option
@click.option(
    "--cities", metavar="CODES", default="DFW,LHR,SIN", show_default=True,
    help="The cities to serve, one cell each; a city named twice has two. Existing cells stay.",
)  # fmt: skip
@click.option(
    "--project", metavar="NAME", default="demo", show_default=True,
    help='The first project, created if it is missing; "" for none.',
)  # fmt: skip
@click.option(
    "--port", type=click.IntRange(0, 65535), default=_PORT, show_default=True,
    help="The port to listen on, on the loopback; 0 takes any free port.",
)  # fmt: skip
@click.option(
    "--city-grace", metavar="DURATION", type=DURATION, default="5m", show_default=True,
    help="How long Workloads keep running in a city that is withdrawn, such as 90s.",
)  # fmt: skip
@click.option(
    "--replacement-grace", metavar="DURATION", type=DURATION, default="10m",
    show_default=True,
    help="How long a city that a Workload no longer names waits for progress of its replacement.",
)  # fmt: skip
@click.option(
    "--cell-timeout", metavar="DURATION", type=DURATION, default="40s", show_default=True,
    callback=_not_too_short,
    help="How long a cell is silent until it counts as unreachable, such as 5s.",
)  # fmt: skip
@click.option("--detach", is_flag=True, help="Leave it running in the background.")
@click.option(
    "--log-level", type=click.Choice(LEVELS), default="warning", show_default=True,
    help="The lowest level of log records on stderr.",
)  # fmt: skip
@click.pass_context
def command(context: click.Context, /, data: Path, **options: object) -> int:
    """Start the whole platform on this machine: planes, cells, and everything around them.

    All data is kept in DIR, which is created if it is missing, also between runs. Commands find it by
    themselves; kubectl needs DIR/kubeconfig.
    """
    context.obj = data.resolve()
    if context.invoked_subcommand:
        return 0
    from compute.cli.local.starting import start  # noqa: PLC0415 -- help needs none of it

    return start(data, options)


command.add_command(status)
