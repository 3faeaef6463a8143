"""Copies of a cell's Instances on the hub."""

import asyncio

from msgspec.structs import replace

from compute.api import labels
from compute.api.compute import Instance, WorkloadDeployment
from compute.controllers.cell.write_back import controller as write_back
from kubekit.api.kinds.core import Namespace
from kubekit.api.meta import ObjectMeta, with_metadata
from tests.support.compute.builders import condition
from tests.support.compute.cell_rig import (
    CELL,
    NAME,
    NAMESPACE,
    Rig,
    is_ready,
    on_a_cell,
    status_and_reason,
)

INSTANCES = "compute.datumapis.com/instances"


async def copied(rig: Rig, true=lambda _: True, name: str = NAME, seconds: float = 60) -> Instance:
    return await rig.stage.named("hub", Instance, name, NAMESPACE, true, seconds)


async def no_copy(rig: Rig, name: str = NAME, seconds: float = 60) -> None:
    await rig.stage.gone("hub", Instance, name, NAMESPACE, seconds)


def test_an_instance_is_copied_with_its_status_and_the_copy_deleted_with_it(tmp_path):
    """Spec, status and linking labels; owned by nothing, since its cell deletes it; then gone."""

    async def story(rig: Rig) -> None:
        rig.start()
        await rig.deploy()
        await rig.running()
        await rig.stage.rest()
        original, copy = await rig.seen(), await copied(rig, is_ready)
        assert (copy.spec, copy.status) == (original.spec, original.status)
        assert copy.metadata.owner_references == ()
        assert copy.metadata.labels[labels.UPSTREAM_CLUSTER] == "cluster-shop"
        assert copy.metadata.labels[labels.SOURCE_CLUSTER] == CELL
        assert await rig.stage.quiet() == []

        await rig.remove()

        await rig.gone()
        await no_copy(rig, seconds=0.5)
        assert await rig.stage.quiet() == []

    on_a_cell(tmp_path, story)


def test_each_change_is_reported_without_delay(tmp_path):
    """A condition of the provider is on the hub a moment later."""

    async def story(rig: Rig) -> None:
        rig.start()
        await rig.deploy()
        await rig.running()
        await rig.report(condition("Available", "False", "InstanceCrashing", "again"))

        await copied(
            rig,
            lambda c: status_and_reason(c, "Ready") == ("False", "InstanceCrashing"),
            seconds=0.5,
        )

    on_a_cell(tmp_path, story)


def test_short_lived_conditions_are_not_copied(tmp_path):
    """An Instance that starts without a pause costs the hub two writes: the copy, and its status."""

    async def story(rig: Rig) -> None:
        rig.start()
        await rig.deploy()
        await rig.running()
        await rig.stage.rest()

        copies = [write for write in rig.stage.writes if write[:2] == ("hub", INSTANCES)]
        assert len(copies) == 2
        assert is_ready(await copied(rig))

    on_a_cell(tmp_path, story)


def test_an_instance_whose_status_does_not_settle_is_copied_after_a_moment(tmp_path):
    """The controller that reports on it may be down: then it is copied as it is."""

    async def story(rig: Rig) -> None:
        rig.stage.start(*write_back.controllers(rig.planes, rig.settings, rig.stage.factory))
        await rig.deploy()
        await rig.instance()
        await asyncio.sleep(9.5)
        assert await rig.upstairs.find(Instance, NAME, NAMESPACE) is None

        await copied(rig, seconds=1)
        await rig.report(condition("Available", "False", "Stopping"))
        await copied(
            rig, lambda c: status_and_reason(c, "Available") == ("False", "Stopping"), seconds=0.5
        )

    on_a_cell(tmp_path, story)


def test_without_its_deployment_on_the_hub_nothing_is_copied(tmp_path):
    """No orphan is created; when the deployment is back its copies are created."""

    async def story(rig: Rig) -> None:
        rig.start()
        await rig.deploy()
        await rig.undeploy("hub")
        await rig.running()
        await rig.stage.rest()
        assert await rig.upstairs.find(Instance, NAME, NAMESPACE) is None
        assert await rig.stage.quiet() == []

        here = await rig.cell.get(WorkloadDeployment, "web-home-dfw", NAMESPACE)
        metadata = ObjectMeta(name="web-home-dfw", namespace=NAMESPACE)
        await rig.upstairs.create(replace(here, metadata=metadata))

        await copied(rig, seconds=0.5)

    on_a_cell(tmp_path, story)


