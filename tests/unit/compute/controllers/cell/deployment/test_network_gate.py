"""The networks of a deployment: requested, waited for, reported and released."""

import asyncio
from pathlib import Path

import msgspec
import pytest

from compute.api.compute import Instance, WorkloadDeployment
from compute.api.gates import NETWORK, QUOTA
from compute.api.instance_spec import NetworkInterface, NetworkRef
from compute.api.networking import Location, NetworkBinding, NetworkContext, Subnet, SubnetClaim
from compute.decide.conditions import find
from kubekit.api.errors import NotFound
from kubekit.api.meta import ObjectMeta, with_spec
from kubekit.client.transport import ResourceLocation
from tests.support.compute.builders import deployment
from tests.support.compute.cell_neighbours import (
    NAMESPACE,
    PLANE,
    Cell,
    cell,
    location,
    write_condition,
)
from tests.support.compute.federation_builders import with_meta
from tests.support.kubekit.stage import Stage, staged

CONTEXT = "default--lab-dfw-1"


def reason_and_message(of: WorkloadDeployment) -> tuple[str, str]:
    condition = find(of.status.conditions, "Available")
    return (condition.reason, condition.message) if condition else ("", "")


def attached(of: WorkloadDeployment, *networks: str) -> WorkloadDeployment:
    """The deployment with interfaces in these networks."""
    interfaces = tuple(NetworkInterface(network=NetworkRef(name=name)) for name in networks)
    inner = msgspec.structs.replace(of.spec.template.spec, network_interfaces=interfaces)
    template = msgspec.structs.replace(of.spec.template, spec=inner)
    return with_spec(of, template=template)


def gates(of: Instance) -> list[str]:
    return [gate.name for gate in of.spec.controller.scheduling_gates] if of.spec.controller else []


async def bindings(at: Cell) -> dict[str, str]:
    """The networks that are bound, by the names of the bindings."""
    found = (await at.client.list(NetworkBinding, NAMESPACE)).items
    return {one.metadata.name: one.spec.network.name for one in found}


def test_each_interface_is_bound_and_addresses_are_claimed_once(tmp_path: Path) -> None:
    """A binding for each interface, a claim for each network at the location, then the gate opens."""

    async def story(stage: Stage) -> None:
        at = await cell(stage)
        await at.deploy(attached(deployment(), "default", "backend"))
        await at.ready(1)
        assert await bindings(at) == {
            "web-home-dfw-net-0": "default",
            "web-home-dfw-net-1": "backend",
        }
        claim = await at.client.get(SubnetClaim, f"{CONTEXT}-0", NAMESPACE)
        context = await at.client.get(NetworkContext, CONTEXT, NAMESPACE)
        assert (claim.spec.subnet_class, claim.spec.ip_family) == ("private", "IPv4")
        assert claim.spec.location.name == "lab-dfw-1"
        assert claim.metadata.owner_references == (context.reference(),)
        owner = (await at.client.get(NetworkBinding, "web-home-dfw-net-0", NAMESPACE)).metadata
        assert owner.owner_references[0].controller

    staged(tmp_path, story)


def test_the_gate_opens_in_the_pass_that_sees_the_networks_ready(tmp_path: Path) -> None:
    """With the last write of the network service the gate is open, and nothing was polled."""

    async def story(stage: Stage) -> None:
        at = await cell(stage)
        at.machines.seconds = 10_000.0
        at.networks.silent = True
        await at.deploy()
        binding = await stage.named(PLANE, NetworkBinding, "web-home-dfw-net-0", NAMESPACE)
        made = await stage.named(PLANE, Instance, "web-home-dfw-0", NAMESPACE)
        assert gates(made) == [NETWORK, QUOTA]
        at.networks.silent = False
        await asyncio.sleep(1800)
        await at.client.patch(binding, with_meta(binding, annotations={"wake": "1"}))
        await asyncio.sleep(0.2)
        (made,) = await at.instances()
        assert gates(made) == [QUOTA]

    staged(tmp_path, story)


def test_a_new_deployment_waits_a_moment_for_its_networks(tmp_path: Path) -> None:
    """A network that is ready at once saves every Instance a gate; the wait is limited."""

    async def story(stage: Stage) -> None:
        at = await cell(stage)
        at.networks.silent = True
        await at.deploy()
        binding = await stage.named(PLANE, NetworkBinding, "web-home-dfw-net-0", NAMESPACE)
        await asyncio.sleep(1.0)
        assert await at.instances() == []
        at.networks.silent = False
        await at.client.patch(binding, with_meta(binding, annotations={"wake": "1"}))
        made = await stage.named(PLANE, Instance, "web-home-dfw-0", NAMESPACE)
        assert NETWORK not in gates(made)
        await at.ready(1)

    staged(tmp_path, story)


