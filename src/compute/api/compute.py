"""compute.datumapis.com/v1alpha: Workload, WorkloadDeployment, Instance.

A Workload asks for instances of one template in several cities. It is split into one
WorkloadDeployment per placement and city; each makes numbered Instances in the cell that serves
its city. Health flows the other way, status by status.
"""

from typing import Annotated, ClassVar, Final, Literal

import msgspec

from compute.api import labels
from compute.api.instance_spec import InstanceSpec, InstanceTemplate, LocationRef
from kubekit.api.meta import EPOCH, Condition, Object
from kubekit.api.resource import AGE, Column, Resource, condition_column, label_column
from kubekit.api.wire import Counter, Int32, Int64, RawQuantity, Rule, Wire, always

GROUP: Final = "compute.datumapis.com"
VERSION: Final = "v1alpha"
MOST_REPLICAS: Final = 1000  # Instances of one deployment
_PARENTS: Final = {"discovery.miloapis.com/parent-contexts": "Project"}
_FIRST_ADDRESSES: Final = ".status.networkInterfaces[0].assignments"
_COUNTERS: Final = (
    Column("Replicas", ".status.replicas"),
    Column("Ready", ".status.readyReplicas"),
    Column("Desired", ".status.desiredReplicas"),
    Column("Up-to-date", ".status.updatedReplicas"),
)


class MetricTarget(Wire, frozen=True, kw_only=True):
    """The load to aim for. Exactly one of these is set."""

    average_utilization: Int32 | None = None
    """Percent of what an Instance has, on average."""
    average_value: RawQuantity | None = None
    """An amount per Instance."""
    value: RawQuantity | None = None
    """An amount over all Instances."""


class ResourceMetric(Wire, frozen=True, kw_only=True):
    """A resource whose use decides the number of Instances."""

    name: str
    """The resource: cpu."""
    target: MetricTarget
    """The use to aim for."""


class Metric(Wire, frozen=True, kw_only=True):
    """One measure that the number of Instances follows."""

    resource: ResourceMetric | None = None
    """The use of a resource."""


class ScaleSettings(Wire, frozen=True, kw_only=True):
    """How many Instances, and in what order they come and go."""

    instance_management_policy: Annotated[str, Rule(default="OrderedReady", required=True)] = (
        always("OrderedReady")
    )
    """OrderedReady: one at a time, each after the last is Ready. Parallel: all at once."""
    max_replicas: Int32 | None = None
    """The most Instances per city, no fewer than minReplicas; needs metrics."""
    metrics: tuple[Metric, ...] = ()
    """What the number of Instances follows."""
    min_replicas: Int32
    """The least Instances per city, from 1 to 1000."""


class Placement(Wire, frozen=True, kw_only=True):
    """Cities that are served alike."""

    city_codes: tuple[str, ...]
    """The cities, such as DFW or LHR."""
    name: str
    """Names the placement within the Workload; a DNS label."""
    scale_settings: ScaleSettings
    """How many Instances in each city."""


class WorkloadSpec(Wire, frozen=True, kw_only=True):
    """What to run, and where."""

    placements: Annotated[tuple[Placement, ...], Rule(min_items=1)]
    """Where to run it, at least one."""
    template: InstanceTemplate
    """What to run."""


class ReplicaCounts(Wire, frozen=True, kw_only=True):
    """Instances counted, the same way at every level."""

    current_replicas: Counter = always(0)
    """Instances of the newest template that are programmed."""
    desired_replicas: Counter = always(0)
    """Instances that should exist."""
    ready_replicas: Counter = always(0)
    """Instances that are Ready."""
    replicas: Counter = always(0)
    """Instances that exist."""
    updated_replicas: Counter = always(0)
    """Instances of the newest template."""


class PlacementStatus(ReplicaCounts, frozen=True, kw_only=True):
    """The health of one placement, summed over its cities."""

    conditions: tuple[Condition, ...] = ()
    """Available: at least one city serves."""
    name: str
    """The placement."""


class WorkloadStatus(ReplicaCounts, frozen=True, kw_only=True):
    """The health of a Workload, summed over its placements."""

    conditions: tuple[Condition, ...] = ()
    """Available: at least one placement serves."""
    deployments: Counter = always(0)
    """WorkloadDeployments that exist."""
    observed_generation: Int64 = 0
    """The generation of the spec that this status is about."""
    placements: tuple[PlacementStatus, ...] = ()
    """The health of each placement."""


class Workload(Object, frozen=True, kw_only=True):
    """A container or machine, in these cities, at least so many of them."""

    RESOURCE: ClassVar[Resource] = Resource(
        group=GROUP,
        version=VERSION,
        kind="Workload",
        plural="workloads",
        status=True,
        short_names=("wl",),
        annotations=_PARENTS,
        columns=(
            AGE,
            condition_column("Available", "Available", "status"),
            condition_column("Reason", "Available", "reason"),
            Column("Deployments", ".status.deployments"),
            *_COUNTERS,
            condition_column("Message", "Available", "message", wide=True),
        ),
    )

    api_version: Literal["compute.datumapis.com/v1alpha"] = always("compute.datumapis.com/v1alpha")
    kind: Literal["Workload"] = always("Workload")
    spec: WorkloadSpec
    """What to run, and where."""
    status: WorkloadStatus = msgspec.field(default_factory=WorkloadStatus)
    """Its state."""


