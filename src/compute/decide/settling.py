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
from compute.api.meta import Condition
from compute.api.reasons import Reason
from compute.decide.conditions import find, is_true, status_of
from compute.decide.gating import closed
from compute.decide.quota import gate_opens

MOMENT: Final = timedelta(seconds=2)
# At its gates, and behind them until its provider speaks.
_WAITS: Final = frozenset(
    {Reason.PENDING, Reason.SCHEDULING_GATES_PRESENT, Reason.PENDING_PROGRAMMING}
)


def may_go_unsaid(instance: Instance, told: Sequence[Condition], now: datetime) -> timedelta | None:
    """For how long a new Instance need not say these conditions; None when they are to be said now.

    That it waits is what every Instance says from its beginning, and where all is well it is let
    through within the moment.
    """
    born = instance.metadata.creation_timestamp
    if born is None or not _only_waits(instance.status.conditions, told):
        return None
    if gates.QUOTA in closed(instance) and is_true(told, ConditionType.QUOTA_GRANTED):
        return None  # the gate opens once this is said
    age = now - born
    return MOMENT - age if timedelta() <= age < MOMENT else None


def is_settled(instance: Instance) -> bool:
    """Whether all that the Instance says agrees: if not, its cell is about to write it again."""
    said = find(instance.status.conditions, ConditionType.READY)
    if said is None or said.observed_generation != instance.metadata.generation:
        return False
    waits_at = closed(instance)
    if gates.QUOTA in waits_at and gate_opens(instance):
        return False
    return (said.status == "True") == (not waits_at and _serves(instance.status.conditions))


def _only_waits(before: Sequence[Condition], told: Sequence[Condition]) -> bool:
    """Whether it waits as it did before, and has no answer about quota to tell of."""
    was, is_ = (find(each, ConditionType.READY) for each in (before, told))
    asked, answered = (find(each, ConditionType.QUOTA_GRANTED) for each in (before, told))
    return (
        (was is None or was.reason in _WAITS)
        and (is_ is not None and is_.reason in _WAITS)
        and (asked is None or answered is None or asked.reason == answered.reason)
    )


def _serves(current: Sequence[Condition]) -> bool:
    denied = status_of(current, ConditionType.QUOTA_GRANTED) == "False"
    provided = (ConditionType.PROGRAMMED, ConditionType.AVAILABLE)
    return not denied and all(is_true(current, kind) for kind in provided)
