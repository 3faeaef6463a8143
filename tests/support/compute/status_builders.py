"""Instances and deployments in the states that statuses are made of."""

from typing import Any

import msgspec

from compute.api import annotations
from compute.api.compute import Instance, Workload, WorkloadDeployment, WorkloadDeploymentStatus
from compute.api.instance_spec import LocationRef
from compute.decide.deployment.rollup import NetworkVerdict
from compute.decide.deployment.template import template_hash
from kubekit.api.meta import Condition, ConditionStatus
from tests.support.compute.builders import condition, deployment, instance

NEWEST = template_hash(deployment().spec.template)
PROGRAMMED = condition("Programmed", "True", "Programmed")
READY = condition("Ready", "True", "Available")
SERVES = condition("Available", "True", "StableInstanceFound")
SOMEWHERE = NetworkVerdict(ready=True, location=LocationRef(name="lab-dfw-1"))


def running(ordinal: int = 0, **changes: Any) -> Instance:
    """An Instance of the newest template that is Ready."""
    known: dict[str, Any] = {"conditions": (PROGRAMMED, READY), "template_hash": NEWEST}
    return instance(ordinal, **(known | changes))


def stuck(
    ordinal: int = 0,
    reason: str = "ImageUnavailable",
    message: str = "",
    status: ConditionStatus = "False",
) -> Instance:
    """An Instance that is not Ready for this reason."""
    return instance(ordinal, conditions=(condition("Ready", status, reason, message),))


def refused(ordinal: int = 0, reason: str = "QuotaExceeded", message: str = "") -> Instance:
    """An Instance whose quota was not granted for this reason."""
    return instance(
        ordinal,
        conditions=(
            condition("QuotaGranted", "False", reason, message),
            condition("Ready", "False", "PendingQuota", message),
        ),
    )


def located(
    city: str = "dfw", *conditions: Condition, place: str = "home", ready: int = 0, **meta: Any
) -> WorkloadDeployment:
    """The deployment of a placement in a city, with what its cell reports."""
    made = deployment(**({"name": f"web-{place}-{city}"} | meta))
    return msgspec.structs.replace(
        made,
        spec=msgspec.structs.replace(made.spec, placement_name=place, city_code=city.upper()),
        status=WorkloadDeploymentStatus(
            conditions=conditions, desired_replicas=1, replicas=1, ready_replicas=ready
        ),
    )


def serving(city: str = "dfw", **more: Any) -> WorkloadDeployment:
    return located(city, SERVES, ready=1, **more)


def blocked(
    city: str = "dfw", reason: str = "InstancesProvisioning", message: str = "", **more: Any
) -> WorkloadDeployment:
    return located(city, condition("Available", "False", reason, message), **more)


def paused(target: Workload) -> Workload:
    meta = msgspec.structs.replace(target.metadata, annotations={annotations.PAUSED: "true"})
    return msgspec.structs.replace(target, metadata=meta)
