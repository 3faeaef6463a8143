"""Clusters by Project objects, on real planes."""

import asyncio

import msgspec
import pytest
from prometheus_client import CollectorRegistry

from compute.api.infrastructure import ProjectControlPlane, ProjectControlPlaneStatus
from compute.api.resource_manager import Project, ProjectOwnerRef, ProjectSpec, ProjectStatus
from compute.app.project_clusters import (
    CONTROL_PLANES,
    PROJECTS,
    ProjectReconciler,
    project_connection,
    projects_controller,
)
from kubekit.api.crd_generation import crd
from kubekit.api.meta import Condition, ObjectMeta, with_metadata
from kubekit.client.connection import Connection
from kubekit.plane.local import LocalClient
from kubekit.plane.registry.definitions.served_kinds import kinds_of
from kubekit.plane.registry.kinds import Kinds
from kubekit.runtime.clusters import Clusters
from kubekit.runtime.reporting.metrics import Metrics
from kubekit.runtime.requests import cluster_name
from kubekit.runtime.scope import Scope
from tests.support.compute import served_kinds
from tests.support.kubekit.plane_worlds import START, environment, opened
from tests.support.kubekit.virtual_time import run

HOME, SHOP = cluster_name("core"), cluster_name("shop")


def project(name="shop", **metadata):
    owner = ProjectOwnerRef(kind="Organization", name="acme")
    return Project(metadata=ObjectMeta(name=name, **metadata), spec=ProjectSpec(owner_ref=owner))


async def say_ready(client, name, status, **others):
    present = await client.get(Project, name)
    conditions = tuple(
        Condition(type=kind, status=one, reason="Test", message="", last_transition_time=START)
        for kind, one in ({"Ready": status} | others).items()
    )
    wanted = msgspec.structs.replace(present, status=ProjectStatus(conditions=conditions))
    await client.patch_status(present, wanted)


def kinds() -> Kinds:
    """Those of a platform, and the kind by which Milo's own cluster knows the planes of projects."""
    control_planes = kinds_of(crd(ProjectControlPlane, lambda _: {}))
    return Kinds((*served_kinds.everything(), *control_planes))


def with_projects(directory, story, by=PROJECTS):
    async def run_story():
        async with opened(directory, kinds=kinds()) as world:
            client, scope = LocalClient(world.plane), Scope("test")
            core, projects = (Clusters(role, environment()) for role in ("core", "project"))
            provider = ProjectReconciler(core, projects, lambda _: LocalClient(world.plane), by)
            metrics = Metrics(CollectorRegistry())
            controller = projects_controller(provider, core, environment(), metrics)
            controller.join()
            await core.engage(HOME, client)
            scope.spawn(controller.run(None), "projects")
            try:
                await story(client, provider, projects)
            finally:
                await scope.close()
                await projects.close()
                await core.close()

    run(run_story())


def test_a_project_is_engaged_once_it_is_ready(tmp_path):
    """Before that its plane may not answer; from then on its cluster is engaged."""

    async def story(client, provider, projects):
        await client.create(project())
        await asyncio.sleep(5)
        assert len(projects) == 0
        await say_ready(client, "shop", "True")
        await asyncio.sleep(5)
        assert [cluster.name for cluster in projects] == ["shop"]
        assert provider.problems() == []

    with_projects(tmp_path, story)


@pytest.mark.parametrize(
    ("deleting", "cleanup", "engaged"),
    [(True, "False", ["shop"]), (True, "True", []), (False, "False", []), (True, None, [])],
)
def test_a_project_that_is_being_emptied_is_engaged_though_it_is_not_ready(
    tmp_path, deleting, cleanup, engaged
):
    """A process that starts meanwhile has its part in that; an empty one needs nothing."""

    async def story(client, _, projects):
        made = await client.create(project(finalizers=("example.test/hold",)))
        if deleting:
            await client.delete(made)
        await say_ready(
            client, "shop", "False", **({"ResourceCleanup": cleanup} if cleanup else {})
        )
        await asyncio.sleep(5)
        assert [cluster.name for cluster in projects] == engaged

    with_projects(tmp_path, story)


def test_a_project_stays_engaged_until_it_is_gone(tmp_path):
    """Not ready for a while, or being deleted: what is in its plane still needs looking after."""

    async def story(client, _, projects):
        made = await client.create(project(finalizers=("example.test/hold",)))
        await say_ready(client, "shop", "True")
        await asyncio.sleep(5)
        await say_ready(client, "shop", "False")
        await client.delete(made)
        await asyncio.sleep(5)
        assert projects.find(SHOP) is not None
        dying = await client.get(Project, "shop")
        await client.patch(dying, with_metadata(dying, finalizers=()))
        await asyncio.sleep(5)
        assert projects.find(SHOP) is None

    with_projects(tmp_path, story)


def test_readiness_waits_for_every_ready_project(tmp_path):
    """A project that is ready and not engaged yet keeps the process from being ready."""

    async def story(client, provider, projects):
        await client.create(project())
        await say_ready(client, "shop", "True")
        await asyncio.sleep(5)
        await projects.disengage(SHOP)
        assert provider.problems() == ["project shop is ready but not engaged yet"]

    with_projects(tmp_path, story)


def test_inside_of_milo_a_control_plane_stands_for_its_project(tmp_path):
    """It has a namespace, and a condition of its own says that the plane answers."""

    async def story(client, provider, projects):
        assert provider.discovery_problems() != []
        made = await client.create(
            ProjectControlPlane(metadata=ObjectMeta(name="shop", namespace="default"))
        )
        await asyncio.sleep(5)
        assert (len(projects), provider.discovery_problems()) == (0, [])
        answers = Condition(
            type="ControlPlaneReady", status="True", reason="Test", last_transition_time=START
        )
        status = ProjectControlPlaneStatus(conditions=(answers,))
        made = await client.patch_status(made, msgspec.structs.replace(made, status=status))
        await asyncio.sleep(5)
        assert [cluster.name for cluster in projects] == ["shop"]
        await client.delete(made)
        await asyncio.sleep(5)
        assert len(projects) == 0

    with_projects(tmp_path, story, CONTROL_PLANES)


def test_a_projects_plane_is_below_the_server_of_projects():
    """The address is the one that the platform serves project planes at."""
    core = Connection(server="https://api.example:6443/prefix")

    assert project_connection(core, "shop").server == (
        "https://api.example:6443/prefix/apis/resourcemanager.miloapis.com/v1alpha1"
        "/projects/shop/control-plane"
    )
