"""Every Instance that has a copy on the hub is shown in its project."""

import msgspec

from compute.api import labels
from compute.api.compute import Instance
from compute.controllers.management.federator import controller as federator
from compute.controllers.management.projector import controller as projector
from kubekit.api.kinds.core import Namespace
from kubekit.api.meta import ObjectMeta
from tests.support.compute.builders import condition, instance
from tests.support.compute.management_builders import WEB, ManagementWorld, held, set_up, upstream

FIRST = f"{WEB}-0"
READY = condition("Ready", "True", "Available")
WAITING = condition("Ready", "False", "Provisioning", "it is being set up")


def test_an_instance_is_shown(tmp_path):
    """With the copy's labels, spec and status; owned by the project's deployment, by its uid."""

    async def story(on: ManagementWorld) -> None:
        shown = await on.show_one(WAITING)
        owner = await on.project()
        copy = await on.stage.client("hub").get(Instance, FIRST, on.hub_namespace)

        uid = {labels.DEPLOYMENT_UID: owner.metadata.uid}
        assert shown.metadata.labels == copy.metadata.labels | uid
        assert shown.metadata.owner_references == (owner.reference(),)
        assert (shown.spec, shown.status) == (copy.spec, copy.status)
        await on.stage.rest()
        assert await on.stage.quiet() == []

    set_up(tmp_path, story)


def test_w63_the_owner_is_not_held_up(tmp_path):
    """To block the owner's deletion takes permissions that the platform does not have."""

    async def story(on: ManagementWorld) -> None:
        (owner,) = (await on.show_one(READY)).metadata.owner_references

        assert (owner.controller, owner.block_owner_deletion) == (None, None)

    set_up(tmp_path, story)


def test_a_change_is_shown(tmp_path):
    """The next status of the cell replaces the one before."""

    async def story(on: ManagementWorld) -> None:
        await on.show_one(WAITING)
        await on.write_back(0, READY)

        await on.shown(READY)

    set_up(tmp_path, story)


def test_w33_an_instance_without_a_copy_is_not_shown(tmp_path):
    """After scaling down no projection is left."""

    async def story(on: ManagementWorld) -> None:
        await on.show_one(READY)
        second = await on.write_back(1, READY)
        await on.shown(READY, name=f"{WEB}-1")
        await on.stage.client("hub").delete(second)

        await on.stage.gone("shop", Instance, f"{WEB}-1", "default")
        await on.stage.rest()
        await on.shown(READY)

    set_up(tmp_path, story)


def test_a_deleting_copy_is_not_shown(tmp_path):
    """Its cell has none, even if a finalizer keeps the copy."""

    async def story(on: ManagementWorld) -> None:
        await on.show_one(READY)
        copy = await on.stage.client("hub").get(Instance, FIRST, on.hub_namespace)
        copy = await on.change("hub", copy, finalizers=("example.com/slow",))
        await on.stage.client("hub").delete(copy)

        await on.stage.gone("shop", Instance, FIRST, "default")

    set_up(tmp_path, story)


def test_w34_an_equal_status_is_not_written(tmp_path):
    """A change of the copy that is not projected costs no write in the project."""

    async def story(on: ManagementWorld) -> None:
        await on.show_one(READY)
        await on.stage.rest()
        before = len(on.stage.writes)
        copy = await on.stage.client("hub").get(Instance, FIRST, on.hub_namespace)
        await on.change("hub", copy, annotations={"karmada": "x"})
        await on.stage.rest()

        assert [w for w in on.stage.writes[before:] if w[0] == "shop"] == []

    set_up(tmp_path, story)


def test_w35_an_edit_of_a_user_is_reverted(tmp_path):
    """Labels and owner follow the copy; a label of the user stays."""

    async def story(on: ManagementWorld) -> None:
        shown = await on.show_one(READY)
        new_labels = {labels.WORKLOAD_NAME: "other", "team": "blue"}
        await on.change("shop", shown, labels=new_labels, owner_references=())

        merged = shown.metadata.labels | {"team": "blue"}
        seen = await on.stage.named(
            "shop", Instance, FIRST, "default", lambda i: i.metadata.labels == merged
        )
        assert seen.metadata.owner_references == shown.metadata.owner_references

    set_up(tmp_path, story)


def test_w35_a_projection_that_a_user_replaces_is_restored(tmp_path):
    """Status and spec follow the cell."""

    async def story(on: ManagementWorld) -> None:
        shown = await on.show_one(READY)
        shop = on.stage.client("shop")
        status = msgspec.structs.replace(shown.status, conditions=(WAITING,))
        shown = await shop.patch_status(shown, msgspec.structs.replace(shown, status=status))
        await on.shown(READY)
        shown = await shop.get(Instance, FIRST, "default")
        assert shown.spec.controller is not None
        hashed = msgspec.structs.replace(shown.spec.controller, template_hash="wrong")
        spec = msgspec.structs.replace(shown.spec, controller=hashed)
        await shop.patch(shown, msgspec.structs.replace(shown, spec=spec))

        await on.stage.named("shop", Instance, FIRST, "default", lambda i: i.spec == shown.spec)

    set_up(tmp_path, story)