class WorkloadRef(Wire, frozen=True, kw_only=True):
    """The Workload of a project, by name and uid."""

    name: str
    """The name of the Workload."""
    uid: str
    """The uid of the Workload in its project."""


class WorkloadDeploymentSpec(Wire, frozen=True, kw_only=True):
    """One placement of a Workload in one city."""

    city_code: str
    """The city."""
    placement_name: str
    """The placement."""
    scale_settings: ScaleSettings
    """How many Instances."""
    template: InstanceTemplate
    """What to run."""
    workload_ref: WorkloadRef
    """The Workload this is a part of."""


class WorkloadDeploymentStatus(ReplicaCounts, frozen=True, kw_only=True):
    """The health of one placement in one city."""

    conditions: tuple[Condition, ...] = ()
    """Available: at least one Instance is Ready. ReplicasReady: nothing blocks the rest."""
    location: LocationRef | None = None
    """The Location that serves the city."""
    observed_generation: Int64 = 0
    """The observed generation, as counted in the plane that wrote it."""


class WorkloadDeployment(Object, frozen=True, kw_only=True):
    """One placement of a Workload in one city, run by the cell that serves the city."""

    RESOURCE: ClassVar[Resource] = Resource(
        group=GROUP,
        version=VERSION,
        kind="WorkloadDeployment",
        plural="workloaddeployments",
        status=True,
        short_names=("wd",),
        annotations=_PARENTS,
        columns=(
            AGE,
            Column("City", ".spec.cityCode"),
            condition_column("Available", "Available", "status"),
            condition_column("Reason", "Available", "reason"),
            *_COUNTERS,
            Column("Location Name", ".status.location.name", wide=True),
            condition_column("Message", "Available", "message", wide=True),
        ),
    )

    api_version: Literal["compute.datumapis.com/v1alpha"] = always("compute.datumapis.com/v1alpha")
    kind: Literal["WorkloadDeployment"] = always("WorkloadDeployment")
    spec: Annotated[WorkloadDeploymentSpec, Rule(required=False)]
    """What to run in this city."""
    status: WorkloadDeploymentStatus = msgspec.field(default_factory=WorkloadDeploymentStatus)
    """Its state."""


class InstanceControllerStatus(Wire, frozen=True, kw_only=True):
    """What the provider reports of the template it runs."""

    observed_template_hash: str
    """The hash of the template that is running."""


class InterfaceAssignments(Wire, frozen=True, kw_only=True):
    """Addresses of an interface."""

    external_ip: str | None = msgspec.field(default=None, name="externalIP")
    """The public address."""
    network_ip: str | None = msgspec.field(default=None, name="networkIP")
    """The address within the network."""


class NetworkInterfaceStatus(Wire, frozen=True, kw_only=True):
    """The state of one interface, in the order of the spec."""

    assignments: InterfaceAssignments = msgspec.field(default_factory=InterfaceAssignments)
    """Its addresses."""


class InstanceStatus(Wire, frozen=True, kw_only=True):
    """The state of one Instance."""

    conditions: tuple[Condition, ...] = ()
    """Programmed and Available by the provider, QuotaGranted and Ready by the cell."""
    controller: InstanceControllerStatus | None = None
    """What the provider reports of the template it runs."""
    network_interfaces: tuple[NetworkInterfaceStatus, ...] = ()
    """The interfaces, in the order of the spec."""


def _unreported(condition: str, reason: str, message: str) -> Condition:
    return Condition(
        type=condition,
        status="Unknown",
        reason=reason,
        message=message,
        last_transition_time=EPOCH,
    )


# The conditions of an Instance before its first reconcile. The CRD defaults them on creation.
NEW_INSTANCE_STATUS: Final = InstanceStatus(
    conditions=(
        _unreported("Programmed", "Pending", "Waiting for controller"),
        _unreported("Available", "Pending", "Waiting for controller"),
        _unreported("Ready", "Pending", "Waiting for controller"),
        _unreported("QuotaGranted", "PendingEvaluation", "Waiting for quota evaluation"),
    )
)


class Instance(Object, frozen=True, kw_only=True):
    """One running copy of a template, identified by its ordinal."""

    RESOURCE: ClassVar[Resource] = Resource(
        group=GROUP,
        version=VERSION,
        kind="Instance",
        plural="instances",
        status=True,
        short_names=("inst",),
        annotations=_PARENTS,
        columns=(
            AGE,
            label_column("City", labels.CITY_CODE),
            condition_column("Ready", "Ready", "status"),
            condition_column("Reason", "Ready", "reason"),
            Column("Network IP", f"{_FIRST_ADDRESSES}.networkIP"),
            Column("External IP", f"{_FIRST_ADDRESSES}.externalIP", wide=True),
            condition_column("Message", "Ready", "message", wide=True),
            condition_column("Quota", "QuotaGranted", "reason", wide=True),
        ),
    )

    api_version: Literal["compute.datumapis.com/v1alpha"] = always("compute.datumapis.com/v1alpha")
    kind: Literal["Instance"] = always("Instance")
    spec: Annotated[InstanceSpec, Rule(required=False)]
    """What runs."""
    status: Annotated[InstanceStatus, Rule(default=NEW_INSTANCE_STATUS)] = msgspec.field(
        default_factory=InstanceStatus
    )
    """Its state."""
