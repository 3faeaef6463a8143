"""The gates of an Instance as a checklist: which are open, and what the others wait for."""

from typing import Final

import msgspec

from compute.api import gates
from compute.api.compute import Instance
from compute.api.networking import NetworkBinding
from compute.api.reasons import describe
from compute.decide.scheduling_gates import closed, condition_of

_UNKNOWN: Final = "The controller that opens this gate is not known here."


class GateStatus(msgspec.Struct, frozen=True):
    """One thing an Instance needs before it may start."""

    name: str
    open: bool
    why: str = ""  # what a closed gate waits for


def checklist(instance: Instance, binding: NetworkBinding | None = None) -> tuple[GateStatus, ...]:
    """The gates that every Instance has, and any other that is still closed.

    An open gate is no longer in the object, so a gate that was never set also counts as open.
    """
    waits_at, initial = closed(instance), gates.TABLE.initial
    others = tuple(name for name in waits_at if name not in initial)
    return tuple(
        GateStatus(name, open=False, why=_why(name, instance, binding))
        if name in waits_at
        else GateStatus(name, open=True)
        for name in (*initial, *others)
    )


def _why(name: str, instance: Instance, binding: NetworkBinding | None) -> str:
    gate = gates.TABLE.by_name.get(name)
    if gate is None:
        return _UNKNOWN
    condition = condition_of(gate, instance, binding)
    if condition is None or condition.status == "True":
        return gate.waiting
    known = describe(condition.reason)
    return condition.message or (known.meaning if known else condition.reason)
