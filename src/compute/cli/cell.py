"""`compute cell`: cutting cells off, and healing them, to see how the system copes."""

from collections.abc import Sequence
from pathlib import Path

import click
import msgspec

from compute.api import annotations, labels
from compute.api.karmada import MemberCluster
from compute.app.world_folder import WorldFolder, data_option, same_data_option
from compute.cli.startup import say
from compute.cli.up_status import asked, client
from kubekit.api.errors import Conflict
from kubekit.client.client import Client
from kubekit.runtime.reconciling.commit import merge_maps


@click.group()
@data_option
@click.pass_context
def command(context: click.Context, data: Path) -> int:
    """Cut cells off from everything else, and heal them."""
    context.obj = WorldFolder(data.resolve())
    return 0


@command.command()
@click.argument("name", metavar="CELL")
@same_data_option
@click.pass_obj
def cut(place: WorldFolder, name: str) -> int:
    """Let nothing in or out of CELL, or of every cell of a city.

    What runs there goes on; the project sees CellUnreachable once the cell's lease has run out.
    """
    for cell in _set(place, name, "true"):
        say(f"{cell} is cut off. `{place.command(f'cell heal {name}')}` ends that.")
    return 0


@command.command()
@click.argument("name", metavar="CELL")
@same_data_option
@click.pass_obj
def heal(place: WorldFolder, name: str) -> int:
    """Let CELL, or every cell of a city, speak to everybody again."""
    for cell in _set(place, name, None):
        say(f"{cell} is healed. It reports within half a minute.")
    return 0


def _set(place: WorldFolder, name: str, value: str | None) -> Sequence[str]:
    place.require()
    return asked(_change(place, name, value))


async def _change(place: WorldFolder, name: str, value: str | None) -> list[str]:
    async with client(place, "hub") as hub:
        clusters = (await hub.every(MemberCluster)).items
        meant = [cluster for cluster in clusters if _is_meant(cluster, name)]
        if not meant:
            known = ", ".join(sorted(cluster.metadata.name for cluster in clusters))
            raise click.ClickException(f"there is no cell or city {name}; cells: {known}")
        for cluster in meant:
            await _annotate(hub, cluster.metadata.name, value)
        return [cluster.metadata.name for cluster in meant]


async def _annotate(hub: Client, name: str, value: str | None) -> None:
    while True:
        cluster = await hub.get(MemberCluster, name)
        told = merge_maps(cluster.metadata.annotations, {annotations.CUT: value})
        metadata = msgspec.structs.replace(cluster.metadata, annotations=told)
        try:
            await hub.patch(cluster, msgspec.structs.replace(cluster, metadata=metadata))
        except Conflict:  # the engine writes what it hears of the cell
            continue
        return


def _is_meant(cluster: MemberCluster, name: str) -> bool:
    city = cluster.metadata.labels.get(labels.TOPOLOGY_CITY_CODE)
    return cluster.metadata.name == name or city == name.upper()
