"""Random requests of users: projects and Workloads, created, changed, deleted and read back."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, replace
from random import Random
from typing import Final, Protocol

import msgspec

from compute.api.compute import Workload
from compute.api.resource_manager import Project, ProjectOwnerRef, ProjectSpec
from kubekit.api.errors import AlreadyExists, Conflict
from kubekit.api.meta import ObjectMeta
from kubekit.client.client import Client
from tests.integration import worlds
from tests.support.compute.world_process import WorldProcess

CITIES: Final = ("DFW", "LHR", "SIN")
HOME: Final = "demo"  # the project that always exists
OTHER: Final = "shop"  # the one that is created and deleted
NAMES: Final = ("web", "api", "job")
BUDGET: Final = 10  # Instances of a project, by its initial quota
_POLICIES: Final = ("OrderedReady", "Parallel")
_LOOK: Final = 0.02  # seconds until a name is tried again that is still in use


@dataclass(frozen=True, slots=True)
class Wish:
    """A Workload, as far as these users care."""

    cities: tuple[str, ...]
    replicas: int
    image: str
    policy: str

    @property
    def size(self) -> int:
        return len(self.cities) * self.replicas

    @classmethod
    def of(cls, workload: Workload) -> "Wish":
        (placement,) = workload.spec.placements
        sandbox, scale = workload.spec.template.spec.runtime.sandbox, placement.scale_settings
        assert sandbox is not None
        image = sandbox.containers[0].image
        policy = scale.instance_management_policy
        return cls(placement.city_codes, scale.min_replicas, image, policy)

    def workload(self, name: str) -> Workload:
        made = worlds.workload(
            name, self.cities, self.replicas, instance_management_policy=self.policy
        )
        return worlds.with_image(self.image)(made)


Wishes = Mapping[str, Mapping[str, Wish]]  # by project, then by the name of the Workload


class Step(Protocol):
    """One request of a user."""

    def after(self, wishes: Wishes) -> Wishes:
        """All requests once this one is acknowledged."""
        ...

    async def ask(self, world: WorldProcess) -> None:
        """Send the request until it is acknowledged."""
        ...


@dataclass(frozen=True, slots=True)
class ProjectStep:
    """A project to create or to delete."""

    project: str
    there: bool

    def after(self, wishes: Wishes) -> Wishes:
        others = {name: wanted for name, wanted in wishes.items() if name != self.project}
        return others | {self.project: {}} if self.there else others

    async def ask(self, world: WorldProcess) -> None:
        core = world.client("core")
        if self.there:
            owner = ProjectOwnerRef(kind="Organization", name="home")
            meta = ObjectMeta(name=self.project)
            await _made(core, Project(metadata=meta, spec=ProjectSpec(owner_ref=owner)))
        else:
            await core.delete(await core.get(Project, self.project))


@dataclass(frozen=True, slots=True)
class WorkloadStep:
    """A Workload to create or change, or to delete."""

    project: str
    name: str
    wish: Wish | None

    def after(self, wishes: Wishes) -> Wishes:
        asked = {name: wish for name, wish in wishes[self.project].items() if name != self.name}
        if self.wish is not None:
            asked[self.name] = self.wish
        return {**wishes, self.project: asked}

    async def ask(self, world: WorldProcess) -> None:
        user = world.client(f"project-{self.project}")
        present = await user.find(Workload, self.name, "default")
        if self.wish is None:
            assert present is not None
            await user.delete(present)
        elif present is None or present.deleting:
            await _made(user, self.wish.workload(self.name))
        else:
            await self._change(user, present, self.wish.workload(self.name))

    async def _change(self, user: Client, present: Workload, wanted: Workload) -> None:
        while True:
            try:
                await user.patch(present, msgspec.structs.replace(present, spec=wanted.spec))
            except Conflict:  # its status has changed
                present = await user.get(Workload, self.name, "default")
            else:
                return


async def standing(world: WorldProcess) -> Wishes:
    """The requests as the world has stored them, without objects that are being deleted."""
    projects = (await world.client("core").every(Project)).items
    return {
        each.metadata.name: await _asked(world.client(f"project-{each.metadata.name}"))
        for each in projects
        if not each.deleting
    }


def drawn(chance: Random, wishes: Wishes, usable: frozenset[str]) -> Step:
    """The next step of a user. Workloads are created only in projects that are known to be usable."""
    if chance.random() < 0.1:
        return ProjectStep(OTHER, OTHER not in wishes)
    project = chance.choice(sorted(usable & wishes.keys()))
    name = chance.choice(NAMES)
    present = wishes[project].get(name)
    if present is not None and chance.random() < 0.25:
        return WorkloadStep(project, name, None)
    left = BUDGET - sum(w.size for other, w in wishes[project].items() if other != name)
    while True:
        wish = _another(chance, present) if present else _new(chance)
        if wish.size <= left:
            return WorkloadStep(project, name, wish)
        if left == 0:
            return WorkloadStep(project, chance.choice(sorted(wishes[project])), None)


def _new(chance: Random) -> Wish:
    cities = tuple(chance.sample(CITIES, chance.choice((1, 2, 3))))
    return Wish(cities, chance.choice((1, 2, 3)), _image(chance), chance.choice(_POLICIES))


def _another(chance: Random, present: Wish) -> Wish:
    """The same with another image, or another number of Instances."""
    if chance.random() < 0.5:
        return replace(present, image=_image(chance))
    return replace(
        present, replicas=chance.choice([n for n in range(1, 5) if n != present.replicas])
    )


def _image(chance: Random) -> str:
    return f"registry.test/web:{chance.randrange(10**6)}"


async def _asked(user: Client) -> dict[str, Wish]:
    found = (await user.every(Workload)).items
    return {each.metadata.name: Wish.of(each) for each in found if not each.deleting}


async def _made(client: Client, wanted: Workload | Project) -> None:
    """Create an object, once its predecessor of the same name is gone."""
    while True:
        try:
            await client.create(wanted)
        except AlreadyExists:
            await asyncio.sleep(_LOOK)
        else:
            return
