"""coordination.k8s.io/v1: Lease, by which processes elect a leader, or show that they run."""

from typing import ClassVar, Literal

import msgspec

from kubekit.api.meta import Object
from kubekit.api.resource import AGE, Column, Resource
from kubekit.api.times import MicroTime
from kubekit.api.wire import Int32, Wire, always


class LeaseSpec(Wire, frozen=True, kw_only=True):
    """The holder of the lease, its start, and its duration without renewal."""

    holder_identity: str | None = None
    """The identity of the holder."""
    lease_duration_seconds: Int32 | None = None
    """After how long without renewal others may take it."""
    acquire_time: MicroTime | None = None
    """When the holder took it."""
    renew_time: MicroTime | None = None
    """When the holder last renewed it."""
    lease_transitions: Int32 | None = None
    """How often it went from one holder to another."""
    strategy: str | None = None
    """How the holder is chosen, where a coordinator chooses it."""
    preferred_holder: str | None = None
    """The next holder, if a coordinator chooses it."""


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
    """The holder of the lease, and its duration."""