def test_nothing_is_copied_that_only_a_cache_shows(tmp_path):
    """Before a copy is created its Instance is read live."""

    async def story(rig: Rig) -> None:
        rig.start()
        await rig.deploy()
        await rig.undeploy("hub")
        await rig.instance(finalizers=("example.com/slow",))
        await rig.stage.rest(15)
        rig.home.deaf = True
        held = await rig.seen()
        free = with_metadata(held, finalizers=())
        await rig.cell.delete(await rig.cell.patch(held, free))
        here = await rig.cell.get(WorkloadDeployment, "web-home-dfw", NAMESPACE)
        metadata = ObjectMeta(name="web-home-dfw", namespace=NAMESPACE)
        await rig.upstairs.create(replace(here, metadata=metadata))
        await asyncio.sleep(15)

        assert await rig.upstairs.find(Instance, NAME, NAMESPACE) is None

    on_a_cell(tmp_path, story)


def test_a_deployment_that_only_a_cache_shows_owns_nothing(tmp_path):
    """Before a copy is created the hub's deployment is read live."""

    async def story(rig: Rig) -> None:
        rig.start()
        await rig.deploy()
        await rig.stage.rest(1)
        rig.hub.deaf = True
        await rig.undeploy("hub")
        await rig.instance()
        await rig.stage.rest(15)

        assert await rig.upstairs.find(Instance, NAME, NAMESPACE) is None

    on_a_cell(tmp_path, story)


def test_a_copy_that_was_changed_or_deleted_is_restored(tmp_path):
    """Drift on the hub is repaired at once; labels of others stay."""

    async def story(rig: Rig) -> None:
        rig.start()
        await rig.deploy()
        await rig.running()
        copy = await copied(rig, is_ready)
        new_labels = copy.metadata.labels | {labels.CITY_CODE: "LHR", "karmada.io/mine": "yes"}
        spec = replace(copy.spec, network_interfaces=copy.spec.network_interfaces * 2)
        metadata = replace(copy.metadata, labels=new_labels)
        await rig.upstairs.patch(copy, replace(copy, metadata=metadata, spec=spec))
        back = await copied(rig, lambda c: c.metadata.labels[labels.CITY_CODE] == "DFW")
        assert back.metadata.labels["karmada.io/mine"] == "yes"
        assert back.spec == (await rig.seen()).spec

        await rig.upstairs.delete(back)

        again = await copied(rig, is_ready, seconds=1)
        assert again.metadata.uid != copy.metadata.uid

    on_a_cell(tmp_path, story)


def test_a_deleting_copy_is_created_again_when_it_is_gone(tmp_path):
    """Nothing is written to a copy that is deleting."""

    async def story(rig: Rig) -> None:
        rig.start()
        await rig.deploy()
        await rig.running()
        copy = await copied(rig, is_ready)
        held = replace(copy.metadata, finalizers=("example.com/slow",))
        copy = await rig.upstairs.patch(copy, replace(copy, metadata=held))
        await rig.upstairs.delete(copy)
        assert await rig.stage.quiet() == []
        dying = await copied(rig, lambda c: c.deleting)
        free = with_metadata(dying, finalizers=())
        await rig.upstairs.patch(dying, free)

        await copied(rig, lambda c: c.metadata.uid != copy.metadata.uid)

    on_a_cell(tmp_path, story)


def test_a_deleting_copy_is_not_deleted_again(tmp_path):
    """The Instance is gone, and its copy soon after."""

    async def story(rig: Rig) -> None:
        rig.start()
        await rig.deploy()
        await rig.running()
        copy = await copied(rig, is_ready)
        held = replace(copy.metadata, finalizers=("example.com/slow",))
        copy = await rig.upstairs.patch(copy, replace(copy, metadata=held))
        await rig.upstairs.delete(copy)
        await rig.remove()
        await rig.gone()

        assert await rig.stage.quiet() == []

    on_a_cell(tmp_path, story)


def test_a_copy_stays_while_a_live_read_finds_the_instance(tmp_path):
    """A cache that does not show the Instance yet deletes no copy."""

    async def story(rig: Rig) -> None:
        rig.home.deaf = True
        await rig.deploy()
        rig.start()
        await rig.stage.rest(1)
        await rig.instance()
        made = await rig.cell.get(Instance, NAME, NAMESPACE)
        new_labels = made.metadata.labels | {labels.SOURCE_CLUSTER: CELL}
        metadata = ObjectMeta(name=NAME, namespace=NAMESPACE, labels=new_labels)
        await rig.upstairs.create(replace(made, metadata=metadata))
        await rig.stage.rest(5)

        assert await rig.upstairs.find(Instance, NAME, NAMESPACE)

    on_a_cell(tmp_path, story)


