"""The cleanup of deleted projects, and the default network of new ones."""

import asyncio

import msgspec
import pytest

from compute.api import annotations, finalizers, labels
from compute.api.compute import Instance, Workload, WorkloadDeployment
from compute.api.instance_spec import LocationRef
from compute.api.karmada import MemberCluster as Member
from compute.api.networking import Network, NetworkIPAM, NetworkSpec, Subnet, SubnetSpec
from compute.api.quota import ResourceClaim
from compute.api.resource_manager import Project
from compute.decide.conditions import find, is_true
from compute.services import default_network, projects
from kubekit.api.kinds.core import Namespace
from kubekit.api.kinds.events import Event
from kubekit.api.meta import LocalRef, Object, ObjectMeta
from kubekit.runtime.requests import cluster_name
from tests.support.compute.builders import deployment, instance, workload
from tests.support.compute.project_builders import Planes, answers, deleted, said, started
from tests.support.compute.service_builders import PLANES, claim, planes, project
from tests.support.kubekit.deaf import listener
from tests.support.kubekit.stage import Stage, staged


async def put(stage: Stage, obj: Object, *held: str) -> Object:
    """Something in the project, held by these."""
    meta = msgspec.structs.replace(
        obj.metadata, namespace="default", uid="", generation=0, finalizers=held
    )
    return await stage.client("shop").create(msgspec.structs.replace(obj, metadata=meta))


async def let_go(stage: Stage, obj: Object) -> None:
    client = stage.client("shop")
    now = await client.get(type(obj), obj.metadata.name, "default")
    meta = msgspec.structs.replace(now.metadata, finalizers=())
    await client.patch(now, msgspec.structs.replace(now, metadata=meta))


def test_a_project_is_emptied_before_its_plane_goes(tmp_path):
    """Workloads first, then what they made, claims and networks; the plane is there throughout."""

    async def story(stage: Stage) -> None:
        keeper = Planes()
        await started(stage, keeper)
        things = [
            await put(stage, workload(), finalizers.WORKLOAD),
            await put(stage, deployment(), finalizers.FEDERATOR),
            await put(stage, claim(), "example.com/held"),
            await put(stage, network(), finalizers.NETWORK),
        ]
        await deleted(stage)
        waiting = (
            "Waiting since 2026-01-01T00:00:00Z until these are gone: "
            "workloads, workloaddeployments, resourceclaims; "
            "cell cell-dfw has not released its part; it is waited for until 2026-01-01T00:05:00Z"
        )
        going = await stage.named(
            "core", Project, "shop", "", lambda p: ready_message(p) == waiting
        )
        assert said(going) == said(going, "ResourceCleanup") == "CleanupAwaitingCompletion"
        assert not is_true(going.status.conditions, "Ready")
        kept = await stage.client("shop").get(Network, "default", "default")
        assert not kept.deleting
        for thing in things:
            assert keeper.there == {"shop": None}
            await asyncio.sleep(1)
            if thing.metadata.name == claim().metadata.name:
                client = stage.client("shop")
                await client.delete(await client.get(ResourceClaim, thing.metadata.name, "default"))
            await let_go(stage, thing)
        await stage.gone("core", Project, "shop", seconds=2)
        assert keeper.there == {}

    staged(tmp_path, story, *PLANES)


def ready_message(of: Project) -> str:
    found = find(of.status.conditions, "ResourceCleanup")
    return found.message if found else ""


def network() -> Network:
    spec = NetworkSpec(ipam=NetworkIPAM(mode="Auto"))
    return Network(metadata=ObjectMeta(name="default"), spec=spec)


def subnet(of: Object) -> Subnet:
    """Addresses of a network that a cell has."""
    meta = ObjectMeta(
        name="default--dfw-0.cell-dfw",
        labels={labels.SOURCE_CLUSTER: "cell-dfw"},
        owner_references=(of.reference(controller=True),),
    )
    spec = SubnetSpec(
        ip_family="IPv4",
        location=LocationRef(name="dfw"),
        network_context=LocalRef(name="default--dfw"),
        prefix_length=16,
        start_address="10.0.0.0",
        subnet_class="private",
    )
    return Subnet(metadata=meta, spec=spec)


