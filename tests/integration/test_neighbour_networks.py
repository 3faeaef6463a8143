"""Networks in a whole world: addresses, their end, their exhaustion, and failures on request."""

from ipaddress import ip_address, ip_network

from compute.api.compute import Workload
from compute.api.networking import Network, NetworkContext, Subnet, SubnetClaim
from tests.integration.operators import (
    addresses,
    blocked,
    make_network,
    on_network,
    ready,
    settings,
    subnets,
    warnings,
)
from tests.integration.worlds import PROJECT, Watched, reason_of, run_story, with_replicas, workload

SMALL = "10.9.0.0/27"  # two prefixes of sixteen addresses


def test_no_two_cities_of_a_network_overlap_and_addresses_are_real():
    """Each Instance has an address of its own, inside of its city's subnet."""

    async def story(world: Watched) -> None:
        await world.deploy(workload(replicas=3, instance_management_policy="Parallel"))
        used = []
        for cell in ("dfw", "lhr", "sin"):
            (there,) = await subnets(world, cell)
            got = await addresses(world, cell)
            assert len(got) == len(set(got)) == 3
            assert all(ip_address(each) in ip_network(there) for each in got)
            used.append(ip_network(there))
        assert not any(a.overlaps(b) for a in used for b in used if a != b)
        assert len(set(used)) == 3

    run_story(story)


def test_a_prefix_is_used_again_after_its_release():
    """Deleting the last Workload of a city frees it, in the cell and in the project's ledger."""

    async def story(world: Watched) -> None:
        await make_network(world, "tiny", SMALL)
        for number, city in enumerate(("DFW", "LHR", "SIN")):
            made = on_network("tiny", workload(f"w{number}", cities=(city,)))
            await world.deploy(made)
            assert set(await subnets(world, city.lower())) == {"10.9.0.0/28"}
            await world.user.delete(await world.user.get(Workload, f"w{number}", "default"))
            await world.gone(PROJECT, Workload, made.metadata.name, "default")
            await world.rest()
            assert await world.left(Subnet, SubnetClaim, NetworkContext) == {}

    run_story(story)


def test_a_network_without_room_is_named_on_the_workload_and_room_is_taken_at_once():
    """Two cities fill it: the third says why, and runs as soon as one of them leaves."""

    async def story(world: Watched) -> None:
        await make_network(world, "tiny", SMALL)
        for name, city in (("a", "DFW"), ("b", "LHR")):
            await world.deploy(on_network("tiny", workload(name, cities=(city,))))
        await world.user.create(on_network("tiny", workload("c", cities=("SIN",))))
        whole = await blocked(world, "c", "network tiny: 10.9.0.0/27 has no /28 left")
        assert reason_of(whole, "Available") == "NetworkFailedToCreate"
        network = await world.named(
            PROJECT, Network, "tiny", true=lambda n: reason_of(n, "IPAMAllocated")
        )
        assert reason_of(network, "IPAMAllocated") == "RangeOccupied"
        await world.rest()
        assert "NetworkFailedToCreate" in await warnings(world, PROJECT)
        await world.user.delete(await world.user.get(Workload, "a", "default"))
        await world.served("c", seconds=30.0)

    run_story(story)


def test_a_subnet_without_addresses_is_named_on_the_workload():
    """A /28 has room for thirteen machines; the fourteenth says so, and fewer of them fit."""

    async def story(world: Watched) -> None:
        await world.limit(20)
        await make_network(world, "tiny", SMALL)
        wide = workload(cities=("DFW",), replicas=14, instance_management_policy="Parallel")
        await world.user.create(on_network("tiny", wide))
        await blocked(world, "web", "tiny has no address left here: 10.9.0.0/28 is full")
        await world.rest()
        assert "NetworkFailedToCreate" in await warnings(world, PROJECT)
        got = [each for each in await addresses(world, "dfw") if each]
        assert len(set(got)) == len(got)
        await world.change("web", with_replicas(len(got)))
        await world.served("web")

    run_story(story, cities=("DFW",))


def test_a_network_that_cannot_be_created_is_reported_and_repaired():
    """Failing networks are a setting of the cell; what waited starts when it is taken back."""

    async def story(world: Watched) -> None:
        await settings(world, "dfw", "network-faults", failNetworks="other, def*")
        await world.user.create(workload(cities=("DFW", "LHR")))
        await blocked(world, "web", "The network default could not be set up at dfw")
        assert "NetworkFailedToCreate" in await warnings(world, PROJECT)
        await ready(world, "web", 1)
        await settings(world, "dfw", "network-faults", failNetworks="")
        await world.served("web", seconds=30.0)

    run_story(story, cities=("DFW", "LHR"))


def test_a_deleted_network_context_comes_back_with_its_addresses():
    """What runs keeps its addresses, and they stay inside of the subnet."""

    async def story(world: Watched) -> None:
        await world.deploy(workload(cities=("DFW", "LHR")))
        before = await addresses(world, "lhr")
        cell = world.client("lhr")
        (context,) = (await cell.every(NetworkContext)).items
        await cell.delete(context)
        await world.rest()
        await world.served("web")
        (there,) = await subnets(world, "lhr")
        (other,) = await subnets(world, "dfw")
        assert await addresses(world, "lhr") == before
        assert ip_address(before[0]) in ip_network(there)
        assert not ip_network(there).overlaps(ip_network(other))

    run_story(story, cities=("DFW", "LHR"))


def test_unknown_network_faults_are_reported():
    """An unknown key does nothing, and a Warning event on the ConfigMap says so."""

    async def story(world: Watched) -> None:
        await settings(world, "dfw", "network-faults", failNetwork="*")
        await world.deploy(workload(cities=("DFW",)))
        await world.rest()
        assert "SettingsInvalid" in await warnings(world, "dfw")

    run_story(story, cities=("DFW",))