def test_an_instance_created_with_ready_networks_waits_for_quota_only(tmp_path: Path) -> None:
    """An open gate is not set on creation, which saves a write for each Instance."""

    async def story(stage: Stage) -> None:
        at = await cell(stage)
        await at.deploy(deployment(2))
        await stage.named(PLANE, Instance, "web-home-dfw-0", NAMESPACE, lambda one: not gates(one))
        second = await stage.named(PLANE, Instance, "web-home-dfw-1", NAMESPACE)
        assert gates(second) == [QUOTA]

    staged(tmp_path, story)


def test_without_a_location_instances_are_created_and_wait(tmp_path: Path) -> None:
    """Instances are created without a Location; its creation requeues the deployment."""

    async def story(stage: Stage) -> None:
        at = await cell(stage, locations=())
        await at.client.create(location("lab-lhr-1", "LHR"))
        await at.deploy()
        waiting = await at.reported(lambda one: reason_and_message(one)[0] == "NoMatchingLocation")
        assert reason_and_message(waiting)[1] == (
            "0 of 1 instances ready; no Location of the cell says that it is in DFW"
        )
        await asyncio.sleep(3600)
        (made,) = await at.instances()
        assert (gates(made), made.spec.location) == ([NETWORK, QUOTA], None)
        assert await bindings(at) == {}
        await at.client.create(location())
        await at.ready(1)
        (made,) = await at.instances()
        assert made.spec.location is not None

    staged(tmp_path, story)


def test_w11_the_location_is_cleared_when_it_is_deleted(tmp_path: Path) -> None:
    """Without its Location a deployment names none; its Instances keep running."""

    async def story(stage: Stage) -> None:
        at = await cell(stage)
        await at.deploy()
        await at.ready(1)
        await at.client.delete(await at.client.get(Location, "lab-dfw-1"))
        left = await at.reported(lambda one: one.status.location is None)
        assert left.status.ready_replicas == 1
        assert await bindings(at) == {"web-home-dfw-net-0": "default"}
        await at.client.create(location())
        await at.reported(lambda one: one.status.location is not None)
        await stage.rest()
        assert await stage.quiet() == []

    staged(tmp_path, story)


def test_a_location_that_changes_its_city_concerns_both(tmp_path: Path) -> None:
    """A Location that changes its city requeues the deployments of both cities."""

    async def story(stage: Stage) -> None:
        at = await cell(stage, locations=())
        elsewhere = await at.client.create(location("lab-1", "LHR"))
        await at.deploy()
        await at.reported(lambda one: reason_and_message(one)[0] == "NoMatchingLocation")
        moved = msgspec.structs.replace(elsewhere, spec=location("lab-1", "DFW").spec)
        elsewhere = await at.client.patch(elsewhere, moved)
        await at.ready(1)
        back = msgspec.structs.replace(elsewhere, spec=location("lab-1", "LHR").spec)
        await at.client.patch(elsewhere, back)
        await at.reported(lambda one: one.status.location is None)

    staged(tmp_path, story)


def test_networking_off_requests_nothing_and_removes_gates(tmp_path: Path) -> None:
    """Without networking an existing gate is removed, and those kinds are not read."""

    async def story(stage: Stage) -> None:
        at = await cell(stage, networking=False, locations=())

        def refuses(_: str, place: ResourceLocation) -> Exception | None:
            wrong = place.resource.group == "networking.datumapis.com"
            return NotFound(f"{place.resource.kind} is not served") if wrong else None

        at.transport.refuses = refuses
        at.machines.seconds = 5.0
        await at.deploy()
        made = await stage.named(PLANE, Instance, "web-home-dfw-0", NAMESPACE)
        assert gates(made) == [QUOTA]
        assert made.spec.controller is not None
        both = deployment_gates(made, NETWORK, QUOTA)
        await at.client.patch(made, both)
        await stage.seen(PLANE, made, lambda one: gates(one) == [QUOTA])
        assert (await at.ready(1)).status.location is None
        assert await bindings(at) == {}

    staged(tmp_path, story)


def deployment_gates(of: Instance, *names: str) -> Instance:
    """The Instance with these gates."""
    wanted = msgspec.to_builtins(of, str_keys=True)
    wanted["spec"]["controller"]["schedulingGates"] = [{"name": name} for name in names]
    return msgspec.convert(wanted, Instance)


