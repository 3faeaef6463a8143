"""`compute cities`: where the project can run instances."""

from typing import Final

from compute.cli.shell.groups import Entry, LazyGroup

_COMMANDS: Final = {
    "list": Entry(
        "compute.cli.understand.city.city_list", "List the cities that the project can use."
    ),
    "describe": Entry(
        "compute.cli.understand.city.city_describe",
        "Show one city: its state, and what runs there.",
    ),
}

command: Final = LazyGroup(
    "cities",
    _COMMANDS,
    default="list",
    help="List and describe the cities that the project can use.",
)
