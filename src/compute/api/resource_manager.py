"""resourcemanager.miloapis.com/v1alpha1: Organizations own Projects; a Project has a plane."""

from datetime import datetime
from typing import Annotated, ClassVar, Final, Literal

import msgspec

from kubekit.api.meta import EPOCH, Condition, Object
from kubekit.api.resource import AGE, Column, Resource, condition_column
from kubekit.api.wire import Cel, Int64, Rule, Wire, always

GROUP: Final = "resourcemanager.miloapis.com"
VERSION: Final = "v1alpha1"
_API_VERSION: Final = "resourcemanager.miloapis.com/v1alpha1"
_PARENTS: Final = "discovery.miloapis.com/parent-contexts"

# The conditions of both kinds before their first reconcile. The CRD defaults them with the first status.
NEW_CONDITIONS: Final = (
    Condition(
        type="Ready",
        status="Unknown",
        reason="Unknown",
        message="Waiting for control plane to reconcile",
        last_transition_time=EPOCH,
    ),
)


class ProjectOwnerRef(Wire, frozen=True, kw_only=True):
    """The owner of a project."""

    kind: Annotated[str, Rule(enum=("Organization",))]
    """The kind of the owner."""
    name: str
    """The name of the owner."""


class ProjectSpec(Wire, frozen=True, kw_only=True):
    """Whose project it is."""

    owner_ref: ProjectOwnerRef
    """The owner."""


class SuspensionRecord(Wire, frozen=True, kw_only=True):
    """One cause for which a project is suspended."""

    reason: Annotated[str, Rule(enum=("Fraud", "Abuse", "Billing", "Compliance", "Administrative"))]
    """The cause."""
    reinstate_authority: Annotated[str, Rule(enum=("Operator", "Consumer"))]
    """Who can lift it."""
    suspended_at: datetime
    """Since when."""


class ProjectStatus(Wire, frozen=True, kw_only=True):
    """The state of a project."""

    conditions: Annotated[tuple[Condition, ...], Rule(default=NEW_CONDITIONS)] = ()
    """Ready: its plane answers. Suspended: nothing of it may run. ResourceCleanup: it is being removed."""
    suspensions: tuple[SuspensionRecord, ...] = ()
    """Why it is suspended, cause by cause."""


class Project(Object, frozen=True, kw_only=True):
    """A project, with a plane of its own."""

    RESOURCE: ClassVar[Resource] = Resource(
        group=GROUP,
        version=VERSION,
        kind="Project",
        plural="projects",
        namespaced=False,
        status=True,
        annotations={_PARENTS: "Organization"},
        columns=(condition_column("Ready", "Ready", "status"), AGE),
    )

    api_version: Literal["resourcemanager.miloapis.com/v1alpha1"] = always(_API_VERSION)
    kind: Literal["Project"] = always("Project")
    spec: ProjectSpec
    """Whose project it is."""
    status: ProjectStatus = msgspec.field(default_factory=ProjectStatus)
    """Its state."""


class OrganizationSpec(Wire, frozen=True, kw_only=True):
    """What sort of organization it is."""

    type: Annotated[
        str,
        Rule(
            enum=("Personal", "Standard"),
            validations=(Cel("self == oldSelf", "type cannot be changed"),),
        ),
    ]
    """Personal: one person's own. Standard: shared by several."""


class OrganizationStatus(Wire, frozen=True, kw_only=True):
    """The state of an organization."""

    conditions: Annotated[tuple[Condition, ...], Rule(default=NEW_CONDITIONS)] = ()
    """Ready: it can own projects."""
    observed_generation: Int64 = 0
    """The generation of the spec that this status is about."""


class Organization(Object, frozen=True, kw_only=True):
    """An owner of projects."""

    RESOURCE: ClassVar[Resource] = Resource(
        group=GROUP,
        version=VERSION,
        kind="Organization",
        plural="organizations",
        namespaced=False,
        categories=("datum",),
        status=True,
        annotations={_PARENTS: "Platform"},
        columns=(
            Column("Display Name", r".metadata.annotations.kubernetes\.io/display-name"),
            Column("Type", ".spec.type"),
            condition_column("Ready", "Ready", "status"),
            AGE,
        ),
    )

    api_version: Literal["resourcemanager.miloapis.com/v1alpha1"] = always(_API_VERSION)
    kind: Literal["Organization"] = always("Organization")
    spec: OrganizationSpec
    """What sort of organization it is."""
    status: OrganizationStatus = msgspec.field(default_factory=OrganizationStatus)
    """Its state."""
