"""The output of Karmada: ResourceBinding, Work.

Each selected object has a ResourceBinding beside it, which names the clusters; each cluster gets
a Work in its namespace ``karmada-es-<cluster>``. Statuses come back the same way.
"""

from datetime import datetime
from typing import Annotated, Any, ClassVar, Literal

import msgspec

from compute.api.karmada import AGE, CATEGORY, ClusterPlacement, ConflictResolution, Suspension
from kubekit.api.meta import Condition, Object
from kubekit.api.resource import Column, Resource, condition_column
from kubekit.api.wire import Rule, Wire, always

Health = Annotated[str, Rule(enum=("Healthy", "Unhealthy", "Unknown"))]


class TemplateRef(Wire, frozen=True, kw_only=True):
    """The object on the hub that is propagated."""

    api_version: str
    kind: str
    namespace: str = ""
    name: str
    uid: str = ""
    resource_version: str = ""


class TargetCluster(Wire, frozen=True, kw_only=True):
    """A cluster that the object goes to."""

    name: str


class BindingSuspension(Suspension, frozen=True, kw_only=True):
    """What Karmada holds back, the choice of clusters included."""

    scheduling: bool | None = None


class ResourceBindingSpec(Wire, frozen=True, kw_only=True):
    """Which object goes to which clusters. The scheduler writes ``clusters``."""

    resource: TemplateRef
    propagate_deps: bool = False
    clusters: tuple[TargetCluster, ...] = ()
    placement: ClusterPlacement | None = None
    scheduler_name: str = ""
    conflict_resolution: ConflictResolution = "Abort"
    suspension: BindingSuspension | None = None
    preserve_resources_on_deletion: bool | None = None


class AggregatedStatusItem(Wire, frozen=True, kw_only=True):
    """The state of the copy in one cluster; ``status`` is the copy's own."""

    cluster_name: str
    status: dict[str, Any] | None = None
    applied: bool = False
    applied_message: str = ""
    health: Health = ""


class ResourceBindingStatus(Wire, frozen=True, kw_only=True):
    """Its progress: Scheduled, FullyApplied, and the status from each cluster."""

    scheduler_observed_generation: int = 0
    # Spelled differently from the field above, as in Karmada itself.
    scheduler_observing_affinity_name: str = ""
    last_scheduled_time: datetime | None = None
    conditions: tuple[Condition, ...] = ()
    aggregated_status: tuple[AggregatedStatusItem, ...] = ()


class ResourceBinding(Object, frozen=True, kw_only=True):
    """Where one object is propagated, and the state of its copies."""

    RESOURCE: ClassVar[Resource] = Resource(
        group="work.karmada.io",
        version="v1alpha2",
        kind="ResourceBinding",
        plural="resourcebindings",
        short_names=("rb",),
        categories=(CATEGORY,),
        status=True,
        columns=(
            condition_column("SCHEDULED", "Scheduled", "status"),
            condition_column("FULLYAPPLIED", "FullyApplied", "status"),
            AGE,
        ),
    )

    api_version: Literal["work.karmada.io/v1alpha2"] = always("work.karmada.io/v1alpha2")
    kind: Literal["ResourceBinding"] = always("ResourceBinding")
    spec: ResourceBindingSpec
    status: ResourceBindingStatus = msgspec.field(default_factory=ResourceBindingStatus)


class WorkloadTemplate(Wire, frozen=True, kw_only=True):
    """The objects to apply, whole."""

    manifests: tuple[dict[str, Any], ...] = ()


class WorkSpec(Wire, frozen=True, kw_only=True):
    """What one cluster should have."""

    workload: WorkloadTemplate = msgspec.field(default_factory=WorkloadTemplate)
    suspend_dispatching: bool | None = None
    preserve_resources_on_deletion: bool | None = None


class ResourceIdentifier(Wire, frozen=True, kw_only=True):
    """One of the manifests; ``ordinal`` is its index among them."""

    ordinal: int
    group: str = ""
    version: str
    kind: str
    resource: str
    namespace: str = ""
    name: str


class ManifestStatus(Wire, frozen=True, kw_only=True):
    """The status of one of the manifests in the cluster."""

    identifier: ResourceIdentifier
    status: dict[str, Any] | None = None
    health: Health = ""


class WorkStatus(Wire, frozen=True, kw_only=True):
    """Whether the cluster has it (Applied), and its state there."""

    conditions: tuple[Condition, ...] = ()
    manifest_statuses: tuple[ManifestStatus, ...] = ()


class Work(Object, frozen=True, kw_only=True):
    """What one cluster should have of one object."""

    RESOURCE: ClassVar[Resource] = Resource(
        group="work.karmada.io",
        version="v1alpha1",
        kind="Work",
        plural="works",
        short_names=("wk",),
        categories=(CATEGORY,),
        status=True,
        columns=(
            Column("WORKLOAD-KIND", ".spec.workload.manifests[*].kind"),
            condition_column("APPLIED", "Applied", "status"),
            AGE,
        ),
    )

    api_version: Literal["work.karmada.io/v1alpha1"] = always("work.karmada.io/v1alpha1")
    kind: Literal["Work"] = always("Work")
    spec: WorkSpec
    status: WorkStatus = msgspec.field(default_factory=WorkStatus)
