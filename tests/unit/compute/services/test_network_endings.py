"""The end of networks: contexts, addresses and Networks go when nothing uses them."""

import msgspec

from compute.api.compute import (
    InstanceStatus,
    InterfaceAssignments,
    NetworkInterfaceStatus,
    Workload,
)
from compute.api.instance_spec import NetworkInterface, NetworkRef
from compute.api.networking import Network, NetworkBinding, NetworkContext, Subnet, SubnetClaim
from kubekit.api.kinds.core import Namespace
from kubekit.api.kinds.events import Event
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
    network,
    says,
    subnet,
    world,
    written,
)
from tests.support.compute.network_endings import DFW, ENTRY, WITHOUT_SHOP, serves, unbind
from tests.support.compute.provider_builders import machine
from tests.support.kubekit.stage import staged


def user_of(network, name):
    """A Workload whose template names the network."""
    made = with_meta(workload(name), uid="", generation=0)
    interfaces = (NetworkInterface(network=NetworkRef(name=network)),)
    inner = msgspec.structs.replace(made.spec.template.spec, network_interfaces=interfaces)
    template = msgspec.structs.replace(made.spec.template, spec=inner)
    return msgspec.structs.replace(made, spec=msgspec.structs.replace(made.spec, template=template))


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
