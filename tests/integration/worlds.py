"""Whole worlds on a virtual clock: every plane, controller, neighbour and cell, in one process.

    def test_it():
        run_story(story)                # async def story(world: Watched) -> None

Planes are in memory and leave no files behind, unless a folder is given. A story of hours takes a
second or two. Start with `run_story`; `Watched` has what stories use.
"""

import tempfile
from collections import Counter
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import cache
from itertools import count
from pathlib import Path
from typing import Any
from zlib import crc32

import msgspec

from compute.api import names
from compute.api.compute import Instance, Workload
from compute.api.quota import Allowance, GrantBucket, ResourceGrant
from compute.api.resource_manager import Project, ProjectOwnerRef, ProjectSpec
from compute.app.planes import SYSTEM, OpenPlanes, PlaneRef, Role, folder
from compute.app.sites import sites
from compute.app.world import World
from compute.decide.conditions import find
from compute.decide.quota import INSTANCE_TYPES, INSTANCES, MEMORY, VCPUS
from kubekit.api.kinds.core import ConfigMap, Namespace
from kubekit.api.meta import Object, ObjectMeta
from kubekit.client.client import Client, K
from kubekit.plane.plane import DATABASE, Plane
from kubekit.plane.registry.kinds import Kinds
from kubekit.plane.store.store import Store, StoreSettings
from tests.support.compute import builders, served_kinds
from tests.support.compute.user_stage import (
    UserStage,
    is_ready,
    is_served,
    reason_of,
    with_image,
    with_replicas,
)
from tests.support.kubekit.plane_worlds import environment
from tests.support.kubekit.stage import Observer
from tests.support.kubekit.virtual_time import run

__all__ = [
    "CITIES",
    "PROJECT",
    "Planes",
    "Story",
    "Watched",
    "is_ready",
    "is_served",
    "kinds",
    "message_of",
    "names_folder",
    "reason_of",
    "run_story",
    "running",
    "with_image",
    "with_replicas",
    "workload",
]

CITIES = ("DFW", "LHR", "SIN")
PROJECT = "shop"
SETTINGS = StoreSettings(sealed=frozenset())
_numbers = count()

Story = Callable[["Watched"], Coroutine[Any, Any, None]]


@cache
def kinds(role: Role) -> Kinds:
    """The kinds that a plane of this role serves, computed once."""
    groups = {each["spec"]["group"] for each in PlaneRef(role, role).definitions}
    return Kinds(
        tuple(
            kind
            for kind in served_kinds.everything()
            if not kind.custom or kind.resource.group in groups
        )
    )


@cache
def _placeholders() -> tempfile.TemporaryDirectory[str]:
    """The folder of the placeholder files, removed when the interpreter ends."""
    return tempfile.TemporaryDirectory(prefix="compute-worlds-")


def names_folder() -> Path:
    """The folder of the placeholder files of planes in memory."""
    return Path(_placeholders().name)


class Planes:
    """Planes in memory; with a folder, on disk, so that they can be opened again."""

    def __init__(self, data: Path | None = None) -> None:
        self._data = data
        self._number = next(_numbers)
        self._lives: Counter[PlaneRef] = Counter()

    async def open(self, ref: PlaneRef) -> Plane:
        # Different seeds, so that no two planes share a uid, not even two of the same name.
        self._lives[ref] += 1
        plane_environment = environment(crc32(f"{ref.context} {self._lives[ref]}".encode()))
        if self._data is not None:
            path = folder(self._data, ref) / DATABASE
            store = await Store.open(path, plane_environment, SETTINGS, threaded=False)
        else:
            path = names_folder() / f"{self._number}-{ref.context}.db"
            store = await Store.open(path, plane_environment, SETTINGS, threaded=False, vfs="memdb")
            path.with_name(f"{path.name}.lock").unlink()  # it is held by its descriptor
        return await Plane.on(store, kinds(ref.role), plane_environment)

    async def destroy(self, ref: PlaneRef) -> None:
        return


