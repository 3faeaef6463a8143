"""Concurrent changes by other clients, and what a process that died leaves behind."""

import msgspec

from compute.api import names
from compute.api.compute import InstanceStatus, InterfaceAssignments, NetworkInterfaceStatus
from compute.api.networking import Network, NetworkBinding, NetworkContext, Subnet, SubnetClaim
from kubekit.plane.local import RecordClient
from kubekit.runtime.requests import cluster_name
from tests.support.compute.network_builders import (
    NS,
    PLANES,
    Link,
    because,
    binding,
    bound,
    claim,
    linked,
    network,
    says,
    settings,
    subnet,
    world,
)
from tests.support.compute.provider_builders import machine
from tests.support.kubekit.stage import staged

DFW = names.network_context("default", "dfw")
LHR = names.network_context("default", "lhr")
WITHOUT_DFW = tuple(pair for pair in PLANES if pair != ("cells", "dfw"))
WITHOUT_SHOP = tuple(pair for pair in PLANES if pair != ("projects", "shop"))


def ready(obj):
    return says(obj, "Ready") == "True"


async def unbind(stage, cell):
    client = stage.client(cell)
    await client.delete(await client.get(NetworkBinding, "default-net-0", NS))


async def crowded(stage):
    """A network with room for one: the claim of lhr has it, that of dfw waits."""
    await world(stage, network(range_="10.7.0.0/28"))
    await subnet(stage, "lhr")
    waits = claim(await bound(stage, "dfw"))
    await stage.client("dfw").create(waits)
    return await stage.seen("dfw", waits, lambda c: because(c) == "RangeOccupied")


def test_a_claim_whose_cell_does_not_answer_is_served_later(tmp_path):
    """Addresses that become free meanwhile wait for it."""

    async def story(stage):
        link = await linked(stage, "cells", "dfw")
        waits = await crowded(stage)
        link.cut()
        await unbind(stage, "lhr")
        await stage.gone("shop", Subnet, f"{LHR}-0.lhr", "default")
        await stage.rest(120.0)
        link.heal()

        await stage.seen("dfw", waits, ready, seconds=900.0)

    staged(tmp_path, story, *WITHOUT_DFW)


def test_a_claim_that_has_gone_unseen_gets_nothing(tmp_path):
    """It is read before anything is set aside for it."""

    async def story(stage):
        link = await linked(stage, "cells", "dfw")
        waits = await crowded(stage)
        link.lag()
        await stage.client("dfw").delete(waits)
        await unbind(stage, "lhr")
        await stage.gone("shop", Subnet, f"{LHR}-0.lhr", "default")
        await stage.rest(120.0)

        assert (await stage.client("shop").every(Subnet, "default")).items == ()

    staged(tmp_path, story, *WITHOUT_DFW)


def test_a_network_that_goes_unseen_gives_nothing_out(tmp_path):
    """It is read before its ledger is."""

    async def story(stage):
        link = await linked(stage, "projects", "shop")
        await world(stage, network())
        context = await bound(stage, "dfw")
        await stage.rest()
        link.lag()
        shop = stage.client("shop")
        await shop.delete(await shop.get(Network, "default", "default"))
        there = await shop.get(Network, "default", "default")
        bare = msgspec.structs.replace(there.metadata, finalizers=())
        await shop.patch(there, msgspec.structs.replace(there, metadata=bare))
        await stage.gone("shop", Network, "default", "default")
        await stage.client("dfw").create(claim(context))
        await stage.rest()

        assert (await stage.client("shop").every(Subnet, "default")).items == ()

    staged(tmp_path, story, *WITHOUT_SHOP)


def test_a_binding_that_has_gone_unseen_makes_nothing(tmp_path):
    """It is read before a context is made for it."""

    async def story(stage):
        link = await linked(stage, "cells", "dfw")
        await world(stage)
        await stage.client("dfw").create(binding("dfw"))
        gone = await stage.named(
            "dfw", NetworkBinding, "web-net-0", NS, lambda b: because(b) == "NetworkNotFound"
        )
        await stage.rest()
        link.lag()
        await stage.client("dfw").delete(gone)
        await stage.client("shop").create(network())
        await stage.rest()
        link.heal()
        await stage.rest()

        assert await stage.client("dfw").find(NetworkContext, DFW, NS) is None

    staged(tmp_path, story, *WITHOUT_DFW)


