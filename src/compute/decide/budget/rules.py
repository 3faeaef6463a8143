"""The rules for registrations, grants and claims: why one is refused."""

from collections.abc import Iterable, Iterator, Mapping

from compute.api import resource_manager
from compute.api.conditions import NeighbourCondition
from compute.api.quota import ObjectRef, ResourceClaim, ResourceGrant, ResourceRegistration
from compute.decide.budget.claim_queues import CONSUMER, is_project
from compute.decide.conditions import is_true
from kubekit.api.fields import FieldError, Path, duplicate, invalid, not_found, required

Registered = Mapping[str, ResourceRegistration]
"""The registrations that are active, by the type of resource."""


def active(registrations: Iterable[ResourceRegistration]) -> dict[str, ResourceRegistration]:
    """The registrations whose type can be granted and claimed, by that type."""
    return {
        each.spec.resource_type: each
        for each in registrations
        if is_true(each.status.conditions, NeighbourCondition.ACTIVE) and not each.deleting
    }


def faults(claim: ResourceClaim, project: str, registered: Registered) -> Iterator[FieldError]:
    """Why a claim may not be created in the plane of a project; nothing when it may."""
    spec = Path("spec")
    yield from _consumer_faults(spec.child("consumerRef"), claim.spec.consumer_ref, project)
    yield from _reference_faults(spec.child("resourceRef"), claim.spec.resource_ref)
    seen: dict[str, None] = {}
    for position, request in enumerate(claim.spec.requests):
        path = spec.child("requests").at(position)
        if request.resource_type in seen:
            yield duplicate(path.child("resourceType"), request.resource_type)
        seen[request.resource_type] = None
        if request.amount <= 0:
            yield invalid(path.child("amount"), request.amount, "must be greater than 0")
        registration = registered.get(request.resource_type)
        if registration is None:
            yield _unregistered(path.child("resourceType"), request.resource_type)
        elif claim.spec.resource_ref and claim.spec.resource_ref.kind:
            reference = spec.child("resourceRef")
            yield from _kind_faults(reference, claim.spec.resource_ref, registration)


def grant_faults(grant: ResourceGrant, registered: Registered) -> Iterator[FieldError]:
    """Why a grant does not count; nothing when it does."""
    consumer = grant.spec.consumer_ref
    for position, allowance in enumerate(grant.spec.allowances):
        path = Path("spec").child("allowances").at(position).child("resourceType")
        registration = registered.get(allowance.resource_type)
        if registration is None:
            yield _unregistered(path, allowance.resource_type)
        elif not _is_consumer(consumer, registration):
            kind = registration.spec.consumer_type.kind
            yield invalid(path, allowance.resource_type, f"it can only be granted to a {kind}")


def registration_faults(
    registration: ResourceRegistration, others: Iterable[ResourceRegistration]
) -> Iterator[FieldError]:
    """Why a type cannot be registered: an older registration has it already."""
    for other in others:
        same = other.spec.resource_type == registration.spec.resource_type
        if same and _age(other) < _age(registration):
            detail = f"the registration {other.metadata.name} has this type already"
            yield duplicate("spec.resourceType", registration.spec.resource_type, detail)


def _consumer_faults(path: Path, consumer: ObjectRef | None, project: str) -> Iterator[FieldError]:
    """A claim without a consumer is its own project's."""
    if consumer is not None and not is_project(consumer, project):
        kind = f"{consumer.kind} {consumer.name}"
        detail = f"claims here are made on the budget of {CONSUMER} {project}"
        yield invalid(path, kind, f"{detail}, apiGroup {resource_manager.GROUP}")


def _reference_faults(path: Path, reference: ObjectRef | None) -> Iterator[FieldError]:
    if reference is None:
        yield required(path, "name the object that the claim is made for")
        return
    if not reference.kind:
        yield required(path.child("kind"))
    if not reference.name:
        yield required(path.child("name"))


def _kind_faults(
    path: Path, reference: ObjectRef, registration: ResourceRegistration
) -> Iterator[FieldError]:
    allowed = registration.spec.claiming_resources
    requested = (reference.api_group, reference.kind.lower())
    if all((each.api_group, each.kind.lower()) != requested for each in allowed):
        kinds = ", ".join(f"{each.kind}.{each.api_group}".rstrip(".") for each in allowed)
        kind = f"{reference.kind}.{reference.api_group}".rstrip(".")
        yield invalid(path, kind, f"{registration.spec.resource_type} is claimed for {kinds}")


def _is_consumer(consumer: ObjectRef, registration: ResourceRegistration) -> bool:
    wanted = registration.spec.consumer_type
    return (consumer.api_group, consumer.kind) == (wanted.api_group, wanted.kind)


def _unregistered(path: Path, resource_type: str) -> FieldError:
    return not_found(path, resource_type, "no active ResourceRegistration has this type")


def _age(registration: ResourceRegistration) -> tuple[str, str]:
    created = registration.metadata.creation_timestamp
    return (created.isoformat() if created else "", registration.metadata.name)
