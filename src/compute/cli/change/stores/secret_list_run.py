"""What `compute secrets list` does."""

from compute.cli.change.stores.store_commands import list_stores
from compute.cli.shell.session import in_project
from kubekit.api.kinds.core import Secret


def run(output: str) -> int:
    """Run it. The arguments are those of the command."""
    return in_project(lambda session: list_stores(session, Secret, output))
