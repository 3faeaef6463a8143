"""quota.miloapis.com/v1alpha1: how much of what a consumer may use.

A ResourceRegistration says what can be counted. ResourceGrants add up to the limit of an
AllowanceBucket, one for each consumer and type of resource; a ResourceClaim takes from the
buckets. A claim that was denied stays denied: it must be deleted and created again.
"""

from datetime import datetime
from typing import Annotated, ClassVar, Final, Literal

import msgspec

from kubekit.api.meta import EPOCH, Condition, Object
from kubekit.api.resource import AGE, Column, Resource, condition_column
from kubekit.api.wire import Cel, Int64, Rule, Wire, always, list_map

GROUP: Final = "quota.miloapis.com"
VERSION: Final = "v1alpha1"
BUCKETS: Final = "milo-system"
"""The namespace of the AllowanceBuckets of projects."""
_API_VERSION: Final = "quota.miloapis.com/v1alpha1"
_PARENTS: Final = "discovery.miloapis.com/parent-contexts"
_DNS_SUBDOMAIN: Final = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*"

# An amount in base units, never negative, always written.
Amount = Annotated[Int64, Rule(minimum=0, required=True)]
Count = Annotated[int, Rule(format="int32", minimum=0, required=True)]
_Unit = Annotated[str, Rule(min_length=1, max_length=50)]


def _immutable(field: str) -> Rule:
    return Rule(validations=(Cel("self == oldSelf", f"{field} cannot be changed"),))


def _reasons(condition: str, *allowed: str) -> Rule:
    """One condition may have these reasons only; others may have any."""
    listed = ", ".join(f"'{reason}'" for reason in allowed)
    rule = f"self.all(c, c.type != '{condition}' || c.reason in [{listed}])"
    message = f"the reason of {condition} must be one of {', '.join(allowed)}"
    return Rule(validations=(Cel(rule, message),))


class ObjectRef(Wire, frozen=True, kw_only=True):
    """An object of any kind, whatever its version."""

    api_group: str = ""
    """The group of its kind; empty for the core group."""
    kind: str
    """Its kind."""
    name: str
    """Its name."""
    namespace: str = ""
    """Its namespace; empty when it has none."""


class ConsumerType(Wire, frozen=True, kw_only=True):
    """The kind of the consumers of a resource."""

    api_group: Annotated[str, Rule(pattern=f"^{_DNS_SUBDOMAIN}$")]
    """The group of the kind."""
    kind: str
    """The kind, such as Project."""


class ClaimingResource(Wire, frozen=True, kw_only=True):
    """A kind of object that a claim may be made for."""

    api_group: Annotated[str, Rule(pattern=f"^$|^{_DNS_SUBDOMAIN}$")] = ""
    """The group of the kind; empty for the core group."""
    kind: Annotated[str, Rule(min_length=1, max_length=63)]
    """The kind, such as Instance."""


class ResourceRegistrationSpec(Wire, frozen=True, kw_only=True):
    """Something that can be counted."""

    base_unit: _Unit
    """The unit that amounts are counted in, such as millicore."""
    claiming_resources: Annotated[tuple[ClaimingResource, ...], Rule(min_items=1, max_items=20)]
    """Kinds of objects that claims may be made for."""
    consumer_type: Annotated[ConsumerType, _immutable("consumerType")]
    """The kind of its consumers."""
    description: Annotated[str | None, Rule(min_length=1, max_length=500)] = None
    """What it is, in words."""
    display_unit: _Unit
    """The unit that is displayed, such as vCPU."""
    resource_type: Annotated[str, Rule(min_length=1, max_length=253), _immutable("resourceType")]
    """The name that grants and claims call it by."""
    type: Annotated[str, Rule(enum=("Entity", "Allocation")), _immutable("type")]
    """Entity: objects are counted. Allocation: amounts are summed."""
    unit_conversion_factor: Annotated[Int64, Rule(minimum=1)]
    """How many base units make one display unit."""


class ResourceRegistrationStatus(Wire, frozen=True, kw_only=True):
    """Whether it can be granted and claimed."""

    conditions: Annotated[
        tuple[Condition, ...],
        _reasons("Active", "RegistrationActive", "ValidationFailed", "RegistrationPending"),
    ] = ()
    """Active: it can be granted and claimed."""
    observed_generation: Int64 = 0
    """The generation of the spec that this status is about."""


