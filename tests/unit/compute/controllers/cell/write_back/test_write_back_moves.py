"""Copies that more than one cell, or more than one deployment, could own."""

from msgspec.structs import replace

from compute.api import labels
from compute.api.compute import Instance, WorkloadDeployment
from compute.api.karmada_work import (
    ResourceBinding,
    ResourceBindingSpec,
    TargetCluster,
    TemplateRef,
)
from kubekit.api.meta import ObjectMeta, with_metadata
from kubekit.client.options import DeleteOptions
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

OTHER = "cell-two"


async def copied(rig: Rig, true=lambda _: True, name: str = NAME, seconds: float = 60) -> Instance:
    return await rig.stage.named("hub", Instance, name, NAMESPACE, true, seconds)


async def no_copy(rig: Rig, name: str = NAME, seconds: float = 60) -> None:
    await rig.stage.gone("hub", Instance, name, NAMESPACE, seconds)


async def bind(rig: Rig, *cells: str) -> None:
    """Choose cells for the deployment, as the engine does."""
    reference = TemplateRef(
        api_version="compute.datumapis.com/v1alpha",
        kind="WorkloadDeployment",
        name="web-home-dfw",
        namespace=NAMESPACE,
    )
    spec = ResourceBindingSpec(
        resource=reference, clusters=tuple(TargetCluster(name=cell) for cell in cells)
    )
    name = "web-home-dfw-workloaddeployment"
    metadata = ObjectMeta(name=name, namespace=NAMESPACE)
    found = await rig.upstairs.find(ResourceBinding, name, NAMESPACE)
    if found:
        await rig.upstairs.patch(found, replace(found, spec=spec))
    else:
        await rig.upstairs.create(ResourceBinding(metadata=metadata, spec=spec))


async def copy_of_another(rig: Rig, ordinal: int = 0, cell: str | None = OTHER) -> Instance:
    """A copy that another cell wrote, or the original, which writes no cell label."""
    owner = await rig.upstairs.get(WorkloadDeployment, "web-home-dfw", NAMESPACE)
    own_labels = {labels.DEPLOYMENT_NAME: "web-home-dfw"}
    if cell:
        own_labels |= {labels.SOURCE_CLUSTER: cell}
    metadata = ObjectMeta(
        name=f"web-home-dfw-{ordinal}",
        namespace=NAMESPACE,
        labels=own_labels,
        owner_references=(owner.reference(controller=True),),
    )
    return await rig.upstairs.create(Instance(metadata=metadata, spec=owner.spec.template.spec))


def written_here(copy: Instance) -> bool:
    return copy.metadata.labels.get(labels.SOURCE_CLUSTER) == CELL


def test_w62_the_copy_of_another_cell_is_left_alone(tmp_path):
    """Until it is gone, or assigned to this cell; the engine's choice alone is no permission."""

    async def story(rig: Rig) -> None:
        rig.start()
        await rig.deploy()
        await bind(rig, CELL)
        theirs = await copy_of_another(rig)
        await rig.running()
        await rig.stage.rest()
        assert await rig.upstairs.get(Instance, NAME, NAMESPACE) == theirs

        await rig.upstairs.delete(theirs)

        await copied(rig, written_here, seconds=61)

    on_a_cell(tmp_path, story)


def test_w62_a_cell_goes_on_with_the_copies_that_are_assigned_to_it(tmp_path):
    """Those of its Instances are brought up to date at once, and those of other slots deleted."""

    async def story(rig: Rig) -> None:
        rig.start()
        await rig.deploy()
        copies = [await copy_of_another(rig), await copy_of_another(rig, 1)]
        await rig.running()
        await rig.stage.rest()
        for copy in copies:
            here = copy.metadata.labels | {labels.SOURCE_CLUSTER: CELL}
            await rig.upstairs.patch(copy, with_metadata(copy, labels=here))

        await copied(rig, lambda c: written_here(c) and is_ready(c), seconds=5)
        await no_copy(rig, "web-home-dfw-1", seconds=5)
        assert await rig.stage.quiet() == []

    on_a_cell(tmp_path, story)


