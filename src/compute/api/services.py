"""services.miloapis.com/v1alpha1: ServiceEntitlement, by which a project uses a service.

The object's name is free. The service that it is for is ``status.service_name``, or
``spec.service_ref.name`` while the status is still empty.
"""

from datetime import datetime
from typing import Annotated, ClassVar, Final, Literal

import msgspec

from kubekit.api.meta import Condition, Object
from kubekit.api.resource import Column, Resource, condition_column
from kubekit.api.wire import Int64, Rule, Wire, always, list_map

GROUP: Final = "services.miloapis.com"
VERSION: Final = "v1alpha1"
NAME: Final = "compute"
"""The name of the entitlement by which a project requests compute."""


class ServiceRef(Wire, frozen=True, kw_only=True):
    """A service by name."""

    name: Annotated[str, Rule(min_length=1, max_length=253)]
    """The name of the service, such as compute.datumapis.com."""


class ServiceEntitlementSpec(Wire, frozen=True, kw_only=True):
    """A request to use a service."""

    request_message: Annotated[str, Rule(max_length=1024)] = ""
    """A message to the approver."""
    service_ref: ServiceRef
    """The service."""


class ServiceEntitlementStatus(Wire, frozen=True, kw_only=True):
    """Whether the project may use the service."""

    conditions: Annotated[tuple[Condition, ...], list_map("type")] = ()
    """Ready: the service can be used. Suspended: the project is suspended."""
    dependency_of: str = ""
    """The entitlement that brought this one along."""
    entitled_at: datetime | None = None
    """Since when the service can be used."""
    observed_generation: Int64 = 0
    """The generation of the spec that this status is about."""
    origin: Annotated[str, Rule(enum=("Direct", "Dependency"))] = ""
    """Direct: asked for by the project. Dependency: brought along by another."""
    phase: Annotated[str, Rule(enum=("PendingApproval", "Active", "Rejected"))] = ""
    """Its phase; empty until the service catalog has reconciled it."""
    service_name: str = ""
    """The service's own name, whatever the reference called it."""


class ServiceEntitlement(Object, frozen=True, kw_only=True):
    """A project's request to use a service, and then its right to."""

    RESOURCE: ClassVar[Resource] = Resource(
        group=GROUP,
        version=VERSION,
        kind="ServiceEntitlement",
        plural="serviceentitlements",
        namespaced=False,
        status=True,
        annotations={"discovery.miloapis.com/parent-contexts": "Project"},
        columns=(
            Column("Service", ".spec.serviceRef.name"),
            Column("Phase", ".status.phase"),
            Column("Origin", ".status.origin"),
            condition_column("Suspended", "Suspended", "status"),
        ),
    )

    api_version: Literal["services.miloapis.com/v1alpha1"] = always(
        "services.miloapis.com/v1alpha1"
    )
    kind: Literal["ServiceEntitlement"] = always("ServiceEntitlement")
    spec: Annotated[ServiceEntitlementSpec, Rule(required=False)]
    """The service that is wanted."""
    status: ServiceEntitlementStatus = msgspec.field(default_factory=ServiceEntitlementStatus)
    """Whether it can be used."""


class ConsumerProjectRef(Wire, frozen=True, kw_only=True):
    """The project that uses a service."""

    name: str = ""
    """Its name."""


class ServiceConsumerSpec(Wire, frozen=True, kw_only=True):
    """Which project uses which service."""

    service_ref: ServiceRef
    """The service."""
    consumer_project_ref: ConsumerProjectRef = msgspec.field(default_factory=ConsumerProjectRef)
    """The project."""


class ServiceConsumerStatus(Wire, frozen=True, kw_only=True):
    """Whether the project may use the service."""

    phase: str = ""
    """PendingApproval, Active or Denied; empty until the service catalog has reconciled it."""


class ServiceConsumer(Object, frozen=True, kw_only=True):
    """A consumer of a service, as its provider's project has it. The service catalog writes it."""

    RESOURCE: ClassVar[Resource] = Resource(
        group=GROUP,
        version=VERSION,
        kind="ServiceConsumer",
        plural="serviceconsumers",
        namespaced=False,
        status=True,
    )

    api_version: Literal["services.miloapis.com/v1alpha1"] = always(
        "services.miloapis.com/v1alpha1"
    )
    kind: Literal["ServiceConsumer"] = always("ServiceConsumer")
    spec: ServiceConsumerSpec
    """Which project uses which service."""
    status: ServiceConsumerStatus = msgspec.field(default_factory=ServiceConsumerStatus)
    """Whether it may."""
