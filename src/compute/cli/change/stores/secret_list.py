"""`compute secrets list`: Secrets with their keys, and never a value."""

from compute.cli.change.stores.store_commands import list_stores
from compute.cli.exits import Exit
from compute.cli.output.formats import output_option
from compute.cli.shell.commands import command as compute_command
from compute.cli.shell.session import in_project
from kubekit.api.kinds.core import Secret


@compute_command(
    examples=("compute secrets", "compute secrets list -o wide"), exits=(Exit.UNKNOWN,), target=True
)
@output_option("table", "wide", "json", "yaml", "name")
def command(output: str) -> int:
    """List Secrets with their keys, and the workloads that use them. Values are not shown."""
    return in_project(lambda session: list_stores(session, Secret, output))
