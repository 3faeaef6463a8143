"""Which addresses claims get, and why some get none."""

import msgspec

from compute.api import names
from compute.api.instance_spec import LocationRef
from compute.api.networking import (
    Network,
    NetworkBinding,
    NetworkContext,
    NetworkIPAM,
    NetworkSpec,
    Subnet,
    SubnetClaim,
)
from compute.decide.networking.addresses import prefix_of
from kubekit.api.kinds.events import Event
from kubekit.api.meta import ObjectMeta
from tests.support.compute.network_builders import (
    NS,
    PLANES,
    because,
    bound,
    claim,
    network,
    says,
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


def test_two_networks_may_have_the_same_addresses(tmp_path):
    """Networks are rooms of their own: overlap matters only within one."""

    async def story(stage):
        await world(stage, network("a"), network("b"))

        assert await subnet(stage, "dfw", "a") == await subnet(stage, "dfw", "b")

    staged(tmp_path, story, *PLANES)


def test_a_claim_may_ask_for_certain_addresses(tmp_path):
    """It gets just these, and others are given out around them."""

    async def story(stage):
        await world(stage, network())

        assert (
            await subnet(stage, "dfw", start_address="10.0.0.0", prefix_length=20) == "10.0.0.0/20"
        )
        assert await subnet(stage, "lhr") == "10.1.0.0/16"

    staged(tmp_path, story, *PLANES)


def test_a_claim_that_asks_for_what_others_have(tmp_path):
    """It says so, until they are gone."""

    async def story(stage):
        await world(stage, network())
        await subnet(stage, "dfw")
        wish = claim(await bound(stage, "lhr"), start_address="10.0.0.0", prefix_length=16)
        await stage.client("lhr").create(wish)
        refused = await stage.seen("lhr", wish, lambda c: says(c, "Ready") == "False")
        assert because(refused) == because(refused, "Allocated") == "RangeOccupied"

        await stage.client("dfw").delete(
            await stage.client("dfw").get(NetworkBinding, "default-net-0", NS)
        )

        done = await stage.seen("lhr", wish, lambda c: says(c, "Ready") == "True")
        assert done.status.start_address == "10.0.0.0"

    staged(tmp_path, story, *PLANES)


def test_a_range_that_is_used_up(tmp_path):
    """The claim and the project's Network say so; who comes after a release is served."""

    async def story(stage):
        await world(stage, network(range_="10.7.0.0/28"))
        assert await subnet(stage, "dfw") == "10.7.0.0/28"
        late = claim(await bound(stage, "lhr"))
        await stage.client("lhr").create(late)
        await stage.seen("lhr", late, lambda c: because(c) == "RangeOccupied")
        full = await stage.named(
            "shop", Network, "default", true=lambda n: says(n, "IPAMAllocated") == "False"
        )
        assert because(full, "IPAMAllocated") == "RangeOccupied"
        assert says(full, "Ready") == "True"
        failed = await stage.named(
            "lhr", NetworkBinding, "default-net-0", NS, lambda b: says(b, "Ready") == "False"
        )
        assert because(failed) == "NetworkFailedToCreate"
        await stage.rest()
        assert await stage.quiet() == []
        events = (await stage.client("shop").every(Event, "default")).items
        assert [(e.reason, e.type) for e in events] == [("RangeOccupied", "Warning")]

        await stage.client("dfw").delete(
            await stage.client("dfw").get(NetworkBinding, "default-net-0", NS)
        )

        await stage.seen("lhr", late, lambda c: says(c, "Ready") == "True")
        await stage.seen("shop", full, lambda n: says(n, "IPAMAllocated") == "True")

    staged(tmp_path, story, *PLANES)


def test_a_range_that_cannot_be_used(tmp_path):
    """Network and claims say what is wrong with it; a better one heals both."""

    async def story(stage):
        await world(stage, network(range_="10.1.2.3/8"))
        bad = await stage.named(
            "shop", Network, "default", true=lambda n: says(n, "Ready") == "False"
        )
        assert because(bad) == "RangeUnsupported"
        wish = claim(await bound(stage, "dfw"))
        await stage.client("dfw").create(wish)
        await stage.seen("dfw", wish, lambda c: because(c) == "RangeUnsupported")

        live = await stage.client("shop").get(Network, "default", "default")
        spec = NetworkSpec(ipam=NetworkIPAM(mode="Auto", ipv4_range="10.1.0.0/16"))
        await stage.client("shop").patch(live, msgspec.structs.replace(live, spec=spec))

        done = await stage.seen("dfw", wish, lambda c: says(c, "Ready") == "True")
        assert done.status.start_address == "10.1.0.0"

    staged(tmp_path, story, *PLANES)


def test_ipv6(tmp_path):
    """A claim for the other family gets a /64 of unique local addresses."""

    async def story(stage):
        await world(stage, network(ip_families=("IPv4", "IPv6")))

        assert await subnet(stage, "dfw", ip_family="IPv6") == "fd00::/64"

    staged(tmp_path, story, *PLANES)


def test_several_claims_of_one_context(tmp_path):
    """Each has a Subnet of its own."""

    async def story(stage):
        await world(stage, network())
        first = await subnet(stage, "dfw")
        more = claim(await stage.named("dfw", NetworkContext, DFW, NS), name="more")
        await stage.client("dfw").create(more)

        done = await stage.seen("dfw", more, lambda c: says(c, "Ready") == "True")

        assert (first, done.status.start_address) == ("10.0.0.0/16", "10.1.0.0")

    staged(tmp_path, story, *PLANES)


def test_two_copies_never_give_out_the_same(tmp_path):
    """With the whole service running twice, claims that come at once get addresses apart."""

    async def story(stage):
        await world(stage, network(), copies=2)
        contexts = [await bound(stage, "dfw"), await bound(stage, "lhr")]
        wishes = [
            (at.metadata.name.rpartition("--")[2], claim(at, name=f"claim-{number}"))
            for number in range(4)
            for at in contexts
        ]
        for cell, wish in wishes:
            await stage.client(cell).create(wish)

        done = [
            await stage.seen(cell, wish, lambda c: says(c, "Ready") == "True")
            for cell, wish in wishes
        ]

        got = [prefix_of(c.status.start_address, c.status.prefix_length) for c in done]
        assert len({str(each) for each in got}) == len(wishes)
        assert len(await ranges(stage)) == len(wishes)
        await stage.rest()
        assert await stage.quiet() == []

    staged(tmp_path, story, *PLANES)


def test_a_claim_for_a_context_that_is_not_there(tmp_path):
    """Nothing is given to it, and nothing breaks."""

    async def story(stage):
        await world(stage, network())
        at = await bound(stage, "dfw")
        stray = claim(msgspec.structs.replace(at, metadata=ObjectMeta(name="none", namespace=NS)))
        stray = msgspec.structs.replace(
            stray,
            metadata=ObjectMeta(name="stray", namespace=NS),
            spec=msgspec.structs.replace(stray.spec, location=LocationRef(name="dfw")),
        )
        await stage.client("dfw").create(stray)
        await stage.rest()

        left = await stage.client("dfw").get(SubnetClaim, "stray", NS)
        assert (says(left, "Ready"), because(left)) == ("Unknown", "Pending")
        assert await ranges(stage) == {}

    staged(tmp_path, story, *PLANES)
