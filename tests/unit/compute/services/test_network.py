"""Networks of projects, and their addresses in cells."""

import msgspec

from compute.api import finalizers, names
from compute.api.networking import (
    Network,
    NetworkBinding,
    NetworkContext,
    NetworkContextRef,
    Subnet,
)
from kubekit.api.kinds.core import ConfigMap
from kubekit.api.kinds.events import Event
from kubekit.api.meta import ObjectMeta
from tests.support.compute.network_builders import (
    NS,
    PLANES,
    because,
    binding,
    bound,
    home,
    network,
    says,
    settings,
    subnet,
    world,
)
from tests.support.kubekit.stage import staged

DFW = names.network_context("default", "dfw")


async def ranges(stage):
    """The ledger of the project: the addresses by entry."""
    entries = await stage.client("shop").every(Subnet, "default")
    return {
        e.metadata.name: f"{e.spec.start_address}/{e.spec.prefix_length}" for e in entries.items
    }


def test_a_network_gets_addresses_in_each_cell(tmp_path):
    """Two cities of a network have a /16 each, and both are in the project's ledger."""

    async def story(stage):
        await world(stage, network())

        got = [await subnet(stage, "dfw"), await subnet(stage, "lhr")]

        assert got == ["10.0.0.0/16", "10.1.0.0/16"]
        assert await ranges(stage) == {
            "default--dfw-0.dfw": "10.0.0.0/16",
            "default--lhr-0.lhr": "10.1.0.0/16",
        }
        await stage.rest()
        assert await stage.quiet() == []

    staged(tmp_path, story, *PLANES)


def test_what_the_objects_of_a_cell_say(tmp_path):
    """Binding, context, claim and Subnet are Ready, and each names what it leads to."""

    async def story(stage):
        await world(stage, network())
        await subnet(stage, "dfw")

        there = await stage.named(
            "dfw", NetworkBinding, "default-net-0", NS, lambda b: says(b, "Ready") == "True"
        )
        context = await stage.named("dfw", NetworkContext, DFW, NS)
        made = await stage.named("dfw", Subnet, f"{DFW}-0", NS)

        assert there.status.network_context_ref == NetworkContextRef(name=DFW, namespace=NS)
        assert because(there) == "NetworkContextReady"
        assert (says(context, "Programmed"), because(context)) == ("True", "Ready")
        assert [because(made, kind) for kind in ("Allocated", "Programmed", "Ready")] == [
            "PrefixAllocated",
            "Programmed",
            "Ready",
        ]
        assert made.metadata.owner_references == (context.reference(controller=True),)
        assert (made.status.start_address, made.status.prefix_length) == ("10.0.0.0", 16)

    staged(tmp_path, story, *PLANES)


def test_a_network_is_held_and_says_that_it_is_ready(tmp_path):
    """It has our finalizer, and tells where its addresses come from."""

    async def story(stage):
        await world(stage, network("net", "172.16.0.0/12"))

        done = await stage.named("shop", Network, "net", true=lambda n: says(n, "Ready") == "True")

        assert done.metadata.finalizers == (finalizers.NETWORK,)
        messages = {c.type: c.message for c in done.status.conditions}
        assert messages["IPAMAllocated"] == "Addresses come from 172.16.0.0/12"
        assert await subnet(stage, "dfw", "net") == "172.16.0.0/20"

    staged(tmp_path, story, *PLANES)


def test_a_binding_for_a_network_that_is_not_there(tmp_path):
    """It reports that, and is served as soon as the network is created."""

    async def story(stage):
        await world(stage)
        await stage.client("dfw").create(binding("dfw"))
        missing = await stage.named(
            "dfw", NetworkBinding, "web-net-0", NS, lambda b: says(b, "Ready") == "False"
        )

        assert because(missing) == "NetworkNotFound"
        assert await stage.client("dfw").find(NetworkContext, DFW, NS) is None

        await stage.client("shop").create(network())
        await stage.seen("dfw", missing, lambda b: says(b, "Ready") == "True")

    staged(tmp_path, story, *PLANES)


def test_a_network_of_another_namespace_is_not_used(tmp_path):
    """Who may use a network was asked for the workload's own namespace."""

    async def story(stage):
        await world(stage, network())
        await stage.client("dfw").create(binding("dfw", namespace="other"))

        refused = await stage.named(
            "dfw", NetworkBinding, "web-net-0", NS, lambda b: says(b, "Ready") == "False"
        )

        assert because(refused) == "NetworkNotFound"

    staged(tmp_path, story, *PLANES)


