"""Whether the networks of a deployment are ready in its city, and what is missing until they are.

    Location of the city -> NetworkBinding per interface -> NetworkContext -> SubnetClaim -> Subnet

Missing objects are created; the rest is waited for. A binding is never changed, only created and
deleted: an Instance keeps its network while a new template, or a new Location, uses another.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from compute.api import labels, names
from compute.api.compute import Instance, WorkloadDeployment
from compute.api.conditions import ConditionType
from compute.api.instance_spec import LocationRef
from compute.api.networking import (
    Location,
    NetworkBinding,
    NetworkContext,
    Subnet,
    SubnetClaim,
    SubnetClaimSpec,
)
from compute.api.reasons import Reason, Trait, describe, has
from compute.decide.conditions import find, is_true
from compute.decide.deployment.rollup import NetworkVerdict
from compute.decide.networking.bindings import Links, links
from compute.decide.ranking import Candidate, worst
from kubekit.api.meta import Condition, LocalRef, ObjectMeta

_SUBNET_CLASS: Final = "private"
_IP_FAMILY: Final = "IPv4"
_ON_ITS_WAY: Final = "it is being set up in the city"


@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkObjects:
    """The existing objects that can concern one deployment.

    ``bindings`` are those named like the deployment's, whatever their owner. ``contexts`` are those
    that the bindings name, ``claims`` and ``subnets`` those of these contexts.
    """

    locations: Sequence[Location] = ()
    bindings: Sequence[NetworkBinding] = ()
    contexts: Sequence[NetworkContext] = ()
    claims: Sequence[SubnetClaim] = ()
    subnets: Sequence[Subnet] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkPlan:
    """The verdict, the objects to create, and the bindings that are not needed."""

    verdict: NetworkVerdict
    bindings: tuple[NetworkBinding, ...] = ()
    claims: tuple[SubnetClaim, ...] = ()
    unused: tuple[NetworkBinding, ...] = ()

    @property
    def due(self) -> bool:
        """Whether there is anything to write."""
        return bool(self.bindings or self.claims or self.unused)


def network_plan(
    deployment: WorkloadDeployment, instances: Iterable[Instance], objects: NetworkObjects
) -> NetworkPlan:
    """The state of the deployment's networks. Without a Location nothing is created or deleted."""
    city = deployment.spec.city_code
    location = location_of(city, objects.locations)
    if location is None:
        message = f"no Location of the cell says that it is in {city}"
        nowhere = NetworkVerdict(ready=False, reason=Reason.NO_MATCHING_LOCATION, message=message)
        return NetworkPlan(verdict=nowhere)
    linked = links(deployment, instances, location, objects.bindings)
    chains = [_follow(binding, location, objects) for binding in linked.present]
    obstacles = [*_unlinked(linked), *(c.obstacle for c in chains)]
    claims = {c.claim.metadata.name: c.claim for c in chains if c.claim is not None}
    return NetworkPlan(
        verdict=_verdict(obstacles, _note(linked.present), location),
        bindings=linked.new,
        claims=tuple(claims.values()),
        unused=linked.unused,
    )


def location_of(city: str, locations: Iterable[Location]) -> LocationRef | None:
    """The Location that serves a city: of several the first by name, and none that is being deleted."""
    serving = (
        location.metadata.name
        for location in locations
        if not location.deleting and city_of(location) == city
    )
    first = min(serving, default=None)
    return None if first is None else LocationRef(name=first)


def city_of(location: Location) -> str:
    """The city of a Location; empty without the label."""
    return location.spec.topology.get(labels.TOPOLOGY_CITY_CODE, "")


@dataclass(frozen=True, slots=True)
class _Chain:
    """The progress of one interface: what it waits for, and the claim that is missing."""

    obstacle: Candidate | None = None
    claim: SubnetClaim | None = None


def _verdict(
    obstacles: Iterable[Candidate | None], note: str, location: LocationRef
) -> NetworkVerdict:
    cause = worst(obstacle for obstacle in obstacles if obstacle is not None)
    if cause is None:
        return NetworkVerdict(ready=True, message=note, location=location)
    reason = Reason(cause.reason)
    return NetworkVerdict(ready=False, reason=reason, message=cause.summary, location=location)


def _note(bindings: Iterable[NetworkBinding]) -> str:
    """The note on networks that can be used: that one is being deleted."""
    for binding in bindings:
        condition = find(binding.status.conditions, ConditionType.READY)
        if condition and (condition.status, condition.reason) == (
            "True",
            Reason.NETWORK_TERMINATING,
        ):
            return Candidate(_subject(binding), condition.reason, condition.message).summary
    return ""


