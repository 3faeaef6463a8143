"""A hub namespace is deleted when its original is gone, with what is left in it."""

from typing import Any

from compute.api.compute import Instance, WorkloadDeployment
from compute.api.karmada import PropagationPolicy
from compute.api.resource_manager import Project, ProjectOwnerRef, ProjectSpec
from compute.app.links import Link, linked_client
from compute.controllers.management.federator import controller as federator
from compute.controllers.management.hub import namespaces
from kubekit.api.kinds.core import Namespace
from kubekit.api.meta import ObjectMeta
from kubekit.client.client import Client
from kubekit.runtime.requests import cluster_name
from tests.support.compute.builders import instance
from tests.support.compute.federation_builders import PROJECT, on_hub, original, with_meta
from tests.support.compute.management_builders import (
    WEB,
    ClientWithoutEvents,
    ManagementWorld,
    hub_namespace_of,
    set_up,
    upstream,
)

SLOW = "example.com/slow"


def _hub_namespace(name: str, **own_labels: str) -> Namespace:
    return Namespace(metadata=ObjectMeta(name=name, labels=upstream() | own_labels))


async def _project(on: ManagementWorld) -> Project:
    """The project, as core has it."""
    owner = ProjectOwnerRef(kind="Organization", name="acme")
    made = Project(metadata=ObjectMeta(name=PROJECT), spec=ProjectSpec(owner_ref=owner))
    return await on.stage.client("core").create(made)


async def _filled(hub: Client, hub_namespace: str) -> None:
    """A hub namespace with a deployment, and a copy that it owns."""
    await hub.create(_hub_namespace(hub_namespace))
    owner = await hub.create(with_meta(on_hub(), namespace=hub_namespace, uid=""))
    owners = (owner.reference(controller=True),)
    owned: dict[str, Any] = {"labels": upstream(), "owner_references": owners}
    await hub.create(instance(0, namespace=hub_namespace, uid="", generation=0, **owned))


def test_a_namespace_that_is_deleted_in_the_project_leaves_nothing(tmp_path):
    """Deployments, policies, and the hub namespace itself are gone in the end."""

    async def story(on: ManagementWorld) -> None:
        shop = on.stage.client("shop")
        hub_namespace = await hub_namespace_of(on.stage, PROJECT, "team")
        on.start(federator.controllers, namespaces.controllers)
        await shop.create(with_meta(original(), namespace="team", uid="", generation=0))
        await on.stage.named("hub", PropagationPolicy, "city-dfw", hub_namespace)
        await shop.delete(await shop.get(Namespace, "team"))

        await on.stage.gone("shop", Namespace, "team")
        await on.stage.gone("hub", Namespace, hub_namespace)
        await on.stage.rest()
        assert await on.stage.quiet() == []

    set_up(tmp_path, story)


def test_a_namespace_in_use_is_kept(tmp_path):
    """It stays, with content and empty: the project's namespace exists."""

    async def story(on: ManagementWorld) -> None:
        hub = on.stage.client("hub")
        on.start(federator.controllers, namespaces.controllers)
        sent = await on.deploy()
        await on.copy()
        await on.stage.client("shop").delete(sent)
        await on.stage.gone("shop", WorkloadDeployment, WEB, "default")
        await on.stage.rest()

        assert await hub.find(Namespace, on.hub_namespace) is not None
        assert await on.stage.quiet() == []

    set_up(tmp_path, story)


def test_a_namespace_of_another_uid_is_another(tmp_path):
    """The objects of an earlier namespace of the same name are deleted, copies first."""

    async def story(on: ManagementWorld) -> None:
        hub = on.stage.client("hub")
        await _filled(hub, "ns-earlier")
        await hub.create(_hub_namespace(on.hub_namespace))
        on.start(namespaces.controllers)

        await on.stage.gone("hub", Namespace, "ns-earlier")
        assert await hub.find(Namespace, on.hub_namespace) is not None

    set_up(tmp_path, story)


