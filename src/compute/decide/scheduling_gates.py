"""The gates of one Instance. They are opened one by one, and none is ever closed again."""

import msgspec

from compute.api.compute import Instance
from compute.api.gates import Gate
from compute.api.networking import NetworkBinding
from compute.decide.conditions import find
from kubekit.api.meta import Condition, with_spec


def closed(instance: Instance) -> tuple[str, ...]:
    """The names of the gates that are not open yet."""
    controller = instance.spec.controller
    if controller is None or not controller.scheduling_gates:
        return ()
    return tuple(gate.name for gate in controller.scheduling_gates)


def opened(instance: Instance, name: str) -> Instance:
    """The Instance with this gate open; itself where it is."""
    controller = instance.spec.controller
    if controller is None or name not in closed(instance):
        return instance
    rest = tuple(gate for gate in controller.scheduling_gates if gate.name != name)
    return with_spec(
        instance, controller=msgspec.structs.replace(controller, scheduling_gates=rest)
    )


def condition_of(
    gate: Gate, instance: Instance, binding: NetworkBinding | None = None
) -> Condition | None:
    """The condition that explains a gate, and that is True before it opens."""
    if gate.on_binding:
        return find(binding.status.conditions, gate.condition) if binding else None
    return find(instance.status.conditions, gate.condition)


def may_open(gate: Gate, instance: Instance) -> bool:
    """Whether the condition of a gate is True for the Instance as it is specified now."""
    condition = condition_of(gate, instance)
    return (
        condition is not None
        and condition.status == "True"
        and condition.observed_generation == instance.metadata.generation
    )