@pytest.mark.parametrize(
    ("said_reason", "reason"),
    [
        ("NetworkFailedToCreate", "NetworkFailedToCreate"),
        ("NetworkNotFound", "NetworkNotFound"),
        ("LocationNotAvailable", "NetworkFailedToCreate"),
        ("NetworkContextNotReady", "NetworkProvisioning"),
        ("SomethingElse", "NetworkProvisioning"),
    ],
)
def test_a_failed_network_is_reported(tmp_path: Path, said_reason: str, reason: str) -> None:
    """The deployment reports our reason, with the message of the network service."""

    async def story(stage: Stage) -> None:
        at = await cell(stage)
        at.networks.failing = {"backend": said_reason}
        await at.deploy(attached(deployment(), "default", "backend"))
        waiting = await at.reported(lambda one: "cannot be had" in reason_and_message(one)[1])
        assert reason_and_message(waiting) == (
            reason,
            "0 of 1 instances ready; network backend: backend cannot be had",
        )
        made = await stage.named(PLANE, Instance, "web-home-dfw-0", NAMESPACE)
        assert NETWORK in gates(made)
        at.networks.failing = {}
        binding = await at.client.get(NetworkBinding, "web-home-dfw-net-1", NAMESPACE)
        await at.client.patch(binding, with_meta(binding, annotations={"wake": "1"}))
        await at.ready(1)

    staged(tmp_path, story)


def test_deployments_share_the_addresses_of_a_network(tmp_path: Path) -> None:
    """Two deployments on one network make one claim, and its events requeue both."""

    async def story(stage: Stage) -> None:
        at = await cell(stage, copies=2)
        await at.deploy()
        await at.deploy(deployment(name="api-home-dfw"))
        await at.ready(1)
        await stage.named(
            PLANE,
            WorkloadDeployment,
            "api-home-dfw",
            NAMESPACE,
            lambda one: one.status.ready_replicas,
        )
        claims = (await at.client.list(SubnetClaim, NAMESPACE)).items
        assert [claim.metadata.name for claim in claims] == [f"{CONTEXT}-0"]

    staged(tmp_path, story)


def test_a_deleted_binding_is_created_again(tmp_path: Path) -> None:
    """A binding or claim that a deployment needs is created again."""

    async def story(stage: Stage) -> None:
        at = await cell(stage)
        await at.deploy()
        await at.ready(1)
        old = await at.client.get(NetworkBinding, "web-home-dfw-net-0", NAMESPACE)
        await at.client.delete(old)
        await stage.seen(PLANE, old, lambda one: one.metadata.uid != old.metadata.uid)
        await stage.rest()
        assert await stage.quiet() == []

    staged(tmp_path, story)


def test_a_subnet_that_is_lost_closes_the_gate_for_new_instances(tmp_path: Path) -> None:
    """An Instance created after a part of the network failed waits until it is back."""

    async def story(stage: Stage) -> None:
        at = await cell(stage)
        await at.deploy()
        await at.ready(1)
        at.networks.silent = True
        subnet = await at.client.get(Subnet, f"{CONTEXT}-0", NAMESPACE)
        await write_condition(at.client, subnet, "False", "NotProgrammed", "a switch has failed")
        await asyncio.sleep(1)
        (old,) = await at.instances()
        await at.client.delete(old)
        new = await stage.seen(PLANE, old, lambda one: one.metadata.uid != old.metadata.uid)
        assert gates(new) == [NETWORK, QUOTA]
        await at.reported(lambda one: "a switch has failed" in reason_and_message(one)[1])
        subnet = await at.client.get(Subnet, f"{CONTEXT}-0", NAMESPACE)
        await write_condition(at.client, subnet, "True", "Ready")
        await at.ready(1)

    staged(tmp_path, story)


def test_the_old_network_is_kept_until_no_instance_uses_it(tmp_path: Path) -> None:
    """During a roll both networks are bound; afterwards only the new one is."""

    async def story(stage: Stage) -> None:
        at = await cell(stage)
        await at.deploy(deployment(2))
        await at.ready(2)
        at.networks.failing = {"backend": "NetworkFailedToCreate"}
        await at.change(lambda of: attached(of, "backend"))
        await at.reported(lambda one: "backend cannot be had" in reason_and_message(one)[1])
        both = {"web-home-dfw-net-0": "default", "web-home-dfw-net-1": "backend"}
        assert await bindings(at) == both
        at.networks.failing = {}
        binding = await at.client.get(NetworkBinding, "web-home-dfw-net-1", NAMESPACE)
        await at.client.patch(binding, with_meta(binding, annotations={"wake": "1"}))
        await at.ready(2)
        await stage.gone(PLANE, NetworkBinding, "web-home-dfw-net-0", NAMESPACE)
        assert await bindings(at) == {"web-home-dfw-net-1": "backend"}
        await stage.rest()
        assert await stage.quiet() == []

    staged(tmp_path, story)


