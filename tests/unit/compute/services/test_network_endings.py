"""The end of networks and their addresses, what is repaired, and what works without others."""

import msgspec

from compute.api import names
from compute.api.compute import (
    InstanceStatus,
    InterfaceAssignments,
    NetworkInterfaceStatus,
    Workload,
)
from compute.api.instance_spec import NetworkInterface, NetworkRef
from compute.api.karmada import MemberCluster
from compute.api.networking import Network, NetworkBinding, NetworkContext, Subnet, SubnetClaim
from kubekit.api.kinds.core import Namespace
from kubekit.api.kinds.events import Event
from kubekit.runtime.requests import cluster_name
from tests.support.compute.builders import workload
from tests.support.compute.federation_builders import with_meta
from tests.support.compute.network_builders import (
    NS,
    PLANES,
    because,
    binding,
    bound,
    claim,
    linked,
    member,
    network,
    says,
    subnet,
    world,
    written,
)
from tests.support.compute.provider_builders import machine
from tests.support.kubekit.stage import staged

DFW = names.network_context("default", "dfw")
ENTRY = f"{DFW}-0.dfw"
WITHOUT_DFW = tuple(pair for pair in PLANES if pair != ("cells", "dfw"))
WITHOUT_SHOP = tuple(pair for pair in PLANES if pair != ("projects", "shop"))


def user_of(network, name):
    """A Workload whose template names the network."""
    made = with_meta(workload(name), uid="", generation=0)
    interfaces = (NetworkInterface(network=NetworkRef(name=network)),)
    inner = msgspec.structs.replace(made.spec.template.spec, network_interfaces=interfaces)
    template = msgspec.structs.replace(made.spec.template, spec=inner)
    return msgspec.structs.replace(made, spec=msgspec.structs.replace(made.spec, template=template))


async def unbind(stage, cell="dfw"):
    client = stage.client(cell)
    await client.delete(await client.get(NetworkBinding, "default-net-0", NS))


def serves(binding):
    return says(binding, "Ready") == "True"


def test_addresses_go_with_the_last_binding(tmp_path):
    """Context, claim, Subnet and the project's entry go; who comes next gets the same addresses."""

    async def story(stage):
        await world(stage, network())
        await subnet(stage, "dfw")
        await unbind(stage)

        await stage.gone("dfw", NetworkContext, DFW, NS)
        await stage.gone("dfw", SubnetClaim, f"{DFW}-0", NS)
        await stage.gone("dfw", Subnet, f"{DFW}-0", NS)
        await stage.gone("shop", Subnet, ENTRY, "default")

        assert await subnet(stage, "lhr") == "10.0.0.0/16"

    staged(tmp_path, story, *PLANES)


def test_a_context_stays_while_there_is_another_binding(tmp_path):
    """Of two bindings one may go."""

    async def story(stage):
        await world(stage, network())
        await subnet(stage, "dfw")
        await stage.client("dfw").create(binding("dfw", name="other-net-0"))
        await stage.named("dfw", NetworkBinding, "other-net-0", NS, serves)
        await unbind(stage)
        await stage.rest()

        assert await stage.client("dfw").find(Subnet, f"{DFW}-0", NS) is not None

    staged(tmp_path, story, *PLANES)


def test_a_context_stays_while_a_machine_has_an_address_of_it(tmp_path):
    """A binding deleted by hand takes no addresses from what runs; when that ends, they go."""

    async def story(stage):
        await world(stage, network())
        await subnet(stage, "dfw")
        running = await stage.client("dfw").create(machine())
        assigned = NetworkInterfaceStatus(assignments=InterfaceAssignments(network_ip="10.0.0.2"))
        status = InstanceStatus(network_interfaces=(assigned,))
        running = await stage.client("dfw").patch_status(
            running, msgspec.structs.replace(running, status=status)
        )
        await unbind(stage)
        await stage.rest(120.0)
        assert await stage.client("dfw").find(NetworkContext, DFW, NS) is not None

        await stage.client("dfw").delete(running)
        await stage.gone("dfw", NetworkContext, DFW, NS)
        await stage.gone("shop", Subnet, ENTRY, "default")

    staged(tmp_path, story, *PLANES)


def test_a_network_waits_for_its_users(tmp_path):
    """Its deletion ends when the last binding is gone, and leaves nothing behind."""

    async def story(stage):
        await world(stage, network())
        await subnet(stage, "dfw")
        await stage.client("shop").delete(
            await stage.client("shop").get(Network, "default", "default")
        )
        await stage.rest()
        assert (await stage.client("shop").get(Network, "default", "default")).deleting

        await unbind(stage)
        await stage.gone("shop", Network, "default", "default")
        assert (await stage.client("shop").every(Subnet, "default")).items == ()

    staged(tmp_path, story, *PLANES)


def test_a_network_waits_for_a_context_without_addresses(tmp_path):
    """Presence is enough to hold it; a new binding finds it on its way out."""

    async def story(stage):
        await world(stage, network())
        await bound(stage, "dfw")
        await stage.client("shop").delete(
            await stage.client("shop").get(Network, "default", "default")
        )
        await stage.rest()
        assert await stage.client("shop").find(Network, "default", "default") is not None
        await stage.client("lhr").create(binding("lhr"))
        late = await stage.named(
            "lhr", NetworkBinding, "web-net-0", NS, lambda b: says(b, "Ready") == "False"
        )
        assert because(late) == "NetworkTerminating"

        await unbind(stage)
        await stage.gone("shop", Network, "default", "default")

    staged(tmp_path, story, *PLANES)


