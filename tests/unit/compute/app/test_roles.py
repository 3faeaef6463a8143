"""The page of controllers lists every one of them, and what it watches."""

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from compute.app import links, roles
from compute.app.planes import Role
from compute.app.project_clusters import ProjectReconciler, projects_controller
from compute.controllers.cell.planes import CellPlanes, CellSettings
from compute.controllers.management.planes import ManagementPlanes
from compute.federation import engine
from compute.federation.planes import EnginePlanes
from compute.providers import pods, simulated
from compute.services import catalog
from compute.services.planes import ServicePlanes
from kubekit.runtime.clusters import Cluster, Clusters
from kubekit.runtime.controller import Controller
from kubekit.runtime.controller_factory import ControllerFactory
from kubekit.runtime.reporting.metrics import Metrics
from tests.support.kubekit.store_builders import environment, in_loop

PAGE = Path(__file__).parents[4] / "docs" / "controllers.md"
PART = re.compile(r"^\*\*(\w+)\*\*: (?:.+\n)+\n((?:\|.*\n)+)", re.MULTILINE)
Watches = dict[str, set[tuple[str, str]]]


class Nowhere:
    """A keeper of planes, for services that are made and never run."""

    async def ensure(self, project: str) -> None: ...

    async def remove(self, project: str) -> None: ...


async def _unreached(project: str) -> Cluster:
    raise LookupError(project)


def _unconnected(_: object) -> Any:
    raise LookupError


def _clusters(role: Role) -> Clusters:
    return Clusters(role, environment())


def _kit() -> ControllerFactory:
    return ControllerFactory(environment(), Metrics(), "test")


def _management() -> list[Controller]:
    core, hub, projects = _clusters("core"), _clusters("hub"), _clusters("project")
    factory = _kit()
    reconciler = ProjectReconciler(core, projects, _unconnected)
    return [
        projects_controller(reconciler, core, factory.environment, factory.metrics),
        *roles.management(ManagementPlanes(projects, hub, core), factory),
    ]


def _cell() -> list[Controller]:
    cell, factory = _clusters("cell"), _kit()
    planes = CellPlanes(cell, _clusters("hub"), _clusters("project"), _unreached)
    settings = CellSettings(name="dfw")
    providers = (*simulated.controllers(cell, factory), *pods.controllers(cell, factory))
    return [*roles.cell(planes, settings, factory), *providers]


def _engine() -> list[Controller]:
    hub = _clusters("hub")
    planes = EnginePlanes(hub, _clusters("cell"))
    return [*engine.controllers(planes, _kit()), *links.controllers(hub, {}, _kit())]


def _services() -> list[Controller]:
    planes = ServicePlanes(
        _clusters("core"), _clusters("hub"), _clusters("project"), _clusters("cell")
    )
    return catalog.controllers(planes, Nowhere(), _kit())


PARTS = {"management": _management, "cell": _cell, "engine": _engine, "services": _services}


@pytest.mark.parametrize("part", PARTS)
@in_loop
async def test_the_page_lists_what_each_controller_watches(part):
    """No controller is missing, none is there that does not exist, and no watch is left out."""
    written = dict(PART.findall(PAGE.read_text()))
    assert written.keys() == PARTS.keys()
    assert _shown(written[part]) == _made(PARTS[part]())


def _made(controllers: Iterable[Controller]) -> Watches:
    """Controllers of one reconciler for several kinds are one line of the page."""
    watches: Watches = {}
    for each in controllers:
        name = "binder" if each.name.endswith("-binder") else each.name
        watched = {(source.clusters.role, source.kind.RESOURCE.kind) for source in each.sources}
        watches.setdefault(name, set()).update(watched)
    return watches


def _shown(table: str) -> Watches:
    watches: Watches = {}
    for row in table.splitlines()[2:]:
        name, watched = (cell.strip() for cell in row.strip("|").split("|")[:2])
        name = "binder" if "-binder" in name else name.strip("`")
        watches[name] = {
            (role, kind)
            for planes in watched.split("; ")
            for role, _, kinds in [planes.partition(": ")]
            for kind in kinds.split(", ")
        }
    return watches
