"""The health of a Workload and of each of its cities, as one word and one sentence.

A city that still rolls out is judged by the phase of its rollout. Once that is done, the city is
judged by what runs there: a program that crashes a week later is no matter of the rollout.
"""

from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import Final

import msgspec
from msgspec.structs import replace

from compute.api.compute import Instance, Workload, WorkloadDeployment
from compute.api.conditions import ConditionType
from compute.api.reasons import Reason
from compute.decide import joins
from compute.decide.conditions import status_of
from compute.decide.explain import cause
from compute.decide.explain.titles import count
from compute.decide.progress import CityRow, Phase, Rollout


class CityState(StrEnum):
    """The state of a city, the worst first: the phases of a rollout, and its health after it."""

    FAILED = "Failed"
    DOWN = "Down"  # the rollout is done, and nothing is ready
    BLOCKED = "Blocked"
    UNREACHABLE = "Unreachable"
    DEGRADED = "Degraded"  # the rollout is done, and some Instances are not ready
    PENDING = "Pending"
    QUEUED = "Queued"
    UPDATING = "Updating"
    PAUSED = "Paused"
    DONE = "Done"


class HealthStatus(StrEnum):
    """The health of a Workload, the worst first."""

    UNAVAILABLE = "Unavailable"
    DEGRADED = "Degraded"
    UNKNOWN = "Unknown"
    DELETING = "Deleting"
    PROGRESSING = "Progressing"
    AVAILABLE = "Available"


_STATES: Final = tuple(CityState)
_HEALTHS: Final = tuple(HealthStatus)
_ILL: Final = frozenset({CityState.FAILED, CityState.DOWN, CityState.BLOCKED, CityState.DEGRADED})
MOVING: Final = frozenset({CityState.PENDING, CityState.QUEUED, CityState.UPDATING})

_OF_CONDITION: Final[dict[str, HealthStatus]] = {
    "True": HealthStatus.AVAILABLE,
    "False": HealthStatus.UNAVAILABLE,
    "Unknown": HealthStatus.UNKNOWN,
}


class CityHealth(msgspec.Struct, frozen=True):
    """The row of a city, with the cause where its rollout is done and something is not ready."""

    row: CityRow
    state: CityState


class WorkloadHealth(msgspec.Struct, frozen=True):
    """The health of a Workload, and a sentence about it."""

    health: HealthStatus
    message: str


def city_healths(
    rollout: Rollout,
    deployments: Iterable[WorkloadDeployment],
    instances: Sequence[Instance],
) -> tuple[CityHealth, ...]:
    """The health of each city of a rollout, in the order of its rows."""
    present = {joins.placement_city(d): d for d in deployments}
    return tuple(
        _city_health(row, present.get((row.placement, row.city)), instances) for row in rollout.rows
    )


def workload_health(workload: Workload, cities: Sequence[CityHealth]) -> WorkloadHealth:
    """The health of a Workload, from the health of its cities."""
    if workload.deleting:
        left = sum(c.row.updated + c.row.old for c in cities)
        return WorkloadHealth(
            HealthStatus.DELETING, f"being deleted, {count(left, 'instance')} left"
        )
    ill = [c for c in cities if c.state in _ILL]
    silent = [c for c in cities if c.state is CityState.UNREACHABLE]
    if ill:
        health = (
            HealthStatus.DEGRADED if any(c.row.ready for c in cities) else HealthStatus.UNAVAILABLE
        )
        return WorkloadHealth(health, _named(ill, silent))
    if silent:
        serves = any(c.row.ready for c in cities if c not in silent)
        return WorkloadHealth(
            HealthStatus.DEGRADED if serves else HealthStatus.UNKNOWN, _named(silent)
        )
    return WorkloadHealth(_quiet(workload, cities), _counted(cities))


def _quiet(workload: Workload, cities: Sequence[CityHealth]) -> HealthStatus:
    """The health where no city has a problem."""
    if any(c.state in MOVING for c in cities):
        return HealthStatus.PROGRESSING
    return _OF_CONDITION[status_of(workload.status.conditions, ConditionType.AVAILABLE)]


def worst_first(cities: Iterable[CityHealth]) -> tuple[CityHealth, ...]:
    """The cities, the worst first; equal ones in their order."""
    return tuple(sorted(cities, key=lambda city: _STATES.index(city.state)))


def severity(health: HealthStatus) -> int:
    """A sort key: the worst health first."""
    return _HEALTHS.index(health)


def _city_health(
    row: CityRow, deployment: WorkloadDeployment | None, instances: Sequence[Instance]
) -> CityHealth:
    found = cause.of_deployment(deployment, instances) if deployment else None
    if row.phase is not Phase.DONE or found is None:
        return CityHealth(row, CityState(row.phase.value))
    if found.reason == Reason.CELL_UNREACHABLE:
        state = CityState.UNREACHABLE
    else:
        state = CityState.DEGRADED if row.ready else CityState.DOWN
    why = replace(row, why=found.summary, reason=found.reason, since=found.since or row.since)
    return CityHealth(why, state)


def _named(*groups: Sequence[CityHealth]) -> str:
    """The cities of each state by name, the worst state first."""
    states: dict[CityState, list[str]] = {}
    for city in worst_first(city for group in groups for city in group):
        states.setdefault(city.state, []).append(city.row.city)
    return "; ".join(
        f"{', '.join(dict.fromkeys(codes))} {state.value.lower()}"
        for state, codes in states.items()
    )


def _counted(cities: Sequence[CityHealth]) -> str:
    ready, desired = sum(c.row.ready for c in cities), sum(c.row.desired for c in cities)
    named = len({c.row.city for c in cities})
    places = f"in {named} cities" if named != 1 else f"in {cities[0].row.city}"
    paused = [c.row.city for c in cities if c.state is CityState.PAUSED]
    held = f"; paused in {', '.join(dict.fromkeys(paused))}" if paused else ""
    return f"{ready} of {count(desired, 'instance')} ready {places}{held}"
