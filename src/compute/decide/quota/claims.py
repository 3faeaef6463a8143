"""The claim of an Instance's slot, and the outcomes of its lookup.

A claim is named after the slot, and created for the Instance in it. A recreated Instance of the same
size finds its predecessor's claim and keeps it, so a restart does not lose its quota in a full
project.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal

from compute.api import labels, names, resource_manager
from compute.api.compute import Instance
from compute.api.instance_spec import InstanceSpec
from compute.api.quota import ObjectRef, ResourceClaim, ResourceClaimSpec, ResourceRequest
from compute.api.reasons import Reason
from compute.decide.quota.sizes import size
from kubekit.api.errors import AlreadyExists, ApiError, Forbidden, Invalid, NotFound
from kubekit.api.meta import ObjectMeta

INSTANCES: Final = "compute.datumapis.com/instances"
VCPUS: Final = "compute.datumapis.com/vcpus"  # counted in millicores
MEMORY: Final = "compute.datumapis.com/memory"  # counted in mebibytes

FailureReason = Literal[
    Reason.QUOTA_BACKEND_UNAVAILABLE,
    Reason.QUOTA_MISCONFIGURED,
    Reason.QUOTA_NAMESPACE_NOT_FOUND,
    Reason.QUOTA_PROJECT_ID_UNRESOLVABLE,
    Reason.QUOTA_PROJECT_NOT_FOUND,
]


@dataclass(frozen=True, slots=True)
class ClaimFound:
    """There is a claim under the slot's name. ``wanted`` is the one that would be created now."""

    claim: ResourceClaim
    wanted: ResourceClaim


@dataclass(frozen=True, slots=True)
class ClaimAbsent:
    """There is no claim under the slot's name."""


@dataclass(frozen=True, slots=True)
class ClaimConflict:
    """The claim was created between our read and our write: read again."""


@dataclass(frozen=True, slots=True)
class ClaimLookupFailed:
    """There was no usable answer. The message becomes part of a status: it should not vary between tries.

    ``since`` is the time of the first unanswered request, where that is known.
    """

    reason: FailureReason
    message: str
    since: datetime | None = None


@dataclass(frozen=True, slots=True)
class QuotaDisabled:
    """The cell has no quota service."""


ClaimLookup = ClaimFound | ClaimAbsent | ClaimConflict | ClaimLookupFailed | QuotaDisabled


def claim(
    instance: Instance, *, project: str, claim_namespace: str, source_cluster: str
) -> ResourceClaim:
    """The claim to create for an Instance, on behalf of the project that it belongs to.

    It refers to the Instance itself: that is the kind which the quota service accepts, and the
    object by which a leaked claim is detected. A label names the deployment of its slot: a later
    deployment of the same name has slots of its own.
    """
    meta = instance.metadata
    deployment = meta.labels.get(labels.DEPLOYMENT_UID, "")
    return ResourceClaim(
        metadata=ObjectMeta(
            name=names.claim(meta.name),
            namespace=claim_namespace,
            labels={
                labels.SOURCE_CLUSTER: source_cluster,
                labels.INSTANCE_NAMESPACE: meta.namespace,
                **({labels.DEPLOYMENT_UID: deployment} if deployment else {}),
            },
        ),
        spec=ResourceClaimSpec(
            consumer_ref=ObjectRef(api_group=resource_manager.GROUP, kind="Project", name=project),
            requests=requests(instance.spec),
            resource_ref=ObjectRef(
                api_group=Instance.RESOURCE.group,
                kind=Instance.RESOURCE.kind,
                name=meta.name,
                namespace=meta.namespace,
            ),
        ),
    )


def requests(spec: InstanceSpec) -> tuple[ResourceRequest, ...]:
    """The requests: one Instance, and its size where that is known.

    The service refuses a whole claim for one amount of zero, so memory of less than a mebibyte is
    left out.
    """
    need = size(spec)
    amounts = {
        INSTANCES: 1,
        VCPUS: need.millicores if need else 0,
        MEMORY: need.mebibytes if need else 0,
    }
    return tuple(
        ResourceRequest(resource_type=kind, amount=amount)
        for kind, amount in amounts.items()
        if amount > 0
    )


def requests_same_quota(claim: ResourceClaim, wanted: ResourceClaim) -> bool:
    """Whether a claim has the wanted requests, in any order, on behalf of the same slot."""
    return _terms(claim) == _terms(wanted)


def is_of_other_cell(claim: ResourceClaim, wanted: ResourceClaim) -> bool:
    """Whether another cell created the claim, because the deployment was moved between cells."""
    return not _agree(labels.SOURCE_CLUSTER, claim, wanted)


def is_of_old_deployment(claim: ResourceClaim, wanted: ResourceClaim) -> bool:
    """Whether the claim was created for a slot of an earlier deployment of the same name.

    That deployment is deleted, and its claims may be deleted with it even if a cache still has them.
    """
    return not _agree(labels.DEPLOYMENT_UID, claim, wanted)


def refusal(error: ApiError, claim_namespace: str) -> ClaimLookup:
    """The outcome when the quota service refused to return or to create a claim.

    A claim that exists already is no failure: another pass was faster, and the claim can be read.
    """
    match error:
        case AlreadyExists():
            return ClaimConflict()
        case NotFound() if claim_namespace:
            message = f"The project has no namespace {claim_namespace} to claim quota in; create it"
            return ClaimLookupFailed(Reason.QUOTA_NAMESPACE_NOT_FOUND, message)
        case NotFound():
            return ClaimLookupFailed(
                Reason.QUOTA_PROJECT_NOT_FOUND, "The project does not exist any more"
            )
        case Forbidden() | Invalid():
            message = f"The quota service refuses the claim: {error.message}"
            return ClaimLookupFailed(Reason.QUOTA_MISCONFIGURED, message)
        case _:
            message = "The quota service does not answer; the request is retried"
            return ClaimLookupFailed(Reason.QUOTA_BACKEND_UNAVAILABLE, message)


def _agree(label: str, claim: ResourceClaim, wanted: ResourceClaim) -> bool:
    return claim.metadata.labels.get(label) == wanted.metadata.labels.get(label)


def _terms(claim: ResourceClaim) -> tuple[object, ...]:
    requests = frozenset((r.resource_type, r.amount) for r in claim.spec.requests)
    known = claim.metadata.labels
    return requests, known.get(labels.SOURCE_CLUSTER), known.get(labels.INSTANCE_NAMESPACE)
