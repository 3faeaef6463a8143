"""`compute workloads set`: sets one field of a workload."""

from typing import Final

from compute.cli.shell.groups import Entry, LazyGroup

_ENTRIES: Final = {
    "image": Entry(
        "compute.cli.look.workload.workload_image",
        "Set the image of containers, and follow the rollout.",
    )
}

command: Final = LazyGroup("set", _ENTRIES, help="Set a field of a workload: its image.")
