"""What of an Instance's state its user should be told at once."""

from collections.abc import Iterable
from typing import Final

from compute.api.compute import Instance
from compute.api.conditions import ConditionType
from compute.api.reasons import Reason
from compute.decide.conditions import find
from kubekit.api.meta import Condition

_TELLING: Final = (ConditionType.READY, ConditionType.QUOTA_GRANTED)
_TROUBLES: Final = (
    Reason.IMAGE_UNAVAILABLE,
    Reason.INSTANCE_CRASHING,
    Reason.CONFIGURATION_ERROR,
    Reason.NETWORK_FAILED_TO_CREATE,
    Reason.NETWORK_NOT_FOUND,
    Reason.NETWORK_TERMINATING,
    Reason.QUOTA_NO_BUDGET,
    Reason.QUOTA_EXCEEDED,
)


def new_troubles(before: Instance | None, after: Instance) -> Iterable[Condition]:
    """The conditions by which an Instance has come into trouble that it was not in before.

    Two conditions may give one reason; it is told once.
    """
    known = {condition.reason for condition in _troubled(before)} if before else set()
    news = {c.reason: c for c in reversed(_troubled(after)) if c.reason not in known}
    return [news[reason] for reason in sorted(news)]


def _troubled(instance: Instance) -> list[Condition]:
    told = (find(instance.status.conditions, kind) for kind in _TELLING)
    return [c for c in told if c and c.status != "True" and c.reason in _TROUBLES]