def test_a_binding_deleted_behind_the_cache_is_no_error(tmp_path: Path) -> None:
    """An unused binding that another client deleted already is no error."""

    async def story(stage: Stage) -> None:
        at = await cell(stage)
        await at.deploy(attached(deployment(), "default", "backend"))
        await at.ready(1)
        asked: list[str] = []

        def refuses(verb: str, place: ResourceLocation) -> Exception | None:
            if verb == "delete" and place.resource.kind == "NetworkBinding" and not asked:
                asked.append(place.name)
                return NotFound("it has gone")
            return None

        at.transport.refuses = refuses
        await at.change(lambda of: attached(of, "default"))
        await stage.gone(PLANE, NetworkBinding, "web-home-dfw-net-1", NAMESPACE)
        assert asked == ["web-home-dfw-net-1"]

    staged(tmp_path, story)


def test_a_binding_of_no_deployment_requeues_nothing(tmp_path: Path) -> None:
    """A binding with another name, though on the same network, is left alone."""

    async def story(stage: Stage) -> None:
        at = await cell(stage)
        await at.deploy()
        await at.ready(1)
        own = await at.client.get(NetworkBinding, "web-home-dfw-net-0", NAMESPACE)
        meta = ObjectMeta(name="mine", namespace=NAMESPACE)
        await at.client.create(NetworkBinding(metadata=meta, spec=own.spec))
        await stage.rest()
        assert await bindings(at) == {"mine": "default", "web-home-dfw-net-0": "default"}

    staged(tmp_path, story)


def test_a_binding_of_another_owner_is_waited_for(tmp_path: Path) -> None:
    """A name that another binding has is reported, and used once it is free."""

    async def story(stage: Stage) -> None:
        at = await cell(stage)
        at.networks.silent = True
        spec = (await _template_binding(at)).spec
        meta = ObjectMeta(name="web-home-dfw-net-0", namespace=NAMESPACE)
        alien = await at.client.create(NetworkBinding(metadata=meta, spec=spec))
        at.networks.silent = False
        await at.deploy()
        waiting = await at.reported(
            lambda one: "has to be deleted first" in reason_and_message(one)[1]
        )
        assert reason_and_message(waiting)[0] == "NetworkProvisioning"
        await at.client.delete(await at.client.get(NetworkBinding, alien.metadata.name, NAMESPACE))
        await at.ready(1)

    staged(tmp_path, story)


async def _template_binding(at: Cell) -> NetworkBinding:
    """A binding as the controller creates it, of a deployment that is deleted again."""
    other = await at.deploy(deployment(name="tmp-home-dfw"))
    made = await at.stage.named(PLANE, NetworkBinding, "tmp-home-dfw-net-0", NAMESPACE)
    fresh = await at.client.get(WorkloadDeployment, other.metadata.name, NAMESPACE)
    await at.client.delete(fresh)
    await at.stage.gone(PLANE, WorkloadDeployment, other.metadata.name, NAMESPACE)
    return made


def test_failed_networks_do_not_keep_instances_from_being_created(tmp_path: Path) -> None:
    """If bindings are refused the Instance is created all the same, and waits at its gate."""

    async def story(stage: Stage) -> None:
        at = await cell(stage)

        def refuses(verb: str, place: ResourceLocation) -> Exception | None:
            wrong = verb == "create" and place.resource.kind == "NetworkBinding"
            return NotFound("NetworkBinding is not served") if wrong else None

        at.transport.refuses = refuses
        await at.deploy()
        waiting = await at.reported(lambda one: one.status.replicas == 1)
        assert reason_and_message(waiting)[0] == "NetworkProvisioning"
        at.transport.refuses = lambda _verb, _place: None
        await at.ready(1, seconds=1200)

    staged(tmp_path, story)


def test_no_claim_is_created_for_a_context_that_is_gone(tmp_path: Path) -> None:
    """Before addresses are claimed their context is read live: a claim would outlive it."""

    async def story(stage: Stage) -> None:
        at = await cell(stage)
        gone: list[str] = []

        def refuses(verb: str, place: ResourceLocation) -> Exception | None:
            if verb == "get" and place.resource.kind == "NetworkContext" and not gone:
                gone.append(place.name)
                return NotFound("it has gone")
            return None

        at.transport.refuses = refuses
        await at.deploy()
        await stage.until(_answer(gone))
        assert await at.client.find(SubnetClaim, f"{CONTEXT}-0", NAMESPACE) is None
        context = await at.client.get(NetworkContext, CONTEXT, NAMESPACE)
        await at.client.patch(context, with_meta(context, annotations={"wake": "1"}))
        await at.ready(1)

    staged(tmp_path, story)


def _answer(found: list[str]):
    async def names_left() -> list[str]:
        return found

    return names_left
