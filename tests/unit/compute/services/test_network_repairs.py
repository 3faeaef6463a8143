"""Networks that are changed behind the service, and cells or projects that are unreachable."""

import msgspec

from compute.api.karmada import MemberCluster
from compute.api.networking import Network, NetworkBinding, NetworkContext, Subnet, SubnetClaim
from kubekit.runtime.requests import cluster_name
from tests.support.compute.network_builders import (
    NS,
    PLANES,
    binding,
    bound,
    claim,
    linked,
    member,
    network,
    says,
    subnet,
    world,
)
from tests.support.compute.network_endings import DFW, ENTRY, WITHOUT_SHOP, serves, unbind
from tests.support.kubekit.stage import staged

WITHOUT_DFW = tuple(pair for pair in PLANES if pair != ("cells", "dfw"))


def test_a_subnet_that_was_deleted_comes_back_as_it_was(tmp_path):
    """The ledger knows its addresses, though lower ones have become free."""

    async def story(stage):
        await world(stage, network())
        await subnet(stage, "lhr")
        assert await subnet(stage, "dfw") == "10.1.0.0/16"
        await unbind(stage, "lhr")
        await stage.gone("shop", Subnet, "default--lhr-0.lhr", "default")
        old = await stage.client("dfw").get(Subnet, f"{DFW}-0", NS)
        await stage.client("dfw").delete(old)

        new = await stage.named("dfw", Subnet, f"{DFW}-0", NS, lambda s: says(s, "Ready") == "True")

        assert new.spec == old.spec
        assert new.metadata.uid != old.metadata.uid

    staged(tmp_path, story, *PLANES)


def test_an_entry_that_was_deleted_comes_back_as_it_was(tmp_path):
    """The cell's Subnet knows its addresses, and machines use them."""

    async def story(stage):
        await world(stage, network())
        await subnet(stage, "lhr")
        await subnet(stage, "dfw")
        await unbind(stage, "lhr")
        await stage.gone("shop", Subnet, "default--lhr-0.lhr", "default")
        old = await stage.client("shop").get(Subnet, ENTRY, "default")
        await stage.client("shop").delete(old)

        new = await stage.named(
            "shop", Subnet, ENTRY, true=lambda s: s.metadata.uid != old.metadata.uid
        )

        assert new.spec.start_address == "10.1.0.0"
        await stage.rest()
        assert await stage.quiet() == []

    staged(tmp_path, story, *PLANES)


def test_addresses_that_were_overwritten_are_restored(tmp_path):
    """What was allocated holds, in the ledger and in the cell."""

    async def story(stage):
        await world(stage, network())
        await subnet(stage, "dfw")
        for plane, name, namespace in (("shop", ENTRY, "default"), ("dfw", f"{DFW}-0", NS)):
            there = await stage.client(plane).get(Subnet, name, namespace)
            spec = msgspec.structs.replace(there.spec, start_address="10.99.0.0")
            await stage.client(plane).patch(there, msgspec.structs.replace(there, spec=spec))

            await stage.seen(plane, there, lambda s: s.spec.start_address == "10.0.0.0")

        await stage.rest()
        found = await stage.client("dfw").get(Subnet, f"{DFW}-0", NS)
        assert found.status.start_address == "10.0.0.0"

    staged(tmp_path, story, *PLANES)


def test_a_status_that_was_overwritten_is_restored(tmp_path):
    """Each object says again what is so."""

    async def story(stage):
        await world(stage, network())
        await subnet(stage, "dfw")
        things = (
            (NetworkBinding, "default-net-0"),
            (NetworkContext, DFW),
            (SubnetClaim, f"{DFW}-0"),
        )
        for kind, name in things:
            there = await stage.client("dfw").get(kind, name, NS)
            bare = msgspec.structs.replace(there.status, conditions=())
            await stage.client("dfw").patch_status(
                there, msgspec.structs.replace(there, status=bare)
            )

            await stage.named("dfw", kind, name, NS, serves)

    staged(tmp_path, story, *PLANES)


def test_a_cell_that_is_cut_off_delays_no_other(tmp_path):
    """Others get their addresses meanwhile, and it gets its own when it is back."""

    async def story(stage):
        link = await linked(stage, "cells", "dfw")
        await world(stage, network())
        context = await bound(stage, "dfw")
        link.cut()
        await stage.client("dfw").create(claim(context))

        assert await subnet(stage, "lhr") == "10.0.0.0/16"

        link.heal()
        done = await stage.seen("dfw", claim(context), serves, seconds=900.0)
        assert done.status.start_address == "10.1.0.0"

    staged(tmp_path, story, *WITHOUT_DFW)


