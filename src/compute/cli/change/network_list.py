"""`compute networks list`: the networks of a project, and which workloads use each."""

from compute.cli.exits import Exit
from compute.cli.output.formats import output_option
from compute.cli.shell.commands import command as compute_command


@compute_command(
    examples=("compute networks", "compute networks list -o wide"),
    exits=(Exit.UNKNOWN,),
    target=True,
)
@output_option("table", "wide", "json", "yaml", "name", "jsonl")
def command(output: str) -> int:
    """List the networks of the project, whether each can be used, and which workloads use it."""
    from compute.cli.change.network_list_run import run  # noqa: PLC0415 -- not for help

    return run(output)
