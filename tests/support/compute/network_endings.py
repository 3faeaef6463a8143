"""Users of networks, for tests of the network service."""

from compute.api import names
from compute.api.networking import NetworkBinding
from tests.support.compute.network_builders import (
    NS,
    PLANES,
    says,
)

DFW = names.network_context("default", "dfw")


ENTRY = f"{DFW}-0.dfw"


WITHOUT_SHOP = tuple(pair for pair in PLANES if pair != ("projects", "shop"))


async def unbind(stage, cell="dfw"):
    client = stage.client(cell)
    await client.delete(await client.get(NetworkBinding, "default-net-0", NS))


def serves(binding):
    return says(binding, "Ready") == "True"
