"""Addresses of machines, as the provider keeps them in mind."""

from ipaddress import ip_network

import msgspec

from compute.api.compute import (
    Instance,
    InstanceStatus,
    InterfaceAssignments,
    NetworkInterfaceStatus,
)
from compute.providers.addresses import Addresses
from kubekit.api.kinds.core import Namespace
from kubekit.api.meta import ObjectMeta
from tests.support.compute.provider_builders import CELL, NS, live, machine, name
from tests.support.kubekit.stage import staged

SMALL = ip_network("10.0.0.0/29")
SLOT = ("default", 0)


async def known(stage):
    """The addresses of a cell that is empty so far, and its name."""
    await stage.client("dfw").create(Namespace(metadata=ObjectMeta(name=NS)))
    addresses = Addresses()
    stage.role("cell").join(addresses)
    cluster = stage.role("cell").sole()
    await cluster.informers.of(Instance).wait_synced()
    return addresses, cluster.name


async def holding(stage, ordinal, address):
    """An Instance whose status shows this address, seen by the cache."""
    client = stage.client("dfw")
    there = await client.find(Instance, name(ordinal), NS) or await client.create(machine(ordinal))
    shown = NetworkInterfaceStatus(assignments=InterfaceAssignments(network_ip=address))
    status = InstanceStatus(network_interfaces=(shown,))
    await client.patch_status(there, msgspec.structs.replace(there, status=status))
    await stage.rest(1.0)


def test_an_address_is_kept_until_it_is_shown(tmp_path):
    """Before that, the holder gets the same address again; others never do."""

    async def story(stage):
        addresses, cell = await known(stage)
        take = addresses.take

        assert take(cell, (NS, name(0)), SLOT, SMALL) == "10.0.0.2"
        assert take(cell, (NS, name(0)), SLOT, SMALL) == "10.0.0.2"
        assert take(cell, (NS, name(1)), SLOT, SMALL) == "10.0.0.3"
        assert take(cell, ("ns-2", name(1)), SLOT, SMALL) == "10.0.0.2"
        assert take(cell, (NS, name(0)), ("other", 1), SMALL) == "10.0.0.2"

    staged(tmp_path, story, CELL)


def test_one_kept_in_another_subnet_is_not_the_answer(tmp_path):
    """The Subnet may have been replaced since."""

    async def story(stage):
        addresses, cell = await known(stage)
        addresses.take(cell, (NS, name(0)), SLOT, SMALL)

        other = addresses.take(cell, (NS, name(0)), SLOT, ip_network("10.1.0.0/29"))

        assert other == "10.1.0.2"

    staged(tmp_path, story, CELL)


def test_what_instances_show_is_taken(tmp_path):
    """Wherever they have it from, and whatever else is nonsense."""

    async def story(stage):
        addresses, cell = await known(stage)
        for ordinal, address in enumerate(("10.0.0.2", "10.0.0.4", "10.9.9.9", "nonsense")):
            await holding(stage, ordinal, address)

        got = [addresses.take(cell, (NS, f"new-{n}"), SLOT, SMALL) for n in range(4)]

        assert got == ["10.0.0.3", "10.0.0.5", "10.0.0.6", None]

    staged(tmp_path, story, CELL)


def test_what_is_given_back_is_given_again(tmp_path):
    """When an Instance goes, or has another address, or never showed the one it was given."""

    async def story(stage):
        addresses, cell = await known(stage)
        await holding(stage, 0, "10.0.0.2")
        await holding(stage, 1, "10.9.9.9")
        taken = [addresses.take(cell, (NS, name(n)), SLOT, SMALL) for n in range(2, 6)]
        assert taken == ["10.0.0.3", "10.0.0.4", "10.0.0.5", "10.0.0.6"]

        await stage.client("dfw").delete(await live(stage, 0))
        await stage.client("dfw").delete(await live(stage, 1))
        await holding(stage, 2, "10.0.0.77")
        await stage.rest(1.0)

        got = [addresses.take(cell, (NS, f"new-{n}"), SLOT, SMALL) for n in range(3)]
        assert got == ["10.0.0.2", "10.0.0.3", None]

    staged(tmp_path, story, CELL)


def test_what_two_show_is_free_when_both_are_gone(tmp_path):
    """The first to go does not free the address that the other still has."""

    async def story(stage):
        addresses, cell = await known(stage)
        addresses.take(cell, (NS, "new"), SLOT, SMALL)
        for ordinal in (0, 1, 2):
            await holding(stage, ordinal, "10.0.0.3")
        await stage.client("dfw").delete(await live(stage, 2))
        await stage.client("dfw").delete(await live(stage, 0))
        await stage.rest(1.0)
        assert addresses.take(cell, (NS, "next"), SLOT, SMALL) == "10.0.0.4"

        await stage.client("dfw").delete(await live(stage, 1))
        await stage.rest(1.0)
        assert addresses.take(cell, (NS, "last"), SLOT, SMALL) == "10.0.0.3"

    staged(tmp_path, story, CELL)
