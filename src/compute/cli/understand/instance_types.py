"""`compute instance-types`: the sizes of instances."""

from typing import Final

from compute.cli.shell.groups import Entry, LazyGroup

_COMMANDS: Final = {
    "list": Entry("compute.cli.understand.instance_type_list", "List the sizes of instances."),
    "describe": Entry("compute.cli.understand.instance_type_describe", "Show one size."),
}

command: Final = LazyGroup(
    "instance-types",
    _COMMANDS,
    default="list",
    help="List and describe the sizes of instances.",
)
