"""`compute configmaps`: values that workloads read from ConfigMaps."""

from typing import Final

from compute.cli.shell.groups import Entry, LazyGroup

_COMMANDS: Final = {
    "list": Entry(
        "compute.cli.change.stores.configmap_list",
        "List ConfigMaps: keys, and which workloads use them.",
    ),
    "set": Entry(
        "compute.cli.change.stores.configmap_set",
        "Set values of a ConfigMap; create it where there is none.",
    ),
}

command: Final = LazyGroup(
    "configmaps",
    _COMMANDS,
    default="list",
    help="List ConfigMaps, and set their values. No value is printed.",
)
