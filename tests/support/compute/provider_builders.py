"""A cell with a network, Instances, and the simulated provider."""

from collections.abc import Sequence
from typing import Any

import msgspec

from compute.api import names
from compute.api.compute import Instance
from compute.api.instance_spec import LocationRef, NetworkRef, SchedulingGate
from compute.api.networking import (
    NetworkBinding,
    NetworkBindingSpec,
    NetworkBindingStatus,
    NetworkContextRef,
    Subnet,
    SubnetSpec,
    SubnetStatus,
)
from compute.decide.conditions import find, put
from compute.decide.deployment.template import build_instance
from compute.providers.simulated import controllers
from kubekit.api.kinds.core import Namespace
from kubekit.api.meta import EPOCH, Condition, LocalRef, ObjectMeta
from tests.support.compute.builders import deployment
from tests.support.kubekit.stage import Stage

CELL = ("cell", "dfw")
NS = "ns-1"
CONTEXT = "default--dfw"


async def cell(stage: Stage, addresses: str | None = "10.0.0.0/24", copies: int = 1) -> None:
    """A cell whose provider runs, with a network of these addresses, or none."""
    client = stage.client("dfw")
    await client.create(Namespace(metadata=ObjectMeta(name=NS)))
    if addresses is not None:
        await binding(stage)
        await subnet(stage, addresses)
    for _ in range(copies):
        stage.start(*controllers(stage.role("cell"), stage.factory))


async def binding(stage: Stage, interface: int = 0) -> None:
    """The deployment's binding, which has its context."""
    made = await stage.client("dfw").create(
        NetworkBinding(
            metadata=ObjectMeta(
                name=names.network_binding("web-home-dfw", interface), namespace=NS
            ),
            spec=NetworkBindingSpec(
                location=LocationRef(name="dfw"), network=NetworkRef(name="default")
            ),
        )
    )
    status = NetworkBindingStatus(network_context_ref=NetworkContextRef(name=CONTEXT, namespace=NS))
    wanted = msgspec.structs.replace(made, status=status)
    await stage.client("dfw").patch_status(made, wanted)


async def subnet(stage: Stage, addresses: str, name: str = f"{CONTEXT}-0") -> None:
    """A Subnet that can be used."""
    start, _, length = addresses.partition("/")
    made = await stage.client("dfw").create(
        Subnet(
            metadata=ObjectMeta(name=name, namespace=NS),
            spec=SubnetSpec(
                ip_family="IPv4",
                location=LocationRef(name="dfw"),
                network_context=LocalRef(name=CONTEXT),
                prefix_length=int(length),
                start_address=start,
                subnet_class="private",
            ),
        )
    )
    status = SubnetStatus(start_address=start, prefix_length=int(length))
    wanted = msgspec.structs.replace(made, status=status)
    await stage.client("dfw").patch_status(made, wanted)


def machine(ordinal: int = 0, image: str = "web:1", gates: Sequence[str] = ()) -> Instance:
    """An Instance of the deployment, just created."""
    made = build_instance(deployment(image=image), ordinal, gates)
    meta = msgspec.structs.replace(made.metadata, owner_references=())
    return msgspec.structs.replace(made, metadata=meta)


def name(ordinal: int = 0) -> str:
    return names.instance("web-home-dfw", ordinal)


async def start(stage: Stage, *instances: Instance) -> None:
    for each in instances:
        await stage.client("dfw").create(each)


async def seen(
    stage: Stage, ordinal: int = 0, available: str = "Available", seconds: float = 60.0
) -> Instance:
    """The Instance, once its Available has this reason."""
    return await stage.named(
        "dfw", Instance, name(ordinal), NS, lambda i: status_and_reason(i)[1] == available, seconds
    )


async def live(stage: Stage, ordinal: int = 0) -> Instance:
    return await stage.client("dfw").get(Instance, name(ordinal), NS)


def status_and_reason(instance: Instance, kind: str = "Available") -> tuple[str, str]:
    """The status and reason of a condition."""
    said = find(instance.status.conditions, kind)
    return ("", "") if said is None else (said.status, said.reason)


def message(instance: Instance, kind: str = "Available") -> str:
    said = find(instance.status.conditions, kind)
    return "" if said is None else said.message


def addresses(instance: Instance) -> list[str | None]:
    return [each.assignments.network_ip for each in instance.status.network_interfaces]


async def ungate(stage: Stage, ordinal: int, *left: str) -> None:
    """Open the gates of an Instance, except these."""
    there = await live(stage, ordinal)
    assert there.spec.controller is not None
    gates = tuple(SchedulingGate(name=gate) for gate in left)
    controller = msgspec.structs.replace(there.spec.controller, scheduling_gates=gates)
    spec = msgspec.structs.replace(there.spec, controller=controller)
    await stage.client("dfw").patch(there, msgspec.structs.replace(there, spec=spec))


async def say(stage: Stage, ordinal: int, kind: str, status: Any, reason: str) -> None:
    """A condition that another client writes."""
    there = await live(stage, ordinal)
    said = Condition(
        type=kind, status=status, reason=reason, message=reason, last_transition_time=EPOCH
    )
    conditions = put(there.status.conditions, (said,), stage.environment.now())
    wanted = msgspec.structs.replace(there.status, conditions=conditions)
    await stage.client("dfw").patch_status(there, msgspec.structs.replace(there, status=wanted))