def test_a_cell_that_is_cut_off_keeps_its_addresses(tmp_path):
    """What it does not answer for is not taken from it; on return what has gone is."""

    async def story(stage):
        link = await linked(stage, "cells", "dfw")
        await world(stage, network())
        await subnet(stage, "dfw")
        network_now = await stage.client("shop").get(Network, "default", "default")
        link.cut()
        await unbind(stage)
        await stage.client("shop").delete(network_now)
        await stage.rest(300.0)
        assert await stage.client("shop").find(Subnet, ENTRY, "default") is not None

        link.heal()
        await stage.gone("shop", Subnet, ENTRY, "default", seconds=900.0)
        await stage.gone("shop", Network, "default", "default", seconds=900.0)

    staged(tmp_path, story, *WITHOUT_DFW)


def test_a_cell_goes_on_without_the_project(tmp_path):
    """With the project unreachable, further bindings share the context, and a Subnet is still served."""

    async def story(stage):
        link = await linked(stage, "projects", "shop")
        await stage.plane("shop")
        await world(stage, network())
        await subnet(stage, "dfw")
        link.cut()
        await stage.client("dfw").create(binding("dfw", name="other-net-0"))
        await stage.named("dfw", NetworkBinding, "other-net-0", NS, serves)
        there = await stage.client("dfw").get(SubnetClaim, f"{DFW}-0", NS)
        bare = msgspec.structs.replace(there.status, conditions=())
        await stage.client("dfw").patch_status(there, msgspec.structs.replace(there, status=bare))

        await stage.named("dfw", SubnetClaim, f"{DFW}-0", NS, serves)

    staged(tmp_path, story, *WITHOUT_SHOP)


def test_what_is_new_waits_for_the_project(tmp_path):
    """A network's first binding in a cell is served when the project is back."""

    async def story(stage):
        link = await linked(stage, "projects", "shop")
        await world(stage, network())
        await stage.rest()
        link.cut()
        await stage.client("dfw").create(binding("dfw"))
        await stage.rest(300.0)
        waiting = await stage.client("dfw").get(NetworkBinding, "web-net-0", NS)
        assert says(waiting, "Ready") == "Unknown"

        link.heal()
        await stage.seen("dfw", waiting, serves, seconds=900.0)

    staged(tmp_path, story, *WITHOUT_SHOP)


def test_the_addresses_of_a_cell_that_is_gone_permanently(tmp_path):
    """They are taken back once the hub knows the cell no more, and not before."""

    async def story(stage):
        await world(stage, network())
        await subnet(stage, "dfw")
        await stage.role("cells").disengage(cluster_name("dfw"))
        there = await stage.client("shop").get(Network, "default", "default")
        labelled = msgspec.structs.replace(there.metadata, labels={"touched": "yes"})
        await stage.client("shop").patch(there, msgspec.structs.replace(there, metadata=labelled))
        await stage.rest()
        assert await stage.client("shop").find(Subnet, ENTRY, "default") is not None

        await stage.client("hub").delete(await stage.client("hub").get(MemberCluster, "dfw"))
        await stage.gone("shop", Subnet, ENTRY, "default")

    staged(tmp_path, story, *PLANES)


def test_a_network_does_not_wait_for_a_cell_that_was_removed_from_the_hub(tmp_path):
    """Even if a connection to it is still configured: its claims count as gone."""

    async def story(stage):
        await world(stage, network())
        await subnet(stage, "dfw")
        hub, shop = stage.client("hub"), stage.client("shop")
        await hub.delete(await hub.get(MemberCluster, "dfw"))
        await stage.gone("shop", Subnet, ENTRY, "default")
        await stage.rest()
        assert await stage.quiet() == []

        await shop.delete(await shop.get(Network, "default", "default"))
        await stage.gone("shop", Network, "default", "default")

    staged(tmp_path, story, *PLANES)


def test_a_cell_that_becomes_a_member_later(tmp_path):
    """What waited there for addresses gets them then."""

    async def story(stage):
        await world(stage, network())
        hub = stage.client("hub")
        await hub.delete(await hub.get(MemberCluster, "dfw"))
        waits = await stage.client("dfw").create(claim(await bound(stage, "dfw")))
        await stage.rest()
        assert await stage.client("shop").find(Subnet, ENTRY, "default") is None

        await hub.create(member("dfw"))
        await stage.seen("dfw", waits, lambda c: says(c, "Ready") == "True")

    staged(tmp_path, story, *PLANES)
