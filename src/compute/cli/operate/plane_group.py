"""`compute plane`: a Kubernetes API from a folder, its users and its keys."""

from typing import Final

from compute.cli.shell.groups import Entry, LazyGroup

_COMMANDS: Final = {
    "serve": Entry("compute.cli.operate.plane_serve", "Serve a Kubernetes API from a folder."),
    "users": Entry("compute.cli.operate.plane_users", "Give users access to a plane or a project."),
    "keys": Entry("compute.cli.operate.plane_keys", "Show and change the keys that seal secrets."),
}

command: Final = LazyGroup(
    "plane",
    _COMMANDS,
    default="serve",
    help="Serve a Kubernetes API from a folder of this machine; its users and keys.",
)
