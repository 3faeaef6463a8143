"""Which status changes of a starting Instance are delayed, because another follows soon.

An Instance starts by many writes of several controllers, most of them within seconds. Each change
that leaves its cell is also written on the hub and in the project. So a change that is about to be
followed by another is held back, for a limited time: after that it is propagated as it is.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

from compute.api import gates
from compute.api.compute import Instance
from compute.api.conditions import ConditionType
from compute.api.gates import Gate
from compute.api.reasons import Trait, has
from compute.decide.conditions import find, is_true, status_of
from compute.decide.scheduling_gates import closed, may_open
from kubekit.api.meta import Condition

# An Instance usually starts within a second or two, and a little later on a busy machine.
SHORTEST: Final = timedelta(seconds=10)
LONGEST: Final = timedelta(seconds=60)
_SLACK: Final = 2  # this many times the recent startup time is still usual
_WEIGHT: Final = 0.1  # of the newest measurement in the moving average


class StartupTime:
    """The recent startup time of Instances, as a moving average.

    A city in which a thousand start at once is slower than one in which one starts. While an Instance
    takes no longer than the others did, its progress is not reported: the writes would make all of
    them slower.
    """

    def __init__(self) -> None:
        self.settling_time = SHORTEST

    def record(self, age: timedelta) -> None:
        """Record that an Instance has become Ready at this age."""
        if timedelta() <= age <= LONGEST:
            average = self.settling_time + (_SLACK * age - self.settling_time) * _WEIGHT
            self.settling_time = min(max(average, _SLACK * age, SHORTEST), LONGEST)


def report_delay(
    instance: Instance,
    conditions: Sequence[Condition],
    now: datetime,
    settling_time: timedelta = SHORTEST,
) -> timedelta | None:
    """How long the report of these conditions of a new Instance may be delayed; None if it may not.

    Every Instance reports at first that it waits, and usually passes its gates within the settling
    time. A grant of quota need not be reported meanwhile: the open gate shows it.
    """
    created = instance.metadata.creation_timestamp
    if created is None or not _only_waits(instance.status.conditions, conditions):
        return None
    return _left(created, now, settling_time)


def is_settled(instance: Instance) -> bool:
    """Whether the conditions of the Instance agree: if not, its cell is about to write it again."""
    ready = find(instance.status.conditions, ConditionType.READY)
    if ready is None or ready.observed_generation != instance.metadata.generation:
        return False
    waits_at = closed(instance)
    if any(gate.name in waits_at and may_open(gate, instance) for gate in gates.TABLE.services):
        return False
    return (ready.status == "True") == (not waits_at and _serves(instance.status.conditions))


def _left(created: datetime, now: datetime, settling_time: timedelta) -> timedelta | None:
    """The rest of the settling time of an Instance that was created then."""
    age = now - created
    return settling_time - age if timedelta() <= age < settling_time else None


def _only_waits(before: Sequence[Condition], after: Sequence[Condition]) -> bool:
    """Whether it waits as it did before, and no shared service has refused it."""
    old, new = (find(each, ConditionType.READY) for each in (before, after))
    return (
        (old is None or has(old.reason, Trait.STARTUP))
        and (new is not None and has(new.reason, Trait.STARTUP))
        and not any(_is_refused(gate, before, after) for gate in gates.TABLE.services)
    )


def _is_refused(gate: Gate, before: Sequence[Condition], after: Sequence[Condition]) -> bool:
    """Whether the condition of a gate has changed to another reason, and is not True."""
    old, new = (find(each, gate.condition) for each in (before, after))
    if old is None or new is None or new.status == "True":
        return False
    return old.reason != new.reason


def _serves(current: Sequence[Condition]) -> bool:
    denied = any(status_of(current, gate.condition) == "False" for gate in gates.TABLE.denying)
    provided = (ConditionType.PROGRAMMED, ConditionType.AVAILABLE)
    return not denied and all(is_true(current, kind) for kind in provided)
