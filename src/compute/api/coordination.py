"""coordination.k8s.io/v1: Lease, by which processes agree on who leads, or show that they live."""

from typing import ClassVar, Literal

import msgspec

from compute.api.meta import Object
from compute.api.resource import AGE, Column, Resource
from compute.api.times import MicroTime
from compute.api.wire import Wire, always


class LeaseSpec(Wire, frozen=True, kw_only=True):
    """Who holds the lease, since when, and how long without renewal."""

    holder_identity: str | None = None
    lease_duration_seconds: int | None = None
    acquire_time: MicroTime | None = None
    renew_time: MicroTime | None = None
    lease_transitions: int | None = None
    strategy: str | None = None
    preferred_holder: str | None = None


class Lease(Object, frozen=True, kw_only=True):
    """A claim that runs out unless it is renewed."""

    RESOURCE: ClassVar[Resource] = Resource(
        group="coordination.k8s.io",
        version="v1",
        kind="Lease",
        plural="leases",
        columns=(Column("Holder", ".spec.holderIdentity"), AGE),
    )

    api_version: Literal["coordination.k8s.io/v1"] = always("coordination.k8s.io/v1")
    kind: Literal["Lease"] = always("Lease")
    spec: LeaseSpec = msgspec.field(default_factory=LeaseSpec)
