"""`compute workloads get`: a workload as the server has it."""

from compute.cli.exits import Exit
from compute.cli.output.formats import output_option
from compute.cli.shell.commands import command as compute_command
from compute.cli.shell.parameters import workload_argument


@compute_command(
    examples=("compute workloads get web", "compute workloads get web -o json"),
    exits=(Exit.UNKNOWN, Exit.NOT_FOUND),
    target=True,
)
@workload_argument
@output_option("yaml", "json", "name", default="yaml")
def command(name: str, output: str) -> int:
    """Print a workload as the server has it, with the values of its environment variables.

    Fields that this version does not know are there, too.
    """
    from compute.cli.look.workload.workload_get_run import run  # noqa: PLC0415 -- not for help

    return run(name, output)
