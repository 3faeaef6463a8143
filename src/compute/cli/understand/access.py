"""`compute access`: whether the project may use compute, and the request for it."""

from typing import Final

from compute.cli.shell.groups import Entry, LazyGroup

_COMMANDS: Final = {
    "status": Entry(
        "compute.cli.understand.access_status", "Show whether the project may use compute."
    ),
    "request": Entry("compute.cli.understand.access_request", "Request access to compute."),
}

command: Final = LazyGroup(
    "access",
    _COMMANDS,
    default="status",
    help="Show whether the project may use compute, or request it.",
)