@dataclass
class Watched(Observer, UserStage):
    """A world and an observer of it. Planes are named core, hub, dfw and so on."""

    world: World = field(kw_only=True)

    def opened(self, ref: PlaneRef, plane: Plane) -> None:
        self.observe(ref.name, plane)

    def closing(self, ref: PlaneRef, plane: Plane) -> None:
        self.planes.pop(ref.name, None)

    @property
    def user(self) -> Client:
        """The client of the project's user."""
        return self.client(PROJECT)

    async def make_project(self, name: str = PROJECT) -> Project:
        owner = ProjectOwnerRef(kind="Organization", name="acme")
        project = Project(metadata=ObjectMeta(name=name), spec=ProjectSpec(owner_ref=owner))
        await self.client("core").create(project)
        return await self.named("core", Project, name, "", is_ready)

    async def deploy(self, workload: Workload) -> Workload:
        """Create a Workload, and wait until all of it is ready."""
        await self.user.create(workload)
        return await self.served(workload.metadata.name)

    async def change(
        self, name: str, changed: Callable[[Workload], Workload], project: str = PROJECT
    ) -> Workload:
        """Patch a Workload, as a user does."""
        client = self.client(project)
        present = await client.get(Workload, name, "default")
        return await client.patch(present, changed(present))

    async def instances(self, plane: str) -> list[str]:
        """The names of all Instances in a plane."""
        return sorted(i.metadata.name for i in (await self.client(plane).every(Instance)).items)

    async def space(self, project: str = PROJECT, namespace: str = "default") -> str:
        """What a namespace of a project is called on the hub and in cells."""
        found = await self.client(project).get(Namespace, namespace)
        return names.hub_namespace(found.metadata.uid)

    async def left(self, *kinds: type[Object]) -> dict[str, list[str]]:
        """The objects of these kinds that exist in any plane, by plane."""
        found = {}
        for plane in self.planes:
            client = self.client(plane)
            there = [
                f"{kind.__name__} {each.metadata.name}"
                for kind in kinds
                if self.planes[plane].kinds.find(
                    kind.RESOURCE.group, kind.RESOURCE.version, kind.RESOURCE.plural
                )
                for each in (await client.every(kind)).items
            ]
            if there:
                found[plane] = there
        return found

    async def limit(self, instances: int, project: str = PROJECT) -> None:
        """Change the grant of a project to the resources of this many Instances."""
        core = self.client("core")
        grants = (await core.every(ResourceGrant)).items
        (grant,) = [each for each in grants if each.metadata.name == names.grant(project)]
        size = INSTANCE_TYPES["datumcloud/d1-standard-2"]
        each = {INSTANCES: 1, VCPUS: size.millicores, MEMORY: size.mebibytes}
        allowances = tuple(
            Allowance(resource_type=kind, buckets=(GrantBucket(amount=instances * amount),))
            for kind, amount in each.items()
        )
        spec = msgspec.structs.replace(grant.spec, allowances=allowances)
        await core.patch(grant, msgspec.structs.replace(grant, spec=spec))

    async def set_provider(self, cell: str, **data: str) -> None:
        """Write the settings of the simulated provider of a cell."""
        await self.put(cell, ConfigMap(metadata=_meta("simulated-provider"), data=data))

    async def put(self, plane: str, wanted: K) -> K:
        """Create an object, or replace all but its metadata."""
        client, meta = self.client(plane), wanted.metadata
        present = await client.find(type(wanted), meta.name, meta.namespace)
        if present is None:
            return await client.create(wanted)
        return await client.patch(
            present, msgspec.structs.replace(wanted, metadata=present.metadata)
        )


@asynccontextmanager
async def running(
    cities: Sequence[str] = CITIES, data: Path | None = None, kind: type[World] = World
) -> AsyncIterator[Watched]:
    """A running world."""
    open_planes = OpenPlanes(Planes(data))
    world = kind(open_planes, sites(cities), environment())
    watched = Watched(world=world)
    open_planes.join(watched)
    try:
        await world.start()
        yield watched
        if world.failed.done():
            world.failed.result()
    finally:
        await world.stop()


def run_story(
    story: Story,
    cities: Sequence[str] = CITIES,
    data: Path | None = None,
    kind: type[World] = World,
) -> None:
    """Run a story in a world that has a project."""

    async def main() -> None:
        async with running(cities, data, kind) as watched:
            if PROJECT not in watched.planes:
                await watched.make_project()
            await story(watched)

    run(main())


def workload(
    name: str = "web", cities: Sequence[str] = CITIES, replicas: int = 1, **scale: Any
) -> Workload:
    """A Workload with one placement."""
    return builders.workload(name, builders.placement("home", *cities, replicas=replicas, **scale))


def message_of(obj: Any, kind: str) -> str:
    condition = find(obj.status.conditions, kind)
    return condition.message if condition else ""


def _meta(name: str) -> ObjectMeta:
    return ObjectMeta(name=name, namespace=SYSTEM)
