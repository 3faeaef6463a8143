"""`compute doctor`: everything that can be wrong, each with its cause and one command."""

import click

from compute.cli.exits import Exit
from compute.cli.output.formats import output_option
from compute.cli.shell.commands import command as compute_command
from compute.cli.shell.parameters import optional_workload_argument


@compute_command(
    examples=(
        "compute doctor",
        "compute doctor web",
        "compute doctor web --fix",
        "compute doctor -o json",
    ),
    exits=(Exit.UNKNOWN, Exit.NOT_FOUND),
    target=True,
)
@optional_workload_argument
@click.option("--fix", is_flag=True, help="Repair what can be repaired without losing anything.")
@click.option(
    "-y", "--yes", "assume_yes", is_flag=True, help="Do not ask before --fix creates something."
)
@output_option("table", "json", "yaml", "jsonl")
def command(name: str | None, output: str, *, fix: bool, assume_yes: bool) -> int:
    """Check everything that can be wrong, and name the cause and one command for each problem.

    It checks the connection, the project, each workload and, if the platform runs on this machine, its
    process, disk and cells. With NAME it checks that workload, and what keeps it from running.

    --fix removes annotations without an effect and files of a process that is gone, and creates a
    missing network `default` after a question. It deletes nothing else.

    The code is 0 if nothing failed, warnings aside, and 1 if something did.
    """
    from compute.cli.understand.doctor_run import run  # noqa: PLC0415 -- not for help

    return run(name, output, fix=fix, assume_yes=assume_yes)
