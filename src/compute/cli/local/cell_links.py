"""Cuts cells of a running world off, and connects them again: an annotation of their Clusters."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from compute.api import annotations, labels
from compute.api.conditions import ConditionType
from compute.api.karmada import MemberCluster
from compute.app.system_environment import system
from compute.app.world_folder import WorldFolder
from compute.app.world_status import client
from compute.cli.exits import Exit, Failure
from compute.cli.local.running_world import run_request, running
from compute.cli.startup import echo
from compute.decide.conditions import is_true
from compute.views.live import live_objects
from kubekit.api.errors import Conflict
from kubekit.api.meta import with_metadata
from kubekit.client.client import Client
from kubekit.runtime.reconciling.commit import merge_maps

_PAUSE: Final = 60.0  # seconds; the wait is for changes, and this only bounds one of them


def cut_cells(data: Path, name: str, *, wait: bool) -> None:
    """Cut a cell, or every cell of a city, off."""
    folder = WorldFolder(data.resolve())
    for cell in _set(folder, name, "true", wait=wait):
        known = ", and counts as unreachable" if wait else ""
        again = folder.command(f"cell heal {name}")
        echo(f"{cell} is cut off{known}. Connect it again with: {again}")


def heal_cells(data: Path, name: str, *, wait: bool) -> None:
    """Connect a cell, or every cell of a city, again."""
    for cell in _set(WorldFolder(data.resolve()), name, None, wait=wait):
        report = "and reports" if wait else "and reports within half a minute"
        echo(f"{cell} is connected again, {report}.")


def _set(folder: WorldFolder, name: str, value: str | None, *, wait: bool) -> Sequence[str]:
    running(folder)
    return run_request(_change(folder, name, value, wait=wait))


async def _change(folder: WorldFolder, name: str, value: str | None, *, wait: bool) -> list[str]:
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
        names = [cluster.metadata.name for cluster in named]
        if wait:
            await _noticed(hub, names, reachable=value is None)
        return names


async def _noticed(hub: Client, names: Sequence[str], *, reachable: bool) -> None:
    """Wait until the hub reports these cells as reachable, or as not reachable."""
    async with live_objects(hub, system(), "", MemberCluster) as live:
        await live.listed()
        while any(_is_ready(live.find(MemberCluster, name)) != reachable for name in names):
            await live.changed(_PAUSE)


def _is_ready(cluster: MemberCluster | None) -> bool:
    return cluster is not None and is_true(cluster.status.conditions, ConditionType.READY)


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
