"""The catalog of services: the controller factory of each, and the controllers of all."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final

from compute.services import (
    default_network,
    entitlements,
    first_entitlements,
    locations,
    network,
    projects,
)
from compute.services.planes import ServicePlanes
from compute.services.projects import PlaneKeeper
from compute.services.quota import service as quota
from compute.services.quota.grants import FIRST_GRANT
from kubekit.runtime.controller import Controller
from kubekit.runtime.controller_factory import ControllerFactory

QUOTA: Final = "quota"
PLATFORM: Final = "platform"  # projects, and what each of them starts with
NETWORK: Final = "network"


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceSettings:
    """``first_grant`` is what a new project may use, by type of resource, in base units."""

    first_grant: Mapping[str, int] = field(default_factory=lambda: FIRST_GRANT)


Service = Callable[[ServicePlanes, ControllerFactory], list[Controller]]


def services(keeper: PlaneKeeper, settings: ServiceSettings | None = None) -> dict[str, Service]:
    """The controller factories of each service. Each service can run by itself."""
    settings = settings or ServiceSettings()

    def budgets(planes: ServicePlanes, factory: ControllerFactory) -> list[Controller]:
        return quota.controllers(planes, factory, settings.first_grant)

    def platform(planes: ServicePlanes, factory: ControllerFactory) -> list[Controller]:
        return [
            *projects.controllers(planes, keeper, factory),
            *default_network.controllers(planes, factory),
            *entitlements.controllers(planes, factory),
            *first_entitlements.controllers(planes, factory),
            *locations.controllers(planes, factory),
        ]

    return {QUOTA: budgets, PLATFORM: platform, NETWORK: network.controllers}


def controllers(
    planes: ServicePlanes,
    keeper: PlaneKeeper,
    factory: ControllerFactory,
    settings: ServiceSettings | None = None,
) -> list[Controller]:
    """The controllers of quota, projects, entitlements, locations and networks."""
    factories = services(keeper, settings).values()
    return [controller for service in factories for controller in service(planes, factory)]
