"""A Workload whose template names another network: each Instance has an address of its own network."""

from ipaddress import ip_address, ip_network

import msgspec
import pytest

from compute.api.compute import Instance, Workload
from compute.api.instance_spec import NetworkInterface, NetworkRef
from compute.api.networking import NetworkBinding
from tests.integration.operators import make_network, settings
from tests.integration.test_traps import throughout
from tests.integration.worlds import PROJECT, Watched, is_ready, reason_of, run_story, workload

RANGES = {"default": ip_network("10.0.0.0/8"), "second": ip_network("172.16.0.0/12")}


def on_networks(*names: str):
    """A change of a Workload: these networks, one for each interface."""

    def changed(present: Workload) -> Workload:
        interfaces = tuple(NetworkInterface(network=NetworkRef(name=name)) for name in names)
        template = present.spec.template
        spec = msgspec.structs.replace(template.spec, network_interfaces=interfaces)
        template = msgspec.structs.replace(template, spec=spec)
        return msgspec.structs.replace(
            present, spec=msgspec.structs.replace(present.spec, template=template)
        )

    return changed


async def addresses_fit(world: Watched) -> None:
    """A Ready Instance has an address on each interface, out of the network named there."""
    for instance in (await world.client("dfw").every(Instance)).items:
        wanted = [RANGES[each.network.name] for each in instance.spec.network_interfaces]
        got = [each.assignments.network_ip for each in instance.status.network_interfaces]
        if is_ready(instance):
            assert len(got) == len(wanted), instance.metadata.name
            for address, network in zip(got, wanted, strict=True):
                assert address is not None, f"{instance.metadata.name} has none of {network}"
                assert ip_address(address) in network, instance.metadata.name


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (["default"], ["second"]),
        (["default"], ["second", "default"]),
        (["default", "second"], ["second", "default"]),
        (["default", "second"], ["second"]),
    ],
    ids=["another", "one more in front", "the other way round", "the first one less"],
)
def test_an_instance_has_addresses_of_the_networks_it_names(before, after):
    """While it rolls there and back, no Instance gets an address of its predecessor's network."""

    async def story(world: Watched) -> None:
        await make_network(world, "second", str(RANGES["second"]))
        await world.deploy(on_networks(*before)(workload(cities=("DFW",), replicas=2)))
        for names in (after, before, after):
            await world.change("web", on_networks(*names))
            await throughout(lambda: addresses_fit(world), world.served("web"))
            await world.rest()
            await addresses_fit(world)
            bindings = (await world.client("dfw").every(NetworkBinding)).items
            assert sorted(b.spec.network.name for b in bindings) == sorted(names)

    run_story(story, cities=("DFW",))


def test_a_new_network_that_fails_is_reported_while_the_old_one_serves():
    """The Instance that waits names the cause, and the one that has its network runs on."""

    async def story(world: Watched) -> None:
        await make_network(world, "second", str(RANGES["second"]))
        await settings(world, "dfw", "network-faults", failNetworks="second")
        await world.deploy(workload(cities=("DFW",), replicas=2))
        await world.change("web", on_networks("second"))
        waiting = await world.named(
            PROJECT,
            Instance,
            "web-home-dfw-1",
            true=lambda i: reason_of(i, "Ready") == "NetworkFailedToCreate",
        )
        assert waiting.spec.network_interfaces[0].network.name == "second"
        assert is_ready(await world.user.get(Instance, "web-home-dfw-0", "default"))
        await world.change("web", on_networks("default"))
        await world.served("web")
        await world.rest()
        await addresses_fit(world)

    run_story(story, cities=("DFW",))
