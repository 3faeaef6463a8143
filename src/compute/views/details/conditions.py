"""Conditions as people read them: what each means, and why it is not true."""

from collections.abc import Iterable
from datetime import datetime

from compute.api import conditions as known_conditions, reasons
from compute.views.view import View
from kubekit.api.meta import EPOCH, Condition, ConditionStatus


class ConditionView(View, frozen=True, kw_only=True):
    """A condition. ``means`` is what it means when it is true, ``explains`` what its reason means."""

    type: str
    status: ConditionStatus
    reason: str
    message: str
    means: str
    explains: str
    since: datetime | None  # None while it has never been reported


def condition_views(conditions: Iterable[Condition]) -> tuple[ConditionView, ...]:
    """The conditions in their order."""
    return tuple(map(_condition, conditions))


def _condition(condition: Condition) -> ConditionView:
    kind = known_conditions.describe(condition.type)
    reason = reasons.describe(condition.reason)
    changed = condition.last_transition_time
    return ConditionView(
        type=condition.type,
        status=condition.status,
        reason=condition.reason,
        message=condition.message,
        means=kind.meaning if kind else "",
        explains=reason.meaning if reason else "",
        since=changed if changed > EPOCH else None,
    )
