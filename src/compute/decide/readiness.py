"""Whether an Instance is Ready, and if not, the one thing that best explains why.

Programmed and Available are the provider's to say, QuotaGranted is the quota gate's; Ready is what
follows from them. An Instance that is being deleted is judged like any other: it is Ready for as
long as it serves.

Ready does not ask of which generation the provider spoke. What runs is fixed when an Instance is
made; its generation moves when a gate opens or a location is filled in, and neither makes the
provider's word untrue. Asking would take a healthy Instance down until the provider spoke again,
and a provider that states no generation could never be believed.
"""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Final

from compute.api import gates
from compute.api.compute import Instance
from compute.api.conditions import ConditionType
from compute.api.reasons import Reason
from compute.decide import scheduling_gates
from compute.decide.conditions import find, is_true, put
from compute.decide.ranking import Candidate, rank, worst
from kubekit.api.meta import Condition

_PROVIDERS: Final = (ConditionType.PROGRAMMED, ConditionType.AVAILABLE)
# Ready cannot explain itself, and quota that is merely not decided yet shows as a gate.
_NEVER_A_CAUSE: Final = frozenset({ConditionType.READY, ConditionType.QUOTA_GRANTED})
_SAYS_NOTHING: Final = frozenset({"", Reason.PENDING})
_NOT_PROGRAMMED: Final = Candidate(
    ConditionType.PROGRAMMED,
    Reason.PENDING_PROGRAMMING,
    "The provider has not set this instance up yet",
)
_NOT_STARTED: Final = Candidate(
    ConditionType.AVAILABLE, Reason.PENDING, "The provider has not started this instance yet"
)
_READY: Final = Candidate("", Reason.AVAILABLE, "The instance is programmed and available", "True")
# What a gate waits for is told by the condition that opens it. The network has none.
_OPENED_BY: Final = {
    gates.QUOTA: ConditionType.QUOTA_GRANTED,
    gates.REFERENCED_DATA: ConditionType.REFERENCED_DATA_READY,
}


def conditions(
    instance: Instance, *, network_failure: Candidate | None, now: datetime
) -> tuple[Condition, ...]:
    """All conditions of the Instance, with Ready derived from the others.

    ``network_failure`` is why the Instance cannot be attached to a network.
    """
    generation = instance.metadata.generation
    effects = tuple(_quota_effects(instance.status.conditions, generation, now))
    settled = put(instance.status.conditions, effects, now)
    ready = _ready(scheduling_gates.closed(instance), settled, network_failure)
    return put(settled, (ready.condition(ConditionType.READY, generation, now),), now)


def _quota_effects(
    current: Sequence[Condition], generation: int, now: datetime
) -> Iterator[Condition]:
    """What quota makes of the provider's conditions.

    A denial speaks over the provider. Once it is lifted, those words must not stay: they would
    explain for ever, by quota, an Instance that lacks none. Whether it runs is then not known
    until the provider speaks again.
    """
    denial = _denial(current)
    if denial:
        yield from (denial.condition(kind, generation, now) for kind in _PROVIDERS)
        return
    unheard = Candidate("", Reason.PENDING, "Waiting for the provider to report", "Unknown")
    for kind in _PROVIDERS:
        said = find(current, kind)
        if said and (said.status, said.reason) == ("False", Reason.PENDING_QUOTA):
            yield unheard.condition(kind, generation, now)


def _denial(current: Sequence[Condition]) -> Candidate | None:
    quota = find(current, ConditionType.QUOTA_GRANTED)
    if quota is None or quota.status != "False":
        return None
    message = quota.message or f"Quota is not granted: {quota.reason}"
    return Candidate(ConditionType.QUOTA_GRANTED, Reason.PENDING_QUOTA, message)


def _ready(
    closed: Sequence[str], current: Sequence[Condition], network_failure: Candidate | None
) -> Candidate:
    if closed:
        return _gated(closed, current, network_failure)
    denial = _denial(current)
    if denial:
        return denial
    if not is_true(current, ConditionType.PROGRAMMED):
        return _not_programmed(current)
    if not is_true(current, ConditionType.AVAILABLE):
        return _not_available(current)
    return _READY


def _gated(
    closed: Sequence[str], current: Sequence[Condition], network_failure: Candidate | None
) -> Candidate:
    waiting = Candidate(
        "",
        Reason.SCHEDULING_GATES_PRESENT,
        "Waiting for " + ", ".join(_gate(name, current) for name in closed),
    )
    data = find(current, ConditionType.REFERENCED_DATA_READY)
    causes = (
        _denial(current),
        _copy(data) if data and data.status != "True" else None,
        network_failure,
    )
    return worst(cause for cause in causes if cause and rank(cause.reason)) or waiting


def _gate(name: str, current: Sequence[Condition]) -> str:
    opener = find(current, _OPENED_BY[name]) if name in _OPENED_BY else None
    waits = opener is not None and opener.status != "True" and opener.message
    return f"{name} ({waits})" if waits else name


def _not_programmed(current: Sequence[Condition]) -> Candidate:
    """The cause by rank; else what the provider says of Programmed, in words we need not know."""
    blocking = [c for c in current if c.status != "True" and c.type not in _NEVER_A_CAUSE]
    cause = worst(_copy(c) for c in blocking if rank(c.reason))
    if cause:
        return cause
    programmed = find(blocking, ConditionType.PROGRAMMED)
    if programmed is None or programmed.reason in _SAYS_NOTHING | {Reason.PENDING_PROGRAMMING}:
        return _NOT_PROGRAMMED
    return _copy(programmed)


def _not_available(current: Sequence[Condition]) -> Candidate:
    available = find(current, ConditionType.AVAILABLE)
    if available is None or available.reason in _SAYS_NOTHING:
        return _NOT_STARTED
    return _copy(available)


def _copy(said: Condition) -> Candidate:
    message = said.message or f"{said.type} is {said.status}: {said.reason}"
    return Candidate(said.type, said.reason, message, said.status)
