"""The provider's part of an Instance's status."""

from datetime import datetime

import msgspec

from compute.api.compute import Instance, InstanceControllerStatus, InstanceStatus
from compute.api.conditions import ConditionType
from compute.decide.conditions import find, put
from compute.decide.deployment.template import recorded_hash
from compute.providers.machines import ConditionValue
from kubekit.api.meta import EPOCH, Condition


def reported(
    instance: Instance, values: dict[ConditionType, ConditionValue], now: datetime
) -> InstanceStatus:
    """The status with new conditions where they differ, and the hash of the machine's template."""
    old = instance.status
    news = [
        _condition(kind, each, instance)
        for kind, each in values.items()
        if _is_new(old, kind, each)
    ]
    observed = recorded_hash(instance)
    return msgspec.structs.replace(
        old,
        conditions=put(old.conditions, news, now),
        controller=InstanceControllerStatus(observed_template_hash=observed) if observed else None,
    )


def _is_new(old: InstanceStatus, kind: str, value: ConditionValue) -> bool:
    """Whether a condition changes.

    Its observed generation does not count: a machine is fixed when its Instance is created.
    """
    present = find(old.conditions, kind)
    return present is None or (present.status, present.reason, present.message) != (
        value.status,
        value.reason,
        value.message,
    )


def _condition(kind: str, value: ConditionValue, instance: Instance) -> Condition:
    return Condition(
        type=kind,
        status=value.status,
        reason=value.reason,
        message=value.message,
        observed_generation=instance.metadata.generation,
        last_transition_time=EPOCH,
    )
