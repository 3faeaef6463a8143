"""A project that may not use compute any more: it is disengaged, and what it has on the hub ends."""

import msgspec

from compute.api.compute import WorkloadDeployment
from compute.api.resource_manager import Project, ProjectOwnerRef, ProjectSpec
from compute.api.services import (
    ConsumerProjectRef,
    ServiceConsumer,
    ServiceConsumerSpec,
    ServiceConsumerStatus,
    ServiceRef,
)
from compute.app.project_clusters import ProjectReconciler, projects_controller
from compute.controllers.management import consumers
from compute.controllers.management.consumers import ServiceConsumers
from compute.controllers.management.federator import controller as federator
from compute.controllers.management.planes import ManagementPlanes
from kubekit.api.crd_generation import crd
from kubekit.api.kinds.apiextensions import CustomResourceDefinition
from kubekit.api.meta import Condition, ObjectMeta
from kubekit.client.options import PLAIN_WRITE
from kubekit.client.transport import ResourceLocation
from kubekit.plane.local import LocalClient
from kubekit.runtime.controller_factory import ControllerFactory
from kubekit.runtime.requests import cluster_name
from tests.support.compute.federation_builders import PROJECT
from tests.support.compute.management_builders import ManagementWorld, held, set_up
from tests.support.kubekit.plane_worlds import START

SERVICE = "compute.datumapis.com"


class Consumed:
    """The world, with discovery by the records in the provider's project, which is core here."""

    def __init__(self, on: ManagementWorld) -> None:
        self.on = on
        self._provider = on.stage.role("provider")

    async def serve(self) -> None:
        """Serve the records."""
        location = ResourceLocation(CustomResourceDefinition.RESOURCE)
        raw = self.on.stage.client("core").raw
        await raw.create(location, crd(ServiceConsumer, lambda _: {}), PLAIN_WRITE)

    async def start(self) -> None:
        """Start the controllers, in a world with a Project that is ready."""
        core = self.on.stage.client("core")
        made = await core.create(
            Project(
                metadata=ObjectMeta(name=PROJECT),
                spec=ProjectSpec(owner_ref=ProjectOwnerRef(kind="Organization", name="acme")),
            )
        )
        ready = Condition(type="Ready", status="True", reason="Test", last_transition_time=START)
        status = msgspec.structs.replace(made.status, conditions=(ready,))
        await core.patch_status(made, msgspec.structs.replace(made, status=status))
        self.on.start(federator.controllers, self._controllers)

    async def engage(self) -> None:
        """Engage the provider's project."""
        await self.on.stage.engage("provider", "core")

    def _controllers(self, planes: ManagementPlanes, factory: ControllerFactory):
        assert planes.core is not None
        records = ServiceConsumers(self._provider, [SERVICE])
        shop = self.on.stage.planes[PROJECT]
        discovery = ProjectReconciler(
            planes.core, planes.projects, lambda _: LocalClient(shop), consumers=records
        )
        controller = projects_controller(
            discovery, planes.core, factory.environment, factory.metrics
        )
        return [controller, *consumers.controllers(planes, records, factory)]

    async def record(self, phase: str, project: str = PROJECT) -> None:
        """Write the phase of the record of a project, as the service catalog does."""
        core = self.on.stage.client("core")
        found = await core.find(ServiceConsumer, f"{project}-compute")
        if found is None:
            spec = ServiceConsumerSpec(
                service_ref=ServiceRef(name=SERVICE),
                consumer_project_ref=ConsumerProjectRef(name=project),
            )
            meta = ObjectMeta(name=f"{project}-compute")
            found = await core.create(ServiceConsumer(metadata=meta, spec=spec))
        status = ServiceConsumerStatus(phase=phase)
        await core.patch_status(found, msgspec.structs.replace(found, status=status))

    async def copies(self) -> int:
        """How many deployments the hub has, once nothing changes any more."""
        await self.on.stage.rest()
        return len((await self.on.stage.client("hub").every(WorkloadDeployment)).items)

    def is_engaged(self) -> bool:
        return self.on.planes.projects.find(cluster_name(PROJECT)) is not None


def test_a_project_comes_and_goes_with_its_record(tmp_path):
    """Pending changes nothing, denied ends everything on the hub, active brings it back."""

    async def story(on: ManagementWorld) -> None:
        world = Consumed(on)
        await world.serve()
        await world.engage()
        await world.start()
        await world.record("Active")
        await on.stage.rest()
        assert world.is_engaged()
        await on.deploy()
        await on.project(held)
        assert await world.copies() == 1

        await world.record("PendingApproval")
        assert await world.copies() == 1
        assert world.is_engaged()

        await world.record("Denied")
        assert await world.copies() == 0
        assert not world.is_engaged()
        assert (await on.project()).metadata.deletion_timestamp is None

        await world.record("Active")
        assert await world.copies() == 1
        assert world.is_engaged()

    set_up(tmp_path, story)


def test_without_any_record_a_project_is_disengaged_and_nothing_ends(tmp_path):
    """The records may only not be written yet: turning this on must not stop machines."""

    async def story(on: ManagementWorld) -> None:
        on.start(federator.controllers)
        await on.deploy()
        await on.project(held)
        world = Consumed(on)
        await world.serve()
        await world.engage()
        await world.start()
        await on.stage.rest()

        assert not world.is_engaged()
        assert await world.copies() == 1

    set_up(tmp_path, story)


MANY = 501  # more than a page of a list


def test_records_that_arrive_page_by_page_engage_every_project(tmp_path):
    """The records of the first page cannot decide yet, and nothing else reports them again."""

    async def story(on: ManagementWorld) -> None:
        world = Consumed(on)
        await world.serve()
        for number in range(MANY):
            await world.record("Active", f"z-{number}")
        await world.record("Active")
        await on.planes.projects.disengage(cluster_name(PROJECT))
        await world.start()
        await on.stage.rest()
        assert not world.is_engaged()

        await world.engage()
        await on.stage.rest()
        assert world.is_engaged()

    set_up(tmp_path, story)


def test_a_revocation_that_is_on_the_first_page_of_records_is_not_lost(tmp_path):
    """As after a restart: the project's deployments are known before its record is."""

    async def story(on: ManagementWorld) -> None:
        on.start(federator.controllers)
        await on.deploy()
        await on.project(held)
        world = Consumed(on)
        await world.serve()
        for number in range(MANY):
            await world.record("Active", f"z-{number}")
        await world.record("Denied")
        await world.start()
        await on.stage.rest()
        await on.planes.projects.disengage(cluster_name(PROJECT))
        assert await world.copies() == 1

        await world.engage()
        assert await world.copies() == 0

    set_up(tmp_path, story)
