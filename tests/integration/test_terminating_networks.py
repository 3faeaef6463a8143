"""A Network that is deleted or changed while it is in use: one account of it on every plane."""

from typing import Any

import msgspec
import pytest

from compute.api.compute import Instance, Workload, WorkloadDeployment
from compute.api.networking import Network, NetworkBinding, NetworkContext
from compute.api.resource_manager import Project
from compute.decide.conditions import find
from kubekit.api.errors import Invalid
from tests.integration.operators import blocked, cut, make_network, on_network, warnings
from tests.integration.worlds import (
    PROJECT,
    Watched,
    reason_of,
    run_story,
    with_image,
    with_replicas,
    workload,
)

PAIR = ("DFW", "LHR")


async def delete(world: Watched, name: str) -> None:
    await world.user.delete(await world.user.get(Network, name, "default"))


def said(obj: Any, kind: str) -> tuple[str, str, str]:
    """Status, reason and message of a condition."""
    found = find(obj.status.conditions, kind)
    assert found is not None
    return found.status, found.reason, found.message


def in_cities(*cities: str):
    """A change of a Workload: these cities."""

    def changed(present: Workload) -> Workload:
        (placement,) = present.spec.placements
        placements = (msgspec.structs.replace(placement, city_codes=cities),)
        spec = msgspec.structs.replace(present.spec, placements=placements)
        return msgspec.structs.replace(present, spec=spec)

    return changed


def test_a_network_that_is_deleted_while_in_use_gives_one_account_on_every_plane():
    """It waits, and names what uses it; what is attached is served, and reports the same."""

    async def story(world: Watched) -> None:
        await world.deploy(workload(cities=("DFW",)))
        await delete(world, "default")
        await world.rest()

        network = await world.user.get(Network, "default", "default")
        status, reason, account = said(network, "Ready")
        assert (status, reason) == ("False", "NetworkTerminating")
        assert "in use by workloads: web." in account
        assert "NetworkTerminating" in await warnings(world, PROJECT)
        for kind in (NetworkContext, NetworkBinding):
            (there,) = (await world.client("dfw").every(kind)).items
            assert said(there, "Ready") == ("True", "NetworkTerminating", account)
        for plane in ("dfw", "hub", PROJECT):
            (deployment,) = (await world.client(plane).every(WorkloadDeployment)).items
            assert account in said(deployment, "Available")[2], plane
        whole = await world.user.get(Workload, "web", "default")
        assert said(whole, "Available")[0] == "True"
        assert "networks being deleted: default" in said(whole, "Available")[2]
        assert await world.quiet() == []

    run_story(story, cities=("DFW",))


def test_nothing_new_is_attached_to_a_network_that_is_being_deleted():
    """No Workload, and no further city; more Instances where it is attached are served."""

    async def story(world: Watched) -> None:
        await world.deploy(workload(cities=("DFW",)))
        await delete(world, "default")
        await world.rest()
        with pytest.raises(Invalid, match="default is being deleted"):
            await world.user.create(workload("late", cities=("LHR",)))
        await world.change("web", with_replicas(2))
        await world.served("web")
        await world.rest()
        await world.change("web", with_image("registry.test/web:2"))
        await world.served("web")
        await world.rest()

        await world.change("web", in_cities(*PAIR))
        await blocked(world, "web", "networks being deleted: default")
        await world.rest()
        assert (await world.client("lhr").every(Instance)).items == ()

        await make_network(world, "second", "172.16.0.0/12")
        await world.change("web", lambda present: on_network("second", present))
        await world.served("web")
        await world.gone(PROJECT, Network, "default", "default")

    run_story(story, cities=PAIR)


@pytest.mark.parametrize("forced", [False, True], ids=["terminating", "not found"])
def test_an_instance_names_the_network_that_it_cannot_attach_to(forced):
    """A cell that comes to a network too late says of each Instance what the project says."""
    reason = "NetworkNotFound" if forced else "NetworkTerminating"

    async def story(world: Watched) -> None:
        await cut(world, "dfw")
        await world.user.create(workload(cities=("DFW",)))
        await world.named("hub", WorkloadDeployment, "web-home-dfw", await world.space())
        network = await world.user.get(Network, "default", "default")
        await world.user.delete(network)
        if forced:
            left = await world.user.get(Network, "default", "default")
            bare = msgspec.structs.replace(left.metadata, finalizers=())
            await world.user.patch(left, msgspec.structs.replace(left, metadata=bare))
            await world.gone(PROJECT, Network, "default", "default")
        await cut(world, "dfw", "false")

        for plane in ("dfw", "hub", PROJECT):
            namespace = "default" if plane == PROJECT else await world.space()
            seen = await world.named(
                plane,
                Instance,
                "web-home-dfw-0",
                namespace,
                lambda i: reason_of(i, "Ready") == reason,
            )
            assert "network default: " in str(seen.status.conditions)
            await world.named(
                plane,
                WorkloadDeployment,
                "web-home-dfw",
                namespace,
                lambda d: reason_of(d, "Available") == reason,
            )
        await world.named(
            PROJECT, Workload, "web", true=lambda w: reason_of(w, "Available") == reason
        )
        assert reason in await warnings(world, "dfw")

    run_story(story, cities=("DFW",))


def test_the_range_of_a_network_in_use_cannot_be_changed():
    """The refusal names the field, the addresses and who uses them; an unused network may change."""

    async def story(world: Watched) -> None:
        made = await make_network(world, "own", "10.9.0.0/24")

        async def change(wanted: str) -> Network:
            live = await world.user.get(Network, "own", "default")
            ipam = msgspec.structs.replace(live.spec.ipam, ipv4_range=wanted)
            spec = msgspec.structs.replace(live.spec, ipam=ipam)
            return await world.user.patch(live, msgspec.structs.replace(live, spec=spec))

        await change("10.8.0.0/24")
        await world.deploy(on_network(made.metadata.name, workload(cities=("DFW",))))
        with pytest.raises(
            Invalid, match=r"ipv4Range: .*10\.8\.0\.0/24 are in use by workloads: web"
        ):
            await change("10.7.0.0/24")

    run_story(story, cities=("DFW",))


def test_a_project_goes_with_a_network_that_was_being_deleted():
    """Its Workloads go first, so that nothing keeps the network."""

    async def story(world: Watched) -> None:
        await world.deploy(workload(cities=("DFW",)))
        await delete(world, "default")
        await world.rest()
        core = world.client("core")
        await core.delete(await core.get(Project, PROJECT))
        await world.gone("core", Project, PROJECT)

    run_story(story, cities=("DFW",))
