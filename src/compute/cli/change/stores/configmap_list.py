"""`compute configmaps list`: ConfigMaps with their keys, and never a value."""

from compute.cli.exits import Exit
from compute.cli.output.formats import output_option
from compute.cli.shell.commands import command as compute_command


@compute_command(
    examples=("compute configmaps", "compute configmaps list -o wide"),
    exits=(Exit.UNKNOWN,),
    target=True,
)
@output_option("table", "wide", "json", "yaml", "name", "jsonl")
def command(output: str) -> int:
    """List ConfigMaps with their keys, and the workloads that use them. Values are not shown."""
    from compute.cli.change.stores.configmap_list_run import run  # noqa: PLC0415 -- not for help

    return run(output)
