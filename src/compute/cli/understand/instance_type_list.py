"""`compute instance-types list`: the sizes of instances."""

from compute.cli.output.formats import output_option
from compute.cli.shell.commands import command as compute_command


@compute_command(
    examples=("compute instance-types", "compute instance-types list -o json"), target=True
)
@output_option("table", "json", "yaml", "name", "jsonl")
def command(output: str) -> int:
    """List the sizes of instances.

    DEFAULT marks the one that `deploy` uses for a new workload. Without a server CITIES stays empty.
    """
    from compute.cli.understand.instance_type_list_run import run  # noqa: PLC0415 -- not for help

    return run(output)
