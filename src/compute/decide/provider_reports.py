"""The contract of providers: which Instances they may run, and what they report of them.

A provider does nothing for an Instance while a gate is closed. It writes Programmed, Available, the
hash of the template that runs and the addresses, but never Ready. While quota is denied, the quota
controller writes Programmed and Available, and a provider does not overwrite them.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final

import msgspec

from compute.api.compute import (
    Instance,
    InstanceControllerStatus,
    InstanceStatus,
    NetworkInterfaceStatus,
)
from compute.api.conditions import ConditionType
from compute.api.reasons import KnownReason
from compute.decide.conditions import find, put, status_of
from compute.decide.scheduling_gates import closed
from kubekit.api.meta import EPOCH, Condition, ConditionStatus

_LONGEST: Final = 1024  # characters of a message; those of other programs may be longer


@dataclass(frozen=True, slots=True)
class ConditionValue:
    """The value of a condition."""

    status: ConditionStatus
    reason: KnownReason
    message: str


@dataclass(frozen=True, slots=True)
class ProviderReport:
    """What a provider reports of the machine of an Instance. A field that is None stays as it is."""

    programmed: ConditionValue | None = None
    available: ConditionValue | None = None
    template_hash: str | None = None
    interfaces: tuple[NetworkInterfaceStatus, ...] | None = None


def may_run(instance: Instance) -> bool:
    """Whether a provider may start the Instance, and write its conditions."""
    return not closed(instance) and not is_denied(instance)


def is_denied(instance: Instance) -> bool:
    """Whether quota is denied."""
    return status_of(instance.status.conditions, ConditionType.QUOTA_GRANTED) == "False"


def reported(instance: Instance, report: ProviderReport, now: datetime) -> InstanceStatus:
    """The status of the Instance with the report, and with new conditions only where they differ."""
    old = instance.status
    values: Mapping[ConditionType, ConditionValue | None] = {
        ConditionType.PROGRAMMED: report.programmed,
        ConditionType.AVAILABLE: report.available,
    }
    updates = [
        _condition(kind, value, instance)
        for kind, value in values.items()
        if value is not None and _is_new(old, kind, value)
    ]
    controller, observed = old.controller, report.template_hash
    if observed is not None:
        controller = InstanceControllerStatus(observed_template_hash=observed) if observed else None
    return msgspec.structs.replace(
        old,
        conditions=put(old.conditions, updates, now),
        controller=controller,
        network_interfaces=(
            old.network_interfaces if report.interfaces is None else report.interfaces
        ),
    )


def _is_new(old: InstanceStatus, kind: str, value: ConditionValue) -> bool:
    """Whether a condition changes.

    Its observed generation does not count: a machine is fixed when its Instance is created.
    """
    present = find(old.conditions, kind)
    return present is None or (present.status, present.reason, present.message) != (
        value.status,
        value.reason,
        value.message[:_LONGEST],
    )


def _condition(kind: str, value: ConditionValue, instance: Instance) -> Condition:
    return Condition(
        type=kind,
        status=value.status,
        reason=value.reason,
        message=value.message[:_LONGEST],
        observed_generation=instance.metadata.generation,
        last_transition_time=EPOCH,
    )
