"""The facts of a rollout in one city, and what follows from them alone.

A rollout is done when the city runs what the Workload asks for. The status of a deployment alone
does not show that: its observed generation is counted by the cell, and does not name a template. A
minute after a new image was requested, the old status still reports that all is updated and ready.
So the Instances are checked too: each has the hash of the template it was created from.

- The cell *has observed* the spec once it counts the right number as desired, and either an Instance
  has the template's hash or the cell counts none as updated.
- The rollout *is done* when the Workload's controller has observed the generation, the deployment
  has its template and scale, the cell's counters show that all are updated and ready and none is
  left over, and the Instances agree.
"""

from datetime import datetime
from functools import cached_property

import msgspec

from compute.api import annotations
from compute.api.compute import Instance, ScaleSettings, WorkloadDeployment
from compute.decide.deployment.slots import is_ready
from compute.decide.deployment.template import recorded_hash, template_hash
from compute.decide.explain.cause import Cause
from kubekit.api import times


class CityProgress(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """The facts of one placement in one city."""

    placement: str
    city: str
    goal: str  # identifies what is requested: the generation, and the template of the city
    template: str  # the hash of the template that is asked for
    scale: ScaleSettings | None  # None when nothing is asked for here any more
    observed: bool  # the Workload's controller has observed the spec
    paused: bool
    above: tuple[Cause, ...]  # why there is no deployment, as the Workload reports it
    deployment: WorkloadDeployment | None
    instances: tuple[Instance, ...]

    @cached_property
    def updated(self) -> tuple[Instance, ...]:
        """Instances of the template that is asked for, without those being deleted."""
        return tuple(
            i for i in self.instances if not i.deleting and recorded_hash(i) == self.template
        )

    @cached_property
    def ready(self) -> int:
        """Instances that serve, of whatever template."""
        return sum(map(is_ready, self.instances))

    @cached_property
    def old(self) -> int:
        """Instances of another template, or being deleted."""
        return len(self.instances) - len(self.updated)

    @cached_property
    def desired(self) -> int:
        """How many Instances are requested: the least, or as many as the load requires."""
        if self.scale is None:
            return 0
        least = self.scale.min_replicas
        most = max(least, self.scale.max_replicas or least)
        reported = self.deployment.status.desired_replicas if self.deployment else least
        return min(max(least, reported), most)

    @cached_property
    def propagated(self) -> bool:
        """Whether the deployment has the template and scale of the Workload."""
        deployment = self.deployment
        return (
            deployment is not None
            and not deployment.deleting
            and deployment.spec.scale_settings == self.scale
            and template_hash(deployment.spec.template) == self.template
        )

    @cached_property
    def observed_by_cell(self) -> bool:
        """Whether the cell has observed the template and scale of the Workload."""
        if self.deployment is None or not self.propagated:
            return False
        status = self.deployment.status
        counts = status.observed_generation > 0 and status.desired_replicas == self.desired
        return counts and (bool(self.updated) or status.updated_replicas == 0)

    @cached_property
    def held_back(self) -> bool:
        """Whether a pause holds back an update."""
        if self.deployment is None or not self.paused:
            return False
        stale = any(not i.deleting and recorded_hash(i) != self.template for i in self.instances)
        return stale or template_hash(self.deployment.spec.template) != self.template

    @cached_property
    def done(self) -> bool:
        """Whether the city runs what is asked for, and nothing else."""
        if self.deployment is None or not (self.observed and self.observed_by_cell):
            return False
        status = self.deployment.status
        counted = {status.updated_replicas, status.replicas, len(self.updated), len(self.instances)}
        serving = min(status.ready_replicas, self.ready)
        return counted == {self.desired} and serving >= self.desired

    @cached_property
    def last_report(self) -> datetime | None:
        """When the cell last reported; None when that is not recorded."""
        return last_report(self.deployment) if self.deployment else None


def last_report(deployment: WorkloadDeployment) -> datetime | None:
    """When the cell of a deployment last reported; None where that is not recorded."""
    try:
        return times.parse(deployment.metadata.annotations.get(annotations.LAST_REPORT, ""))
    except times.TimeError:
        return None