def test_w35_what_a_user_deletes_is_shown_again(tmp_path):
    """The instance runs, so its projection is created again."""

    async def story(on: ManagementWorld) -> None:
        shown = await on.show_one(READY)
        await on.stage.client("shop").delete(shown)

        again = await on.stage.named(
            "shop",
            Instance,
            FIRST,
            "default",
            lambda i: i.metadata.uid != shown.metadata.uid and i.status.conditions == (READY,),
        )
        assert again.spec == shown.spec

    set_up(tmp_path, story)


def test_w36_a_label_that_is_gone_is_gone_here_too(tmp_path):
    """Labels are removed as well as added."""

    async def story(on: ManagementWorld) -> None:
        await on.show_one(READY)
        copy = await on.stage.client("hub").get(Instance, FIRST, on.hub_namespace)
        fewer = {k: v for k, v in copy.metadata.labels.items() if k != labels.CITY_CODE}
        await on.change("hub", copy, labels=fewer)

        await on.stage.named(
            "shop",
            Instance,
            FIRST,
            "default",
            lambda i: labels.CITY_CODE not in i.metadata.labels,
        )

    set_up(tmp_path, story)


def test_w37_a_copy_waits_for_its_deployment_and_for_nothing_else(tmp_path):
    """It is shown as soon as the deployment exists, without a timer."""

    async def story(on: ManagementWorld) -> None:
        on.start(federator.controllers, projector.controllers)
        sent = await on.deploy()
        await on.project(held)
        copy = await on.write_back(0, READY)
        await on.shown(READY)
        await on.stage.client("shop").delete(sent)
        await on.stage.client("hub").delete(copy)
        await on.stage.gone("shop", Instance, FIRST, "default")
        await on.stage.rest()
        hub = on.stage.client("hub")
        made = instance(0, namespace=on.hub_namespace, uid="", generation=0, labels=upstream())
        await hub.create(made)
        await on.stage.rest()
        assert await on.stage.client("shop").find(Instance, FIRST, "default") is None
        await on.deploy()

        await on.stage.named("shop", Instance, FIRST, "default", seconds=0.5)

    set_up(tmp_path, story)


def test_a_users_own_instance_is_left_alone(tmp_path):
    """An Instance that is no projection is not deleted."""

    async def story(on: ManagementWorld) -> None:
        on.start(projector.controllers)
        own = instance(0, namespace="default", uid="", generation=0, labels={})
        await on.stage.client("shop").create(own)
        await on.stage.rest()

        assert await on.stage.client("shop").find(Instance, FIRST, "default") is not None

    set_up(tmp_path, story)


def test_a_copy_in_the_hub_namespace_of_another_namespace_is_not_shown(tmp_path):
    """It is of an earlier namespace of the same name, whose deployments are gone."""

    async def story(on: ManagementWorld) -> None:
        on.start(federator.controllers, projector.controllers)
        await on.deploy()
        await on.project(held)
        hub = on.stage.client("hub")
        await hub.create(Namespace(metadata=ObjectMeta(name="ns-earlier", labels=upstream())))
        stray_labels = upstream() | {labels.DEPLOYMENT_NAME: WEB}
        stray = instance(0, namespace="ns-earlier", uid="", generation=0, labels=stray_labels)
        await hub.create(stray)
        await on.stage.rest()

        assert await on.stage.client("shop").find(Instance, FIRST, "default") is None

    set_up(tmp_path, story)


def test_a_copy_that_names_another_original_changes_nothing_here(tmp_path):
    """The projection is neither deleted, nor does it follow a copy of another Instance."""

    async def story(on: ManagementWorld) -> None:
        await on.show_one(READY)
        copy = await on.stage.client("hub").get(Instance, FIRST, on.hub_namespace)
        other = copy.metadata.labels | {labels.UPSTREAM_NAMESPACE: "other"}
        await on.change("hub", copy, labels=other)
        await on.stage.rest()

        await on.shown(READY)

    set_up(tmp_path, story)


def test_a_copy_that_does_not_name_its_original_is_logged(tmp_path, caplog):
    """Nothing will requeue it, so it must be logged."""

    async def story(on: ManagementWorld) -> None:
        hub = on.stage.client("hub")
        await hub.create(Namespace(metadata=ObjectMeta(name=on.hub_namespace)))
        on.start(projector.controllers)
        stray = instance(0, namespace=on.hub_namespace, uid="", generation=0, labels={})
        await hub.create(stray)
        await on.stage.rest()

        assert "a hub object does not name its project" in caplog.text

    set_up(tmp_path, story)