class ResourceRegistration(Object, frozen=True, kw_only=True):
    """Something that can be counted, granted and claimed."""

    RESOURCE: ClassVar[Resource] = Resource(
        group=GROUP,
        version=VERSION,
        kind="ResourceRegistration",
        plural="resourceregistrations",
        namespaced=False,
        status=True,
        annotations={_PARENTS: "Platform"},
        columns=(
            Column("Type", ".spec.type"),
            condition_column("Active", "Active", "status"),
            AGE,
        ),
        selectable_fields=(
            ".spec.consumerType.kind",
            ".spec.consumerType.apiGroup",
            ".spec.resourceType",
        ),
    )

    api_version: Literal["quota.miloapis.com/v1alpha1"] = always(_API_VERSION)
    kind: Literal["ResourceRegistration"] = always("ResourceRegistration")
    spec: ResourceRegistrationSpec
    """What can be counted."""
    status: ResourceRegistrationStatus = msgspec.field(default_factory=ResourceRegistrationStatus)
    """Whether it can be granted and claimed."""


class GrantBucket(Wire, frozen=True, kw_only=True):
    """A part of an allowance."""

    amount: Amount
    """How much, in base units."""


class Allowance(Wire, frozen=True, kw_only=True):
    """So much of one type of resource."""

    buckets: Annotated[tuple[GrantBucket, ...], Rule(min_items=1)]
    """Parts that are summed."""
    resource_type: str
    """The type of resource."""


class ResourceGrantSpec(Wire, frozen=True, kw_only=True):
    """What a consumer is given."""

    allowances: Annotated[tuple[Allowance, ...], Rule(min_items=1)]
    """How much of what."""
    consumer_ref: ObjectRef
    """Who is given it."""


class ResourceGrantStatus(Wire, frozen=True, kw_only=True):
    """Whether the grant counts."""

    conditions: Annotated[
        tuple[Condition, ...],
        _reasons("Active", "GrantActive", "ValidationFailed", "GrantPending"),
    ] = ()
    """Active: the grant counts."""
    observed_generation: Int64 = 0
    """The generation of the spec that this status is about."""


class ResourceGrant(Object, frozen=True, kw_only=True):
    """What a consumer is given. All active grants of a consumer add up."""

    RESOURCE: ClassVar[Resource] = Resource(
        group=GROUP,
        version=VERSION,
        kind="ResourceGrant",
        plural="resourcegrants",
        status=True,
        annotations={_PARENTS: "Organization,Project"},
        columns=(
            condition_column("Active", "Active", "status"),
            Column("Consumer Group", ".spec.consumerRef.apiGroup", wide=True),
            Column("Consumer Type", ".spec.consumerRef.kind", wide=True),
            Column("Consumer", ".spec.consumerRef.name", wide=True),
            AGE,
        ),
        selectable_fields=(".spec.consumerRef.kind", ".spec.consumerRef.name"),
    )

    api_version: Literal["quota.miloapis.com/v1alpha1"] = always(_API_VERSION)
    kind: Literal["ResourceGrant"] = always("ResourceGrant")
    spec: ResourceGrantSpec
    """Who is given what."""
    status: ResourceGrantStatus = msgspec.field(default_factory=ResourceGrantStatus)
    """Whether it counts."""


class ResourceRequest(Wire, frozen=True, kw_only=True):
    """So much of one type of resource."""

    amount: Amount
    """How much, in base units."""
    resource_type: str
    """The type of resource."""


class ResourceClaimSpec(Wire, frozen=True, kw_only=True):
    """What is claimed, the consumer, and the object it is for."""

    consumer_ref: ObjectRef | None = None
    """Whose allowance is used."""
    requests: Annotated[tuple[ResourceRequest, ...], Rule(min_items=1, max_items=20)]
    """How much of what."""
    resource_ref: ObjectRef | None = None
    """The object that it is claimed for."""


class RequestAllocation(Wire, frozen=True, kw_only=True):
    """The answer to one request of a claim."""

    allocated_amount: Annotated[Int64, Rule(minimum=0)] = 0
    """How much was given, in base units."""
    allocating_bucket: str = ""
    """The AllowanceBucket that answered."""
    last_transition_time: datetime
    """When the answer last changed."""
    message: str = ""
    """The cause, as a sentence."""
    reason: str = ""
    """The cause, as one CamelCase word."""
    resource_type: Annotated[str, Rule(min_length=1)]
    """The type of resource that was asked for."""
    status: Annotated[str, Rule(enum=("Granted", "Denied", "Pending"))]
    """The answer."""