def test_it_waits_for_deleting_objects(tmp_path):
    """A deployment or a copy with a finalizer keeps the namespace, until it is gone."""

    async def story(on: ManagementWorld) -> None:
        hub = on.stage.client("hub")
        await _filled(hub, "ns-earlier")
        copy = await hub.get(WorkloadDeployment, WEB, "ns-earlier")
        shown = await hub.get(Instance, f"{WEB}-0", "ns-earlier")
        for held in (copy, shown):
            await on.change("hub", held, finalizers=(SLOW,))
        on.start(namespaces.controllers)
        await on.stage.rest()
        assert await hub.find(Namespace, "ns-earlier") is not None
        await on.change("hub", copy, finalizers=())
        await on.stage.rest()
        assert await hub.find(Namespace, "ns-earlier") is not None
        await on.change("hub", shown, finalizers=())

        await on.stage.gone("hub", Namespace, "ns-earlier")

    set_up(tmp_path, story)


def test_a_copy_without_an_owner_is_deleted_too(tmp_path):
    """The original writes such copies, and no garbage collector deletes them."""

    async def story(on: ManagementWorld) -> None:
        hub = on.stage.client("hub")
        await hub.create(_hub_namespace("ns-earlier"))
        await hub.create(instance(0, namespace="ns-earlier", uid="", generation=0))
        on.start(namespaces.controllers)

        await on.stage.gone("hub", Namespace, "ns-earlier")

    set_up(tmp_path, story)


def test_what_is_not_ours_keeps_its_namespace(tmp_path):
    """A deployment without our labels belongs to another client, and so does a namespace."""

    async def story(on: ManagementWorld) -> None:
        hub = on.stage.client("hub")
        await hub.create(_hub_namespace("ns-earlier"))
        await hub.create(with_meta(on_hub(), namespace="ns-earlier", uid="", labels={}))
        await hub.create(_hub_namespace("elsewhere"))
        await hub.create(Namespace(metadata=ObjectMeta(name="ns-unlabelled")))
        on.start(namespaces.controllers)
        await on.stage.rest()

        for name in ("ns-earlier", "elsewhere", "ns-unlabelled"):
            assert await hub.find(Namespace, name) is not None
        assert await hub.find(WorkloadDeployment, WEB, "ns-earlier") is not None

    set_up(tmp_path, story)


def test_a_whole_project_that_is_gone_leaves_nothing(tmp_path):
    """Core has no such project, and its plane cannot be read any more."""

    async def story(on: ManagementWorld) -> None:
        project = await _project(on)
        await _filled(on.stage.client("hub"), on.hub_namespace)
        on.start(namespaces.controllers)
        await on.stage.rest()
        await on.planes.projects.disengage(cluster_name(PROJECT))
        await on.stage.client("core").delete(project)

        await on.stage.gone("hub", Namespace, on.hub_namespace)

    set_up(tmp_path, story)


def test_a_project_that_is_gone_but_engaged_for_a_moment_longer_leaves_nothing(tmp_path):
    """Its cache still shows the namespace when core reports that the project is gone."""

    async def story(on: ManagementWorld) -> None:
        project = await _project(on)
        plane = Link(PROJECT)
        await on.leave("projects")
        await on.engage("projects", linked_client(on.stage.planes[PROJECT], "compute", plane))
        await _filled(on.stage.client("hub"), on.hub_namespace)
        on.start(namespaces.controllers)
        await on.stage.rest()
        plane.cut()
        await on.stage.client("core").delete(project)
        await on.stage.rest()
        assert await on.stage.client("hub").find(Namespace, on.hub_namespace) is not None
        await on.leave("projects")

        await on.stage.gone("hub", Namespace, on.hub_namespace)

    set_up(tmp_path, story)


def test_a_project_unknown_to_core_is_believed_itself(tmp_path):
    """It is reachable and has the namespace, regardless of which client engaged it."""

    async def story(on: ManagementWorld) -> None:
        hub = on.stage.client("hub")
        await _filled(hub, on.hub_namespace)
        on.start(namespaces.controllers)
        await on.stage.rest()

        assert await hub.find(WorkloadDeployment, WEB, on.hub_namespace) is not None

    set_up(tmp_path, story)


def test_an_unreachable_project_loses_nothing(tmp_path):
    """Core has it, so its plane may be reachable again."""

    async def story(on: ManagementWorld) -> None:
        await _project(on)
        hub = on.stage.client("hub")
        await _filled(hub, on.hub_namespace)
        await on.planes.projects.disengage(cluster_name(PROJECT))
        on.start(namespaces.controllers)
        await on.stage.rest()

        assert await hub.find(WorkloadDeployment, WEB, on.hub_namespace) is not None

    set_up(tmp_path, story)


