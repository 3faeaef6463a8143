"""Instances as people read them: where each runs, its state with the cause, and its revision."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Final

import msgspec

from compute.api import labels, names
from compute.api.compute import Instance, Workload, WorkloadDeployment
from compute.api.instance_spec import InstanceSpec, Runtime
from compute.api.networking import NetworkBinding
from compute.decide import joins
from compute.decide.instance_state import InstanceState, standing
from compute.decide.workload.running_revisions import RunningRevision, RunningRevisions
from compute.views.view import View
from kubekit.api.kinds.core import ConfigMap

SANDBOX: Final = "sandbox"
VIRTUAL_MACHINE: Final = "virtual-machine"
_UNKNOWN_REVISION: Final = RunningRevision()

Histories = Mapping[str, ConfigMap | None]
"""The history of each Workload, by its name; None where it cannot be read."""


class InstanceView(View, frozen=True, kw_only=True):
    """One Instance.

    ``reported_at`` is the age of all of it where the cell is unreachable; None where the cell reports.
    ``revision`` is the one whose template it runs; ``outdated`` if another template is asked for.
    """

    name: str
    workload: str
    placement: str
    city: str
    cell: str
    state: InstanceState
    status: str
    reason: str
    message: str
    since: datetime | None
    internal_ip: str | None
    external_ip: str | None
    type: str
    instance_type: str
    images: str
    revision: int | None
    outdated: bool
    created_at: datetime | None
    reported_at: datetime | None


class InstanceChange(View, frozen=True, kw_only=True):
    """What happened to an Instance: added, changed or gone."""

    change: str
    instance: InstanceView


class InstanceFilter(msgspec.Struct, frozen=True):
    """The Instances that are wanted. What is empty admits all."""

    workload: str = ""
    cities: Sequence[str] = ()
    states: Sequence[InstanceState] = ()

    def admits(self, view: InstanceView) -> bool:
        return (
            (not self.workload or view.workload == self.workload)
            and (not self.cities or view.city in self.cities)
            and (not self.states or view.state in self.states)
        )


class InstanceContext(msgspec.Struct, frozen=True):
    """What is known about an Instance besides itself."""

    deployment: WorkloadDeployment | None = None
    revisions: RunningRevisions | None = None
    binding: NetworkBinding | None = None
    can_undo: bool = True  # whether the Workload has an earlier healthy revision, if that is known


def instance_view(instance: Instance, known: InstanceContext, now: datetime) -> InstanceView:
    """One Instance as it is now."""
    meta, spec = instance.metadata, instance.spec
    judged = standing(instance, known.deployment, known.binding, now=now)
    runs = known.revisions.of(instance) if known.revisions else _UNKNOWN_REVISION
    internal, external = addresses(instance)
    return InstanceView(
        name=meta.name,
        workload=joins.workload_name(instance),
        placement=_placement(instance),
        city=joins.city(instance),
        cell=meta.labels.get(labels.SOURCE_CLUSTER, ""),
        state=judged.state,
        status=judged.text,
        reason=judged.reason,
        message=judged.message,
        since=judged.since,
        internal_ip=internal,
        external_ip=external,
        type=runtime_type(spec.runtime),
        instance_type=spec.runtime.resources.instance_type,
        images=images(spec),
        revision=runs.number,
        outdated=runs.outdated,
        created_at=meta.creation_timestamp,
        reported_at=judged.last_report,
    )


def instance_views(
    workloads: Iterable[Workload],
    deployments: Iterable[WorkloadDeployment],
    instances: Iterable[Instance],
    histories: Histories,
    now: datetime,
) -> tuple[InstanceView, ...]:
    """The Instances by Workload, city, placement and ordinal."""
    by_name = {deployment.metadata.name: deployment for deployment in deployments}
    running = {
        workload.metadata.name: RunningRevisions(workload, histories.get(workload.metadata.name))
        for workload in workloads
    }
    views = (
        instance_view(
            instance,
            InstanceContext(
                by_name.get(joins.deployment_name(instance)),
                running.get(joins.workload_name(instance)),
            ),
            now,
        )
        for instance in instances
    )
    return tuple(sorted(views, key=_order))


def addresses(instance: Instance) -> tuple[str | None, str | None]:
    """The first internal and the first external address; None where there is none yet."""
    assigned = [each.assignments for each in instance.status.network_interfaces]
    internal = next((a.network_ip for a in assigned if a.network_ip), None)
    external = next((a.external_ip for a in assigned if a.external_ip), None)
    return internal, external


def runtime_type(runtime: Runtime) -> str:
    """Whether it is a sandbox of containers or a virtual machine."""
    return SANDBOX if runtime.sandbox else VIRTUAL_MACHINE


def images(spec: InstanceSpec) -> str:
    """The images of its containers; empty for a virtual machine."""
    sandbox = spec.runtime.sandbox
    return ", ".join(container.image for container in sandbox.containers) if sandbox else ""


def _placement(instance: Instance) -> str:
    known = instance.metadata.labels.get(labels.PLACEMENT_NAME)
    parts = names.deployment_parts(joins.deployment_name(instance))
    return known or (parts[1] if parts else "")


def _order(view: InstanceView) -> tuple[str, str, str, int, str]:
    parts = names.instance_parts(view.name)
    return view.workload, view.city, view.placement, parts[1] if parts else 0, view.name
