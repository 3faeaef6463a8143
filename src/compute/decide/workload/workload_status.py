"""The status of a Workload: its deployments summed by placement, and the worst cause reported.

A Workload is available while any Instance of it serves. A problem of the rest, such as a missing
network or a city that is not offered, is reported in addition and never instead.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

import msgspec

from compute.api.compute import (
    PlacementStatus,
    ReplicaCounts,
    Workload,
    WorkloadDeployment,
    WorkloadStatus,
)
from compute.api.conditions import ConditionType
from compute.api.reasons import Reason
from compute.decide import joins
from compute.decide.conditions import find, is_true, put
from compute.decide.deployment import drains
from compute.decide.deployment.rollup import progress
from compute.decide.generations import is_reported
from compute.decide.networking.network_use import Lack, relative_names
from compute.decide.overrides import city_pauses
from compute.decide.ranking import Candidate, ranked, worst
from compute.decide.workload.placement import Split, Unmatched
from kubekit.api.meta import Condition, ConditionStatus

_COUNTERS: Final = ReplicaCounts.__struct_fields__
_EMPTY_SPLIT: Final = Split()
_PASSING: Final = (ConditionType.DRAIN_SCHEDULED, ConditionType.PAUSED)  # removed when not True
_NO_LACK: Final = Lack()
_HELD_BACK: Final = "paused: template changes are held back until the workload is resumed"
_HELD_BACK_IN: Final = "paused in {}: template changes are held back there until resumed"


def workload_status(
    workload: Workload,
    deployments: Sequence[WorkloadDeployment],
    *,
    lack: Lack = _NO_LACK,
    split: Split = _EMPTY_SPLIT,
    now: datetime,
) -> WorkloadStatus:
    """The status that follows from all deployments, those being deleted included.

    ``lack`` are networks that the template names and cannot use. Of the ``split`` only what could not
    be placed counts: cities that are not offered, and names that another Workload uses.
    """
    generation, paused = workload.metadata.generation, _held_back(workload)
    parts = _parts(workload, deployments, split.unmatched)
    draining = drains.explained(deployments)
    networks = _networks(lack, workload.metadata.namespace)
    other_causes = [c for c in (*networks, _name_taken(split.taken)) if c]
    current = {p.name: p.conditions for p in workload.status.placements}
    placements = tuple(
        _placement_status(part, current.get(part.name, ()), generation, now) for part in parts
    )
    available = _available(parts, [*other_causes, *draining], paused)
    conditions = [available.condition(ConditionType.AVAILABLE, generation, now)]
    if paused:
        pause = Candidate("", Reason.PAUSED, paused, "True")
        conditions.append(pause.condition(ConditionType.PAUSED, generation, now))
    if draining:
        conditions.append(drains.summary(draining, generation, now))
    reported = {each.type for each in conditions}
    earlier = [
        c for c in workload.status.conditions if c.type in reported or c.type not in _PASSING
    ]
    return msgspec.structs.replace(
        workload.status,
        conditions=put(earlier, conditions, now),
        deployments=len(deployments),
        observed_generation=generation,
        placements=placements,
        **_sums(placements),
    )


@dataclass(frozen=True, slots=True)
class _Part:
    """One placement: its spec, and its deployments."""

    name: str
    cities: frozenset[str]  # empty once the placement has left the spec
    desired: int  # Instances, over all its cities
    unmatched: frozenset[str]
    deployments: tuple[WorkloadDeployment, ...]

    @property
    def available(self) -> bool:
        return any(map(_is_available, self.deployments))

    @property
    def unavailable_status(self) -> ConditionStatus:
        """The status of Available while no city is known to serve: Unknown if one is unreachable."""
        return "Unknown" if any(map(_is_unknown, self.deployments)) else "False"

    @property
    def wanted(self) -> list[WorkloadDeployment]:
        """The deployments that the spec names. Others are removed, at once or when they are replaced."""
        return [d for d in self.deployments if joins.placement_city(d)[1] in self.cities]

    @property
    def ready(self) -> int:
        return sum(d.status.ready_replicas for d in self.wanted)

    @property
    def nowhere(self) -> bool:
        return not self.deployments and self.cities <= self.unmatched


def _parts(
    workload: Workload, deployments: Iterable[WorkloadDeployment], unmatched: Iterable[Unmatched]
) -> list[_Part]:
    cities: dict[str, set[str]] = defaultdict(set)
    desired: dict[str, int] = defaultdict(int)
    for placement in workload.spec.placements:
        cities[placement.name].update(placement.city_codes)
        each = placement.scale_settings.min_replicas
        desired[placement.name] += len(set(placement.city_codes)) * each
    owned: dict[str, list[WorkloadDeployment]] = defaultdict(list)
    for deployment in deployments:
        owned[deployment.spec.placement_name].append(deployment)
    missing: dict[str, set[str]] = defaultdict(set)
    for city in unmatched:
        missing[city.placement].add(city.city)
    return [
        _Part(n, frozenset(cities[n]), desired[n], frozenset(missing[n]), tuple(owned[n]))
        for n in sorted(cities.keys() | owned.keys())
    ]


def _placement_status(
    part: _Part, current: Sequence[Condition], generation: int, now: datetime
) -> PlacementStatus:
    available = _placement_available(part).condition(ConditionType.AVAILABLE, generation, now)
    return PlacementStatus(
        name=part.name,
        conditions=put(current, (available,), now),
        **_sums([_counts(d, wanted=d in part.wanted) for d in part.deployments]),
    )


def _counts(deployment: WorkloadDeployment, *, wanted: bool) -> ReplicaCounts:
    """The counts of a deployment. Those of an older template do not count for the newest one.

    A deployment that the spec does not name may have Instances that serve; none of them is desired.
    """
    status = deployment.status
    if not wanted:
        status = msgspec.structs.replace(status, desired_replicas=0)
    if wanted and is_reported(deployment):
        return status
    return msgspec.structs.replace(status, updated_replicas=0, current_replicas=0)


def _sums(counted: Sequence[ReplicaCounts]) -> dict[str, int]:
    return {name: sum(getattr(each, name) for each in counted) for name in _COUNTERS}


def _placement_available(part: _Part) -> Candidate:
    text = _text([part], _causes([part], ()))
    if part.available:
        return Candidate("", Reason.AVAILABLE_DEPLOYMENT_FOUND, text, "True")
    if part.nowhere:
        return Candidate("", Reason.NO_MATCHING_LOCATIONS, text)
    return Candidate("", Reason.NO_AVAILABLE_DEPLOYMENTS, text, part.unavailable_status)


def _available(parts: Sequence[_Part], other_causes: Sequence[Candidate], paused: str) -> Candidate:
    causes = _causes(parts, other_causes)
    text = "; ".join(filter(None, (_text(parts, causes), paused, _held(parts))))
    if any(part.available for part in parts):
        return Candidate("", Reason.AVAILABLE_PLACEMENT_FOUND, text, "True")
    pointer = Reason.NO_AVAILABLE_PLACEMENTS
    reason = next((c.reason for c in causes if c.reason != pointer), pointer)
    is_unknown = any(part.unavailable_status == "Unknown" for part in parts)
    return Candidate("", reason, text, "Unknown" if is_unknown else "False")


def _held_back(workload: Workload) -> str:
    """Where the user holds template changes back; empty where nowhere."""
    if city_pauses.is_wholly_paused(workload):
        return _HELD_BACK
    cities = city_pauses.paused_cities(workload)
    return _HELD_BACK_IN.format(", ".join(cities)) if cities else ""


def _held(parts: Sequence[_Part]) -> str:
    """The deployments whose changes an operator of the hub holds back."""
    paused = (
        deployment.metadata.name
        for part in parts
        for deployment in part.deployments
        if is_true(deployment.status.conditions, ConditionType.PAUSED)
    )
    names = ", ".join(sorted(paused))
    return f"changes held back by an operator of the hub: {names}" if names else ""


def _text(parts: Sequence[_Part], causes: Iterable[Candidate]) -> str:
    count = progress(sum(p.ready for p in parts), sum(p.desired for p in parts))
    return "; ".join([count, *(cause.summary for cause in causes)])


def _causes(parts: Sequence[_Part], other_causes: Sequence[Candidate]) -> list[Candidate]:
    """Why not all of it is served, one cause of each kind, the highest rank first."""
    report = worst(_report(d) for part in parts for d in part.wanted if _is_short(d))
    lines = (report, _not_offered(parts), *other_causes)
    return ranked(line for line in lines if line)


def _is_available(deployment: WorkloadDeployment) -> bool:
    return is_true(deployment.status.conditions, ConditionType.AVAILABLE)


def _is_unknown(deployment: WorkloadDeployment) -> bool:
    available = find(deployment.status.conditions, ConditionType.AVAILABLE)
    return available is not None and available.status == "Unknown" and not deployment.deleting


def _is_short(deployment: WorkloadDeployment) -> bool:
    """Whether the deployment lacks ready Instances. A deleting one does not count."""
    status = deployment.status
    lacking = status.ready_replicas < status.desired_replicas or not _is_available(deployment)
    return lacking and not deployment.deleting


def _report(deployment: WorkloadDeployment) -> Candidate:
    name = deployment.metadata.name
    available = find(deployment.status.conditions, ConditionType.AVAILABLE)
    if available is None:
        return Candidate(name, Reason.NO_AVAILABLE_PLACEMENTS, "its cell has not reported yet")
    return Candidate(name, available.reason, available.message)


def _not_offered(parts: Sequence[_Part]) -> Candidate | None:
    """The cities that are not offered. They are the main reason only if a placement has no other."""
    cities = sorted({city for part in parts for city in part.unmatched})
    if not cities:
        return None
    nowhere = any(part.nowhere for part in parts)
    reason = Reason.NO_MATCHING_LOCATIONS if nowhere else Reason.NO_AVAILABLE_PLACEMENTS
    return Candidate("", reason, f"cities not offered to this project: {', '.join(cities)}")


def _networks(lack: Lack, namespace: str) -> Iterator[Candidate]:
    """The causes for networks that the template cannot use."""
    if lack.missing:
        names = ", ".join(relative_names(lack.missing, namespace))
        message = f"networks not found: {names} (create them, or name others in the template)"
        yield Candidate("", Reason.NETWORK_NOT_FOUND, message)
    if lack.terminating:
        names = ", ".join(relative_names(lack.terminating, namespace))
        message = (
            f"networks being deleted: {names} (what runs keeps running, and nothing new is attached; "
            "name others in the template)"
        )
        yield Candidate("", Reason.NETWORK_TERMINATING, message)


def _name_taken(taken: Iterable[WorkloadDeployment]) -> Candidate | None:
    names = ", ".join(d.metadata.name for d in taken)
    message = f"deployments that belong to another workload, or an earlier one: {names}"
    return Candidate("", Reason.DEPLOYMENT_NAME_TAKEN, message) if names else None
