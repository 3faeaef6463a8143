"""`compute up status`, and the way of other commands to a world that runs."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

import click

from compute.api import labels
from compute.api.errors import ApiError
from compute.api.karmada import Cluster
from compute.api.resourcemanager import Project
from compute.app.cuts import is_cut
from compute.app.environment import system
from compute.app.running import Place, same_data_option
from compute.app.starting import say
from compute.client.http.client import HttpClient
from compute.client.kubeconfig import load
from compute.decide.conditions import find, is_true

T = TypeVar("T")


@click.command()
@same_data_option
@click.pass_obj
def status(place: Place) -> int:
    """Show whether the world runs, its cells and its projects."""
    state = place.require()
    clusters, projects = asked(_look(place))
    say(f"Up at {state.url} since {state.started}, process {state.pid}, in {place.data}\n")
    for cluster in clusters:
        city = cluster.metadata.labels.get(labels.TOPOLOGY_CITY_CODE, "-")
        say(f"cell     {cluster.metadata.name:<12} {city:<6} {_cell_state(place, cluster)}")
    for project in projects:
        say(f"project  {project.metadata.name:<19} {_project_state(project)}")
    return 0


def client(place: Place, context: str) -> HttpClient:
    """A client of one plane of the world that runs out of a folder."""
    environment = system()
    return HttpClient(load(environment, [place.kubeconfig], context), environment)


def asked(question: Coroutine[Any, Any, T]) -> T:
    """The answer of a running world; what it refuses is told in one sentence."""
    try:
        return asyncio.run(question)
    except ApiError as refusal:
        raise click.ClickException(refusal.message) from refusal


async def _look(place: Place) -> tuple[tuple[Cluster, ...], tuple[Project, ...]]:
    async with client(place, "hub") as hub, client(place, "core") as core:
        return (await hub.every(Cluster)).items, (await core.every(Project)).items


def _cell_state(place: Place, cluster: Cluster) -> str:
    ready = find(cluster.status.conditions, "Ready")
    if is_cut(cluster):
        return f"cut off; `{place.command(f'cell heal {cluster.metadata.name}')}` ends that"
    if ready is None or ready.status != "True":
        return ready.message or ready.reason if ready else "not heard of yet"
    return "Ready"


def _project_state(project: Project) -> str:
    if project.deleting:
        return "being deleted"
    return "Ready" if is_true(project.status.conditions, "Ready") else "not Ready yet"
