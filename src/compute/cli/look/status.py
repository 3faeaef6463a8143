"""`compute status`: which city is stuck, why, and what to type next."""

from compute.cli.exits import Exit
from compute.cli.output.formats import output_option
from compute.cli.shell.commands import command as compute_command
from compute.cli.shell.parameters import optional_workload_argument


@compute_command(
    examples=("compute status", "compute status web", "compute status web -o json"),
    exits=(Exit.NOT_FOUND,),
    target=True,
)
@optional_workload_argument
@output_option("table", "wide", "json", "yaml", "name")
def command(name: str | None, output: str) -> int:
    """Show which city is stuck, why, and what to type next.

    Without NAME it lists all workloads, the worst first.
    """
    from compute.cli.look.status_run import run  # noqa: PLC0415 -- not for help

    return run(name, output)