def test_instances_that_are_left_are_looked_for(tmp_path):
    """They are too many to be watched; the project goes soon after the last of them."""

    async def story(stage: Stage) -> None:
        await started(stage, Planes())
        last = await put(stage, instance())
        await deleted(stage)
        await stage.named("core", Project, "shop", "", lambda p: "instances" in ready_message(p))
        await stage.client("shop").delete(last)
        await stage.gone("core", Project, "shop", seconds=3)

    staged(tmp_path, story, *PLANES)


def test_what_is_made_in_a_project_that_goes_goes_too(tmp_path):
    """A Workload that comes late does not keep its project, and is not left behind."""

    async def story(stage: Stage) -> None:
        keeper = Planes()
        await started(stage, keeper)
        held = await put(stage, workload(), finalizers.WORKLOAD)
        await deleted(stage)
        await stage.named("core", Project, "shop", "", lambda p: "workloads" in ready_message(p))
        await put(stage, workload("late"))
        await put(stage, deployment())
        await stage.gone("shop", Workload, "late", "default")
        await let_go(stage, held)
        await stage.gone("core", Project, "shop", seconds=2)
        assert (await stage.client("shop").every(WorkloadDeployment)).items == ()

    staged(tmp_path, story, *PLANES)


@pytest.mark.parametrize(
    ("cell", "cell_stays"), [("cell-dfw", False), ("", True)], ids=["cell is gone", "by hand"]
)
def test_leaked_claims_do_not_keep_a_project(tmp_path, cell, cell_stays):
    """What a cell that is gone left, and what was made by hand, is deleted with the project."""

    async def story(stage: Stage) -> None:
        await started(stage, Planes())
        hub = stage.client("hub")
        if not cell_stays:
            await hub.delete(await hub.get(Member, "cell-dfw"))
        await put(stage, claim(cell=cell))
        await deleted(stage)
        await stage.gone("core", Project, "shop", seconds=2)

    staged(tmp_path, story, *PLANES)


def test_a_cell_that_falls_silent_is_not_waited_for(tmp_path):
    """Its claims are deleted, its addresses are freed, and an event says where the project still is."""

    async def story(stage: Stage) -> None:
        await started(stage, Planes())
        held = await put(stage, network(), finalizers.NETWORK)
        await put(stage, claim())
        await put(stage, subnet(of=held), "example.com/held")
        await deleted(stage)
        await asyncio.sleep(30)
        assert "cell cell-dfw has not" in ready_message(
            await stage.client("core").get(Project, "shop")
        )
        await answers(stage, "Unknown", "the cell has not answered since noon")
        await stage.gone("core", Project, "shop", seconds=2)
        await asyncio.sleep(5)
        notes = [event.note for event in (await stage.client("core").every(Event)).items]
        assert notes == [
            "The project is gone; what is left in cell-dfw is removed when that can be reached"
        ]

    staged(tmp_path, story, *PLANES)


@pytest.mark.parametrize("kind", ["claim", "instance", "address"])
def test_what_a_cell_does_not_release_is_waited_for_five_minutes(tmp_path, kind):
    """The cell answers and does nothing; what it has ends when it works again."""

    async def story(stage: Stage) -> None:
        await started(stage, Planes())
        held = await put(stage, network(), finalizers.NETWORK)
        left = {"claim": claim(), "instance": instance(), "address": subnet(of=held)}[kind]
        await put(stage, left, "example.com/held")
        await deleted(stage)
        await asyncio.sleep(299)
        assert (await stage.client("core").get(Project, "shop")).deleting
        await stage.gone("core", Project, "shop", seconds=2)

    staged(tmp_path, story, *PLANES)


def test_a_workload_is_waited_for_however_long_it_takes(tmp_path):
    """Its own deletion has the limit: until then its deployments are on the hub."""

    async def story(stage: Stage) -> None:
        await started(stage, Planes())
        held = await put(stage, workload(), finalizers.WORKLOAD)
        await put(stage, claim())
        await deleted(stage)
        await asyncio.sleep(1000)
        late = "it was waited for until 2026-01-01T00:05:00Z"
        assert late in ready_message(await stage.client("core").get(Project, "shop"))
        assert await stage.quiet() == []
        await let_go(stage, held)
        await stage.gone("core", Project, "shop", seconds=2)

    staged(tmp_path, story, *PLANES)


