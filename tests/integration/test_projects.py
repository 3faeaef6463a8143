"""Projects, their namespaces and their removal; admission; and a world that is restarted."""

import msgspec
import pytest

from compute.api.compute import Instance, Workload, WorkloadDeployment
from compute.api.networking import LocationBinding, Network
from compute.api.quota import ResourceClaim, ResourceGrant
from compute.api.resource_manager import Project
from compute.api.services import ServiceEntitlement
from kubekit.api.errors import Invalid
from kubekit.api.kinds.core import Namespace
from kubekit.api.meta import ObjectMeta
from tests.integration.worlds import (
    PROJECT,
    Watched,
    is_ready,
    run_story,
    running,
    with_image,
    with_replicas,
    workload,
)
from tests.support.kubekit.runtime_builders import annotated
from tests.support.kubekit.virtual_time import run


def test_a_project_has_all_that_a_first_workload_needs():
    """A namespace, a network, the cities of the world, and a grant."""

    async def story(world: Watched) -> None:
        await world.user.get(Namespace, "default")
        await world.user.get(Network, "default", "default")
        cities = {
            b.spec.topology["topology.datum.net/city-code"]
            for b in (await world.user.every(LocationBinding)).items
        }
        assert cities == {"DFW", "LHR", "SIN"}
        grants = (await world.client("core").every(ResourceGrant)).items
        assert [g.metadata.name for g in grants] == [f"{PROJECT}-compute-quota"]

    run_story(story)


@pytest.mark.parametrize("at", ["once", "rest"])
def test_deleting_a_project_empties_every_plane(at):
    """At whatever moment: nothing of it runs, is claimed, or stands on the hub afterwards."""

    async def story(world: Watched) -> None:
        await world.user.create(workload(replicas=2))
        if at == "rest":
            await world.served("web")
        space = await world.space()
        core = world.client("core")
        await core.delete(await core.get(Project, PROJECT))
        await world.gone("core", Project, PROJECT, seconds=300.0)
        assert PROJECT not in world.planes
        await world.rest()
        assert await world.left(Instance, WorkloadDeployment, ResourceClaim, ResourceGrant) == {}
        for plane in ("hub", "dfw", "lhr", "sin"):
            await world.gone(plane, Namespace, space)

    run_story(story)


@pytest.mark.parametrize("at", ["once", "rest"])
def test_deleting_a_namespace_empties_every_plane(at):
    """The finalizers in it come to their end by what is recorded on the objects themselves."""

    async def story(world: Watched) -> None:
        await world.user.create(Namespace(metadata=ObjectMeta(name="team")))
        network = await world.user.get(Network, "default", "default")
        await world.user.create(
            Network(metadata=ObjectMeta(name="default", namespace="team"), spec=network.spec)
        )
        made = workload(cities=("DFW",))
        there = msgspec.structs.replace(
            made, metadata=msgspec.structs.replace(made.metadata, namespace="team")
        )
        await world.user.create(there)
        if at == "rest":
            await world.named(
                PROJECT,
                Workload,
                "web",
                "team",
                lambda w: w.status.ready_replicas == 1,
            )
        space = await world.space(namespace="team")
        await world.user.delete(await world.user.get(Namespace, "team"))
        await world.gone(PROJECT, Namespace, "team", seconds=300.0)
        await world.rest()
        assert await world.left(Instance, WorkloadDeployment, ResourceClaim) == {}
        await world.gone("hub", Namespace, space)
        await world.gone("dfw", Namespace, space)

    run_story(story)


def test_the_door_refuses_what_could_never_run_and_names_it():
    """W52: on creation and on every later change of the spec; what stands is left as it was."""

    async def story(world: Watched) -> None:
        with pytest.raises(Invalid, match=r"placements.*cityCodes"):
            await world.user.create(workload(cities=("XXX",)))
        assert await world.user.find(Workload, "web", "default") is None
        await world.deploy(workload(cities=("DFW",)))
        before = await world.user.get(Workload, "web", "default")
        with pytest.raises(Invalid, match="image"):
            await world.change("web", with_image(""))
        with pytest.raises(Invalid, match="minReplicas"):
            await world.change("web", with_replicas(-1))
        assert await world.user.get(Workload, "web", "default") == before
        renamed = await world.change("web", lambda present: annotated(present, team="a"))
        assert renamed.metadata.annotations["team"] == "a"

    run_story(story)


def test_an_entitlement_becomes_active():
    """A new project may use compute from the start, unless approval by hand is configured."""

    async def story(world: Watched) -> None:
        await world.named(
            PROJECT, ServiceEntitlement, "compute", "", lambda e: e.status.phase == "Active"
        )

    run_story(story)


def test_a_world_goes_on_where_it_ended(tmp_path):
    """Nothing is created again, and changes made while it was stopped are applied."""

    async def first() -> str:
        async with running(("DFW", "LHR"), tmp_path) as world:
            await world.make_project()
            await world.deploy(workload(cities=("DFW", "LHR")))
            await world.rest()
            there = await world.client("dfw").get(Instance, "web-home-dfw-0", await world.space())
            return there.metadata.uid

    async def second(uid: str) -> None:
        async with running(("DFW",), tmp_path) as world:
            await world.served("web")
            assert [site.cell for site in world.world.sites] == ["dfw", "lhr"]
            there = await world.client("dfw").get(Instance, "web-home-dfw-0", await world.space())
            assert there.metadata.uid == uid
            assert is_ready(there)
            await world.change("web", with_image("registry.test/web:2"))
            await world.served("web")

    run(second(run(first())))
