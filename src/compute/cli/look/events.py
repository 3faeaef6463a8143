"""`compute events`: what happened to a workload in all cities, in one timeline."""

from datetime import timedelta

import click

from compute.cli.exits import Exit
from compute.cli.output.formats import output_option
from compute.cli.shell.commands import command as compute_command
from compute.cli.shell.parameters import DURATION, city_option, optional_workload_argument


@compute_command(
    examples=(
        "compute events web",
        "compute events web --city DFW --since 10m",
        "compute events web -w",
    ),
    exits=(Exit.UNKNOWN, Exit.NOT_FOUND, Exit.INTERRUPTED),
    target=True,
)
@optional_workload_argument
@city_option
@click.option("-w", "--watch", is_flag=True, help="Go on with new events until Ctrl-C.")
@click.option(
    "--since", type=DURATION, metavar="DURATION", help="Only events of this time, such as 10m."
)
@output_option("table", "wide", "json", "yaml", "jsonl")
def command(
    name: str | None, *, cities: tuple[str, ...], watch: bool, since: timedelta | None, output: str
) -> int:
    """Show what happened to a workload, its deployments and its instances, the oldest first.

    Without NAME: what happened in the whole project. The events of all cities are in one timeline, also
    those of instances that are gone. A server keeps an event for about an hour.
    """
    from compute.cli.look.events_run import run  # noqa: PLC0415 -- not for help

    return run(name, cities=cities, watch=watch, since=since, output=output)
