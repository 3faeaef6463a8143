"""`compute config`: the server and the project of all commands."""

from typing import Final

from compute.cli.shell.groups import Entry, LazyGroup

_SETTINGS: Final = "compute.cli.operate.config_settings"
_COMMANDS: Final = {
    "view": Entry("compute.cli.operate.config_view", "Show the server and the project, and why."),
    "use-project": Entry(_SETTINGS, "Choose the project of all commands.", attribute="use_project"),
    "use-context": Entry(
        _SETTINGS, "Choose a context of the kubeconfig, or `local`.", attribute="use_context"
    ),
    "set": Entry(
        _SETTINGS, "Set the context, the project or the namespace.", attribute="set_value"
    ),
    "unset": Entry(_SETTINGS, "Forget a choice.", attribute="unset_value"),
}

command: Final = LazyGroup(
    "config",
    _COMMANDS,
    default="view",
    help="Show and choose the server and the project of all commands.",
)
