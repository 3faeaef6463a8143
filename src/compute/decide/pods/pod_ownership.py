"""Whose an existing object of an Instance's name is. Objects of others are never touched."""

from enum import StrEnum, auto

from compute.api import labels
from compute.api.compute import Instance
from kubekit.api.kinds.network_policies import NetworkPolicy
from kubekit.api.kinds.pods import Pod, Service

PodObject = Pod | Service | NetworkPolicy
"""An object that is created for an Instance."""


class Holder(StrEnum):
    """Whose an object of the Instance's name is."""

    INSTANCE = auto()
    EARLIER_INSTANCE = auto()  # of the same name
    OTHER = auto()  # not the platform's


def holder(obj: PodObject, instance: Instance) -> Holder:
    """Whose the object is."""
    uid = instance_uid(obj)
    if not uid:
        return Holder.OTHER
    return Holder.INSTANCE if uid == instance.metadata.uid else Holder.EARLIER_INSTANCE


def instance_uid(obj: PodObject) -> str:
    """The uid of the Instance that the object was created for; empty if there is none.

    The owner reference may be removed, by an orphaning deletion of the Instance, and the label by
    hand. One of the two is enough.
    """
    for reference in obj.metadata.owner_references:
        is_instance = (reference.api_version, reference.kind) == _INSTANCE
        if reference.controller and is_instance:
            return reference.uid
    return obj.metadata.labels.get(labels.INSTANCE_UID, "")


_INSTANCE = (Instance.RESOURCE.api_version, Instance.RESOURCE.kind)
