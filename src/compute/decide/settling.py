"""Words of an Instance that will not last, and need not be carried anywhere.

An Instance comes up by many writes of several controllers, most of them in one moment. Each word of
it that leaves its cell is written on the hub and in the project too. So what is about to be followed
by another word is not passed on, for a moment at most: then whatever stands there is news.
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

# Where all is well an Instance is up within a second or two, and on a busy machine within some more.
SHORTEST: Final = timedelta(seconds=10)
LONGEST: Final = timedelta(seconds=60)
_SLACK: Final = 2  # times what it took others lately is nothing unusual
_LATELY: Final = 0.1  # how much of what is usual the last one decides


class StartupTime:
    """How long it takes Instances to come up, these days.

    A city in which a thousand of them come up at once is slower than one with a single one. What
    takes no longer than it took the others is no news there, and to say it would make all slower.
    """

    def __init__(self) -> None:
        self.moment = SHORTEST

    def took(self, age: timedelta) -> None:
        """One has come up, at this age."""
        if timedelta() <= age <= LONGEST:
            average = self.moment + (_SLACK * age - self.moment) * _LATELY
            self.moment = min(max(average, _SLACK * age, SHORTEST), LONGEST)


def may_go_unsaid(
    instance: Instance, conditions: Sequence[Condition], now: datetime, moment: timedelta = SHORTEST
) -> timedelta | None:
    """For how long a new Instance need not say these conditions; None when they are to be said now.

    That it waits is what every Instance says from its beginning, and where all is well it is let
    through within the moment. That its quota was granted shows in the gate that has opened.
    """
    created = instance.metadata.creation_timestamp
    if created is None or not _only_waits(instance.status.conditions, conditions):
        return None
    return _left(created, now, moment)


def is_settled(instance: Instance) -> bool:
    """Whether all that the Instance says agrees: if not, its cell is about to write it again."""
    ready = find(instance.status.conditions, ConditionType.READY)
    if ready is None or ready.observed_generation != instance.metadata.generation:
        return False
    waits_at = closed(instance)
    if any(gate.name in waits_at and may_open(gate, instance) for gate in gates.TABLE.services):
        return False
    return (ready.status == "True") == (not waits_at and _serves(instance.status.conditions))


def _left(created: datetime, now: datetime, moment: timedelta) -> timedelta | None:
    """What is left of the first moment of what was born then."""
    age = now - created
    return moment - age if timedelta() <= age < moment else None


def _only_waits(before: Sequence[Condition], after: Sequence[Condition]) -> bool:
    """Whether it waits as it did before, and no shared service has answered no."""
    old, new = (find(each, ConditionType.READY) for each in (before, after))
    return (
        (old is None or has(old.reason, Trait.STARTUP))
        and (new is not None and has(new.reason, Trait.STARTUP))
        and not any(_is_refused(gate, before, after) for gate in gates.TABLE.services)
    )


def _is_refused(gate: Gate, before: Sequence[Condition], after: Sequence[Condition]) -> bool:
    """Whether the condition of a gate has become something else than True."""
    old, new = (find(each, gate.condition) for each in (before, after))
    if old is None or new is None or new.status == "True":
        return False
    return old.reason != new.reason


def _serves(current: Sequence[Condition]) -> bool:
    denied = any(status_of(current, gate.condition) == "False" for gate in gates.TABLE.denying)
    provided = (ConditionType.PROGRAMMED, ConditionType.AVAILABLE)
    return not denied and all(is_true(current, kind) for kind in provided)
