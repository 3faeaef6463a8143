"""What `compute secrets set` does."""

from collections.abc import Sequence

from compute.cli.change.stores.assignments import read_change
from compute.cli.change.stores.store_commands import check_name, set_values
from compute.cli.shell.session import in_project
from kubekit.api.kinds.core import Secret


def run(
    name: str,
    assignments: Sequence[str],
    files: Sequence[str],
    env_files: Sequence[str],
    output: str,
) -> int:
    """Run it. The arguments are those of the command."""
    check_name(Secret, name)
    change = read_change(assignments, files, env_files, hidden=True)
    return in_project(lambda session: set_values(session, Secret, name, change, output))
