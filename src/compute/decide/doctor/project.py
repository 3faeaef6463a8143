"""Whether a project can run Workloads: its access, quota, cities and networks."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from compute.api.compute import Workload
from compute.api.conditions import ConditionType
from compute.api.networking import LocationBinding, Network
from compute.api.quota import AllowanceBucket
from compute.decide import city_use
from compute.decide.access_state import AccessState, project_access
from compute.decide.conditions import find
from compute.decide.doctor.checks import Check, Finding, Fix
from compute.decide.doctor.facts import ProjectFacts, Unread
from compute.decide.explain.titles import count
from compute.decide.networking import network_use
from compute.decide.networking.network_use import Key
from compute.decide.overrides.annotated import cities_of
from compute.decide.quota.units import order, unit_of

DEFAULT_NETWORK: Final = "default"
_SCARCE: Final = 0.9  # of a limit in use
_MOST_NAMED: Final = 3

_ACCESS: Final = {
    AccessState.PENDING_APPROVAL: ("requested, and not approved yet", "compute access"),
    AccessState.PROCESSING: ("requested, and not processed yet", "compute access"),
    AccessState.REVOKED: ("revoked", "compute access request --renew"),
    AccessState.DENIED: ("denied", "compute access request --renew"),
    AccessState.UNAVAILABLE: ("this platform does not offer compute", "compute config view"),
    AccessState.NOT_REQUESTED: ("not enabled for the project", "compute access request"),
}


def project_checks(facts: ProjectFacts) -> Iterator[Finding]:
    """The checks of a project. Of one that does not exist nothing else is checked."""
    workloads = facts.workloads
    if facts.project and isinstance(workloads, Unread) and workloads.is_absent:
        why = f"{facts.project} does not exist here, or is still being set up"
        yield Check.PROJECT.failed(why, "compute config view")
        return
    if facts.project and isinstance(workloads, Unread):
        yield Check.PROJECT.skipped(f"Workloads: {workloads.why}")
    elif facts.project:
        yield Check.PROJECT.passed(f"{facts.project} is served")
    yield access_check(facts)
    yield quota_check(facts)
    yield from city_checks(facts)
    yield from network_checks(facts)


def access_check(facts: ProjectFacts) -> Finding:
    """Whether the project may use compute."""
    if isinstance(facts.entitlements, Unread):
        return Check.ACCESS.skipped(f"ServiceEntitlements: {facts.entitlements.why}")
    access = project_access(facts.entitlements)
    if access.state is not AccessState.ACTIVE:
        text, cure = _ACCESS[access.state]
        reason = access.message.rstrip(".")
        return Check.ACCESS.failed(f"{text}: {reason}" if reason else text, cure)
    if access.suspended:
        detail = "the project is suspended: instances stay stopped until that is lifted"
        return Check.ACCESS.failed(detail, "compute access")
    return Check.ACCESS.passed("the project may use compute")


def quota_check(facts: ProjectFacts) -> Finding:
    """How much quota is left."""
    if isinstance(facts.buckets, Unread):
        return Check.QUOTA.skipped(f"AllowanceBuckets: {facts.buckets.why}")
    buckets = sorted(facts.buckets, key=lambda bucket: order(bucket.spec.resource_type))
    if not buckets:
        return Check.QUOTA.skipped("the project has no quota, or may not see it")
    scarce = [bucket for bucket in buckets if _use(bucket) >= _SCARCE]
    if scarce:
        detail = "; ".join(map(_rest, scarce))
        return Check.QUOTA.warning(f"nearly used up: {detail}", "compute quota")
    return Check.QUOTA.passed("; ".join(map(_rest, buckets)))


def city_checks(facts: ProjectFacts) -> Iterator[Finding]:
    """Whether the project's cities can be used, and all that Workloads name are among them."""
    bindings = facts.bindings
    if isinstance(bindings, Unread):
        yield Check.CITIES.skipped(f"LocationBindings: {bindings.why}")
        return
    offered = city_use.offered(bindings)
    if not offered:
        yield Check.CITIES.failed("no city is offered to the project", "compute cities --all")
        return
    missing = {c: names for c, names in _named_by(facts.checked).items() if c not in offered}
    for city, names in missing.items():
        detail = f"{city} is not offered to the project, but {_listed(names)} {_verb(names)} it"
        yield Check.CITIES.failed(detail, "compute cities")
    unusable = {city: why for city, why in _unusable(bindings) if _concerns(city, facts)}
    for city, why in unusable.items():
        yield Check.CITIES.warning(f"{city} cannot be used now: {why}", "compute cities")
    if not missing and not unusable:
        yield Check.CITIES.passed(f"{', '.join(sorted(offered))} can be used")


