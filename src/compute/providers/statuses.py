"""The provider's part of an Instance's status."""

from datetime import datetime

import msgspec

from compute.api.compute import Instance, InstanceControllerStatus, InstanceStatus
from compute.api.conditions import ConditionType
from compute.decide.conditions import find, put
from compute.decide.deployment.template import recorded_hash
from compute.providers.machines import ConditionValue
from kubekit.api.meta import EPOCH, Condition


def spoken(
    instance: Instance, said: dict[ConditionType, ConditionValue], now: datetime
) -> InstanceStatus:
    """The status with our words in it, where they are new, and the template that the machine is of."""
    old = instance.status
    news = [
        _condition(kind, each, instance) for kind, each in said.items() if _is_new(old, kind, each)
    ]
    observed = recorded_hash(instance)
    return msgspec.structs.replace(
        old,
        conditions=put(old.conditions, news, now),
        controller=InstanceControllerStatus(observed_template_hash=observed) if observed else None,
    )


def _is_new(old: InstanceStatus, kind: str, said: ConditionValue) -> bool:
    """Whether a condition is to say something else than it does.

    Of which generation it speaks is no news: what runs is fixed when an Instance is made.
    """
    present = find(old.conditions, kind)
    return present is None or (present.status, present.reason, present.message) != (
        said.status,
        said.reason,
        said.message,
    )


def _condition(kind: str, said: ConditionValue, instance: Instance) -> Condition:
    return Condition(
        type=kind,
        status=said.status,
        reason=said.reason,
        message=said.message,
        observed_generation=instance.metadata.generation,
        last_transition_time=EPOCH,
    )
