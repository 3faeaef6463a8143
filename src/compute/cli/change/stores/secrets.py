"""`compute secrets`: values that workloads read from Secrets."""

from typing import Final

from compute.cli.shell.groups import Entry, LazyGroup

_COMMANDS: Final = {
    "list": Entry(
        "compute.cli.change.stores.secret_list", "List Secrets: keys, and which workloads use them."
    ),
    "set": Entry(
        "compute.cli.change.stores.secret_set",
        "Set values of a Secret; create it where there is none.",
    ),
}

command: Final = LazyGroup(
    "secrets",
    _COMMANDS,
    default="list",
    help="List Secrets, and set their values. No value is printed.",
)
