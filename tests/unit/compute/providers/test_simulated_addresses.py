"""Addresses of machines, as the provider gives them."""

import msgspec

from compute.api.compute import Instance, InterfaceAssignments, NetworkInterfaceStatus
from compute.api.instance_spec import NetworkInterface, NetworkRef
from compute.api.networking import NetworkBinding, Subnet
from tests.support.compute.network_builders import linked
from tests.support.compute.provider_builders import (
    CELL,
    NS,
    addresses,
    binding,
    cell,
    live,
    machine,
    message,
    name,
    seen,
    start,
    status_and_reason,
    subnet,
    ungate,
)
from tests.support.kubekit.stage import staged


def test_addresses_are_unique_and_used_again(tmp_path):
    """Each machine has the lowest that is free."""

    async def story(stage):
        await cell(stage)
        await start(stage, *(machine(ordinal) for ordinal in range(4)))
        got = [addresses(await seen(stage, ordinal)) for ordinal in range(4)]
        assert sorted(got) == [["10.0.0.2"], ["10.0.0.3"], ["10.0.0.4"], ["10.0.0.5"]]
        await stage.client("dfw").delete(await live(stage, 1))
        await stage.gone("dfw", Instance, name(1), NS)

        await start(stage, machine(7), machine(8))

        again = [addresses(await seen(stage, ordinal)) for ordinal in (7, 8)]
        assert sorted(map(str, again)) == sorted(map(str, (got[1], ["10.0.0.6"])))

    staged(tmp_path, story, CELL)


def test_a_subnet_without_a_free_address(tmp_path):
    """The Instance says so, and gets the next that is given back."""

    async def story(stage):
        await cell(stage, "10.0.0.0/29")
        await start(stage, *(machine(ordinal) for ordinal in range(5)))
        for ordinal in range(5):
            await seen(stage, ordinal)
        await start(stage, machine(5))
        full = await seen(stage, 5, available="Provisioning")
        assert status_and_reason(full, "Programmed") == ("False", "NetworkFailedToCreate")
        assert "10.0.0.0/29 is full" in message(full)
        assert await stage.quiet() == []

        await stage.client("dfw").delete(await live(stage, 0))
        await seen(stage, 5)

    staged(tmp_path, story, CELL)


def test_a_second_subnet_of_a_full_network(tmp_path):
    """Its addresses are used when the first has none left."""

    async def story(stage):
        await cell(stage, "10.0.0.0/29")
        await subnet(stage, "10.0.1.0/29", name="more")
        await start(stage, *(machine(ordinal) for ordinal in range(6)))

        got = [addresses(await seen(stage, ordinal)) for ordinal in range(6)]

        assert ["10.0.1.2"] in got

    staged(tmp_path, story, CELL)


def test_a_network_that_comes_later(tmp_path):
    """A machine without its network is not programmed, and is once the Subnet is there."""

    async def story(stage):
        await cell(stage, None)
        await binding(stage)
        await start(stage, machine())
        waiting = await seen(stage, available="Provisioning")
        assert status_and_reason(waiting, "Programmed") == ("False", "ProgrammingInProgress")
        assert message(waiting) == "The network default has no subnet here yet"
        assert await stage.quiet() == []

        await subnet(stage, "10.4.0.0/24")
        assert addresses(await seen(stage)) == ["10.4.0.2"]

    staged(tmp_path, story, CELL)


def test_a_binding_without_a_context(tmp_path):
    """The machine waits for its network."""

    async def story(stage):
        await cell(stage)
        there = await stage.client("dfw").get(NetworkBinding, "web-home-dfw-net-0", NS)
        bare = msgspec.structs.replace(there.status, network_context_ref=None)
        await stage.client("dfw").patch_status(there, msgspec.structs.replace(there, status=bare))
        await start(stage, machine())

        waiting = await seen(stage, available="Provisioning")
        assert message(waiting) == "The network default is not set up here yet"

    staged(tmp_path, story, CELL)


def test_a_cell_without_networks(tmp_path):
    """Machines run, and have no addresses."""

    async def story(stage):
        await cell(stage, None)
        await start(stage, machine())

        assert addresses(await seen(stage)) == [None]
        await stage.rest()
        assert await stage.quiet() == []

    staged(tmp_path, story, CELL)


def test_two_interfaces_of_one_network(tmp_path):
    """Each has an address of its own."""

    async def story(stage):
        await cell(stage)
        await binding(stage, 1)
        made = machine()
        twice = (NetworkInterface(network=NetworkRef(name="default")),) * 2
        spec = msgspec.structs.replace(made.spec, network_interfaces=twice)
        await start(stage, msgspec.structs.replace(made, spec=spec))

        assert addresses(await seen(stage)) == ["10.0.0.2", "10.0.0.3"]

    staged(tmp_path, story, CELL)


def test_networks_that_the_caches_do_not_show(tmp_path):
    """The controller that opened the gate saw them: they are read live, not taken as absent."""

    async def story(stage):
        link = await linked(stage, "cell", "dfw")
        await cell(stage, None)
        await start(stage, machine(gates=("Network",)))
        await stage.rest()
        informers = stage.role("cell").sole().informers
        await binding(stage)
        await subnet(stage, "10.0.0.0/24")
        for kind in (NetworkBinding, Subnet):
            cache = informers.of(kind).cache
            for key in cache.keys():  # noqa: SIM118 - a cache is no dict
                cache.drop(*key)
        await ungate(stage, 0)

        assert addresses(await seen(stage)) == ["10.0.0.2"]
        link.heal()

    staged(tmp_path, story)


def test_an_address_that_two_machines_have(tmp_path):
    """However it came to that, they end with addresses apart, and rest."""

    async def story(stage):
        await cell(stage)
        await start(stage, machine(0), machine(1))
        await seen(stage, 0)
        there = await seen(stage, 1)
        (other,) = addresses(await live(stage, 0))
        shown = NetworkInterfaceStatus(assignments=InterfaceAssignments(network_ip=other))
        status = msgspec.structs.replace(there.status, network_interfaces=(shown,))
        await stage.client("dfw").patch_status(there, msgspec.structs.replace(there, status=status))
        await stage.rest()

        got = [addresses(await live(stage, ordinal)) for ordinal in (0, 1)]
        assert got[0] != got[1]
        assert await stage.quiet() == []

    staged(tmp_path, story, CELL)


def test_a_cell_that_is_let_go_and_comes_back(tmp_path):
    """Addresses are known again from the Instances alone."""

    async def story(stage):
        await cell(stage)
        await start(stage, machine(0))
        await seen(stage, 0)
        cluster = stage.role("cell").sole()
        await stage.role("cell").disengage(cluster.name)
        await stage.engage("cell", "dfw")
        await start(stage, machine(1))

        assert addresses(await seen(stage, 1)) == ["10.0.0.3"]

    staged(tmp_path, story, CELL)
