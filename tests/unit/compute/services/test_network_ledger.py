"""The ledger of a Network: what a process leaves that dies, and what is not of it."""

import msgspec
import pytest

from compute.api import labels, names
from compute.api.instance_spec import LocationRef
from compute.api.networking import Network, NetworkContext, NetworkContextSpec, Subnet, SubnetSpec
from compute.services.network import controllers
from kubekit.api.meta import LocalRef, ObjectMeta
from tests.support.compute.builders import condition
from tests.support.compute.network_builders import (
    NS,
    PLANES,
    binding,
    bound,
    claim,
    home,
    linked,
    network,
    planes,
    says,
    subnet,
    world,
)
from tests.support.kubekit.stage import staged

DFW = names.network_context("default", "dfw")
LHR = names.network_context("default", "lhr")
WITHOUT_DFW = tuple(pair for pair in PLANES if pair != ("cells", "dfw"))
WITHOUT_SHOP = tuple(pair for pair in PLANES if pair != ("projects", "shop"))


def ready(obj):
    return says(obj, "Ready") == "True"


async def entry(stage, of, cell, start, length=16):
    """An entry as a process leaves it that dies before it is certain."""
    made = Subnet(
        metadata=ObjectMeta(
            name=f"default--{cell}-0.{cell}",
            namespace="default",
            labels={labels.SOURCE_CLUSTER: cell, labels.INSTANCE_NAMESPACE: NS},
            owner_references=(of.reference(controller=True),),
        ),
        spec=SubnetSpec(
            ip_family="IPv4",
            location=LocationRef(name=cell),
            network_context=LocalRef(name=f"default--{cell}"),
            prefix_length=length,
            start_address=start,
            subnet_class="private",
        ),
    )
    return await stage.client("shop").create(made)


async def claimed(stage):
    """A network with a claim in each cell, before they are served; returns both."""
    await world(stage, network(), copies=0)
    claims = []
    for cell in ("dfw", "lhr"):
        await stage.client(cell).create(binding(cell))
        context = NetworkContext(
            metadata=ObjectMeta(
                name=f"default--{cell}", namespace=NS, labels=home().metadata.labels
            ),
            spec=NetworkContextSpec(
                location=LocationRef(name=cell), network=LocalRef(name="default")
            ),
        )
        context = await stage.client(cell).create(context)
        claims.append(await stage.client(cell).create(claim(context)))
    return await stage.client("shop").get(Network, "default", "default"), claims


@pytest.mark.parametrize(
    ("left", "expected"),
    [
        (("10.9.0.0", 16), "10.9.0.0"),
        (("10.0.0.0", 12), "10.1.0.0"),
        (("10.0.77.0", 8), "10.1.0.0"),
        (("nonsense", 16), "10.1.0.0"),
    ],
    ids=["free", "overlaps", "cannot be", "no address"],
)
def test_an_entry_of_a_process_that_died(tmp_path, left, expected):
    """It is allocated if it overlaps no other, and replaced if it does."""

    async def story(stage):
        of, (dfw, lhr) = await claimed(stage)
        await entry(stage, of, "dfw", *left)
        certain = await entry(stage, of, "lhr", "10.0.0.0")
        status = msgspec.structs.replace(
            certain.status, conditions=(condition("Allocated", "True", "PrefixAllocated"),)
        )
        await stage.client("shop").patch_status(
            certain, msgspec.structs.replace(certain, status=status)
        )
        stage.start(*controllers(planes(stage), stage.factory))

        done = await stage.seen("dfw", dfw, ready)
        other = await stage.seen("lhr", lhr, ready)

        assert (done.status.start_address, other.status.start_address) == (expected, "10.0.0.0")

    staged(tmp_path, story, *PLANES)


def test_two_uncertain_entries_that_overlap(tmp_path):
    """Neither is believed as long as the other is there; both claims end apart."""

    async def story(stage):
        of, claims = await claimed(stage)
        await entry(stage, of, "dfw", "10.5.0.0")
        await entry(stage, of, "lhr", "10.5.0.0")
        for _ in range(2):
            stage.start(*controllers(planes(stage), stage.factory))

        done = [
            await stage.seen(cell, each, ready)
            for cell, each in zip(("dfw", "lhr"), claims, strict=True)
        ]

        assert len({each.status.start_address for each in done}) == 2

    staged(tmp_path, story, *PLANES)


def test_an_entry_that_the_cache_does_not_show(tmp_path):
    """Two copies that see nothing of the ledger's changes still give a claim one prefix."""

    async def story(stage):
        link = await linked(stage, "projects", "shop")
        await world(stage, network(), copies=2)
        context = await bound(stage, "dfw")
        await stage.rest()
        link.lag()
        await stage.client("dfw").create(claim(context))
        await stage.rest()
        link.heal()

        await stage.seen("dfw", claim(context), ready)
        entries = (await stage.client("shop").every(Subnet, "default")).items
        assert [each.spec.start_address for each in entries] == ["10.0.0.0"]

    staged(tmp_path, story, *WITHOUT_SHOP)


def test_subnets_of_users_are_none_of_ours(tmp_path):
    """Whatever else is called a Subnet in a project, or a context in a cell, is left alone."""

    async def story(stage):
        await world(stage, network())
        of = await stage.named("shop", Network, "default", true=ready)
        own = await entry(stage, of, "dfw", "10.3.0.0")
        stray = msgspec.structs.replace(
            own,
            metadata=ObjectMeta(
                name="stray", namespace="default", owner_references=(of.reference(),)
            ),
        )
        bare = ObjectMeta(
            name="bare", namespace="default", owner_references=(of.reference(controller=True),)
        )
        await stage.client("shop").create(stray)
        await stage.client("shop").create(msgspec.structs.replace(own, metadata=bare))
        foreign = NetworkContext(
            metadata=ObjectMeta(name="foreign", namespace=NS),
            spec=NetworkContextSpec(
                location=LocationRef(name="dfw"), network=LocalRef(name="default")
            ),
        )
        foreign = await stage.client("dfw").create(foreign)
        await stage.client("dfw").create(claim(foreign))
        await stage.rest()

        left = [each.metadata.name for each in (await stage.client("shop").every(Subnet)).items]
        assert left == ["bare", "stray"]
        assert await subnet(stage, "dfw") == "10.0.0.0/16"

    staged(tmp_path, story, *PLANES)