def test_a_cell_that_is_given_up_frees_the_projects_that_wait_for_it(tmp_path):
    """Its Cluster is deleted after the project is: nothing in the project tells of that."""

    async def story(stage: Stage) -> None:
        await started(stage, Planes())
        await put(stage, claim())
        await deleted(stage)
        await stage.rest()
        assert "resourceclaims" in ready_message(await stage.client("core").get(Project, "shop"))
        hub = stage.client("hub")
        await hub.delete(await hub.get(Member, "cell-dfw"))
        await stage.gone("core", Project, "shop", seconds=2)

    staged(tmp_path, story, *PLANES)


def test_two_copies_at_once_come_to_the_same(tmp_path):
    """Both may make and remove; the project is made once and goes once."""

    async def story(stage: Stage) -> None:
        keeper = Planes()
        stage.start(*projects.controllers(planes(stage), keeper, stage.factory))
        await started(stage, keeper)
        await put(stage, workload())
        await stage.rest()
        assert await stage.quiet() == []
        await deleted(stage)
        await stage.gone("core", Project, "shop")
        assert keeper.there == {}

    staged(tmp_path, story, *PLANES)


def test_a_new_project_has_a_network_called_default_once(tmp_path):
    """It is made with the plane; who deletes it is not given another."""

    async def story(stage: Stage) -> None:
        stage.start(*default_network.controllers(planes(stage), stage.factory))
        stage.start(*default_network.controllers(planes(stage), stage.factory))
        await stage.client("core").create(project())
        await stage.client("shop").create(Namespace(metadata=ObjectMeta(name="other")))
        made = await stage.named("shop", Network, "default", seconds=120)
        assert made.spec.ipam.mode == "Auto"
        await stage.rest()
        await stage.client("shop").delete(made)
        await stage.rest()
        assert (await stage.client("shop").every(Network)).items == ()
        assert await stage.quiet() == []

    staged(tmp_path, story, *PLANES)


def test_a_network_that_is_there_is_taken_for_the_default(tmp_path):
    """A user was faster: that network stays as it is."""

    async def story(stage: Stage) -> None:
        await stage.client("core").create(project())
        own = network()
        spec = msgspec.structs.replace(own.spec, mtu=1500)
        await put(stage, msgspec.structs.replace(own, spec=spec))
        stage.start(*default_network.controllers(planes(stage), stage.factory))
        await stage.rest()
        kept = await stage.client("shop").get(Network, "default", "default")
        assert kept.spec.mtu == 1500
        assert await stage.quiet() == []

    staged(tmp_path, story, *PLANES)


def test_a_project_with_a_network_that_is_not_cached_gets_no_other(tmp_path):
    """What is known may be old; the namespace itself is asked before anything is made."""

    async def story(stage: Stage) -> None:
        ear, client = listener(await stage.plane("shop"))
        await stage.role("projects").engage(cluster_name("shop"), client)
        stage.start(*default_network.controllers(planes(stage), stage.factory))
        await stage.rest()
        ear.stop()
        first = await stage.client("shop").get(Namespace, "default")
        marks = {annotations.DEFAULT_NETWORK: "made"}
        meta = msgspec.structs.replace(first.metadata, annotations=marks)
        await stage.client("shop").patch(first, msgspec.structs.replace(first, metadata=meta))
        await stage.client("core").create(project())
        await stage.rest()
        assert (await stage.client("shop").every(Network)).items == ()

    staged(tmp_path, story, ("core", "core"))


def test_a_project_that_goes_is_not_furnished(tmp_path):
    """A network would only be in its way."""

    async def story(stage: Stage) -> None:
        keeper = Planes()
        await started(stage, keeper)
        await put(stage, workload(), finalizers.WORKLOAD)
        await deleted(stage)
        stage.start(*default_network.controllers(planes(stage), stage.factory))
        await stage.rest()
        assert (await stage.client("shop").every(Network)).items == ()
        assert (await stage.client("shop").every(Instance)).items == ()

    staged(tmp_path, story, *PLANES)
