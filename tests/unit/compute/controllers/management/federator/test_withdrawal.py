"""A deployment that is deleted in its project is deleted on the hub, without remains."""

import pytest

from compute.api import annotations, labels
from compute.api.compute import WorkloadDeployment
from compute.controllers.management.federator import controller as federator
from kubekit.api.kinds.core import Namespace
from kubekit.api.meta import ObjectMeta
from kubekit.runtime.requests import cluster_name
from tests.support.compute.federation_builders import PROJECT, labelled, on_hub, original, with_meta
from tests.support.compute.management_builders import (
    WEB,
    ManagementWorld,
    held,
    hub_namespace_of,
    set_up,
    upstream,
)

SLOW = "example.com/slow"


def test_a_deleted_deployment_leaves_the_hub_first(tmp_path):
    """The project's deployment goes once the hub has none, with an event."""

    async def story(on: ManagementWorld) -> None:
        on.start(federator.controllers)
        sent = await on.deploy()
        await on.copy()
        await on.stage.client("shop").delete(sent)

        await on.stage.gone("shop", WorkloadDeployment, WEB, "default")
        assert await on.stage.client("hub").find(WorkloadDeployment, WEB, on.hub_namespace) is None
        await on.reported((WEB, "Normal", "Federated"), (WEB, "Normal", "Withdrawn"))
        await on.stage.rest()
        assert await on.stage.quiet() == []

    set_up(tmp_path, story)


def test_w24_it_is_kept_until_the_hub_has_no_copy(tmp_path):
    """While the hub's copy is deleting the project's deployment stays."""

    async def story(on: ManagementWorld) -> None:
        on.start(federator.controllers)
        sent = await on.deploy()
        copy = await on.change("hub", await on.copy(), finalizers=(SLOW,))
        await on.stage.client("shop").delete(sent)
        await on.copy(lambda c: c.deleting)
        await on.stage.rest()
        assert held(await on.project())
        await on.change("hub", copy, finalizers=())

        await on.stage.gone("shop", WorkloadDeployment, WEB, "default")

    set_up(tmp_path, story)


def test_a_deployment_that_was_never_copied_is_released_at_once(tmp_path):
    """A deployment without the federator's finalizer is ignored."""

    async def story(on: ManagementWorld) -> None:
        sent = await on.deploy(finalizers=(SLOW,))
        await on.stage.client("shop").delete(sent)
        on.start(federator.controllers)
        await on.stage.rest()

        assert not held(await on.project())
        assert await on.stage.client("hub").find(Namespace, on.hub_namespace) is None
        await on.change("shop", sent, finalizers=())
        await on.stage.gone("shop", WorkloadDeployment, WEB, "default")

    set_up(tmp_path, story)


def test_a_wrong_annotation_loses_nothing(tmp_path):
    """The copy is found by the namespace's uid as well, and an object of another client is not touched."""

    async def story(on: ManagementWorld) -> None:
        on.start(federator.controllers)
        sent = await on.deploy()
        await on.copy()
        await on.stage.rest()
        hub = on.stage.client("hub")
        await hub.create(Namespace(metadata=ObjectMeta(name="elsewhere")))
        unrelated = with_meta(on_hub(), namespace="elsewhere", uid="", labels={})
        await hub.create(unrelated)
        await on.planes.projects.disengage(cluster_name(PROJECT))
        spoilt = {annotations.FEDERATION_NAMESPACE: "elsewhere"}
        await on.change("shop", sent, annotations=spoilt)
        await on.stage.client("shop").delete(sent)
        await on.stage.engage("projects", PROJECT)

        await on.stage.gone("shop", WorkloadDeployment, WEB, "default")
        assert await hub.find(WorkloadDeployment, WEB, on.hub_namespace) is None
        assert await hub.find(WorkloadDeployment, WEB, "elsewhere") is not None

    set_up(tmp_path, story)


def test_a_namespace_can_be_deleted_at_any_moment(tmp_path):
    """The project's namespace terminates: its deployments are deleted on the hub and released."""

    async def story(on: ManagementWorld) -> None:
        shop = on.stage.client("shop")
        hub_namespace = await hub_namespace_of(on.stage, PROJECT, "team")
        on.start(federator.controllers)
        await shop.create(with_meta(original(), namespace="team", uid="", generation=0))
        await on.stage.named("hub", WorkloadDeployment, WEB, hub_namespace)
        await shop.delete(await shop.get(Namespace, "team"))

        await on.stage.gone("shop", Namespace, "team")
        assert await on.stage.client("hub").find(WorkloadDeployment, WEB, hub_namespace) is None

    set_up(tmp_path, story)


def test_an_unreachable_hub_blocks_the_deletion(tmp_path):
    """An unreachable object is not taken for gone."""

    async def story(on: ManagementWorld) -> None:
        on.start(federator.controllers)
        sent = await on.deploy()
        await on.copy()
        await on.stage.rest()
        on.hub.cut()
        await on.stage.client("shop").delete(sent)
        await on.stage.rest(120)
        assert held(await on.project())
        on.hub.heal()

        await on.stage.gone("shop", WorkloadDeployment, WEB, "default")
        assert await on.stage.client("hub").find(WorkloadDeployment, WEB, on.hub_namespace) is None

    set_up(tmp_path, story)


