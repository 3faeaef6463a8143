"""The gates of an Instance as a checklist: which are open, and what the others wait for."""

from dataclasses import dataclass
from typing import Final

from compute.api import gates
from compute.api.compute import Instance
from compute.api.conditions import ConditionType
from compute.api.networking import NetworkBinding
from compute.api.reasons import describe
from compute.decide import scheduling_gates
from compute.decide.conditions import find
from kubekit.api.meta import Condition

_USUAL: Final = (gates.NETWORK, gates.QUOTA)
_WAITS: Final = {
    gates.NETWORK: "The network is not ready in the city yet.",
    gates.QUOTA: "The quota service has not answered yet.",
    gates.REFERENCED_DATA: "Not every ConfigMap and Secret is in the city yet.",
}
_UNKNOWN: Final = "It is not known here what opens this gate."


@dataclass(frozen=True, slots=True)
class GateStatus:
    """One thing an Instance needs before it may start."""

    name: str
    open: bool
    why: str = ""  # what a closed gate waits for


def checklist(instance: Instance, binding: NetworkBinding | None = None) -> tuple[GateStatus, ...]:
    """The gates that every Instance has, and any other that is still closed.

    A gate that has opened leaves no trace, so an open gate may also be one that was never there.
    """
    closed = scheduling_gates.closed(instance)
    others = tuple(name for name in closed if name not in _USUAL)
    return tuple(
        GateStatus(name, open=False, why=_why(name, instance, binding))
        if name in closed
        else GateStatus(name, open=True)
        for name in (*_USUAL, *others)
    )


def _why(name: str, instance: Instance, binding: NetworkBinding | None) -> str:
    said = _opener(name, instance, binding)
    if said is None or said.status == "True":
        return _WAITS.get(name, _UNKNOWN)
    known = describe(said.reason)
    return said.message or (known.meaning if known else said.reason)


def _opener(name: str, instance: Instance, binding: NetworkBinding | None) -> Condition | None:
    """The condition that opens a gate once it is True."""
    conditions = instance.status.conditions
    match name:
        case gates.NETWORK:
            return find(binding.status.conditions, ConditionType.READY) if binding else None
        case gates.QUOTA:
            return find(conditions, ConditionType.QUOTA_GRANTED)
        case gates.REFERENCED_DATA:
            return find(conditions, ConditionType.REFERENCED_DATA_READY)
        case _:
            return None