def _unlinked(linked: Links) -> Iterator[Candidate]:
    """What interfaces without a binding wait for."""
    for binding in linked.new:
        yield _provisioning(binding, _ON_ITS_WAY)
    for binding in linked.obstructed:
        name = binding.metadata.name
        yield _provisioning(binding, f"another NetworkBinding {name} has to be deleted first")


def _follow(binding: NetworkBinding, location: LocationRef, objects: NetworkObjects) -> _Chain:
    """The chain from a binding to its addresses, up to the first object that is not ready."""
    context = _context(binding, objects.contexts)
    unready = _unready(binding, binding) or _unready(binding, context)
    if unready or context is None:
        return _Chain(unready)
    claim = _claim(context, location, objects.claims)
    if claim is None:
        return _Chain(_provisioning(binding, _ON_ITS_WAY), _new_claim(context, location))
    return _Chain(_unready(binding, claim) or _unready(binding, _subnet(claim, objects.subnets)))


def _unready(
    binding: NetworkBinding, obj: NetworkBinding | NetworkContext | SubnetClaim | Subnet | None
) -> Candidate | None:
    """The obstacle of an object that is not ready; None when it is."""
    condition = find(obj.status.conditions, ConditionType.READY) if obj else None
    if obj is None or obj.deleting or condition is None or condition.reason == Reason.PENDING:
        return _provisioning(binding, _ON_ITS_WAY)
    if condition.status == "True":
        return None
    subject = _subject(binding)
    return Candidate(subject, _reason(condition), condition.message or condition.reason)


def failed(binding: NetworkBinding, condition: Condition) -> Candidate:
    """Why an Instance cannot be attached, as its own Ready reports it."""
    cause = Candidate(_subject(binding), condition.reason, condition.message)
    return Candidate("", condition.reason, cause.summary)


def _reason(condition: Condition) -> Reason:
    """The cause as one of our reasons: only what does not pass by itself is called a failure."""
    if has(condition.reason, Trait.NETWORK_FAILURE):
        return Reason(condition.reason)
    known = describe(condition.reason)
    lasts = known is not None and known.needs_action
    return Reason.NETWORK_FAILED_TO_CREATE if lasts else Reason.NETWORK_PROVISIONING


def _provisioning(binding: NetworkBinding, message: str) -> Candidate:
    return Candidate(_subject(binding), Reason.NETWORK_PROVISIONING, message)


def _subject(binding: NetworkBinding) -> str:
    return f"network {binding.spec.network.name}"


def _context(binding: NetworkBinding, contexts: Iterable[NetworkContext]) -> NetworkContext | None:
    named = binding.status.network_context_ref
    for context in contexts:
        meta = context.metadata
        if named and (meta.namespace, meta.name) == (named.namespace, named.name):
            return context
    return None


def _claim(
    context: NetworkContext, location: LocationRef, claims: Iterable[SubnetClaim]
) -> SubnetClaim | None:
    """The claim to use, one that is ready before others; or any with our name."""
    own = names.subnet_claim(context.metadata.name)
    usable = [
        claim
        for claim in claims
        if claim.metadata.namespace == context.metadata.namespace
        and (_is_for(claim.spec, context, location) or claim.metadata.name == own)
    ]
    return min(usable, key=_preference, default=None)


def _is_for(spec: SubnetClaimSpec, context: NetworkContext, location: LocationRef) -> bool:
    wanted = (_SUBNET_CLASS, _IP_FAMILY, context.metadata.name, location.name)
    return wanted == (
        spec.subnet_class,
        spec.ip_family,
        spec.network_context.name,
        spec.location.name,
    )


def _preference(claim: SubnetClaim) -> tuple[bool, bool, str]:
    ready = is_true(claim.status.conditions, ConditionType.READY)
    return claim.deleting, not ready, claim.metadata.name


def _new_claim(context: NetworkContext, location: LocationRef) -> SubnetClaim:
    """The claim for a context's addresses. It is deleted with the context, whatever uses it until then."""
    meta = context.metadata
    return SubnetClaim(
        metadata=ObjectMeta(
            name=names.subnet_claim(meta.name),
            namespace=meta.namespace,
            owner_references=(context.reference(),),
        ),
        spec=SubnetClaimSpec(
            subnet_class=_SUBNET_CLASS,
            ip_family=_IP_FAMILY,
            network_context=LocalRef(name=meta.name),
            location=location,
        ),
    )


def _subnet(claim: SubnetClaim, subnets: Iterable[Subnet]) -> Subnet | None:
    named = claim.status.subnet_ref
    for subnet in subnets:
        meta = subnet.metadata
        if named and (meta.namespace, meta.name) == (claim.metadata.namespace, named.name):
            return subnet
    return None
