"""`compute cell`: cuts cells off and heals them, to test failures."""

from collections.abc import Sequence
from pathlib import Path

import click

from compute.api import annotations, labels
from compute.api.karmada import MemberCluster
from compute.app.world_folder import WorldFolder
from compute.cli.local.data_options import data_option, same_data_option
from compute.cli.local.up_status import client, run_request
from compute.cli.startup import echo
from kubekit.api.errors import Conflict
from kubekit.api.meta import with_metadata
from kubekit.client.client import Client
from kubekit.runtime.reconciling.commit import merge_maps


@click.group()
@data_option
@click.pass_context
def command(context: click.Context, data: Path) -> int:
    """Cut cells off from all other planes, and heal them."""
    context.obj = WorldFolder(data.resolve())
    return 0


@command.command()
@click.argument("name", metavar="CELL")
@same_data_option
@click.pass_obj
def cut(folder: WorldFolder, name: str) -> int:
    """Cut CELL, or every cell of a city, off from all other planes.

    Instances there keep running. The project sees CellUnreachable once the cell's lease expires.
    """
    for cell in _set(folder, name, "true"):
        echo(f"{cell} is cut off. Connect it again with: {folder.command(f'cell heal {name}')}")
    return 0


@command.command()
@click.argument("name", metavar="CELL")
@same_data_option
@click.pass_obj
def heal(folder: WorldFolder, name: str) -> int:
    """Connect CELL, or every cell of a city, again."""
    for cell in _set(folder, name, None):
        echo(f"{cell} is connected again. It reports within half a minute.")
    return 0


def _set(folder: WorldFolder, name: str, value: str | None) -> Sequence[str]:
    folder.require()
    return run_request(_change(folder, name, value))


async def _change(folder: WorldFolder, name: str, value: str | None) -> list[str]:
    async with client(folder, "hub") as hub:
        clusters = (await hub.every(MemberCluster)).items
        named = [cluster for cluster in clusters if _is_named(cluster, name)]
        if not named:
            known = ", ".join(sorted(cluster.metadata.name for cluster in clusters))
            raise click.ClickException(f"there is no cell or city {name}; cells: {known}")
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
