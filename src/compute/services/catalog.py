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
from compute.services.network import faults
from compute.services.planes import PLATFORM as PLATFORM_NAMESPACE, ServicePlanes
from compute.services.projects import PlaneKeeper
from compute.services.quota import service as quota
from compute.services.quota.grants import FIRST_GRANT
from kubekit.api.kinds.core import ConfigMap
from kubekit.runtime.controller import Controller
from kubekit.runtime.controller_factory import ControllerFactory
from kubekit.runtime.watching.informers import KindSelectors
from kubekit.runtime.watching.watched_part import only, within

QUOTA: Final = "quota"
PLATFORM: Final = "platform"  # projects, and what each of them starts with
NETWORK: Final = "network"
# Of the settings and ledgers in ConfigMaps, the services need only their own.
CORE_SELECTORS: Final[KindSelectors] = {ConfigMap: within(PLATFORM_NAMESPACE)}
CELL_SELECTORS: Final[KindSelectors] = {ConfigMap: only(faults.NAMESPACE, faults.NAME)}


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceSettings:
    """``first_grant`` is what a new project may use, by type of resource, in base units.

    ``core_is_project``: one cluster is core and the only project, so its buckets need no copies there.
    """

    first_grant: Mapping[str, int] = field(default_factory=lambda: FIRST_GRANT)
    core_is_project: bool = False


Service = Callable[[ServicePlanes, ControllerFactory], list[Controller]]


def neighbours(keeper: PlaneKeeper, settings: ServiceSettings | None = None) -> dict[str, Service]:
    """The controller factory of each neighbour that can be stood in for, by its name."""
    settings = settings or ServiceSettings()

    def budgets(planes: ServicePlanes, factory: ControllerFactory) -> list[Controller]:
        copied = not settings.core_is_project
        return quota.controllers(planes, factory, settings.first_grant, copied=copied)

    def lives_of_projects(planes: ServicePlanes, factory: ControllerFactory) -> list[Controller]:
        return projects.controllers(planes, keeper, factory)

    return {
        "quota": budgets,
        "projects": lives_of_projects,
        "entitlements": _together(entitlements.controllers, first_entitlements.controllers),
        "locations": locations.controllers,
        "networks": _together(default_network.controllers, network.controllers),
    }


def services(keeper: PlaneKeeper, settings: ServiceSettings | None = None) -> dict[str, Service]:
    """The controller factories of each service of a world. Each service can run by itself."""
    each = neighbours(keeper, settings)
    platform = _together(
        each["projects"], default_network.controllers, each["entitlements"], each["locations"]
    )
    return {QUOTA: each["quota"], PLATFORM: platform, NETWORK: network.controllers}


def controllers(
    planes: ServicePlanes,
    keeper: PlaneKeeper,
    factory: ControllerFactory,
    settings: ServiceSettings | None = None,
) -> list[Controller]:
    """The controllers of quota, projects, entitlements, locations and networks."""
    factories = services(keeper, settings).values()
    return [controller for service in factories for controller in service(planes, factory)]


def _together(*services: Service) -> Service:
    """Several services as one."""

    def controllers(planes: ServicePlanes, factory: ControllerFactory) -> list[Controller]:
        return [controller for service in services for controller in service(planes, factory)]

    return controllers