def test_two_federators_withdraw_once(tmp_path):
    """One of them deletes the copy and the finalizer; the other finds nothing to do."""

    async def story(on: ManagementWorld) -> None:
        on.start(federator.controllers, copies=2)
        sent = await on.deploy()
        await on.copy()
        await on.stage.client("shop").delete(sent)

        await on.stage.gone("shop", WorkloadDeployment, WEB, "default")
        await on.stage.rest()
        await on.reported((WEB, "Normal", "Federated"), (WEB, "Normal", "Withdrawn"))

    set_up(tmp_path, story)


async def _orphan(on: ManagementWorld, **changes: str | None) -> WorkloadDeployment:
    """A deployment on the hub whose original is not in the project."""
    client = on.stage.client("hub")
    if await client.find(Namespace, on.hub_namespace) is None:
        await client.create(
            Namespace(metadata=ObjectMeta(name=on.hub_namespace, labels=upstream()))
        )
    made = labelled(with_meta(on_hub(), namespace=on.hub_namespace, uid=""), **changes)
    return await client.create(made)


@pytest.mark.parametrize(
    "changes", [{}, {"UPSTREAM_CLUSTER": None}], ids=["ours", "the original's"]
)
def test_a_copy_without_an_original_is_removed(tmp_path, changes):
    """The project has no such deployment, so the hub must not have one."""

    async def story(on: ManagementWorld) -> None:
        on.start(federator.controllers)
        await _orphan(on, **changes)

        await on.stage.gone("hub", WorkloadDeployment, WEB, on.hub_namespace)

    set_up(tmp_path, story)


def test_a_copy_of_an_unreachable_project_is_kept(tmp_path):
    """An unreachable project may still have it."""

    async def story(on: ManagementWorld) -> None:
        on.start(federator.controllers)
        await on.planes.projects.disengage(cluster_name(PROJECT))
        await _orphan(on)
        await on.stage.rest()

        await on.copy()

    set_up(tmp_path, story)


def test_a_copy_that_does_not_name_its_original_is_kept(tmp_path, caplog):
    """It is logged, since nothing will requeue it."""

    async def story(on: ManagementWorld) -> None:
        client = on.stage.client("hub")
        await client.create(Namespace(metadata=ObjectMeta(name=on.hub_namespace)))
        on.start(federator.controllers)
        await _orphan(on, UPSTREAM_CLUSTER=None)
        await on.stage.rest()

        await on.copy()
        assert "a hub object does not name its project" in caplog.text

    set_up(tmp_path, story)


def test_a_copy_of_an_earlier_namespace_is_removed(tmp_path):
    """A namespace of the same name is another one, and so is its namespace on the hub."""
    earlier = "ns-earlier"

    async def story(on: ManagementWorld) -> None:
        hub = on.stage.client("hub")
        await hub.create(Namespace(metadata=ObjectMeta(name=earlier, labels=upstream())))
        await hub.create(with_meta(on_hub(), namespace=earlier, uid=""))
        on.start(federator.controllers)
        await on.deploy()

        await on.stage.gone("hub", WorkloadDeployment, WEB, earlier)
        await on.copy()

    set_up(tmp_path, story)


def test_a_deleting_orphan_is_left_alone(tmp_path):
    """A deleting object is not deleted again."""

    async def story(on: ManagementWorld) -> None:
        orphan = await _orphan(on)
        orphan = await on.change("hub", orphan, finalizers=(SLOW,))
        await on.stage.client("hub").delete(orphan)
        before = len(on.stage.writes)
        on.start(federator.controllers)
        await on.stage.rest()

        assert on.stage.writes[before:] == []

    set_up(tmp_path, story)


def test_a_copy_that_names_another_original_is_judged_by_that(tmp_path):
    """The deployment it was a copy of is released; the one it names has its copy elsewhere."""

    async def story(on: ManagementWorld) -> None:
        on.start(federator.controllers)
        sent = await on.deploy()
        copy = await on.copy()
        await on.stage.rest()
        await on.planes.projects.disengage(cluster_name(PROJECT))
        other = {labels.UPSTREAM_NAMESPACE: "other"}
        await on.change("hub", copy, labels=copy.metadata.labels | other)
        await on.stage.client("shop").delete(sent)
        hub_namespace = await hub_namespace_of(on.stage, PROJECT, "other")
        shop = on.stage.client("shop")
        await shop.create(with_meta(original(), namespace="other", uid="", generation=0))
        await on.stage.engage("projects", PROJECT)

        await on.stage.gone("shop", WorkloadDeployment, WEB, "default")
        await on.stage.named("hub", WorkloadDeployment, WEB, hub_namespace)
        await on.stage.gone("hub", WorkloadDeployment, WEB, on.hub_namespace)

    set_up(tmp_path, story)
