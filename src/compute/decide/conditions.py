"""Read conditions, and update them so that a reconcile pass without news writes nothing."""

from collections.abc import Iterable
from datetime import datetime

import msgspec

from kubekit.api.meta import Condition, ConditionStatus


def find(conditions: Iterable[Condition], kind: str) -> Condition | None:
    """The condition of this type, or None when it is absent."""
    for condition in conditions:  # faster than a generator, and called thousands of times in a pass
        if condition.type == kind:
            return condition
    return None


def is_true(conditions: Iterable[Condition], kind: str) -> bool:
    """Whether the condition is present and True."""
    return status_of(conditions, kind) == "True"


def status_of(conditions: Iterable[Condition], kind: str) -> ConditionStatus:
    """The status of a condition; Unknown when it is absent."""
    condition = find(conditions, kind)
    return condition.status if condition else "Unknown"


def put(
    conditions: Iterable[Condition], changes: Iterable[Condition], now: datetime
) -> tuple[Condition, ...]:
    """The conditions with ``changes`` in place of those of the same types, in the present order.

    The transition time changes only with the status: a new time in every pass would cause a write in
    every pass. The observed generation is always updated: otherwise a client would wait indefinitely
    for a verdict on the current generation.
    """
    current: dict[str, Condition] = {}
    for old in conditions:
        current.setdefault(old.type, old)  # the one that `find` returns, should there be duplicates
    for new in changes:
        current[new.type] = _since(current.get(new.type), new, now)
    return tuple(current.values())


def _since(old: Condition | None, new: Condition, now: datetime) -> Condition:
    unchanged = old is not None and old.status == new.status
    since = old.last_transition_time if old and unchanged else now.replace(microsecond=0)
    return msgspec.structs.replace(new, last_transition_time=since)
