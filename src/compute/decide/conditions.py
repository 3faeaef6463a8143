"""Reading conditions, and changing them so that a loop which changes nothing comes to rest."""

from collections.abc import Iterable
from datetime import datetime

import msgspec

from kubekit.api.meta import Condition, ConditionStatus


def find(conditions: Iterable[Condition], kind: str) -> Condition | None:
    """The condition of this type, or None when nobody has spoken of it."""
    for condition in conditions:  # faster than a generator, and asked thousands of times a pass
        if condition.type == kind:
            return condition
    return None


def is_true(conditions: Iterable[Condition], kind: str) -> bool:
    """Whether the condition is there and True: what is not known is not so."""
    return status_of(conditions, kind) == "True"


def status_of(conditions: Iterable[Condition], kind: str) -> ConditionStatus:
    """The status of a condition; Unknown when it is absent."""
    condition = find(conditions, kind)
    return condition.status if condition else "Unknown"


def put(
    conditions: Iterable[Condition], news: Iterable[Condition], now: datetime
) -> tuple[Condition, ...]:
    """The conditions with ``news`` in place of what was said before, in the order already there.

    The transition time moves only when the status does, whatever time ``news`` carries: it answers
    "since when", and rewriting it on every pass would be a write on every pass. The observed
    generation is always refreshed, else a reader waits for ever for a verdict that has been given.
    """
    current: dict[str, Condition] = {}
    for old in conditions:
        current.setdefault(old.type, old)  # the one that `find` finds, should there be doubles
    for new in news:
        current[new.type] = _since(current.get(new.type), new, now)
    return tuple(current.values())


def _since(old: Condition | None, new: Condition, now: datetime) -> Condition:
    unchanged = old is not None and old.status == new.status
    since = old.last_transition_time if old and unchanged else now.replace(microsecond=0)
    return msgspec.structs.replace(new, last_transition_time=since)
