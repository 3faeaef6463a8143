"""What a site needs before something is measured."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final

from bench.load.federation.managers import MANAGEMENT, STAND_INS
from bench.load.federation.orders import ALONE, policy
from bench.load.federation.site import CITIES
from bench.load.federation.trial import Trial
from bench.load.world.orders import allow
from compute.api.networking import LocationBinding
from compute.api.quota import ResourceGrant
from compute.api.resource_manager import Project, ProjectOwnerRef, ProjectSpec
from compute.app.manager.connections import SINGLE
from kubekit.api.kinds.core import Namespace
from kubekit.api.meta import Object, ObjectMeta
from kubekit.client.client import Client

_PAUSE: Final = 0.05


async def prepare_alone(trial: Trial) -> None:
    """A namespace on the hub, and its policies."""
    await trial.hub.create(Namespace(metadata=ObjectMeta(name=ALONE)))
    for city in CITIES:
        await trial.hub.create(policy(city))


async def prepare_managers(trial: Trial) -> None:
    """Start all managers, and wait until the project can have so many Instances."""
    await trial.managers.prepare()
    await trial.managers.start(MANAGEMENT, STAND_INS, *trial.managers.cells)
    owner = ProjectOwnerRef(kind="Organization", name="bench")
    project = Project(metadata=ObjectMeta(name=SINGLE), spec=ProjectSpec(owner_ref=owner))
    async with trial.site.client(trial.site.core) as core:
        await core.create(project)
        await _until(trial, lambda: _count(core, ResourceGrant), 1)
        await _until(trial, lambda: _count(trial.project, LocationBinding), len(CITIES))
        await allow(core, SINGLE, trial.sizes.burst + trial.sizes.burst_everywhere * len(CITIES))


async def _count(client: Client, kind: type[Object]) -> int:
    return len((await client.every(kind)).items)


async def _until(trial: Trial, count: Callable[[], Awaitable[int]], wanted: int) -> None:
    async with asyncio.timeout(trial.sizes.patience):
        while True:
            if await count() >= wanted:
                return
            await asyncio.sleep(_PAUSE)
