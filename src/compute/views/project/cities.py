"""Cities as people read them: which the project can use, why not the others, and what runs there."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from compute.api import labels
from compute.api.cities import CITIES
from compute.api.compute import Instance, Workload, WorkloadDeployment
from compute.api.conditions import ConditionType
from compute.api.networking import LocationBinding
from compute.api.reasons import NOTHING_TO_DO, KnownReason, Reason, describe
from compute.decide import joins
from compute.decide.conditions import find
from compute.decide.deployment.slots import is_ready
from compute.decide.explain.titles import fill_in
from compute.views.view import View
from kubekit.api.meta import Condition


class CityUsability(StrEnum):
    """Whether a project can use a city."""

    READY = "ready"
    UNREACHABLE = "unreachable"  # offered, and no cell of it answers
    UNKNOWN = "unknown"  # offered, and nothing is known of its cells yet
    WITHDRAWN = "withdrawn"  # not offered any more, and workloads name it
    NOT_OFFERED = "not offered"


class SiteView(View, frozen=True, kw_only=True):
    """A site, which is a cell, that runs instances of the project."""

    name: str
    instances: int
    ready: int


class CityOfferView(View, frozen=True, kw_only=True):
    """A city. ``note`` is why it cannot be used; ``reported_at`` is the age of what is known of it."""

    code: str
    name: str
    country: str
    region: str
    state: CityUsability
    reason: str
    note: str
    since: datetime | None
    location: str
    location_class: str
    sites: tuple[SiteView, ...]
    instances: int
    ready: int
    workloads: tuple[str, ...]
    reported_at: datetime | None
    next_step: str

    @property
    def place(self) -> str:
        """Where the city is: its region, else its country."""
        return self.region or self.country


@dataclass(frozen=True, slots=True, kw_only=True)
class CityObjects:
    """What views of cities are made of. ``bindings`` is None where the server serves no locations."""

    bindings: Sequence[LocationBinding] | None
    workloads: Sequence[Workload] = ()
    deployments: Sequence[WorkloadDeployment] = ()
    instances: Sequence[Instance] = ()


def city_offers(objects: CityObjects, *, everywhere: bool = False) -> tuple[CityOfferView, ...]:
    """The cities that the project is offered or uses, by code; with ``everywhere`` all others too."""
    bindings = _by_city(objects.bindings or ())
    used = _used(objects)
    others = CITIES if everywhere else ()
    codes = sorted({*bindings, *used, *others})
    return tuple(_offer(code, bindings.get(code), objects) for code in codes)


def found(word: str, cities: Iterable[CityOfferView]) -> CityOfferView | None:
    """The city that a user means: by code, by name, or by the name of its location."""
    typed = word.casefold()
    return next(
        (c for c in cities if typed in {c.code.casefold(), c.name.casefold(), c.location}), None
    )


def usable(cities: Iterable[CityOfferView]) -> tuple[str, ...]:
    """The codes of the cities that the project is offered."""
    offered = (CityUsability.READY, CityUsability.UNREACHABLE, CityUsability.UNKNOWN)
    return tuple(city.code for city in cities if city.state in offered)


def _by_city(bindings: Iterable[LocationBinding]) -> dict[str, LocationBinding]:
    """The best binding of each city. A binding without a city offers none."""
    by_city: dict[str, LocationBinding] = {}
    for binding in sorted(bindings, key=lambda b: (not _is_available(b), b.metadata.name)):
        code = binding.spec.topology.get(labels.TOPOLOGY_CITY_CODE, "")
        if code:
            by_city.setdefault(code, binding)
    return by_city


def _is_available(binding: LocationBinding) -> bool:
    condition = find(binding.status.conditions, ConditionType.AVAILABLE)
    return condition is not None and condition.status == "True"


def _used(objects: CityObjects) -> Collection[str]:
    """The cities that the project names, or runs instances in."""
    named = {city for workload in objects.workloads for _, city in joins.expected(workload)}
    there = {joins.city(each) for each in objects.instances}
    return {code for code in (*named, *there) if code}


def _offer(code: str, binding: LocationBinding | None, objects: CityObjects) -> CityOfferView:
    there = [each for each in objects.instances if joins.city(each) == code]
    workloads = _workloads(code, there, objects.workloads)
    verdict = _verdict(binding, used=bool(there or workloads))
    if objects.bindings is None:  # an older server, which may well offer it
        verdict = _Verdict(CityUsability.UNKNOWN, "", "The server does not report locations.")
    known, silence = CITIES.get(code), _silence(code, objects.deployments)
    topology = binding.spec.topology if binding else {}
    step = describe(verdict.reason)
    return CityOfferView(
        code=code,
        name=(binding.spec.display_name if binding else "") or (known.name if known else code),
        country=topology.get(labels.TOPOLOGY_COUNTRY) or (known.country if known else ""),
        region=topology.get(labels.TOPOLOGY_REGION, ""),
        state=verdict.state,
        reason=verdict.reason,
        note=verdict.note or (_note(silence.message, silence.reason) if silence else ""),
        since=verdict.since,
        location=binding.spec.location_ref.name if binding else "",
        location_class=binding.spec.location_class_name if binding else "",
        sites=_sites(there),
        instances=len(there),
        ready=sum(map(is_ready, there)),
        workloads=workloads,
        reported_at=silence.last_transition_time if silence else None,
        next_step=_next_step(step, code) if step else "",
    )


@dataclass(frozen=True, slots=True)
class _Verdict:
    state: CityUsability
    reason: str = ""
    note: str = ""
    since: datetime | None = None


def _verdict(binding: LocationBinding | None, *, used: bool) -> _Verdict:
    """Whether a city can be used, and why not."""
    if binding is None:
        reason = Reason.CITY_WITHDRAWN if used else Reason.NO_MATCHING_LOCATIONS
        if used:
            return _Verdict(
                CityUsability.WITHDRAWN, reason, "Workloads name it, and it is not offered."
            )
        return _Verdict(CityUsability.NOT_OFFERED, reason, "It is not offered to the project.")
    condition = find(binding.status.conditions, ConditionType.AVAILABLE)
    if condition is None:
        return _Verdict(CityUsability.UNKNOWN, Reason.PENDING, "Nothing is known of it yet.")
    since = condition.last_transition_time
    if condition.status == "True":
        return _Verdict(CityUsability.READY, since=since)
    unknown = condition.status == "Unknown"
    state = CityUsability.UNKNOWN if unknown else CityUsability.UNREACHABLE
    return _Verdict(state, condition.reason, _note(condition.message, condition.reason), since)


def _note(message: str, reason: str) -> str:
    known = describe(reason)
    text = " ".join(message.split()) or (known.meaning if known else reason)
    return text if text.endswith(".") else f"{text}."


def _next_step(reason: KnownReason, code: str) -> str:
    """What to do about it. A reader of the city's own page is not sent there again."""
    if reason is Reason.CELL_UNREACHABLE:
        return "The operators of the cell have to restore it; what runs there keeps running."
    return "" if reason.next_step == NOTHING_TO_DO else fill_in(reason.next_step, CITY=code)


