"""A rollout as people watch it: one row for each placement and city, and one verdict over all.

Each look is compared with the one before, because "nothing has moved for half a minute" cannot be
read from any single state. Rows are made for every place that the Workload asks for, whether or not
a deployment exists there, and for every deployment that it no longer asks for: a rollout that
nobody has started is not finished, and neither is one that still has to clear up.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import Final

from compute.api.compute import Instance, Workload, WorkloadDeployment
from compute.decide import joins
from compute.decide.deployment.template import template_hash
from compute.decide.explain import cause
from compute.decide.progress.city import CityProgress
from compute.decide.progress.phases import CityRow, Phase, PhaseTimeouts, judge
from compute.decide.workload.placement import is_paused

_DEFAULT: Final = PhaseTimeouts()


class RolloutVerdict(StrEnum):
    """What a rollout has come to, the worst first. Only failed and done are final."""

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


@dataclass(frozen=True, slots=True)
class RolloutSnapshot:
    """What one look at a project showed. All objects are the project's own or its projections."""

    workload: Workload
    deployments: tuple[WorkloadDeployment, ...]
    instances: tuple[Instance, ...]
    at: datetime


@dataclass(frozen=True, slots=True)
class Rollout:
    """The rows, in the order of the Workload's spec, as they were seen at one instant."""

    rows: tuple[CityRow, ...]
    at: datetime

    def only(self, cities: Collection[str]) -> "Rollout":
        """The rollout in these cities alone."""
        return replace(self, rows=tuple(row for row in self.rows if row.city in cities))


def observe(
    sighting: RolloutSnapshot, before: Rollout | None = None, patience: PhaseTimeouts = _DEFAULT
) -> Rollout:
    """How the rollout stands, given how it stood when it was last looked at."""
    earlier = {(row.placement, row.city): row for row in before.rows} if before else {}
    rows = (
        judge(city, earlier.get((city.placement, city.city)), sighting.at, patience)
        for city in _cities(sighting)
    )
    return Rollout(tuple(rows), sighting.at)


def verdict(rollout: Rollout, now: datetime, patience: PhaseTimeouts = _DEFAULT) -> RolloutVerdict:
    """What the rollout has come to, as far as is known at ``now``.

    A look that is too old says nothing of a rollout that may have gone on since: whoever keeps
    failing to look must not go on saying what was true before.
    """
    known = min(
        (_OF_PHASE[row.phase] for row in rollout.rows),
        key=_ORDER.index,
        default=RolloutVerdict.DONE,
    )
    lost = now - rollout.at > patience.contact
    return RolloutVerdict.UNKNOWN if lost and known not in _FINAL else known


def _cities(sighting: RolloutSnapshot) -> Iterator[CityProgress]:
    workload = sighting.workload
    uid, generation = workload.metadata.uid, workload.metadata.generation
    asked = joins.expected(workload)
    there = {joins.place(d): d for d in sighting.deployments if d.spec.workload_ref.uid == uid}
    running = _by_deployment(sighting.instances)
    template = template_hash(workload.spec.template)
    for place in (*asked, *sorted(there.keys() - asked.keys())):
        deployment = there.get(place)
        yield CityProgress(
            placement=place[0],
            city=place[1],
            goal=f"{uid}/{generation}",
            template=template,
            scale=asked.get(place),
            taken_up=workload.status.observed_generation == generation,
            paused=is_paused(workload),
            above=() if deployment else tuple(cause.above(workload, place[0])),
            deployment=deployment,
            instances=running[deployment.metadata.name] if deployment else (),
        )


def _by_deployment(instances: Iterable[Instance]) -> Mapping[str, tuple[Instance, ...]]:
    found: defaultdict[str, tuple[Instance, ...]] = defaultdict(tuple)
    for instance in sorted(instances, key=joins.order):
        found[joins.deployment_name(instance)] += (instance,)
    return found
