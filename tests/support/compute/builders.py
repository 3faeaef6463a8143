"""Small, valid objects for tests; each test states only what it is about."""

from datetime import UTC, datetime
from typing import Any

import msgspec

from compute.api import labels, names
from compute.api.compute import (
    Instance,
    InstanceControllerStatus,
    InstanceStatus,
    Placement,
    ScaleSettings,
    Workload,
    WorkloadDeployment,
    WorkloadDeploymentSpec,
    WorkloadRef,
    WorkloadSpec,
)
from compute.api.instance_spec import (
    Container,
    InstanceController,
    InstanceResources,
    InstanceSpec,
    InstanceTemplate,
    NetworkInterface,
    NetworkRef,
    Runtime,
    Sandbox,
    SchedulingGate,
)
from kubekit.api.meta import EPOCH, Condition, ConditionStatus, ObjectMeta, TemplateMeta

NOW = datetime(2026, 6, 1, 12, 0, 0, tzinfo=UTC)


def condition(
    kind: str,
    status: ConditionStatus = "True",
    reason: str = "Available",
    message: str = "",
    *,
    since: datetime = EPOCH,
    generation: int = 0,
) -> Condition:
    return Condition(
        type=kind,
        status=status,
        reason=reason,
        message=message,
        last_transition_time=since,
        observed_generation=generation,
    )


def instance_spec(image: str = "registry.test/web:1") -> InstanceSpec:
    return InstanceSpec(
        runtime=Runtime(
            resources=InstanceResources(instance_type="datumcloud/d1-standard-2"),
            sandbox=Sandbox(containers=(Container(name="app", image=image),)),
        ),
        network_interfaces=(NetworkInterface(network=NetworkRef(name="default")),),
    )


def template(image: str = "registry.test/web:1", **meta: Any) -> InstanceTemplate:
    return InstanceTemplate(metadata=TemplateMeta(**meta), spec=instance_spec(image))


def placement(name: str = "home", *cities: str, replicas: int = 1, **scale: Any) -> Placement:
    return Placement(
        name=name,
        city_codes=cities or ("DFW",),
        scale_settings=ScaleSettings(min_replicas=replicas, **scale),
    )


def workload(name: str = "web", *placements: Placement, **changes: Any) -> Workload:
    """A Workload ``web`` in namespace ``default``; ``changes`` replace fields of its spec."""
    spec = WorkloadSpec(template=template(), placements=placements or (placement(),))
    return Workload(
        metadata=ObjectMeta(name=name, namespace="default", uid=f"uid-{name}", generation=1),
        spec=msgspec.structs.replace(spec, **changes),
    )


def deployment(
    replicas: int = 1,
    *,
    policy: str = "OrderedReady",
    image: str = "registry.test/web:1",
    **meta: Any,
) -> WorkloadDeployment:
    """The WorkloadDeployment ``web-home-dfw`` of Workload ``web``."""
    known: dict[str, Any] = {
        "name": "web-home-dfw",
        "namespace": "ns-1",
        "uid": "uid-wd",
        "generation": 1,
    }
    return WorkloadDeployment(
        metadata=ObjectMeta(**(known | meta)),
        spec=WorkloadDeploymentSpec(
            workload_ref=WorkloadRef(name="web", uid="uid-web"),
            placement_name="home",
            city_code="DFW",
            template=template(image),
            scale_settings=ScaleSettings(min_replicas=replicas, instance_management_policy=policy),
        ),
    )


def instance(
    ordinal: int = 0,
    *,
    conditions: tuple[Condition, ...] = (),
    template_hash: str = "hash",
    gates: tuple[str, ...] = (),
    **meta: Any,
) -> Instance:
    """An Instance of ``web-home-dfw``; its status has only these ``conditions``."""
    known: dict[str, Any] = {
        "name": names.instance("web-home-dfw", ordinal),
        "namespace": "ns-1",
        "uid": f"uid-{ordinal}",
        "generation": 1,
        "creation_timestamp": NOW,
        "labels": {labels.INSTANCE_INDEX: str(ordinal), labels.DEPLOYMENT_NAME: "web-home-dfw"},
    }
    spec = msgspec.structs.replace(
        instance_spec(),
        controller=InstanceController(
            template_hash=template_hash,
            scheduling_gates=tuple(SchedulingGate(name=gate) for gate in gates),
        ),
    )
    return Instance(
        metadata=ObjectMeta(**(known | meta)),
        spec=spec,
        status=InstanceStatus(
            conditions=conditions,
            controller=InstanceControllerStatus(observed_template_hash=template_hash),
        ),
    )