def _workloads(
    code: str, there: Iterable[Instance], workloads: Iterable[Workload]
) -> tuple[str, ...]:
    naming = {
        each.metadata.name
        for each in workloads
        if any(city == code for _, city in joins.expected(each))
    }
    return tuple(sorted(naming.union(filter(None, map(joins.workload_name, there)))))


def _sites(there: Sequence[Instance]) -> tuple[SiteView, ...]:
    by_site: dict[str, list[Instance]] = {}
    for each in there:
        by_site.setdefault(each.metadata.labels.get(labels.SOURCE_CLUSTER, ""), []).append(each)
    return tuple(
        SiteView(name=name, instances=len(by_site[name]), ready=sum(map(is_ready, by_site[name])))
        for name in sorted(by_site)
        if name
    )


def _silence(code: str, deployments: Iterable[WorkloadDeployment]) -> Condition | None:
    """The condition by which a deployment in the city reports that its cell is silent.

    Its time is that of the last report.
    """
    there = (each for each in deployments if each.spec.city_code == code)
    conditions = (find(each.status.conditions, ConditionType.AVAILABLE) for each in there)
    silent = [c for c in conditions if c is not None and c.reason == Reason.CELL_UNREACHABLE]
    return max(silent, key=lambda condition: condition.last_transition_time, default=None)
