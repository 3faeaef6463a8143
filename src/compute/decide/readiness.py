"""Whether an Instance is Ready, and if not, the one thing that best explains why.

The provider reports Programmed and Available, the controllers of gates report the conditions of
their gates; Ready follows from all of them. An Instance that is being deleted is judged like any
other: it is Ready for as long as it serves.

Ready ignores which generation the provider observed. What runs is fixed when an Instance is
created; its generation changes when a gate opens or a location is filled in, and neither makes the
provider's report untrue. A comparison would take a healthy Instance down until the provider
reports again, and a provider that states no generation could never be believed.
"""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Final

from compute.api import gates
from compute.api.compute import Instance
from compute.api.conditions import ConditionType
from compute.api.reasons import Reason
from compute.decide.conditions import find, is_true, put
from compute.decide.ranking import Candidate, rank, worst
from compute.decide.scheduling_gates import closed
from kubekit.api.meta import Condition

_PROVIDERS: Final = (ConditionType.PROGRAMMED, ConditionType.AVAILABLE)
_UNREPORTED: Final = frozenset({"", Reason.PENDING})
_NOT_PROGRAMMED: Final = Candidate(
    ConditionType.PROGRAMMED,
    Reason.PENDING_PROGRAMMING,
    "The provider has not set this instance up yet",
)
_NOT_STARTED: Final = Candidate(
    ConditionType.AVAILABLE, Reason.PENDING, "The provider has not started this instance yet"
)
_READY: Final = Candidate("", Reason.AVAILABLE, "The instance is programmed and available", "True")


def conditions(
    instance: Instance, *, network_failure: Candidate | None, now: datetime
) -> tuple[Condition, ...]:
    """All conditions of the Instance, with Ready derived from the others.

    ``network_failure`` is why the Instance cannot be attached to a network.
    """
    generation = instance.metadata.generation
    effects = tuple(_effects_of_denials(instance.status.conditions, generation, now))
    settled = put(instance.status.conditions, effects, now)
    ready = _ready(closed(instance), settled, network_failure)
    return put(settled, (ready.condition(ConditionType.READY, generation, now),), now)


def _effects_of_denials(
    current: Sequence[Condition], generation: int, now: datetime
) -> Iterator[Condition]:
    """What the denial of a gate makes of the provider's conditions.

    A denial replaces them. Once it is lifted they must not stay: they would explain an Instance
    indefinitely by, say, quota that it does not lack. Whether it runs is then not known until the
    provider reports again.
    """
    denial = _denial(current)
    if denial:
        yield from (denial.condition(kind, generation, now) for kind in _PROVIDERS)
        return
    unreported = Candidate("", Reason.PENDING, "Waiting for the provider to report", "Unknown")
    lifted = {gate.denial for gate in gates.TABLE.denying}
    for kind in _PROVIDERS:
        condition = find(current, kind)
        if condition and condition.status == "False" and condition.reason in lifted:
            yield unreported.condition(kind, generation, now)


def _denial(current: Sequence[Condition]) -> Candidate | None:
    """The denial that explains most; None when no gate's condition denies the Instance anything."""
    return worst(_denials(current))


def _denials(current: Sequence[Condition]) -> Iterator[Candidate]:
    for gate in gates.TABLE.denying:
        condition = find(current, gate.condition)
        if gate.denial and condition and condition.status == "False":
            message = condition.message or f"{gate.name} is not granted: {condition.reason}"
            yield Candidate(gate.condition, gate.denial, message)


def _ready(
    waits_at: Sequence[str], current: Sequence[Condition], network_failure: Candidate | None
) -> Candidate:
    if waits_at:
        return _gated(waits_at, current, network_failure)
    denial = _denial(current)
    if denial:
        return denial
    if not is_true(current, ConditionType.PROGRAMMED):
        return _not_programmed(current)
    if not is_true(current, ConditionType.AVAILABLE):
        return _not_available(current)
    return _READY


def _gated(
    waits_at: Sequence[str], current: Sequence[Condition], network_failure: Candidate | None
) -> Candidate:
    waiting = Candidate(
        "",
        Reason.SCHEDULING_GATES_PRESENT,
        "Waiting for " + ", ".join(_gate(name, current) for name in waits_at),
    )
    causes = (
        *_denials(current),
        *_reports(current),
        *((network_failure,) if network_failure else ()),
    )
    return worst(cause for cause in causes if rank(cause.reason)) or waiting


def _reports(current: Sequence[Condition]) -> Iterator[Candidate]:
    """What the conditions of gates report that no denial speaks for."""
    for gate in gates.TABLE.on_instances:
        condition = find(current, gate.condition)
        if gate.denial is None and condition and condition.status != "True":
            yield _copy(condition)


def _gate(name: str, current: Sequence[Condition]) -> str:
    """The name of a closed gate, and what its condition waits for."""
    gate = gates.TABLE.by_name.get(name)
    condition = find(current, gate.condition) if gate and not gate.on_binding else None
    reported = condition is not None and condition.status != "True" and condition.message
    return f"{name} ({reported})" if reported else name


def _not_programmed(current: Sequence[Condition]) -> Candidate:
    """The cause by rank; else what the provider reports of Programmed, known to us or not.

    Ready cannot explain itself, and a service that has not answered yet shows as a gate.
    """
    excluded = {ConditionType.READY, *(gate.condition for gate in gates.TABLE.services)}
    blocking = [c for c in current if c.status != "True" and c.type not in excluded]
    cause = worst(_copy(c) for c in blocking if rank(c.reason))
    if cause:
        return cause
    programmed = find(blocking, ConditionType.PROGRAMMED)
    if programmed is None or programmed.reason in _UNREPORTED | {Reason.PENDING_PROGRAMMING}:
        return _NOT_PROGRAMMED
    return _copy(programmed)


def _not_available(current: Sequence[Condition]) -> Candidate:
    available = find(current, ConditionType.AVAILABLE)
    if available is None or available.reason in _UNREPORTED:
        return _NOT_STARTED
    return _copy(available)


def _copy(condition: Condition) -> Candidate:
    message = condition.message or f"{condition.type} is {condition.status}: {condition.reason}"
    return Candidate(condition.type, condition.reason, message, condition.status)