def test_a_network_names_the_workloads_that_use_it_and_goes_with_the_last(tmp_path):
    """Those that name it in their template, whether or not they run anywhere."""

    async def story(stage):
        shop = stage.client("shop")
        for name in ("a", "b"):
            await shop.create(user_of("default", name))
        await world(stage, network())
        await stage.rest()
        await shop.delete(await shop.get(Network, "default", "default"))
        waits = await stage.named(
            "shop", Network, "default", true=lambda n: because(n) == "NetworkTerminating"
        )
        assert "in use by workloads: a, b." in str(waits.status.conditions)
        assert [e.reason for e in (await shop.every(Event)).items] == ["NetworkTerminating"]

        await shop.delete(await shop.get(Workload, "a", "default"))
        await stage.seen(
            "shop", waits, lambda n: "in use by workloads: b." in str(n.status.conditions)
        )
        moved = user_of("other", "b")
        await written(stage, "shop", moved, spec=moved.spec)
        await stage.gone("shop", Network, "default", "default")

    staged(tmp_path, story, *PLANES)


def test_a_workload_that_the_cache_does_not_show_keeps_its_network(tmp_path):
    """Before a network goes, the Workloads are read live."""

    async def story(stage):
        link = await linked(stage, "projects", "shop")
        await world(stage, network())
        await stage.rest()
        link.lag(Workload)
        await stage.client("shop").create(user_of("default", "late"))
        await stage.client("shop").delete(
            await stage.client("shop").get(Network, "default", "default")
        )
        await stage.rest()
        assert await stage.client("shop").find(Network, "default", "default") is not None

    staged(tmp_path, story, *WITHOUT_SHOP)


def test_what_is_attached_keeps_what_it_has_of_a_network_that_is_being_deleted(tmp_path):
    """It gets its addresses still, and its context again; a late binding gets neither."""

    async def story(stage):
        await world(stage, network())
        context = await bound(stage, "dfw")
        await stage.client("shop").delete(
            await stage.client("shop").get(Network, "default", "default")
        )
        await stage.named(
            "dfw", NetworkBinding, "default-net-0", NS, lambda b: because(b) == "NetworkTerminating"
        )
        made = await stage.client("dfw").create(claim(context))
        await stage.seen("dfw", made, serves)
        late = await stage.client("dfw").create(binding("dfw", name="late-net-0"))
        await stage.seen(
            "dfw", late, lambda b: (says(b, "Ready"), because(b)) == ("False", "NetworkTerminating")
        )

        await stage.client("dfw").delete(context)
        again = await stage.named(
            "dfw", NetworkContext, DFW, NS, lambda c: c.metadata.uid != context.metadata.uid
        )
        there = await stage.seen("dfw", again, serves)
        assert because(there) == "NetworkTerminating"
        await stage.rest()
        found = await stage.client("dfw").get(NetworkBinding, "default-net-0", NS)
        assert says(found, "Ready") == "True"
        assert (
            says(await stage.client("dfw").get(NetworkBinding, "late-net-0", NS), "Ready")
            == "False"
        )

    staged(tmp_path, story, *PLANES)


def test_a_range_that_was_changed_in_use_is_reported(tmp_path):
    """Should the change have got past admission: what was given out stays, and is named."""

    async def story(stage):
        await world(stage, network(range_="10.9.0.0/24"))
        await subnet(stage, "dfw")
        changed = network(range_="10.8.0.0/24")
        await written(stage, "shop", changed, spec=changed.spec)
        seen = await stage.named(
            "shop", Network, "default", true=lambda n: because(n, "IPAMAllocated") == "RangeInUse"
        )
        assert "In use, and in no range of the network: 10.9.0.0/28" in str(seen.status.conditions)
        assert says(seen, "Ready") == "True"

        back = network(range_="10.9.0.0/24")
        await written(stage, "shop", back, spec=back.spec)
        await stage.seen("shop", seen, lambda n: says(n, "IPAMAllocated") == "True")

    staged(tmp_path, story, *PLANES)


def test_an_unused_network_goes_at_once(tmp_path):
    """There is nothing to wait for."""

    async def story(stage):
        await world(stage, network())
        there = await stage.named(
            "shop", Network, "default", true=lambda n: says(n, "Ready") == "True"
        )
        await stage.client("shop").delete(there)

        await stage.gone("shop", Network, "default", "default")

    staged(tmp_path, story, *PLANES)


def test_a_namespace_that_goes_takes_its_addresses_with_it(tmp_path):
    """When the cell's namespace is gone, so is what the project's ledger had for it."""

    async def story(stage):
        await world(stage, network())
        await subnet(stage, "dfw")
        await stage.client("dfw").delete(await stage.client("dfw").get(Namespace, NS))

        await stage.gone("dfw", Namespace, NS)
        await stage.gone("shop", Subnet, ENTRY, "default")

    staged(tmp_path, story, *PLANES)


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
