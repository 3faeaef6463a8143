"""The input of Karmada: Cluster, PropagationPolicy, ResourceInterpreterCustomization.

A policy selects objects on the hub and the clusters they go to. An interpreter defines how Karmada
treats a kind that it does not know. The output of Karmada is in `karmada_work`.

Karmada's other fields have no meaning for our kinds, and the hub of a platform on one machine does not
know them. Some fields are implemented by Karmada alone: they are declared so that the federator can see
and remove them, and the hub on one machine refuses them (`_only_karmada`).
"""

from datetime import datetime
from typing import Annotated, Any, ClassVar, Final, Literal

import msgspec

from kubekit.api.meta import Condition, LabelSelector, Object
from kubekit.api.resource import Column, Resource, condition_column
from kubekit.api.wire import Cel, Int32, Rule, Wire, always

CATEGORY: Final = "karmada-io"
DEFAULT_SCHEDULER: Final = "default-scheduler"  # of Karmada itself
AGE: Final = Column("AGE", ".metadata.creationTimestamp", "date")

ConflictResolution = Annotated[str, Rule(default="Abort", enum=("Abort", "Overwrite"))]


def _only_karmada(what: str) -> Rule:
    """A field that only Karmada itself implements: the hub on one machine refuses it with this error."""
    message = f"the engine of a platform on one machine has no {what}: remove the field"
    return Rule(validations=(Cel("false", message),))


class SecretReference(Wire, frozen=True, kw_only=True):
    """A Secret on the hub."""

    namespace: str
    name: str


class Taint(Wire, frozen=True, kw_only=True):
    """A mark that keeps objects away from a cluster unless they tolerate it."""

    key: str
    value: str = ""
    effect: str
    time_added: datetime | None = None


class ClusterSpec(Wire, frozen=True, kw_only=True):
    """How a cluster is reached, and where it stands."""

    id: str = ""
    sync_mode: Annotated[str, Rule(enum=("Push", "Pull"))]
    api_endpoint: str = ""
    secret_ref: SecretReference | None = None
    impersonator_secret_ref: SecretReference | None = None
    insecure_skip_tls_verification: bool = msgspec.field(
        default=False, name="insecureSkipTLSVerification"
    )
    proxy_url: str = msgspec.field(default="", name="proxyURL")
    provider: str = ""
    region: str = ""
    zone: str = ""
    zones: tuple[str, ...] = ()
    taints: tuple[Taint, ...] = ()


class APIResource(Wire, frozen=True, kw_only=True):
    """A kind that a cluster serves."""

    name: str
    kind: str


class APIEnablement(Wire, frozen=True, kw_only=True):
    """The kinds of one group and version that a cluster serves."""

    group_version: str
    resources: tuple[APIResource, ...] = ()


class NodeSummary(Wire, frozen=True, kw_only=True):
    """How many nodes a cluster has."""

    total_num: int = 0
    ready_num: int = 0


class ClusterStatus(Wire, frozen=True, kw_only=True):
    """How a cluster is doing. Objects go only to clusters that serve their kind."""

    kubernetes_version: str = ""
    api_enablements: tuple[APIEnablement, ...] = ()
    conditions: tuple[Condition, ...] = ()
    node_summary: NodeSummary | None = None
    remedy_actions: tuple[str, ...] = ()


class MemberCluster(Object, frozen=True, kw_only=True):
    """A member of the federation: one of our cells. Its labels say which city it serves."""

    RESOURCE: ClassVar[Resource] = Resource(
        group="cluster.karmada.io",
        version="v1alpha1",
        kind="Cluster",
        plural="clusters",
        namespaced=False,
        categories=(CATEGORY,),
        status=True,
        columns=(
            Column("VERSION", ".status.kubernetesVersion"),
            Column("MODE", ".spec.syncMode"),
            condition_column("READY", "Ready", "status"),
            AGE,
        ),
    )

    api_version: Literal["cluster.karmada.io/v1alpha1"] = always("cluster.karmada.io/v1alpha1")
    kind: Literal["Cluster"] = always("Cluster")
    spec: ClusterSpec
    status: ClusterStatus = msgspec.field(default_factory=ClusterStatus)


class ResourceSelector(Wire, frozen=True, kw_only=True):
    """Objects of one kind: all of them, one by name, or some by label."""

    api_version: str
    kind: str
    namespace: str = ""
    name: str = ""
    label_selector: LabelSelector | None = None


class FieldSelectorRequirement(Wire, frozen=True, kw_only=True):
    """What a field of a cluster's spec must be, or must not be."""

    key: Annotated[str, Rule(enum=("provider", "region", "zone"))]
    operator: Annotated[str, Rule(enum=("In", "NotIn"))]
    values: tuple[str, ...] = ()


class ClusterFieldSelector(Wire, frozen=True, kw_only=True):
    """Clusters by fields of their spec. All requirements must hold."""

    match_expressions: tuple[FieldSelectorRequirement, ...] = ()


class ClusterAffinity(Wire, frozen=True, kw_only=True):
    """Clusters: all of them, some by label, by field, or by name."""

    label_selector: LabelSelector | None = None
    field_selector: ClusterFieldSelector | None = None
    cluster_names: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()


class Toleration(Wire, frozen=True, kw_only=True):
    """A taint that is put up with."""

    key: str = ""
    operator: str = ""
    value: str = ""
    effect: str = ""
    toleration_seconds: Annotated[int | None, _only_karmada("eviction after a time")] = None


