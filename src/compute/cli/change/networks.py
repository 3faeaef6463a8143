"""`compute networks`: the networks that workloads are attached to."""

from typing import Final

from compute.cli.shell.groups import Entry, LazyGroup

_COMMANDS: Final = {
    "list": Entry(
        "compute.cli.change.network_list", "List networks, and which workloads use each."
    ),
    "create": Entry("compute.cli.change.network_create", "Create a network."),
}

command: Final = LazyGroup(
    "networks",
    _COMMANDS,
    default="list",
    help="List and create the networks that workloads are attached to.",
)