def network_checks(facts: ProjectFacts) -> Iterator[Finding]:
    """Whether the networks that Workloads name exist and are Ready."""
    if isinstance(facts.networks, Unread):
        yield Check.NETWORKS.skipped(f"Networks: {facts.networks.why}")
        return
    present = {(n.metadata.namespace, n.metadata.name): n for n in facts.networks}
    users: dict[Key, list[str]] = {}
    for workload in facts.checked:
        for key in network_use.of_workload(workload):
            users.setdefault(key, []).append(workload.metadata.name)
    wrong = [
        result
        for key, names in users.items()
        for result in _network_check(key, names, present, facts.namespace)
    ]
    yield from wrong
    if not wrong:
        used = count(len(users), "network") if users else "no network"
        yield Check.NETWORKS.passed(f"{used} in use, nothing wrong")


def _network_check(
    key: Key, names: list[str], present: Mapping[Key, Network], namespace: str
) -> Iterator[Finding]:
    network = present.get(key)
    (shown,) = network_use.relative_names([key], namespace)
    needs = f"{_listed(names)} {_verb(names, 'needs', 'need')} it"
    if network is None:
        fix = Fix.CREATE_NETWORK if key == (namespace, DEFAULT_NETWORK) else None
        where = "" if key[0] == namespace else f" --namespace {key[0]}"
        cure = f"compute networks create {key[1]}{where}"
        yield Check.NETWORKS.failed(f"network {shown} does not exist, and {needs}", cure, fix)
        return
    if network.deleting:
        detail = f"network {shown} is being deleted, and {needs}"
        yield Check.NETWORKS.failed(detail, "compute networks")
        return
    ready = find(network.status.conditions, ConditionType.READY)
    if ready is None or ready.status != "True":
        why = ready.message or ready.reason if ready else "nothing has reported on it yet"
        detail = f"network {shown} is not Ready, and {needs}: {why}"
        yield Check.NETWORKS.failed(detail, "compute networks")


def _named_by(workloads: Iterable[Workload]) -> dict[str, list[str]]:
    """The names of the Workloads that name each city."""
    names: dict[str, list[str]] = {}
    for workload in workloads:
        for city in () if workload.deleting else cities_of(workload):
            names.setdefault(city, []).append(workload.metadata.name)
    return names


def _unusable(bindings: Iterable[LocationBinding]) -> Iterator[tuple[str, str]]:
    """The offered cities that cannot be used now, with the reason."""
    for binding in bindings:
        available = find(binding.status.conditions, ConditionType.AVAILABLE)
        if available is not None and available.status == "False":
            yield from ((c, available.message or available.reason) for c in _cities([binding]))


def _cities(bindings: Iterable[LocationBinding]) -> list[str]:
    return sorted(city_use.offered(bindings))


def _concerns(city: str, facts: ProjectFacts) -> bool:
    """Whether a city matters: all do, unless single Workloads are checked."""
    return facts.checked == facts.workloads or city in _named_by(facts.checked)


def _use(bucket: AllowanceBucket) -> float:
    limit = bucket.status.limit
    return (limit - bucket.status.available) / limit if limit else 1.0


def _rest(bucket: AllowanceBucket) -> str:
    """What is left of a bucket: ``2 of 10 instances left``."""
    unit = unit_of(bucket.spec.resource_type)
    return f"{unit.text(bucket.status.available)} of {unit.phrase(bucket.status.limit)} left"


def _listed(names: list[str]) -> str:
    more = len(names) - _MOST_NAMED
    return ", ".join(names[:_MOST_NAMED]) + (f" and {more} more" if more > 0 else "")


def _verb(names: list[str], one: str = "names", several: str = "name") -> str:
    return one if len(names) == 1 else several