def test_a_context_with_a_binding_that_is_not_cached_stays(tmp_path):
    """The bindings are listed before a context is removed."""

    async def story(stage):
        link = await linked(stage, "cells", "dfw")
        await world(stage, network())
        context = await bound(stage, "dfw")
        await stage.rest()
        await unbind(stage, "dfw")
        link.lag()
        await stage.client("dfw").create(binding("dfw", name="next-net-0"))
        await stage.rest()
        link.heal()
        await stage.named("dfw", NetworkBinding, "next-net-0", NS, ready)

        there = await stage.client("dfw").get(NetworkContext, DFW, NS)
        assert there.metadata.uid == context.metadata.uid

    staged(tmp_path, story, *WITHOUT_DFW)


def test_a_context_with_a_new_binding_unseen_stays(tmp_path):
    """The bindings are listed, for a cache may not show the newest, before a context is removed."""

    async def story(stage):
        link = await linked(stage, "cells", "dfw")
        await world(stage, network())
        await subnet(stage, "dfw")
        running = await stage.client("dfw").create(machine())
        shown = NetworkInterfaceStatus(assignments=InterfaceAssignments(network_ip="10.0.0.2"))
        running = await stage.client("dfw").patch_status(
            running,
            msgspec.structs.replace(running, status=InstanceStatus(network_interfaces=(shown,))),
        )
        await unbind(stage, "dfw")
        await stage.rest(10.0)
        link.lag()
        await stage.client("dfw").create(binding("dfw", name="next-net-0"))
        await stage.client("dfw").delete(running)
        await stage.rest(120.0)

        assert await stage.client("dfw").find(NetworkContext, DFW, NS) is not None

    staged(tmp_path, story, *WITHOUT_DFW)


def test_a_claim_that_goes_while_its_addresses_come(tmp_path):
    """No Subnet is made for it, and the ledger forgets it once that is seen."""

    async def story(stage):
        cell = await linked(stage, "cells", "dfw")
        project = await linked(stage, "projects", "shop")
        await world(stage, network())
        context = await bound(stage, "dfw")
        await stage.rest()
        project.lag()
        made = await stage.client("dfw").create(claim(context))
        await stage.named("shop", Subnet, f"{DFW}-0.dfw", true=ready)
        cell.lag()
        await stage.client("dfw").delete(made)
        project.heal()
        await stage.rest()
        assert await stage.client("dfw").find(Subnet, f"{DFW}-0", NS) is None

        cell.heal()
        await stage.gone("shop", Subnet, f"{DFW}-0.dfw", "default")

    staged(tmp_path, story, ("core", "core"), ("hub", "hub"), ("cells", "lhr"))


def test_a_cell_that_comes_back_without_an_answer_keeps_its_addresses(tmp_path):
    """Empty caches are no proof that anything has gone."""

    async def story(stage):
        await world(stage, network())
        await subnet(stage, "dfw")
        await stage.role("cells").disengage(cluster_name("dfw"))
        link = Link(stage.planes["dfw"])
        link.cut()
        await stage.role("cells").engage(cluster_name("dfw"), RecordClient(link))
        there = await stage.client("shop").get(Network, "default", "default")
        touched = msgspec.structs.replace(there.metadata, labels={"touched": "yes"})
        await stage.client("shop").patch(there, msgspec.structs.replace(there, metadata=touched))
        await stage.rest(120.0)
        assert await stage.client("shop").find(Subnet, f"{DFW}-0.dfw", "default") is not None

        link.heal()
        await stage.rest(900.0)
        assert await stage.client("shop").find(Subnet, f"{DFW}-0.dfw", "default") is not None

    staged(tmp_path, story, *PLANES)


def test_two_copies_take_addresses_back_together(tmp_path):
    """Both see that a claim has gone, and one is faster; nothing is left, and nothing fails."""

    async def story(stage):
        await world(stage, network(), copies=2)
        await subnet(stage, "dfw")
        await unbind(stage, "dfw")

        await stage.gone("shop", Subnet, f"{DFW}-0.dfw", "default")
        await stage.rest()
        assert await stage.quiet() == []

    staged(tmp_path, story, *PLANES)


def test_a_subnet_is_served_though_its_project_is_not_looked_after(tmp_path):
    """The cell has all it needs; and other ConfigMaps of the cell change nothing."""

    async def story(stage):
        await world(stage, network())
        await subnet(stage, "dfw")
        await stage.role("projects").disengage(cluster_name("shop"))
        await settings(stage, "dfw", "something-else", failNetworks="*")
        there = await stage.client("dfw").get(SubnetClaim, f"{DFW}-0", NS)
        bare = msgspec.structs.replace(there.status, conditions=())
        await stage.client("dfw").patch_status(there, msgspec.structs.replace(there, status=bare))

        await stage.named("dfw", SubnetClaim, f"{DFW}-0", NS, ready)

    staged(tmp_path, story, *PLANES)