def test_a_namespace_that_does_not_say_whose_it_is(tmp_path):
    """The binding says so; when the labels come, it is served."""

    async def story(stage):
        await world(stage, network())
        bare = msgspec.structs.replace(home("ns-2"), metadata=ObjectMeta(name="ns-2"))
        bare = await stage.client("dfw").create(bare)
        asked = binding("dfw")
        meta = msgspec.structs.replace(asked.metadata, namespace="ns-2")
        await stage.client("dfw").create(msgspec.structs.replace(asked, metadata=meta))
        lost = await stage.named(
            "dfw", NetworkBinding, "web-net-0", "ns-2", lambda b: says(b, "Ready") == "False"
        )
        assert because(lost) == "ProjectUnresolved"

        labelled = msgspec.structs.replace(bare.metadata, labels=home().metadata.labels)
        live = await stage.client("dfw").get(type(bare), "ns-2")
        labelled = msgspec.structs.replace(live.metadata, labels=home().metadata.labels)
        await stage.client("dfw").patch(live, msgspec.structs.replace(live, metadata=labelled))

        await stage.seen("dfw", lost, lambda b: says(b, "Ready") == "True")

    staged(tmp_path, story, *PLANES)


def test_a_project_that_comes_later(tmp_path):
    """Until its plane is known the binding says so; then it is served."""

    async def story(stage):
        await world(stage)
        await stage.client("dfw").create(home("ns-9", "late"))
        asked = binding("dfw")
        meta = msgspec.structs.replace(asked.metadata, namespace="ns-9")
        await stage.client("dfw").create(msgspec.structs.replace(asked, metadata=meta))
        early = await stage.named(
            "dfw", NetworkBinding, "web-net-0", "ns-9", lambda b: says(b, "Ready") == "False"
        )
        assert because(early) == "ProjectUnresolved"

        await stage.engage("projects", "late")
        await stage.client("late").create(network())

        await stage.seen("dfw", early, lambda b: says(b, "Ready") == "True")

    staged(tmp_path, story, *PLANES)


def test_a_second_binding_shares_the_context(tmp_path):
    """Two deployments of a cell have one context, and the addresses of one."""

    async def story(stage):
        await world(stage, network())
        await subnet(stage, "dfw")
        await stage.client("dfw").create(binding("dfw", name="other-net-0"))

        await stage.named(
            "dfw", NetworkBinding, "other-net-0", NS, lambda b: says(b, "Ready") == "True"
        )

        assert len((await stage.client("dfw").every(NetworkContext, NS)).items) == 1

    staged(tmp_path, story, *PLANES)


def test_failures_can_be_provoked(tmp_path):
    """A network named in the cell's ConfigMap fails there, and is well once it is named no more."""

    async def story(stage):
        await world(stage, network(), network("good"))
        await settings(stage, "dfw", "network-faults", failNetworks="bad, def*")
        await stage.client("dfw").create(binding("dfw"))
        failed = await stage.named(
            "dfw", NetworkBinding, "web-net-0", NS, lambda b: because(b) == "NetworkFailedToCreate"
        )
        context = await stage.named("dfw", NetworkContext, DFW, NS)
        assert (says(failed, "Ready"), says(context, "Programmed")) == ("False", "False")
        await bound(stage, "dfw", "good")

        await settings(stage, "dfw", "network-faults")
        await stage.seen("dfw", failed, lambda b: says(b, "Ready") == "True")

    staged(tmp_path, story, *PLANES)


def test_an_unknown_key_of_the_faults_is_named(tmp_path):
    """By a Warning on the ConfigMap, once; nothing fails."""

    async def story(stage):
        await world(stage, network())
        await settings(stage, "dfw", "network-faults", failNetwork="*", failNetworks="other")
        await bound(stage, "dfw")
        await stage.rest()

        (event,) = (await stage.client("dfw").every(Event)).items
        assert (event.type, event.reason) == ("Warning", "SettingsInvalid")
        assert event.note == "failNetwork: no such key; there is failNetworks"
        held = await stage.client("dfw").get(ConfigMap, "network-faults", "compute-system")
        await stage.client("dfw").delete(held)
        await stage.rest()
        assert await stage.quiet() == []

    staged(tmp_path, story, *PLANES)
