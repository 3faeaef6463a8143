"""The input of `progress`: a Workload, its deployments, and projected Instances."""

from datetime import datetime, timedelta
from typing import Any

import msgspec

from compute.api import annotations, labels, names
from compute.api.compute import (
    Instance,
    Placement,
    PlacementStatus,
    Workload,
    WorkloadDeployment,
    WorkloadDeploymentStatus,
    WorkloadStatus,
)
from compute.decide.deployment.template import template_hash
from compute.decide.progress import Rollout, RolloutSnapshot, observe
from compute.decide.progress.phases import CityRow, Phase
from kubekit.api.meta import Condition, ConditionStatus
from tests.support.compute.builders import NOW, condition, deployment, instance, template, workload

OLD, NEW = "registry.test/web:1", "registry.test/web:2"
NOTHING_RUNS = {"ready_replicas": 0, "replicas": 0, "updated_replicas": 0}
SECOND = timedelta(seconds=1)
LATER = NOW + 45 * SECOND  # past the patience for a stall
BROKEN = condition("Ready", "Unknown", "ImageUnavailable", "manifest unknown", since=NOW)


def asked(
    *placements: Placement,
    generation: int = 2,
    observed: int | None = None,
    paused: bool = False,
    said: Condition | None = None,
    of_placement: Condition | None = None,
) -> Workload:
    """The Workload ``web`` with the new image."""
    bare = workload("web", *placements, template=template(NEW))
    known = {annotations.PAUSED: "true"} if paused else {}
    status = WorkloadStatus(
        observed_generation=generation if observed is None else observed,
        conditions=(said,) if said else (),
        placements=(PlacementStatus(name="home", conditions=(of_placement,)),)
        if of_placement
        else (),
    )
    meta = msgspec.structs.replace(bare.metadata, generation=generation, annotations=known)
    return msgspec.structs.replace(bare, metadata=meta, status=status)


def given(
    replicas: int = 1,
    *said: Condition,
    image: str = NEW,
    city: str = "DFW",
    placement: str = "home",
    counters: dict[str, int] | None = None,
    **meta: Any,
) -> WorkloadDeployment:
    """A deployment whose cell says that all is well, except as ``said`` and ``counters`` say."""
    name = names.deployment("web", placement, city)
    bare = deployment(replicas, image=image, name=name, namespace="default", **meta)
    spec = msgspec.structs.replace(bare.spec, city_code=city, placement_name=placement)
    settled: dict[str, Any] = {
        "desired_replicas": replicas,
        "observed_generation": 41,
        "ready_replicas": replicas,
        "replicas": replicas,
        "updated_replicas": replicas,
    }
    status = WorkloadDeploymentStatus(conditions=said, **(settled | (counters or {})))
    return msgspec.structs.replace(bare, spec=spec, status=status)


def running(
    ordinal: int = 0,
    *said: Condition,
    image: str = NEW,
    city: str = "DFW",
    placement: str = "home",
    gates: tuple[str, ...] = (),
    **meta: Any,
) -> Instance:
    """A projected Instance that is Ready, except as ``said`` says."""
    owner = names.deployment("web", placement, city)
    known: dict[str, Any] = {
        "name": names.instance(owner, ordinal),
        "namespace": "default",
        "labels": {
            labels.DEPLOYMENT_NAME: owner,
            labels.WORKLOAD_NAME: "web",
            labels.CITY_CODE: city,
        },
    }
    return instance(
        ordinal,
        conditions=said or (condition("Ready"),),
        template_hash=template_hash(template(image)),
        gates=gates,
        **(known | meta),
    )


def not_ready(
    reason: str = "Provisioning",
    message: str = "",
    *,
    status: ConditionStatus = "False",
    since: datetime = NOW,
) -> Condition:
    return condition("Ready", status, reason, message, since=since)


def unavailable(reason: str, message: str = "", *, since: datetime = NOW) -> Condition:
    return condition("Available", "False", reason, message, since=since)


def look(
    of: Workload | None = None,
    deployments: tuple[WorkloadDeployment, ...] = (),
    instances: tuple[Instance, ...] = (),
    at: datetime = NOW,
) -> RolloutSnapshot:
    return RolloutSnapshot(of or asked(), deployments, instances, at)


def row_of(sighting: RolloutSnapshot, before: Rollout | None = None) -> CityRow:
    """The row of a Workload with one placement in one city."""
    (row,) = observe(sighting, before).rows
    return row


def phase_and_text(
    sighting: RolloutSnapshot, before: Rollout | None = None
) -> tuple[Phase, str, str]:
    """Phase, text and reason of the only row."""
    row = row_of(sighting, before)
    return row.phase, row.why, row.reason


def numbers(sighting: RolloutSnapshot) -> tuple[int, int, int, int]:
    """Updated, ready, old and desired of the only row."""
    row = row_of(sighting)
    return row.updated, row.ready, row.old, row.desired
