"""The planes of the stack as a test reads them: typed clients, and waits with a limit."""

from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any, ClassVar, Self

from msgspec.structs import replace

from compute.api import names
from compute.api.compute import Instance, Workload, WorkloadDeployment
from compute.api.karmada import MemberCluster
from compute.api.networking import LocationBinding, Network
from compute.api.quota import Allowance, GrantBucket, ResourceClaim, ResourceGrant
from compute.api.resource_manager import Project, ProjectOwnerRef, ProjectSpec
from compute.decide.conditions import status_of
from compute.decide.quota import INSTANCE_TYPES, INSTANCES, MEMORY, VCPUS
from kubekit.api.errors import Timeout, Unavailable
from kubekit.api.kinds.core import Namespace
from kubekit.api.meta import ObjectMeta
from kubekit.client.client import Client
from tests.peers.deployed.platform import Platform
from tests.peers.stack.assembly import HUB, PROJECT
from tests.peers.stack.running import RunningStack
from tests.support.compute import builders
from tests.support.compute.user_stage import UserStage, is_ready

SINGLE = "single"
MANY = 40  # Instances that the project may have while no test limits it


class RealStage(UserStage):
    """All planes, by name, and one namespace of the project."""

    PAUSE: ClassVar[float] = 0.05
    TRANSIENT: ClassVar[tuple[type[Exception], ...]] = (Unavailable, Timeout)

    def __init__(self, stack: RunningStack, namespace: str) -> None:
        self.stack = stack
        self.namespace = namespace
        self._clients: dict[str, Client] = {}
        self._resources = AsyncExitStack()

    async def __aenter__(self) -> Self:
        for name in self.stack.planes:
            client = self.stack.client(name)
            self._clients[name] = await self._resources.enter_async_context(client)
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._resources.aclose()

    async def make_namespace(self) -> None:
        """Create the namespace of the stage."""
        await self.user.create(Namespace(metadata=ObjectMeta(name=self.namespace)))

    def client(self, name: str) -> Client:
        return self._clients[name]

    @property
    def user(self) -> Client:
        """The client of the project's user."""
        return self._clients[PROJECT]


class PlatformStage(RealStage):
    """The stack with our platform on it."""

    def __init__(self, platform: Platform, namespace: str) -> None:
        super().__init__(platform.stack, namespace)
        self.platform = platform

    async def deploy(
        self, name: str = "web", cities: Sequence[str] = ("DFW",), replicas: int = 1, **scale: Any
    ) -> Workload:
        """A Workload with one placement, once all of it is served."""
        await self.create(name, cities, replicas, **scale)
        return await self.served(name)

    async def create(
        self, name: str = "web", cities: Sequence[str] = ("DFW",), replicas: int = 1, **scale: Any
    ) -> Workload:
        """A Workload with one placement, as its user creates it."""
        placement = builders.placement("home", *cities, replicas=replicas, **scale)
        metadata = ObjectMeta(name=name, namespace=self.namespace)
        made = builders.workload(name, placement)
        return await self.user.create(replace(made, metadata=metadata))

    async def deploy_by_hand(self, name: str = "web", city: str = "DFW") -> WorkloadDeployment:
        """A deployment of one Instance, without a Workload."""
        made = builders.deployment(name=name, namespace=self.namespace, uid="", generation=0)
        return await self.user.create(replace(made, spec=replace(made.spec, city_code=city)))

    async def machines(self, city: str) -> dict[str, str]:
        """The uids of the Instances in the cell of a city, by name."""
        listed = await self.client(city.lower()).every(Instance, await self.hub_namespace())
        return {each.metadata.name: each.metadata.uid for each in listed.items}

    async def clear(self) -> None:
        """Delete what the namespace has, so that other stories have its quota."""
        for kind in (Workload, WorkloadDeployment):
            for each in (await self.user.every(kind, self.namespace)).items:
                if not each.deleting:
                    await self.user.delete(each)

        async def is_clear() -> bool:
            kinds = (Workload, WorkloadDeployment, Instance, ResourceClaim)
            left = [(await self.user.every(kind, self.namespace)).items for kind in kinds]
            return not any(left)

        await self.until(is_clear, 90.0, f"{self.namespace} to be clear")

    async def limit(self, instances: int) -> None:
        """Change the grant of the project to the resources of this many Instances."""

        async def found() -> ResourceGrant | None:
            grants = (await self.user.every(ResourceGrant)).items
            return next((g for g in grants if g.metadata.name == names.grant(SINGLE)), None)

        grant = await self.until(found, what="the grant of the project")
        size = INSTANCE_TYPES["datumcloud/d1-standard-2"]
        each = {INSTANCES: 1, VCPUS: size.millicores, MEMORY: size.mebibytes}
        allowances = tuple(
            Allowance(resource_type=kind, buckets=(GrantBucket(amount=instances * amount),))
            for kind, amount in each.items()
        )
        spec = replace(grant.spec, allowances=allowances)
        await self.user.patch(grant, replace(grant, spec=spec))

    @asynccontextmanager
    async def without(self, *programs: str) -> AsyncIterator[None]:
        """Programs are killed, and are back, and ready, at the end."""
        for name in programs:
            self.stack.kill(name)
        try:
            yield
        finally:
            for name in programs:
                await self.bring_back(name)

    async def bring_back(self, name: str) -> None:
        """Start a program again, and wait until it does its work."""
        self.stack.start(name)
        if name in self.platform.pods:
            await self.platform.ready(name)
        for cell in self.stack.cells:
            await self.cell_is(cell, "True")

    async def cell_is(self, cell: str, ready: str) -> None:
        """Wait until Karmada says of a cell that it is ready, or that it is not."""

        def reported(cluster: MemberCluster) -> bool:
            return status_of(cluster.status.conditions, "Ready") == ready

        await self.named(HUB, MemberCluster, cell, "", reported)

    async def make_project(self) -> None:
        """Create the only project, and wait until it can have Workloads."""
        owner = ProjectOwnerRef(kind="Organization", name="tests")
        project = Project(metadata=ObjectMeta(name=SINGLE), spec=ProjectSpec(owner_ref=owner))
        await self.user.create(project)
        await self.named(PROJECT, Network, "default", "default", is_ready)

        async def is_offered() -> bool:
            return len((await self.user.every(LocationBinding)).items) == len(self.stack.cells)

        await self.until(is_offered, what="a LocationBinding of each city")
        await self.limit(MANY)

    async def make_namespace(self) -> None:
        """Create the namespace, with a network like that of the first one."""
        await super().make_namespace()
        present = await self.user.get(Network, "default", "default")
        metadata = ObjectMeta(name="default", namespace=self.namespace)
        await self.user.create(Network(metadata=metadata, spec=present.spec))
