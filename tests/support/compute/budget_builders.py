"""A project with a budget on a stage, and the state of its claims."""

from compute.api import names
from compute.api.quota import AllowanceBucket, ResourceClaim
from compute.decide import quota
from compute.decide.conditions import find
from compute.services.quota import service
from tests.support.compute.service_builders import CORE, member, planes, project
from tests.support.kubekit.stage import Stage


def reason(found: ResourceClaim) -> str:
    said = find(found.status.conditions, "Granted")
    return said.reason if said else ""


async def started(stage: Stage, **amounts: int) -> None:
    """The project shop, with a quota of this many instances."""
    first = {quota.INSTANCES: 10, quota.VCPUS: 40_000, quota.MEMORY: 81_920} | {
        f"compute.datumapis.com/{kind}": amount for kind, amount in amounts.items()
    }
    stage.start(*service.controllers(planes(stage), stage.factory, first))
    await stage.client("hub").create(member())
    await stage.client("core").create(project())


async def bucket(stage: Stage, kind: str = quota.INSTANCES) -> AllowanceBucket:
    return await stage.client("core").get(
        AllowanceBucket, names.bucket(kind, "Project", "shop"), CORE
    )


async def reasons(stage: Stage) -> dict[str, int]:
    """The number of claims by the reason of their answer."""
    found = [reason(each) for each in (await stage.client("shop").every(ResourceClaim)).items]
    return {word: found.count(word) for word in sorted(found)}
