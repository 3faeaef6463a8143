"""The entitlement that a new project starts with."""

import msgspec

from compute.api import labels
from compute.api.resource_manager import Project
from compute.api.services import ServiceEntitlement, ServiceEntitlementSpec, ServiceRef
from compute.services import entitlements, first_entitlements
from kubekit.api.kinds.core import ConfigMap
from kubekit.api.meta import ObjectMeta
from kubekit.runtime.requests import cluster_name
from tests.support.compute.service_builders import CORE, PLANES, namespace, planes, project
from tests.support.kubekit.deaf import listener
from tests.support.kubekit.stage import Stage, staged


async def started(stage: Stage, **settings: str) -> None:
    core = stage.client("core")
    await core.create(namespace(CORE))
    if settings:
        meta = ObjectMeta(name="entitlements", namespace=CORE)
        await core.create(ConfigMap(metadata=meta, data=settings))
    stage.start(*first_entitlements.controllers(planes(stage), stage.factory))
    await stage.rest()


async def names(stage: Stage) -> list[str]:
    listed = await stage.client("shop").every(ServiceEntitlement)
    return [f"{each.metadata.name}: {each.spec.service_ref.name}" for each in listed.items]


def test_a_new_project_has_one_and_only_once(tmp_path):
    """Deleted, it does not come back; one that is there is left alone."""

    async def story(stage: Stage) -> None:
        await started(stage)
        await stage.client("core").create(project())
        await stage.rest()
        assert await names(stage) == ["compute: compute.datumapis.com"]
        shop = stage.client("shop")
        await shop.delete(await shop.get(ServiceEntitlement, "compute"))
        await stage.rest()
        assert await names(stage) == []
        assert await stage.quiet() == []

    staged(tmp_path, story, *PLANES)


def test_a_project_requests_its_own_where_an_operator_approves(tmp_path):
    """Once approval is automatic, it gets the first one."""

    async def story(stage: Stage) -> None:
        await started(stage, approval="Manual")
        core = stage.client("core")
        await core.create(project())
        await stage.rest()
        assert await names(stage) == []
        stored = await core.get(ConfigMap, "entitlements", CORE)
        other = ConfigMap(metadata=ObjectMeta(name="other", namespace=CORE))
        await core.create(other)
        await core.patch(stored, msgspec.structs.replace(stored, data={"approval": "Automatic"}))
        await stage.rest()
        assert await names(stage) == ["compute: compute.datumapis.com"]

    staged(tmp_path, story, *PLANES)


def test_there_is_none_without_the_service_or_the_project(tmp_path):
    """A plane may outlive its project for a moment."""

    async def story(stage: Stage) -> None:
        await started(stage, services="other.example.com")
        await stage.client("core").create(project())
        await stage.rest()
        assert await names(stage) == []
        core = stage.client("core")
        await core.delete(await core.get(Project, "shop"))
        stored = await core.get(ConfigMap, "entitlements", CORE)
        await core.patch(stored, msgspec.structs.replace(stored, data={}))
        await stage.rest()
        assert await names(stage) == []

    staged(tmp_path, story, *PLANES)


def of_compute(name: str) -> ServiceEntitlement:
    spec = ServiceEntitlementSpec(service_ref=ServiceRef(name=labels.COMPUTE_SERVICE))
    return ServiceEntitlement(metadata=ObjectMeta(name=name), spec=spec)


def test_a_project_with_an_entitlement_of_another_name_gets_no_second_one(tmp_path):
    """An operator may have denied it, and a project of an earlier version has chosen its name."""

    async def story(stage: Stage) -> None:
        await stage.client("shop").create(of_compute("mine"))
        await started(stage)
        await stage.client("core").create(project())
        await stage.rest()
        assert await names(stage) == ["mine: compute.datumapis.com"]
        shop = stage.client("shop")
        await shop.delete(await shop.get(ServiceEntitlement, "mine"))
        await stage.rest()
        assert await names(stage) == []

    staged(tmp_path, story, *PLANES)


def test_settings_that_are_not_cached_yet_are_read(tmp_path):
    """A process that starts must not take the defaults for them, and approve."""

    async def story(stage: Stage) -> None:
        watches, client = listener(await stage.plane("core"))
        core = stage.client("core")
        await core.create(namespace(CORE))
        meta = ObjectMeta(name="entitlements", namespace=CORE)
        await core.create(ConfigMap(metadata=meta, data={"approval": "Manual"}))
        await core.create(project())
        watches.stop(ConfigMap)
        await stage.role("core").engage(cluster_name("core"), client)
        for controllers in (entitlements.controllers, first_entitlements.controllers):
            stage.start(*controllers(planes(stage), stage.factory))
        await stage.rest()
        assert await names(stage) == []
        await stage.client("shop").create(of_compute("mine"))
        await stage.rest()
        mine = await stage.client("shop").get(ServiceEntitlement, "mine")
        assert mine.status.phase == "PendingApproval"

    staged(tmp_path, story, *PLANES[1:])
