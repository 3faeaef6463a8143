"""`compute instances`: list, describe and replace instances. Alone it lists them."""

from typing import Final

from compute.cli.shell.groups import Entry, LazyGroup

_ENTRIES: Final = {
    "list": Entry(
        "compute.cli.look.instance_list", "List instances: where each runs, and in which state."
    ),
    "describe": Entry(
        "compute.cli.look.instance_describe", "Show why an instance does not run, and all about it."
    ),
    "delete": Entry(
        "compute.cli.look.instance_delete", "Replace an instance by a new one.", aliases=("rm",)
    ),
}

command: Final = LazyGroup(
    "instances",
    _ENTRIES,
    default="list",
    help="List, describe and replace instances. `instances` alone lists them.",
)