def test_w16_a_hub_that_was_unreachable_gets_only_differences(tmp_path):
    """Once it is reachable: one write per changed Instance, and none for the others."""

    async def story(rig: Rig) -> None:
        rig.start()
        await rig.deploy(2)
        await rig.running()
        await rig.running(1)
        await rig.stage.rest()
        rig.hub.cut()
        await rig.report(condition("Available", "False", "Starting"))
        await rig.report(condition("Available", "False", "InstanceCrashing"))
        await rig.stage.rest(300)
        before = len(rig.stage.writes)
        rig.hub.heal()

        await copied(rig, lambda c: status_and_reason(c, "Ready")[1] == "InstanceCrashing")
        await rig.stage.rest()
        written = [w for w in rig.stage.writes[before:] if w[0] == "hub"]
        assert len(written) == 1

    on_a_cell(tmp_path, story)


def test_an_instance_that_cannot_be_linked_waits_for_its_labels(tmp_path):
    """A copy without its labels is worse than none."""

    async def story(rig: Rig) -> None:
        rig.start()
        await rig.deploy()
        bare = await rig.instance(labels={labels.DEPLOYMENT_NAME: "web-home-dfw"})
        await rig.claim()
        await rig.stage.rest()
        assert await rig.upstairs.find(Instance, NAME, NAMESPACE) is None

        whole = dict.fromkeys(labels.WRITE_BACK, "x") | bare.metadata.labels
        found = await rig.seen()
        await rig.cell.patch(found, with_metadata(found, labels=whole))

        await copied(rig)

    on_a_cell(tmp_path, story)


def test_a_namespace_without_the_labels_of_its_project_is_waited_for(tmp_path):
    """Identity is never guessed; a watch event reports when the labels return."""

    async def story(rig: Rig) -> None:
        namespace = await rig.cell.get(Namespace, NAMESPACE)
        whole = namespace.metadata
        bare = replace(namespace, metadata=replace(whole, labels={}))
        bare = await rig.cell.patch(namespace, bare)
        rig.start()
        await rig.deploy()
        await rig.instance()
        await rig.stage.rest()
        assert await rig.upstairs.find(Instance, NAME, NAMESPACE) is None
        metadata = replace(bare.metadata, labels=whole.labels)
        await rig.cell.patch(bare, replace(bare, metadata=metadata))

        await copied(rig, seconds=1)

    on_a_cell(tmp_path, story)


def test_two_replicas_of_write_back_reach_the_same_state(tmp_path):
    """Two replicas that create the same copy leave one."""

    async def story(rig: Rig) -> None:
        rig.start(twice=True)
        await rig.deploy(3)
        for ordinal in range(3):
            await rig.running(ordinal)
        await rig.stage.rest()
        assert len((await rig.upstairs.list(Instance, NAMESPACE)).items) == 3
        assert await rig.stage.quiet() == []

    on_a_cell(tmp_path, story)


def test_a_replica_with_a_stale_cache_restores_nothing_old(tmp_path):
    """Another replica has copied the current Instance; that stays."""

    async def story(rig: Rig) -> None:
        rig.start()
        await rig.deploy()
        await rig.running()
        await rig.stage.rest()
        rig.home.deaf = True
        original = await rig.report(condition("Available", "False", "InstanceCrashing", "again"))
        copy = await copied(rig, is_ready)
        await rig.upstairs.patch_status(copy, replace(copy, status=original.status))
        await rig.stage.rest()

        assert (await copied(rig)).status == original.status

    on_a_cell(tmp_path, story)


def test_a_stale_cache_of_a_deleted_instance_does_not_restore_its_copy(tmp_path):
    """The Instance of that name may be another one."""

    async def story(rig: Rig) -> None:
        rig.start()
        await rig.deploy()
        await rig.running()
        await rig.stage.rest()
        rig.home.deaf = True
        await rig.report(finalizer=None)
        gone = await rig.seen()
        gone = await rig.cell.patch(gone, with_metadata(gone, finalizers=()))
        await rig.cell.delete(gone)
        copy = await copied(rig)
        new_status = replace(copy.status, conditions=())
        await rig.upstairs.patch_status(copy, replace(copy, status=new_status))
        await rig.stage.rest()

        assert (await copied(rig)).status.conditions == ()

    on_a_cell(tmp_path, story)
