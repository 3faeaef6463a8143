"""The gates that an Instance waits at. They are opened one by one, and none is ever closed again."""

import msgspec

from compute.api.compute import Instance


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
    left = tuple(gate for gate in controller.scheduling_gates if gate.name != name)
    changed = msgspec.structs.replace(controller, scheduling_gates=left)
    return msgspec.structs.replace(
        instance, spec=msgspec.structs.replace(instance.spec, controller=changed)
    )
