"""What tests of the command line set up in a world without the command line: projects and Workloads."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Final, TypeVar

import msgspec

from compute.api import labels
from compute.api.compute import (
    Instance,
    Placement,
    ScaleSettings,
    Workload,
    WorkloadDeployment,
    WorkloadSpec,
)
from compute.api.conditions import ConditionType
from compute.api.karmada import MemberCluster
from compute.api.networking import LocationBinding, Network
from compute.api.resource_manager import Project, ProjectOwnerRef, ProjectSpec
from compute.app.system_environment import system
from compute.decide.conditions import is_true
from compute.views.live import live_objects
from kubekit.api.kinds.core import ConfigMap
from kubekit.api.meta import ObjectMeta
from kubekit.client.client import Client, K
from kubekit.client.http.client import HttpClient
from kubekit.client.kubeconfig import load
from tests.support.compute.builders import template

T = TypeVar("T")
LIMIT: Final = 60.0  # seconds for a step


def in_plane(data: Path, context: str, step: Callable[[Client], Awaitable[T]]) -> T:
    """The result of a step with a client of one plane of the world in a folder."""

    async def run() -> T:
        environment = system()
        async with HttpClient(
            load(environment, [data / "kubeconfig"], context), environment
        ) as client:
            return await asyncio.wait_for(step(client), LIMIT)

    return asyncio.run(run())


def make_project(data: Path, name: str) -> None:
    """Create a project, and wait until it is ready for Workloads."""

    async def create(core: Client) -> None:
        owner = ProjectOwnerRef(kind="Organization", name="tests")
        project = Project(metadata=ObjectMeta(name=name), spec=ProjectSpec(owner_ref=owner))
        await core.create(project)
        async with live_objects(core, system(), "", Project) as live:
            while not _is_ready(live.find(Project, name)):
                await live.changed(LIMIT)

    async def ready(project: Client) -> None:
        async with live_objects(project, system(), "default", Network) as networks:
            while not _is_ready(networks.find(Network, "default")):
                await networks.changed(LIMIT)
        async with live_objects(project, system(), "", LocationBinding) as cities:
            while len(cities.all(LocationBinding)) < wanted:
                await cities.changed(LIMIT)

    in_plane(data, "core", create)
    wanted = in_plane(data, "hub", _count_of_cities)
    in_plane(data, f"project-{name}", ready)


def make_workload(
    data: Path,
    project: str,
    name: str,
    *cities: str,
    image: str = "registry.example.test/team/web:1",
    replicas: int = 1,
) -> None:
    """Create a Workload with one placement, without waiting for anything."""
    placement = Placement(
        name="default", city_codes=cities, scale_settings=ScaleSettings(min_replicas=replicas)
    )
    workload = Workload(
        metadata=ObjectMeta(name=name, namespace="default"),
        spec=WorkloadSpec(placements=(placement,), template=template(image)),
    )

    async def create(client: Client) -> None:
        await client.create(workload)

    in_plane(data, f"project-{project}", create)


def settle(data: Path, project: str, kind: type[K], fits: Callable[[tuple[K, ...]], bool]) -> None:
    """Wait until the objects of a kind in the project fit."""

    async def wait(client: Client) -> None:
        async with live_objects(client, system(), "default", kind) as live:
            await live.listed()
            while not fits(live.all(kind)):
                await live.changed(LIMIT)

    in_plane(data, f"project-{project}", wait)


def has_reason(reason: str) -> Callable[[tuple[Instance | WorkloadDeployment, ...]], bool]:
    """Whether a condition of one of the objects has this reason."""

    def fits(objects: tuple[Instance | WorkloadDeployment, ...]) -> bool:
        return any(c.reason == reason for each in objects for c in each.status.conditions)

    return fits


def configure(
    data: Path,
    context: str,
    name: str,
    settings: Mapping[str, str] | None,
    *,
    namespace: str = "compute-system",
) -> None:
    """Write the ConfigMap of settings of a plane's services; None deletes it."""

    async def write(client: Client) -> None:
        wanted = ConfigMap(
            metadata=ObjectMeta(name=name, namespace=namespace), data=dict(settings or {})
        )
        existing = await client.find(ConfigMap, name, namespace)
        if existing is not None and settings is None:
            await client.delete(existing)
        elif existing is not None:
            await client.patch(existing, msgspec.structs.replace(existing, data=wanted.data))
        elif settings is not None:
            await client.create(wanted)

    in_plane(data, context, write)


async def _count_of_cities(hub: Client) -> int:
    """How many cities a project is offered once it is ready."""
    members = (await hub.every(MemberCluster)).items
    return len({each.metadata.labels.get(labels.TOPOLOGY_CITY_CODE) for each in members} - {None})


def _is_ready(of: Project | Network | None) -> bool:
    return of is not None and is_true(of.status.conditions, ConditionType.READY)
