"""The types of conditions: what each means when it is true, and who sets it."""

from enum import StrEnum
from typing import Final, Self

import msgspec


class ConditionDefinition(msgspec.Struct, frozen=True):
    """The definition of a type: its name, what it means when it is true, and who sets it."""

    type: str
    meaning: str
    writer: str


class KnownCondition(StrEnum):
    """A type of condition that is also its own explanation."""

    meaning: str
    writer: str

    def __new__(cls, definition: ConditionDefinition | str) -> Self:
        assert isinstance(definition, ConditionDefinition)  # a str looks a member up instead
        member = str.__new__(cls, definition.type)
        member._value_ = definition.type
        member.meaning = definition.meaning
        member.writer = definition.writer
        return member


class ConditionType(KnownCondition):
    """Conditions of our kinds: adjectives that are true when all is well, but for pauses and drains."""

    AVAILABLE = ConditionDefinition(
        "Available",
        "It runs; of a deployment, a placement or a workload: at least one instance of it is ready.",
        "the provider for instances; the cell for deployments; the management plane for workloads",
    )
    DRAIN_SCHEDULED = ConditionDefinition(
        "DrainScheduled",
        "It is no longer wanted and keeps running until the time in its message.",
        "the management plane, for deployments and for workloads that have such deployments",
    )
    PAUSED = ConditionDefinition(
        "Paused",
        "Changes are held back: by the user until the workload is resumed, or by the hub's operators.",
        "the management plane, while changes are held back",
    )
    PROGRAMMED = ConditionDefinition(
        "Programmed",
        "The infrastructure has taken it up as it is described.",
        "the provider; the cell while quota is refused",
    )
    QUOTA_GRANTED = ConditionDefinition(
        "QuotaGranted",
        "The project's quota covers the instance.",
        "the cell, from the quota service's answer",
    )
    READY = ConditionDefinition(
        "Ready",
        "It can be used; of an instance: every gate is open, and it is programmed and available.",
        "the cell for instances; the controller of the kind for all others",
    )
    REFERENCED_DATA_READY = ConditionDefinition(
        "ReferencedDataReady",
        "Every ConfigMap and Secret that the template names is in the city.",
        "the management plane for deployments; the cell for instances",
    )
    REPLICAS_READY = ConditionDefinition(
        "ReplicasReady",
        "Neither quota nor data holds an instance back; it does not mean that any is ready.",
        "the cell",
    )


class NeighbourCondition(KnownCondition):
    """Conditions of the kinds around ours that our users come across."""

    ACCEPTED = ConditionDefinition(
        "Accepted", "The runtime class can be used.", "the runtime class's controller"
    )
    ACTIVE = ConditionDefinition(
        "Active", "It counts: resources can be claimed from it.", "the quota service"
    )
    ALLOCATED = ConditionDefinition(
        "Allocated", "There are addresses for it.", "the network service"
    )
    APPLIED = ConditionDefinition("Applied", "The cell has taken what the hub sent it.", "Karmada")
    BOUND = ConditionDefinition(
        "Bound", "The claim has its network interface.", "the network service"
    )
    DISPATCHING = ConditionDefinition(
        "Dispatching", "The hub sends the cell what it is to have.", "Karmada"
    )
    FULLY_APPLIED = ConditionDefinition(
        "FullyApplied", "Every cell has taken what the hub sent it.", "Karmada"
    )
    GRANTED = ConditionDefinition(
        "Granted", "The claim's amounts are set aside for it.", "the quota service"
    )
    IPAM_ALLOCATED = ConditionDefinition(
        "IPAMAllocated", "The network has its ranges.", "the network service"
    )
    PREPARED = ConditionDefinition(
        "Prepared", "The interface can be attached.", "the network service"
    )
    PROVISIONED = ConditionDefinition(
        "Provisioned", "What the service brings along is in the project.", "the service catalog"
    )
    RESOURCE_CLEANUP = ConditionDefinition(
        "ResourceCleanup", "The project is being removed with all it holds.", "the project service"
    )
    RUNNING = ConditionDefinition(
        "Running", "The instance runs: Available, by its older name.", "the provider"
    )
    SCHEDULED = ConditionDefinition("Scheduled", "The hub has chosen a cell.", "Karmada")
    SUSPENDED = ConditionDefinition(
        "Suspended", "The project is stopped until that is lifted.", "the project service"
    )


_KNOWN: Final[dict[str, KnownCondition]] = {
    str(kind): kind for kind in (*NeighbourCondition, *ConditionType)
}


def describe(kind: str) -> KnownCondition | None:
    """The definition of a type of condition; None for an unknown one."""
    return _KNOWN.get(kind)