def test_without_core_it_is_unknown_that_a_project_is_gone(tmp_path):
    """Without that knowledge nothing is deleted."""

    async def story(on: ManagementWorld) -> None:
        hub = on.stage.client("hub")
        await _filled(hub, on.hub_namespace)
        await on.planes.projects.disengage(cluster_name(PROJECT))
        on.start(namespaces.controllers)
        await on.stage.rest()

        assert await hub.find(WorkloadDeployment, WEB, on.hub_namespace) is not None

    set_up(tmp_path, story, core=False)


def test_a_deleting_namespace_is_left_alone(tmp_path):
    """It is not deleted a second time."""

    async def story(on: ManagementWorld) -> None:
        hub = on.stage.client("hub")
        made = _hub_namespace("ns-earlier")
        hub_namespace = await hub.create(with_meta(made, finalizers=(SLOW,)))
        await hub.delete(hub_namespace)
        await on.stage.rest()
        before = len(on.stage.writes)
        on.start(namespaces.controllers)
        await on.stage.rest()

        assert on.stage.writes[before:] == []

    set_up(tmp_path, story)


def test_a_namespace_that_only_the_cache_still_has_is_left_alone(tmp_path):
    """An object is read live before it is deleted."""

    async def story(on: ManagementWorld) -> None:
        shop, hub = on.stage.client("shop"), on.stage.client("hub")
        hub_namespace = await hub_namespace_of(on.stage, PROJECT, "team")
        made = await hub.create(with_meta(_hub_namespace(hub_namespace), labels=upstream("team")))
        await on.leave("hub")
        await on.engage("hub", ClientWithoutEvents(on.stage.planes["hub"]))
        on.start(namespaces.controllers)
        await on.stage.rest()
        await hub.delete(made)
        await on.stage.gone("hub", Namespace, hub_namespace)
        await shop.delete(await shop.get(Namespace, "team"))
        await on.stage.gone("shop", Namespace, "team")
        errors = on.stage.factory.metrics.controller("hub-namespaces").errors
        await on.stage.rest()

        assert errors == 0
        assert await on.stage.quiet() == []

    set_up(tmp_path, story)


def test_two_replicas_reach_the_same_state(tmp_path):
    """Both delete what is left; a delete of the other is no error."""

    async def story(on: ManagementWorld) -> None:
        for number in range(3):
            await _filled(on.stage.client("hub"), f"ns-{number}")
        on.start(namespaces.controllers, copies=2)

        for number in range(3):
            await on.stage.gone("hub", Namespace, f"ns-{number}")
        await on.stage.rest()
        assert await on.stage.quiet() == []

    set_up(tmp_path, story)


def test_a_hub_that_was_unreachable_is_brought_up_to_date(tmp_path):
    """The namespace is deleted when the hub is reachable."""

    async def story(on: ManagementWorld) -> None:
        shop = on.stage.client("shop")
        hub_namespace = await hub_namespace_of(on.stage, PROJECT, "team")
        on.start(federator.controllers, namespaces.controllers)
        await shop.create(with_meta(original(), namespace="team", uid="", generation=0))
        await on.stage.named("hub", WorkloadDeployment, WEB, hub_namespace)
        await on.stage.rest()
        on.hub.cut()
        await shop.delete(await shop.get(Namespace, "team"))
        await on.stage.rest(120)
        assert await on.stage.client("hub").find(WorkloadDeployment, WEB, hub_namespace) is not None
        on.hub.heal()

        await on.stage.gone("shop", Namespace, "team")
        await on.stage.gone("hub", Namespace, hub_namespace)

    set_up(tmp_path, story)


def test_an_instance_costs_nothing_while_its_namespace_is_in_use(tmp_path):
    """Only a namespace that may be orphaned is requeued."""

    async def story(on: ManagementWorld) -> None:
        hub = on.stage.client("hub")
        await _project(on)
        on.start(federator.controllers, namespaces.controllers)
        await on.deploy()
        await on.copy()
        await on.stage.rest()
        before = on.passes("hub-namespaces")
        for ordinal in range(5):
            shown = await on.write_back(ordinal)
            await hub.delete(shown)
        await on.stage.rest()

        assert on.passes("hub-namespaces") == before

    set_up(tmp_path, story)
