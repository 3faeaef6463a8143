"""The users of a simulated world: tenants with Workloads, owners of projects, and vandals.

Half of what tenants do comes in bursts on the same object, a few milliseconds to seconds apart:
that is where one incarnation meets the next.
"""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime, timedelta
from random import Random
from typing import Final

from msgspec.structs import replace

from compute.api import names
from compute.api.compute import Instance, Placement, Workload, WorkloadDeployment
from compute.api.instance_spec import InstanceTemplate
from compute.api.karmada import PropagationPolicy
from compute.api.karmada_work import ResourceBinding, Work
from compute.api.quota import Allowance, GrantBucket, ResourceGrant
from compute.api.resource_manager import Project, ProjectOwnerRef, ProjectSpec
from compute.app.planes import CORE, SYSTEM, OpenPlanes, PlaneRef
from compute.decide import joins, overrides
from compute.decide.conditions import is_true
from compute.decide.overrides.annotated import cities_of
from compute.decide.quota import INSTANCE_TYPES, INSTANCES, MEMORY, VCPUS
from kubekit.api.errors import AlreadyExists, ApiError, NotFound
from kubekit.api.kinds.core import ConfigMap
from kubekit.api.meta import Object, ObjectMeta
from kubekit.client.client import Client
from kubekit.plane.local import LocalClient
from tests.sim.trace import Trace
from tests.support.compute import builders

CITIES: Final = ("DFW", "LHR", "SIN")
WORKLOADS: Final = ("web", "api")
GAPS: Final = (0.005, 0.02, 0.1, 0.5, 5.0)  # seconds between the steps of a burst
PAUSES: Final = (5.0, 30.0, 120.0)  # seconds between bursts
_PATIENCE: Final = 40  # tries to make what has a predecessor that is not gone yet
_NAMESPACE: Final = "default"
_SIZE: Final = INSTANCE_TYPES["datumcloud/d1-standard-2"]


