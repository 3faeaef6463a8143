"""`compute cell`: cuts cells off and heals them, to test failures."""

from pathlib import Path
from typing import Final

import click

from compute.cli.completion import values
from compute.cli.exits import Exit
from compute.cli.local.data_options import data_option
from compute.cli.shell.commands import command as command_of
from compute.cli.shell.groups import Entry, LazyGroup

_COMMANDS: Final = {
    "cut": Entry(
        "compute.cli.local.cell", "Cut a cell off from all other planes.", attribute="cut"
    ),
    "heal": Entry("compute.cli.local.cell", "Connect a cell again.", attribute="heal"),
}

command: Final = LazyGroup(
    "cell",
    _COMMANDS,
    help="Cut cells off from all other planes, and connect them again, to see what happens.",
)
_cell = click.argument("name", metavar="CELL|CITY", shell_complete=values.cells)
_wait = click.option("--wait", is_flag=True, help="Wait until the platform has noticed.")


@command_of(
    name="cut",
    examples=("compute cell cut lhr", "compute cell cut LHR --wait"),
    exits=(Exit.NOT_FOUND, Exit.UNKNOWN),
)
@_cell
@_wait
@data_option
def cut(name: str, wait: bool, data: Path) -> int:  # noqa: FBT001 -- the value of a flag
    """Cut a cell, or every cell of a city, off from all other planes.

    Instances there keep running. The project sees CellUnreachable once the cell has been silent for the
    --cell-timeout of `compute up`.
    """
    from compute.cli.local.cell_links import cut_cells  # noqa: PLC0415 -- help needs none of it

    cut_cells(data, name, wait=wait)
    return 0


@command_of(
    name="heal",
    examples=("compute cell heal lhr", "compute cell heal LHR"),
    exits=(Exit.NOT_FOUND, Exit.UNKNOWN),
)
@_cell
@_wait
@data_option
def heal(name: str, wait: bool, data: Path) -> int:  # noqa: FBT001 -- the value of a flag
    """Connect a cell, or every cell of a city, again."""
    from compute.cli.local.cell_links import heal_cells  # noqa: PLC0415 -- as above

    heal_cells(data, name, wait=wait)
    return 0
