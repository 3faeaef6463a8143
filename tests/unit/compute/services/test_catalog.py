"""All neighbours together."""

from compute.api import names
from compute.api.networking import LocationBinding, Network
from compute.api.quota import ResourceClaim, ResourceGrant
from compute.api.resource_manager import Project
from compute.decide import quota
from compute.decide.conditions import find, is_true
from compute.services import catalog
from compute.services.catalog import ServiceSettings
from tests.support.compute.service_builders import CORE, PLANES, claim, member, planes, project
from tests.support.kubekit.stage import Stage, staged


class Kept:
    """A keeper of planes that are there already."""

    async def ensure(self, project: str) -> None:
        return

    async def remove(self, project: str) -> None:
        return


def granted(found: ResourceClaim) -> bool:
    return is_true(found.status.conditions, "Granted")


def test_a_new_project_finds_everything_it_needs(tmp_path):
    """A Project is enough: plane, network, grant and cities come by themselves, and claims work."""

    async def story(stage: Stage) -> None:
        settings = ServiceSettings(first_grant={quota.INSTANCES: 1})
        stage.start(*catalog.controllers(planes(stage), Kept(), stage.factory, settings))
        await stage.client("hub").create(member())
        await stage.client("core").create(project())
        await stage.named(
            "core", Project, "shop", "", lambda p: is_true(p.status.conditions, "Ready")
        )
        await stage.named("core", ResourceGrant, names.grant("shop"), CORE)
        await stage.named("shop", LocationBinding, "dfw", "")
        await stage.named(
            "shop", Network, "default", "default", lambda n: find(n.status.conditions, "Ready")
        )
        await stage.client("shop").create(claim())
        await stage.seen("shop", claim(), granted)
        await stage.rest()
        assert await stage.quiet() == []

    staged(tmp_path, story, *PLANES)


def test_the_usual_first_grant_is_the_default(tmp_path):
    """Without settings a project may have ten instances."""

    async def story(stage: Stage) -> None:
        stage.start(*catalog.controllers(planes(stage), Kept(), stage.factory))
        await stage.client("core").create(project())
        found = await stage.named("core", ResourceGrant, names.grant("shop"), CORE)
        assert found.spec.allowances[0].buckets[0].amount == 10

    staged(tmp_path, story, *PLANES)