class Tenant:
    """A user with Workloads in a project, which change often."""

    def __init__(self, project: str, planes: OpenPlanes, chance: Random, trace: Trace) -> None:
        self._project = project
        self._planes = planes
        self._chance = chance
        self._trace = trace
        self._images = 0

    async def work(self, until: float) -> None:
        """One burst after the other, until that time of the loop."""
        while asyncio.get_running_loop().time() < until:
            name = self._chance.choice(WORKLOADS)
            for _ in range(self._chance.choice((1, 1, 2, 4))):
                with suppress(ApiError):  # a concurrent write; the step is skipped
                    await self._step(name)
                await asyncio.sleep(self._chance.choice(GAPS))
            await asyncio.sleep(self._chance.choice(PAUSES))

    async def _step(self, name: str) -> None:
        client = self._client()
        if client is None:
            return
        present = await client.find(Workload, name, _NAMESPACE)
        if present is None or present.deleting:
            await self._create(client, name)
            return
        act = self._chance.choice(
            (
                *(self._scale, self._scale, self._roll, self._roll, self._move, self._hold),
                *(self._restart, self._pin, self._replace),
            )
        )
        match self._chance.randrange(10):
            case 0 | 1:
                await self._delete(client, present)
            case 2:
                await self._delete(client, present)
                await asyncio.sleep(self._chance.choice(GAPS))
                await self._create(client, name)
            case 3:
                await self._kill(client, present)
            case _:
                changed = await client.patch(present, act(present))
                self._say(act.__name__[1:], changed)

    async def _create(self, client: Client, name: str) -> None:
        placements = tuple(
            self._placement(place)
            for place in ("home", "away")[: self._chance.choice((1, 1, 1, 1, 2))]
        )
        fresh = builders.workload(name, *placements, template=self._template())
        fresh = replace(fresh, metadata=ObjectMeta(name=name, namespace=_NAMESPACE))
        for _ in range(_PATIENCE):
            if await client.find(Workload, name, _NAMESPACE) is None:  # else it is refused in vain
                self._say("creates", await client.create(fresh))
                return
            await asyncio.sleep(0.25)

    async def _delete(self, client: Client, present: Workload) -> None:
        self._say("deletes", present)
        with suppress(NotFound):
            await client.delete(present)

    async def _kill(self, client: Client, present: Workload) -> None:
        """Delete a projection, which only hides it until it is shown again."""
        shown = (await client.list(Instance, _NAMESPACE)).items
        if shown:
            await client.delete(self._chance.choice(shown))

    def _scale(self, present: Workload) -> Workload:
        count = self._chance.choice((0, 1, 1, 2, 3))
        return _with_placements(
            present,
            lambda p: replace(p, scale_settings=replace(p.scale_settings, min_replicas=count)),
        )

    def _roll(self, present: Workload) -> Workload:
        return replace(present, spec=replace(present.spec, template=self._template()))

    def _move(self, present: Workload) -> Workload:
        return _with_placements(present, lambda p: replace(p, city_codes=self._cities()))

    def _hold(self, present: Workload) -> Workload:
        """Pause a rollout, or let it go on: in one city, or in all."""
        act = overrides.resumed if overrides.paused_cities(present) else overrides.paused
        return act(present, self._some(present))

    def _restart(self, present: Workload) -> Workload:
        return overrides.restarted(present, self._some(present), _now())

    def _pin(self, present: Workload) -> Workload:
        city = self._chance.choice(cities_of(present))
        return overrides.pinned(present, {city: (1, self._template())})

    def _replace(self, present: Workload) -> Workload:
        placement, city = self._chance.choice(tuple(joins.expected(present)))
        deployment = names.deployment(present.metadata.name, placement, city)
        name = names.instance(deployment, self._chance.choice((0, 0, 1, 2)))
        return overrides.replaced(present, (name,), _now())

    def _some(self, present: Workload) -> tuple[str, ...]:
        """One of its cities, or none, which means all of them."""
        return self._chance.choice(((), (self._chance.choice(cities_of(present)),)))

    def _placement(self, name: str) -> Placement:
        policy = self._chance.choice(("OrderedReady", "Parallel"))
        count = self._chance.choice((0, 1, 1, 2, 3))
        return builders.placement(
            name, *self._cities(), replicas=count, instance_management_policy=policy
        )

    def _cities(self) -> tuple[str, ...]:
        return tuple(sorted(self._chance.sample(CITIES, self._chance.choice((1, 2, 3)))))

    def _template(self) -> InstanceTemplate:
        self._images += 1
        bad = self._chance.choice(("does-not-exist", "crash", *[""] * 18))
        return builders.template(f"registry.test/web{bad}:{self._images}")

    def _client(self) -> Client | None:
        plane = self._planes.find(PlaneRef("project", self._project))
        return None if plane is None else LocalClient(plane, manager="kubectl")

    def _say(self, what: str, workload: Workload) -> None:
        spec, meta = workload.spec, workload.metadata
        scale = ", ".join(
            f"{p.name}: {p.scale_settings.min_replicas} in {'+'.join(p.city_codes)}"
            for p in spec.placements
        )
        image = spec.template.spec.runtime.sandbox
        shown = image.containers[0].image if image else ""
        self._trace.say(
            f"tenant@{self._project}",
            what,
            f"workload {meta.name} {meta.uid[:8]}",
            f"{shown} {scale}",
        )


