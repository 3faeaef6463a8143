"""Projects and their planes."""

from dataclasses import dataclass, field

import msgspec

from compute.api import finalizers
from compute.api.resource_manager import Project
from compute.services import projects
from kubekit.api.errors import Unavailable
from kubekit.runtime.requests import cluster_name
from tests.support.compute.project_builders import Planes, deleted, ready, said, started
from tests.support.compute.service_builders import PLANES, planes, project
from tests.support.kubekit.stage import Stage, staged


@dataclass
class Forgetful(Planes):
    """A keeper that once removes a plane, and whose answer is lost."""

    stage: Stage = field(kw_only=True)
    lost: bool = False

    async def ensure(self, project: str) -> None:
        await super().ensure(project)
        await self.stage.engage("projects", project)

    async def remove(self, project: str) -> None:
        await super().remove(project)
        await self.stage.role("projects").disengage(cluster_name(project))
        if not self.lost:
            self.lost = True
            raise Unavailable("the answer was lost")


def test_a_project_gets_a_plane_and_says_so(tmp_path):
    """It is ready once its plane is, and is held until that has gone."""

    async def story(stage: Stage) -> None:
        keeper = Planes()
        made = await started(stage, keeper)
        assert keeper.there == {"shop": None}
        assert made.metadata.finalizers == (finalizers.PROJECT,)
        assert await stage.quiet() == []

    staged(tmp_path, story, *PLANES)


def test_a_plane_that_cannot_be_made_is_tried_again(tmp_path):
    """The project says that it is on its way, and becomes ready when it can."""

    async def story(stage: Stage) -> None:
        keeper = Planes(failures=3)
        stage.start(*projects.controllers(planes(stage), keeper, stage.factory))
        await stage.client("core").create(project())
        await stage.named("core", Project, "shop", "", lambda p: said(p) == "Provisioning")
        await stage.named("core", Project, "shop", "", ready)

    staged(tmp_path, story, *PLANES)


def test_a_project_whose_name_no_plane_can_have_says_so(tmp_path):
    """The name of a plane is a label's value on the hub, and those have a limit."""

    async def story(stage: Stage) -> None:
        keeper = Planes()
        stage.start(*projects.controllers(planes(stage), keeper, stage.factory))
        name = "p" * 60
        await stage.client("core").create(project(name))
        await stage.named("core", Project, name, "", lambda p: said(p) == "ProjectNameConflict")
        core = stage.client("core")
        await core.delete(await core.get(Project, name))
        await stage.gone("core", Project, name)
        assert keeper.there == {}

    staged(tmp_path, story, *PLANES)


def test_a_project_that_is_not_held_by_us_is_not_ours_to_remove(tmp_path):
    """A project that never had a plane is left to the owners of its finalizers."""

    async def story(stage: Stage) -> None:
        keeper = Planes({"p" * 60: None})
        stage.start(*projects.controllers(planes(stage), keeper, stage.factory))
        made = project("p" * 60)
        meta = msgspec.structs.replace(made.metadata, finalizers=("example.com/held",))
        core = stage.client("core")
        await core.delete(await core.create(msgspec.structs.replace(made, metadata=meta)))
        await stage.rest()
        assert keeper.there == {"p" * 60: None}

    staged(tmp_path, story, *PLANES)


def test_an_empty_project_goes_at_once_with_its_plane(tmp_path):
    """Nothing is waited for that is not there."""

    async def story(stage: Stage) -> None:
        keeper = Planes()
        await started(stage, keeper)
        await deleted(stage)
        await stage.gone("core", Project, "shop", seconds=2)
        assert keeper.there == {}

    staged(tmp_path, story, *PLANES)


def test_a_project_goes_though_its_plane_went_before(tmp_path):
    """The process that removed the plane may have died before it released the project."""

    async def story(stage: Stage) -> None:
        keeper = Forgetful(stage=stage)
        await started(stage, keeper)
        await deleted(stage)
        await stage.gone("core", Project, "shop", seconds=10)
        assert keeper.there == {}

    staged(tmp_path, story, *PLANES)


def test_a_project_that_never_became_ready_goes_too(tmp_path):
    """A plane that was never reported ready has no content."""

    async def story(stage: Stage) -> None:
        keeper = Planes(failures=1000)
        stage.start(*projects.controllers(planes(stage), keeper, stage.factory))
        await stage.client("core").create(project("later"))
        await stage.named("core", Project, "later", "", lambda p: said(p) == "Provisioning")
        core = stage.client("core")
        await core.delete(await core.get(Project, "later"))
        await stage.gone("core", Project, "later", seconds=2)

    staged(tmp_path, story, *PLANES)