class SpreadConstraint(Wire, frozen=True, kw_only=True):
    """How many groups of clusters objects are spread over. By field or by label, not both."""

    spread_by_field: str = ""
    spread_by_label: str = ""
    max_groups: int = 0
    min_groups: int = 0


class ClusterPlacement(Wire, frozen=True, kw_only=True):
    """The clusters that objects go to. An empty placement means every cluster."""

    cluster_affinity: ClusterAffinity | None = None
    cluster_affinities: Annotated[
        tuple[dict[str, Any], ...], _only_karmada("groups of clusters in order of preference")
    ] = ()
    cluster_tolerations: tuple[Toleration, ...] = ()
    spread_constraints: tuple[SpreadConstraint, ...] = ()


class SuspendClusters(Wire, frozen=True, kw_only=True):
    """Clusters that get nothing new for now."""

    cluster_names: tuple[str, ...] = ()


class Suspension(Wire, frozen=True, kw_only=True):
    """What Karmada holds back: nothing is sent to any cluster, or to some."""

    dispatching: bool | None = None
    dispatching_on_clusters: SuspendClusters | None = None


_ONE_SUSPENSION: Final = Rule(
    validations=(
        Cel(
            "!(has(self.dispatching) && self.dispatching && has(self.dispatchingOnClusters) "
            "&& has(self.dispatchingOnClusters.clusterNames) "
            "&& self.dispatchingOnClusters.clusterNames.size() > 0)",
            "dispatching cannot be set together with dispatchingOnClusters.clusterNames",
        ),
    )
)
_SCHEDULER: Final = Rule(
    default=DEFAULT_SCHEDULER,
    validations=(Cel("self == oldSelf", "schedulerName cannot be changed"),),
)


class PropagationSpec(Wire, frozen=True, kw_only=True):
    """Which objects go where. Among policies that select an object, the highest priority wins."""

    resource_selectors: tuple[ResourceSelector, ...]
    placement: ClusterPlacement = msgspec.field(default_factory=ClusterPlacement)
    propagate_deps: bool = False
    priority: Annotated[Int32, Rule(default=0)] = 0
    preemption: Annotated[str, Rule(default="Never", enum=("Always", "Never"))] = "Never"
    dependent_overrides: Annotated[tuple[str, ...], _only_karmada("override policies")] = ()
    scheduler_name: Annotated[str, _SCHEDULER] = DEFAULT_SCHEDULER
    failover: Annotated[dict[str, Any] | None, _only_karmada("failover")] = None
    conflict_resolution: ConflictResolution = "Abort"
    activation_preference: Annotated[str, _only_karmada("lazy activation")] = ""
    suspension: Annotated[Suspension | None, _ONE_SUSPENSION] = None
    preserve_resources_on_deletion: bool | None = None


class PropagationPolicy(Object, frozen=True, kw_only=True):
    """Which objects of a namespace go to which clusters."""

    RESOURCE: ClassVar[Resource] = Resource(
        group="policy.karmada.io",
        version="v1alpha1",
        kind="PropagationPolicy",
        plural="propagationpolicies",
        short_names=("pp",),
        categories=(CATEGORY,),
        columns=(
            Column("CONFLICT-RESOLUTION", ".spec.conflictResolution"),
            Column("PRIORITY", ".spec.priority"),
            AGE,
        ),
    )

    api_version: Literal["policy.karmada.io/v1alpha1"] = always("policy.karmada.io/v1alpha1")
    kind: Literal["PropagationPolicy"] = always("PropagationPolicy")
    spec: PropagationSpec


class CustomizationTarget(Wire, frozen=True, kw_only=True):
    """The kind that is interpreted."""

    api_version: str
    kind: str


class LuaScript(Wire, frozen=True, kw_only=True):
    """A function in Lua."""

    lua_script: str


class CustomizationRules(Wire, frozen=True, kw_only=True):
    """One function for each question that Karmada asks of a kind."""

    retention: LuaScript | None = None
    replica_resource: LuaScript | None = None
    component_resource: LuaScript | None = None
    replica_revision: LuaScript | None = None
    status_reflection: LuaScript | None = None
    status_aggregation: LuaScript | None = None
    health_interpretation: LuaScript | None = None
    dependency_interpretation: LuaScript | None = None


class ResourceInterpreterCustomizationSpec(Wire, frozen=True, kw_only=True):
    """What Karmada should make of a kind."""

    target: CustomizationTarget
    customizations: CustomizationRules


class ResourceInterpreterCustomization(Object, frozen=True, kw_only=True):
    """What Karmada should make of a kind that it does not know."""

    RESOURCE: ClassVar[Resource] = Resource(
        group="config.karmada.io",
        version="v1alpha1",
        kind="ResourceInterpreterCustomization",
        plural="resourceinterpretercustomizations",
        namespaced=False,
        short_names=("ric",),
        categories=(CATEGORY,),
        columns=(
            Column("TARGET-API-VERSION", ".spec.target.apiVersion"),
            Column("TARGET-KIND", ".spec.target.kind"),
            AGE,
        ),
    )

    api_version: Literal["config.karmada.io/v1alpha1"] = always("config.karmada.io/v1alpha1")
    kind: Literal["ResourceInterpreterCustomization"] = always("ResourceInterpreterCustomization")
    spec: ResourceInterpreterCustomizationSpec
