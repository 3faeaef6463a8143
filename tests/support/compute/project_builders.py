"""Projects and keepers of planes, for tests of the project service."""

from dataclasses import dataclass, field

import msgspec

from compute.api.karmada import MemberCluster as Member
from compute.api.resource_manager import Project
from compute.decide.conditions import find
from compute.services import projects
from kubekit.api.errors import Unavailable
from kubekit.api.meta import Condition, ConditionStatus
from tests.support.compute.service_builders import member, planes, project
from tests.support.kubekit.stage import Stage


@dataclass
class Planes:
    """A keeper that records its planes, and fails a given number of times."""

    there: dict[str, None] = field(default_factory=dict)
    failures: int = 0

    async def ensure(self, project: str) -> None:
        if self.failures:
            self.failures -= 1
            raise Unavailable("no room for a plane")
        self.there[project] = None

    async def remove(self, project: str) -> None:
        self.there.pop(project, None)


def said(of: Project, kind: str = "Ready") -> str:
    found = find(of.status.conditions, kind)
    return found.reason if found else ""


def ready(of: Project) -> bool:
    return said(of) == "Ready"


async def started(stage: Stage, keeper: Planes) -> Project:
    stage.start(*projects.controllers(planes(stage), keeper, stage.factory))
    await stage.client("hub").create(member())
    await answers(stage)
    await stage.client("core").create(project())
    return await stage.named("core", Project, "shop", "", ready)


async def answers(stage: Stage, status: ConditionStatus = "True", why: str = "it answers") -> None:
    """Write to the hub whether the cell answers."""
    hub = stage.client("hub")
    present = await hub.get(Member, "cell-dfw")
    ready = Condition(
        type="Ready",
        status=status,
        reason="Test",
        message=why,
        last_transition_time=stage.environment.now(),
    )
    wanted = msgspec.structs.replace(present.status, conditions=(ready,))
    await hub.patch_status(present, msgspec.structs.replace(present, status=wanted))


async def deleted(stage: Stage) -> None:
    core = stage.client("core")
    await core.delete(await core.get(Project, "shop"))
