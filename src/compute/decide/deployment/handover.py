"""Handovers: deployments that the spec no longer names serve until their replacements do.

A user who changes a city or renames a placement removes one deployment and adds another. Among
several it is unknown which new one replaces which old one. So an old deployment waits for all that
were missing when it left the spec: it keeps running until they serve in full, or have made no progress
for a while. Where none is missing, a city was merely removed, and its deployment is removed at once.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

import msgspec

from compute.api.compute import WorkloadDeployment
from compute.api.conditions import ConditionType
from compute.api.reasons import Reason
from compute.decide.conditions import find
from compute.decide.deployment import drains
from compute.decide.deployment.drains import Drain, Grace
from compute.decide.generations import is_reported
from kubekit.api.meta import with_spec

Deployments = Mapping[str, WorkloadDeployment]  # by name


def retained(
    leaving: Iterable[WorkloadDeployment],
    wanted: Collection[str],
    present: Deployments,
    now: datetime,
    grace: Grace,
) -> dict[str, WorkloadDeployment]:
    """The deployments that keep running although the spec does not name them, with their drains.

    ``leaving`` are all deployments that the spec does not name. ``wanted`` are the names that follow
    from the spec, and ``present`` the deployments that exist.
    """
    new = _New(frozenset(wanted), present)
    drained = {
        old.metadata.name: drains.stamped(old, drain)
        for old in leaving
        if (drain := _drain(old, new, now, grace))
    }
    return _sharing_quota(drained, new, now + grace.replacement)


@dataclass(frozen=True, slots=True)
class _New:
    """The deployments that the spec names, whether they exist or not."""

    wanted: frozenset[str]
    present: Deployments

    @property
    def missing(self) -> frozenset[str]:
        return self.wanted - self.present.keys()

    def existing(self, names: Collection[str]) -> list[WorkloadDeployment]:
        return [self.present[name] for name in names if name in self.present]

    def ready(self, names: Collection[str]) -> int:
        """How many Instances of these deployments serve."""
        return sum(each.status.ready_replicas for each in self.existing(names))

    def serve(self, names: Collection[str]) -> bool:
        """Whether each of these deployments exists and serves in full."""
        deployments = self.existing(names)
        return len(deployments) == len(names) and all(map(_serves, deployments))


def _drain(old: WorkloadDeployment, new: _New, now: datetime, grace: Grace) -> Drain | None:
    """The drain of a deployment that keeps running; None when it is removed now.

    A deployment that has no ready Instance has nothing to hand over.
    """
    present = drains.of(old, Reason.REPLACEMENT_PENDING)
    if present is None and old.status.ready_replicas == 0:
        return None
    drain = present or Drain(Reason.REPLACEMENT_PENDING, now, replicas=_size(old))
    by = new.missing.union(drain.by).intersection(new.wanted)
    if new.serve(by):
        return None
    ready = new.ready(by)
    if by.issubset(drain.by):  # it waits for no new deployment
        if now < drain.at:
            return drain
        if ready <= drain.ready:
            return None
    at, names = now + grace.replacement, tuple(sorted(by))
    return msgspec.structs.replace(drain, at=at, by=names, ready=ready)


def _serves(new: WorkloadDeployment) -> bool:
    status = new.status
    return is_reported(new) and status.ready_replicas >= status.desired_replicas


def _sharing_quota(
    drained: dict[str, WorkloadDeployment], new: _New, at: datetime
) -> dict[str, WorkloadDeployment]:
    """The same deployments, with one Instance less if the quota does not allow old and new at once.

    One old Instance is given up at first, and another each time that more new ones are ready. So all
    but one of the former number serve at any time, and a repeated reconcile pass gives up none.
    """
    records = {name: drain for name, old in drained.items() if (drain := drains.of(old))}
    by = frozenset(name for drain in records.values() for name in drain.by)
    ready, sizes = new.ready(by), {name: _size(old) for name, old in drained.items()}
    givers = [name for name in sorted(sizes) if sizes[name] > 0]
    is_due = all(ready > drain.given_at for drain in records.values())
    if not (givers and is_due and any(map(_lacks_quota, new.existing(by)))):
        return drained
    giver = givers[-1]
    drain = msgspec.structs.replace(records[giver], at=at, ready=ready, given_at=ready)
    return drained | {giver: drains.stamped(_scaled(drained[giver], sizes[giver] - 1), drain)}


def _lacks_quota(new: WorkloadDeployment) -> bool:
    condition = find(new.status.conditions, ConditionType.REPLICAS_READY)
    return (
        condition is not None
        and condition.status == "False"
        and condition.reason == Reason.QUOTA_EXCEEDED
    )


def _size(old: WorkloadDeployment) -> int:
    return old.spec.scale_settings.min_replicas


def _scaled(old: WorkloadDeployment, replicas: int) -> WorkloadDeployment:
    scale = msgspec.structs.replace(old.spec.scale_settings, min_replicas=replicas)
    return with_spec(old, scale_settings=scale)