class Owner:
    """The owner of projects: makes them, limits them, and now and then deletes one."""

    def __init__(self, project: str, planes: OpenPlanes, chance: Random, trace: Trace) -> None:
        self._project = project
        self._core = LocalClient(planes[CORE], manager="kubectl")
        self._chance = chance
        self._trace = trace

    async def make(self) -> None:
        owner = ProjectOwnerRef(kind="Organization", name="acme")
        fresh = Project(metadata=ObjectMeta(name=self._project), spec=ProjectSpec(owner_ref=owner))
        with suppress(AlreadyExists):
            await self._core.create(fresh)
            self._trace.say(f"owner@{self._project}", "creates", "project")

    async def is_ready(self) -> bool:
        project = await self._core.find(Project, self._project)
        return (
            project is not None
            and not project.deleting
            and is_true(project.status.conditions, "Ready")
        )

    async def work(self, until: float, *, removes: bool) -> None:
        """Now and then another limit; seldom the whole project goes, and comes again."""
        while asyncio.get_running_loop().time() < until:
            await asyncio.sleep(self._chance.expovariate(1 / 240.0))
            with suppress(ApiError):
                if removes and self._chance.random() < 0.2:
                    await self._replace()
                else:
                    await self.limit(self._chance.choice((2, 6, 12, 50)))

    async def limit(self, instances: int) -> None:
        """Let the project have so many Instances, of the one size there is."""
        grant = await self._core.find(ResourceGrant, names.grant(self._project), "milo-system")
        if grant is None:
            return
        self._trace.say(f"owner@{self._project}", "limits", f"to {instances}")
        amounts = {INSTANCES: 1, VCPUS: _SIZE.millicores, MEMORY: _SIZE.mebibytes}
        allowances = tuple(
            Allowance(resource_type=kind, buckets=(GrantBucket(amount=instances * amount),))
            for kind, amount in amounts.items()
        )
        await self._core.patch(
            grant, replace(grant, spec=replace(grant.spec, allowances=allowances))
        )

    async def _replace(self) -> None:
        present = await self._core.find(Project, self._project)
        if present is not None:
            self._trace.say(f"owner@{self._project}", "deletes", "project")
            await self._core.delete(present)
        await asyncio.sleep(self._chance.choice((0.1, 5.0, 60.0)))
        while await self._core.find(Project, self._project) is not None:  # noqa: ASYNC110 - polled from outside
            await asyncio.sleep(5.0)
        await self.make()


class Vandal:
    """A client that deletes objects of others; the controllers have to restore them."""

    def __init__(
        self, ref: PlaneRef, planes: OpenPlanes, chance: Random, harmed: Callable[[str, str], None]
    ) -> None:
        self._home = ref
        self._planes = planes
        self._chance = chance
        self._harmed = harmed

    async def work(self, until: float) -> None:
        """Now and then, until that time of the loop."""
        while asyncio.get_running_loop().time() < until:
            await asyncio.sleep(self._chance.expovariate(1 / 200.0))
            plane = self._planes.find(self._home)
            if plane is None:
                continue
            client = LocalClient(plane, manager="vandal")
            kind = self._chance.choice(_VICTIMS[self._home.role])
            there = (await client.every(kind)).items
            if there:
                with suppress(ApiError):  # it has gone, or changed, in between
                    victim = self._chance.choice(there)
                    description = f"vandal deletes {kind.__name__} {victim.metadata.name}"
                    self._harmed(victim.metadata.uid, description)
                    await client.delete(victim)


_VICTIMS: Final[dict[str, tuple[type[Object], ...]]] = {
    "project": (Instance, WorkloadDeployment),
    "hub": (Instance, WorkloadDeployment, Work, ResourceBinding, PropagationPolicy),
    "cell": (Instance, WorkloadDeployment),
}


class Weatherman:
    """How the machines of a cell behave, by its provider's settings."""

    def __init__(self, cell: PlaneRef, planes: OpenPlanes, chance: Random) -> None:
        self._client = LocalClient(planes[cell], manager="kubectl")
        self._chance = chance

    async def change(self) -> None:
        """Slow starts, failing boots, lost nodes: any of them."""
        settings = {
            "startSeconds": self._chance.choice(("0", "3", "1-20")),
            "stopSeconds": self._chance.choice(("0", "2", "0-20")),
            "bootFailureRate": self._chance.choice(("0", "0.3")),
            "crashRate": self._chance.choice(("0", "0", "0.2")),
            "lostNodes": self._chance.choice(("", "", "node-1")),
        }
        await self._put({key: value for key, value in settings.items() if value})

    async def calm(self) -> None:
        await self._put({})

    async def _put(self, data: dict[str, str]) -> None:
        meta = ObjectMeta(name="simulated-provider", namespace=SYSTEM)
        present = await self._client.find(ConfigMap, meta.name, meta.namespace)
        if present is None:
            await self._client.create(ConfigMap(metadata=meta, data=data))
        else:
            await self._client.patch(present, replace(present, data=data))


def _now() -> datetime:
    return builders.NOW + timedelta(seconds=asyncio.get_running_loop().time())


def _with_placements(present: Workload, change: Callable[[Placement], Placement]) -> Workload:
    placements = tuple(change(placement) for placement in present.spec.placements)
    return replace(present, spec=replace(present.spec, placements=placements))
