"""infrastructure.miloapis.com/v1alpha1: where Milo runs the planes of projects."""

from typing import ClassVar, Final, Literal

import msgspec

from kubekit.api.meta import Condition, Object
from kubekit.api.resource import Resource
from kubekit.api.wire import Wire, always

GROUP: Final = "infrastructure.miloapis.com"
CONTROL_PLANE_READY: Final = "ControlPlaneReady"
"""The condition of a plane that answers."""


class ProjectControlPlaneStatus(Wire, frozen=True, kw_only=True):
    """The state of a plane."""

    conditions: tuple[Condition, ...] = ()
    """ControlPlaneReady: the plane answers."""


class ProjectControlPlane(Object, frozen=True, kw_only=True):
    """The plane of the project of this name, as a manager inside of Milo's own cluster finds it."""

    RESOURCE: ClassVar[Resource] = Resource(
        group=GROUP,
        version="v1alpha1",
        kind="ProjectControlPlane",
        plural="projectcontrolplanes",
        namespaced=True,
        status=True,
    )

    api_version: Literal["infrastructure.miloapis.com/v1alpha1"] = always(
        "infrastructure.miloapis.com/v1alpha1"
    )
    kind: Literal["ProjectControlPlane"] = always("ProjectControlPlane")
    status: ProjectControlPlaneStatus = msgspec.field(default_factory=ProjectControlPlaneStatus)
    """Whether it can be used."""
