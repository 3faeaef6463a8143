"""`compute workloads`: list, describe, edit and delete workloads. Alone it lists them."""

from typing import Final

from compute.cli.shell.groups import Entry, LazyGroup

_ENTRIES: Final = {
    "list": Entry("compute.cli.look.workload.workload_list", "List workloads with their health."),
    "get": Entry(
        "compute.cli.look.workload.workload_get", "Print a workload as the server has it."
    ),
    "describe": Entry(
        "compute.cli.look.workload.workload_describe",
        "Show all about a workload: status, template, events.",
    ),
    "edit": Entry("compute.cli.look.workload.workload_edit", "Edit a workload in your editor."),
    "set": Entry("compute.cli.look.workload.workload_set", "Set a field of a workload: its image."),
    "delete": Entry(
        "compute.cli.deploy.deletion.destroy",
        "Delete workloads in all cities.",
        aliases=("destroy", "rm"),
    ),
    "rollout": Entry(
        "compute.cli.change.rollout", "Follow, pause, restart and undo rollouts.", hidden=True
    ),
}

command: Final = LazyGroup(
    "workloads",
    _ENTRIES,
    default="list",
    help="List, describe, edit and delete workloads. `workloads` alone lists them.",
)