class ResourceClaimStatus(Wire, frozen=True, kw_only=True):
    """The outcome of a claim."""

    allocations: Annotated[tuple[RequestAllocation, ...], list_map("resourceType")] = ()
    """The answer to each request."""
    conditions: Annotated[
        tuple[Condition, ...],
        _reasons(
            "Granted", "QuotaAvailable", "QuotaExceeded", "ValidationFailed", "PendingEvaluation"
        ),
    ] = ()
    """Granted: every request was granted."""
    observed_generation: Int64 = 0
    """The generation of the spec that this status is about."""


# The conditions of a claim before its first reconcile. The CRD defaults them on creation.
NEW_RESOURCE_CLAIM_STATUS: Final = ResourceClaimStatus(
    conditions=(
        Condition(
            type="Granted",
            status="False",
            reason="PendingEvaluation",
            message="Awaiting capacity evaluation",
            last_transition_time=EPOCH,
        ),
    )
)


class ResourceClaim(Object, frozen=True, kw_only=True):
    """A claim on a consumer's allowance. Deleting it gives back what it had."""

    RESOURCE: ClassVar[Resource] = Resource(
        group=GROUP,
        version=VERSION,
        kind="ResourceClaim",
        plural="resourceclaims",
        status=True,
        annotations={_PARENTS: "Organization,Project"},
        columns=(
            condition_column("Granted", "Granted", "status"),
            Column("Resource", ".spec.requests[0].resourceType", wide=True),
            AGE,
        ),
        selectable_fields=(
            ".spec.consumerRef.kind",
            ".spec.consumerRef.name",
            ".spec.resourceRef.apiGroup",
            ".spec.resourceRef.kind",
            ".spec.resourceRef.name",
            ".spec.resourceRef.namespace",
        ),
    )

    api_version: Literal["quota.miloapis.com/v1alpha1"] = always(_API_VERSION)
    kind: Literal["ResourceClaim"] = always("ResourceClaim")
    spec: ResourceClaimSpec
    """What is claimed."""
    status: Annotated[ResourceClaimStatus, Rule(default=NEW_RESOURCE_CLAIM_STATUS)] = msgspec.field(
        default_factory=ResourceClaimStatus
    )
    """Its outcome."""


class AllowanceBucketSpec(Wire, frozen=True, kw_only=True):
    """Whose account of what."""

    consumer_ref: ObjectRef
    """Whose account it is."""
    resource_type: Annotated[str, Rule(min_length=1, max_length=253)]
    """The type of resource."""


class ContributingGrantRef(Wire, frozen=True, kw_only=True):
    """A grant that the limit is made of."""

    amount: Amount
    """How much it adds, in base units."""
    last_observed_generation: Int64
    """The generation of the grant that was counted."""
    name: str
    """The name of the ResourceGrant."""


class AllowanceBucketStatus(Wire, frozen=True, kw_only=True):
    """The account: what was granted, what is taken, what is left. In base units."""

    allocated: Amount = always(0)
    """What granted claims take."""
    available: Amount = always(0)
    """What is left."""
    claim_count: Count = always(0)
    """Claims that take from it."""
    contributing_grant_refs: tuple[ContributingGrantRef, ...] = ()
    """The grants that the limit is made of."""
    grant_count: Count = always(0)
    """Grants that the limit is made of."""
    last_reconciliation: datetime | None = None
    """When it was last computed."""
    limit: Amount = always(0)
    """What was granted."""
    observed_generation: Int64 = 0
    """The generation of the spec that this status is about."""


class AllowanceBucket(Object, frozen=True, kw_only=True):
    """One consumer's account of one type of resource. Kept by the quota service."""

    RESOURCE: ClassVar[Resource] = Resource(
        group=GROUP,
        version=VERSION,
        kind="AllowanceBucket",
        plural="allowancebuckets",
        status=True,
        annotations={_PARENTS: "Organization,Project"},
        columns=(
            Column("Resource Type", ".spec.resourceType"),
            Column("Limit", ".status.limit", "integer"),
            Column("Allocated", ".status.allocated", "integer"),
            Column("Available", ".status.available", "integer"),
            Column("Claims", ".status.claimCount", "integer"),
            AGE,
        ),
        selectable_fields=(
            ".spec.consumerRef.kind",
            ".spec.consumerRef.name",
            ".spec.resourceType",
        ),
    )

    api_version: Literal["quota.miloapis.com/v1alpha1"] = always(_API_VERSION)
    kind: Literal["AllowanceBucket"] = always("AllowanceBucket")
    spec: AllowanceBucketSpec
    """Whose account of what."""
    status: AllowanceBucketStatus = msgspec.field(default_factory=AllowanceBucketStatus)
    """The account."""
