"""`compute cell`: cuts cells off and heals them, to test failures."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

import click

from compute.api import annotations, labels
from compute.api.karmada import MemberCluster
from compute.app.world_folder import WorldFolder
from compute.app.world_status import client
from compute.cli.completion import values
from compute.cli.exits import Exit, Failure
from compute.cli.local.data_options import data_option
from compute.cli.local.running_world import run_request, running
from compute.cli.shell.commands import command as command_of
from compute.cli.shell.groups import Entry, LazyGroup
from compute.cli.startup import echo
from kubekit.api.errors import Conflict
from kubekit.api.meta import with_metadata
from kubekit.client.client import Client
from kubekit.runtime.reconciling.commit import merge_maps

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


@command_of(
    name="cut",
    examples=("compute cell cut lhr", "compute cell cut LHR"),
    exits=(Exit.NOT_FOUND, Exit.UNKNOWN),
)
@_cell
@data_option
def cut(name: str, data: Path) -> int:
    """Cut a cell, or every cell of a city, off from all other planes.

    Instances there keep running. The project sees CellUnreachable once the cell has been silent for the
    --cell-timeout of `compute up`.
    """
    folder = WorldFolder(data.resolve())
    for cell in _set(folder, name, "true"):
        echo(f"{cell} is cut off. Connect it again with: {folder.command(f'cell heal {name}')}")
    return 0


@command_of(
    name="heal",
    examples=("compute cell heal lhr", "compute cell heal LHR"),
    exits=(Exit.NOT_FOUND, Exit.UNKNOWN),
)
@_cell
@data_option
def heal(name: str, data: Path) -> int:
    """Connect a cell, or every cell of a city, again."""
    for cell in _set(WorldFolder(data.resolve()), name, None):
        echo(f"{cell} is connected again. It reports within half a minute.")
    return 0


def _set(folder: WorldFolder, name: str, value: str | None) -> Sequence[str]:
    running(folder)
    return run_request(_change(folder, name, value))


async def _change(folder: WorldFolder, name: str, value: str | None) -> list[str]:
    async with client(folder, "hub") as hub:
        clusters = (await hub.every(MemberCluster)).items
        named = [cluster for cluster in clusters if _is_named(cluster, name)]
        if not named:
            known = ", ".join(sorted(cluster.metadata.name for cluster in clusters))
            raise Failure(
                f"there is no cell or city {name}; cells: {known}",
                Exit.NOT_FOUND,
                next_step=folder.command("up status"),
            )
        for cluster in named:
            await _annotate(hub, cluster.metadata.name, value)
        return [cluster.metadata.name for cluster in named]


async def _annotate(hub: Client, name: str, value: str | None) -> None:
    while True:
        cluster = await hub.get(MemberCluster, name)
        merged = merge_maps(cluster.metadata.annotations, {annotations.CUT: value})
        try:
            await hub.patch(cluster, with_metadata(cluster, annotations=merged))
        except Conflict:  # the engine writes the status of the cell at the same time
            continue
        return


def _is_named(cluster: MemberCluster, name: str) -> bool:
    city = cluster.metadata.labels.get(labels.TOPOLOGY_CITY_CODE)
    return cluster.metadata.name == name or city == name.upper()