def test_a_copy_of_the_original_is_adopted(tmp_path):
    """A copy without a cell label becomes this cell's."""

    async def story(rig: Rig) -> None:
        rig.start()
        await rig.deploy()
        await copy_of_another(rig, cell=None)
        await rig.running()

        await copied(rig, lambda c: written_here(c) and is_ready(c))

    on_a_cell(tmp_path, story)


def test_a_copy_that_moved_away_is_not_deleted(tmp_path):
    """When another cell has taken a copy over, the deletion of the Instance here does not delete it."""

    async def story(rig: Rig) -> None:
        rig.start()
        await rig.deploy()
        await rig.running()
        copy = await copied(rig, is_ready)
        await bind(rig, OTHER)
        new_labels = copy.metadata.labels | {labels.SOURCE_CLUSTER: OTHER}
        await rig.upstairs.patch(copy, with_metadata(copy, labels=new_labels))
        await rig.remove()
        await rig.gone()
        await rig.stage.rest()

        assert (await rig.upstairs.get(Instance, NAME, NAMESPACE)).metadata.uid == copy.metadata.uid

    on_a_cell(tmp_path, story)


def test_a_copy_stays_when_the_deployment_is_created_again(tmp_path):
    """It shows the machine that runs here, whichever deployment of the name the hub has."""

    async def story(rig: Rig) -> None:
        rig.start()
        await rig.deploy()
        await rig.running()
        first = await copied(rig, is_ready)
        here = await rig.cell.get(WorkloadDeployment, "web-home-dfw", NAMESPACE)
        old = await rig.upstairs.get(WorkloadDeployment, "web-home-dfw", NAMESPACE)
        await rig.upstairs.delete(old, DeleteOptions(propagation="Background"))
        await rig.stage.gone("hub", WorkloadDeployment, "web-home-dfw", NAMESPACE)
        metadata = ObjectMeta(name="web-home-dfw", namespace=NAMESPACE)
        again = await rig.upstairs.create(replace(here, metadata=metadata))
        await rig.stage.quiet(120.0)
        assert await copied(rig) == first

        await rig.upstairs.delete(again, DeleteOptions(propagation="Background"))
        await rig.stage.quiet(59.0)
        assert await copied(rig) == first

    on_a_cell(tmp_path, story)


def test_a_copy_outlives_its_deployment_until_the_machine_has_stopped(tmp_path):
    """The project sees that it is stopping, and then that it is gone."""

    async def story(rig: Rig) -> None:
        rig.start()
        await rig.deploy()
        await rig.running()
        await copied(rig, is_ready)
        owner = await rig.upstairs.get(WorkloadDeployment, "web-home-dfw", NAMESPACE)
        await rig.upstairs.delete(owner, DeleteOptions(propagation="Background"))
        await rig.delete()
        await rig.report(condition("Available", "False", "Stopping", "it stops"))
        await copied(rig, lambda c: status_and_reason(c, "Available") == ("False", "Stopping"))
        await rig.stage.quiet(600.0)
        await copied(rig, lambda c: status_and_reason(c, "Available") == ("False", "Stopping"))

        await rig.stop_machine()
        await no_copy(rig, seconds=1.0)

    on_a_cell(tmp_path, story)


def test_an_instance_that_stays_without_a_deployment_on_the_hub_loses_its_copy(tmp_path):
    """Nothing of what the hub gave up is to be seen there: it goes after a while, and stays away."""

    async def story(rig: Rig) -> None:
        rig.start()
        await rig.deploy()
        await rig.running()
        await copied(rig, is_ready)
        owner = await rig.upstairs.get(WorkloadDeployment, "web-home-dfw", NAMESPACE)
        await rig.upstairs.delete(owner, DeleteOptions(propagation="Background"))
        await rig.stage.quiet(59.0)
        await copied(rig, is_ready)
        await no_copy(rig, seconds=2.0)
        await rig.report(condition("Available", "False", "InstanceCrashing", "again"))
        await rig.stage.quiet(600.0)

        assert await rig.upstairs.find(Instance, NAME, NAMESPACE) is None
        assert not (await rig.seen()).deleting

    on_a_cell(tmp_path, story)
