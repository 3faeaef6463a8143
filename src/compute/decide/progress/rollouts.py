"""The progress of a rollout: one row for each placement and city, and one verdict over all.

Each snapshot is compared with the previous one, because "no progress for half a minute" cannot be
read from a single state. Every placement and city of the spec has a row, even without a deployment:
a rollout that has not started is not finished. Every deployment that the spec no longer names has
one too: a rollout that still has to remove something is not finished either.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from datetime import datetime
from enum import StrEnum
from typing import Final

import msgspec
from msgspec.structs import replace

from compute.api.compute import Instance, Workload, WorkloadDeployment
from compute.decide import joins
from compute.decide.explain import cause
from compute.decide.overrides import CityTemplates, is_paused
from compute.decide.progress.city import CityProgress
from compute.decide.progress.phases import CityRow, Phase, PhaseTimeouts, judge

_DEFAULT: Final = PhaseTimeouts()


class RolloutVerdict(StrEnum):
    """The verdict on a rollout, the worst first. Only failed and done are final."""

    FAILED = "failed"
    BLOCKED = "blocked"
    PROGRESSING = "progressing"
    PAUSED = "paused"
    UNKNOWN = "unknown"
    DONE = "done"


_OF_PHASE: Final = {
    Phase.QUEUED: RolloutVerdict.PROGRESSING,
    Phase.PENDING: RolloutVerdict.PROGRESSING,
    Phase.UPDATING: RolloutVerdict.PROGRESSING,
    Phase.BLOCKED: RolloutVerdict.BLOCKED,
    Phase.PAUSED: RolloutVerdict.PAUSED,
    Phase.FAILED: RolloutVerdict.FAILED,
    Phase.DONE: RolloutVerdict.DONE,
    Phase.UNREACHABLE: RolloutVerdict.UNKNOWN,
}
_ORDER: Final = tuple(RolloutVerdict)
_FINAL: Final = frozenset({RolloutVerdict.FAILED, RolloutVerdict.DONE})


class RolloutSnapshot(msgspec.Struct, frozen=True):
    """The objects of a project at one instant: its own, and projections."""

    workload: Workload
    deployments: tuple[WorkloadDeployment, ...]
    instances: tuple[Instance, ...]
    at: datetime


class Rollout(msgspec.Struct, frozen=True):
    """The rows, in the order of the Workload's spec, as they were seen at one instant."""

    rows: tuple[CityRow, ...]
    at: datetime

    def only(self, cities: Collection[str]) -> "Rollout":
        """The rollout in these cities alone."""
        return replace(self, rows=tuple(row for row in self.rows if row.city in cities))


def observe(
    snapshot: RolloutSnapshot, before: Rollout | None = None, timeouts: PhaseTimeouts = _DEFAULT
) -> Rollout:
    """The rollout in this snapshot, given the rollout in the previous one."""
    earlier = {(row.placement, row.city): row for row in before.rows} if before else {}
    rows = (
        judge(city, earlier.get((city.placement, city.city)), snapshot.at, timeouts)
        for city in _cities(snapshot)
    )
    return Rollout(tuple(rows), snapshot.at)


def held_back(snapshot: RolloutSnapshot) -> tuple[str, ...]:
    """The cities where a pause holds back an update, in the order of the spec."""
    return tuple(dict.fromkeys(city.city for city in _cities(snapshot) if city.held_back))


def verdict(rollout: Rollout, now: datetime, timeouts: PhaseTimeouts = _DEFAULT) -> RolloutVerdict:
    """The verdict on the rollout, as far as it is known at ``now``.

    A snapshot that is too old shows nothing of a rollout that may have changed since: a client that
    cannot take a new one must not keep reporting the old one.
    """
    known = min(
        (_OF_PHASE[row.phase] for row in rollout.rows),
        key=_ORDER.index,
        default=RolloutVerdict.DONE,
    )
    lost = now - rollout.at > timeouts.contact
    return RolloutVerdict.UNKNOWN if lost and known not in _FINAL else known


def _cities(snapshot: RolloutSnapshot) -> Iterator[CityProgress]:
    workload = snapshot.workload
    uid, generation = workload.metadata.uid, workload.metadata.generation
    expected = joins.expected(workload)
    present = {
        joins.placement_city(d): d for d in snapshot.deployments if d.spec.workload_ref.uid == uid
    }
    running = _by_deployment(snapshot.instances)
    templates = CityTemplates(workload)
    for key in (*expected, *sorted(present.keys() - expected.keys())):
        deployment, template = present.get(key), templates.hash_of(key[1])
        yield CityProgress(
            placement=key[0],
            city=key[1],
            goal=f"{uid}/{generation}/{template}",
            template=template,
            scale=expected.get(key),
            observed=workload.status.observed_generation == generation,
            paused=is_paused(workload, key[1]),
            above=() if deployment else tuple(cause.above(workload, key[0])),
            deployment=deployment,
            instances=running.get(deployment.metadata.name, ()) if deployment else (),
        )


def _by_deployment(instances: Iterable[Instance]) -> Mapping[str, tuple[Instance, ...]]:
    by_deployment: defaultdict[str, list[Instance]] = defaultdict(list)
    for instance in sorted(instances, key=joins.order):
        by_deployment[joins.deployment_name(instance)].append(instance)
    return {name: tuple(own) for name, own in by_deployment.items()}
