"""The facts of a healthy target, project, Workload and platform; a test changes what it is about."""

from collections.abc import Iterable
from datetime import timedelta
from typing import Any

from compute.api.compute import Instance, Workload, WorkloadDeployment
from compute.api.networking import LocationBinding, Network
from compute.api.quota import (
    AllowanceBucket,
    AllowanceBucketSpec,
    AllowanceBucketStatus,
    ObjectRef,
)
from compute.api.services import (
    ServiceEntitlement,
    ServiceEntitlementSpec,
    ServiceEntitlementStatus,
    ServiceRef,
)
from compute.decide.doctor import CheckStatus, Finding
from compute.decide.doctor.facts import (
    CellFacts,
    ProjectFacts,
    ServerFacts,
    Unread,
    WorkloadFacts,
    WorldFacts,
)
from compute.decide.progress import RolloutSnapshot
from compute.decide.workload import history
from kubekit.api.errors import Forbidden, NotFound
from kubekit.api.kinds.core import ConfigMap
from kubekit.api.meta import (
    ManagedFieldsEntry,
    ObjectMeta,
    OwnedFields,
    OwnedPart,
    with_metadata,
    with_status,
)
from tests.support.compute import workload_builders as neighbours
from tests.support.compute.builders import NOW, condition
from tests.support.compute.progress_builders import asked, given, running

ABSENT = Unread(NotFound("the server could not find the requested resource"))
FORBIDDEN = Unread(Forbidden("user may not list it"))
MINUTE = timedelta(minutes=1)


def server(**changes: Any) -> ServerFacts:
    known: dict[str, Any] = {
        "address": "https://server.test",
        "version": "1.34.0",
        "user": "ana",
        "time": NOW,
        "asked_at": NOW,
        "answered_at": NOW,
        "own_version": "0.1.0",
    }
    return ServerFacts(**(known | changes))


def bound(city: str, *said: Any) -> LocationBinding:
    """A city that is offered to the project."""
    made = neighbours.binding(city)
    return with_status(made, conditions=said or (condition("Available"),))


def network(name: str = "default", ready: str = "True", **meta: Any) -> Network:
    made = with_metadata(neighbours.network(name), **meta)
    said = condition("Ready", ready, "Reason", "it has no addresses")  # type: ignore[arg-type]  # of a test
    return with_status(made, conditions=(said,) if ready else ())


def bucket(kind: str, available: int, limit: int) -> AllowanceBucket:
    return AllowanceBucket(
        metadata=ObjectMeta(name=f"bucket-{kind}"),
        spec=AllowanceBucketSpec(
            consumer_ref=ObjectRef(kind="Project", name="shop"),
            resource_type=f"compute.datumapis.com/{kind}",
        ),
        status=AllowanceBucketStatus(available=available, limit=limit),
    )


def entitlement(phase: str = "Active", *said: Any) -> ServiceEntitlement:
    return ServiceEntitlement(
        metadata=ObjectMeta(name="compute", creation_timestamp=NOW),
        spec=ServiceEntitlementSpec(service_ref=ServiceRef(name="compute.datumapis.com")),
        status=ServiceEntitlementStatus(phase=phase, conditions=said),
    )


def project(*workloads: Workload, **changes: Any) -> ProjectFacts:
    known: dict[str, Any] = {
        "project": "shop",
        "namespace": "default",
        "workloads": workloads,
        "checked": workloads,
        "bindings": (bound("DFW"), bound("LHR")),
        "networks": (network(),),
        "buckets": (bucket("instances", 8, 10), bucket("vcpus", 4000, 10_000)),
        "entitlements": (entitlement(),),
        "others": {},
    }
    return ProjectFacts(**(known | changes))


def recorded(workload: Workload, *earlier: Workload, actor: str = "ana") -> ConfigMap:
    """The history of a Workload with these specs in their order, and its own as the last."""
    known: ConfigMap | None = None
    for each in (*earlier, workload):
        known = history.record(known, each, actor, NOW) or known
    assert known is not None
    return known


def written(by: str, ago: timedelta = timedelta(), **entry: Any) -> ManagedFieldsEntry:
    """That a tool wrote the spec."""
    fields = OwnedFields(spec=OwnedPart())
    known: dict[str, Any] = {"manager": by, "time": NOW - ago, "fields_v1": fields}
    return ManagedFieldsEntry(**(known | entry))


def facts(
    workload: Workload | None = None,
    deployments: tuple[WorkloadDeployment, ...] | None = None,
    instances: tuple[Instance, ...] | None = None,
    **changes: Any,
) -> WorkloadFacts:
    """The facts of a Workload that runs in DFW as it should."""
    of = workload or asked()
    present = (given(1, condition("Available")),) if deployments is None else deployments
    here = (running(),) if instances is None else instances
    known: dict[str, Any] = {
        "snapshot": RolloutSnapshot(of, present, here, NOW),
        "history": recorded(of),
    }
    return WorkloadFacts(**(known | changes))


def world(**changes: Any) -> WorldFacts:
    known: dict[str, Any] = {
        "data": "/srv/world",
        "pid": 7,
        "started": True,
        "left_state": False,
        "url": "https://127.0.0.1:7",
        "answers": True,
        "free_bytes": 5 * 1024**3,
        "log": "/srv/world/up.log",
        "errors": (),
        "others": (),
        "cells": (cell(),),
        "options": " --data /srv/world",
    }
    return WorldFacts(**(known | changes))


def cell(name: str = "dfw", city: str = "DFW", **changes: Any) -> CellFacts:
    known: dict[str, Any] = {"ready": True, "cut": False, "message": ""}
    return CellFacts(name, city, **(known | changes))


def bad(findings: Iterable[Finding]) -> list[tuple[str, str, str, str]]:
    """Check, status, detail and cure of all that did not pass."""
    return [
        (f.check.value, f.status.value, f.detail, f.cure)
        for f in findings
        if f.status is not CheckStatus.PASSED
    ]


def said(finding: Finding) -> tuple[str, str, str]:
    """Status, detail and cure of one finding."""
    return finding.status.value, finding.detail, finding.cure
