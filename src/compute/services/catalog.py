"""All neighbours of a world on one machine, in one call."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from compute.runtime.controller import Controller
from compute.runtime.kit import Kit
from compute.services import entitlements, furnishing, locations, network, projects
from compute.services.planes import ServicePlanes
from compute.services.projects import PlaneKeeper
from compute.services.quota import service as quota
from compute.services.quota.grants import FIRST_GRANT


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceSettings:
    """``first_grant`` is what a new project may use, by type of resource, in base units."""

    first_grant: Mapping[str, int] = field(default_factory=lambda: FIRST_GRANT)


def controllers(
    planes: ServicePlanes, keeper: PlaneKeeper, kit: Kit, settings: ServiceSettings | None = None
) -> list[Controller]:
    """The controllers of quota, projects, entitlements, locations and networks."""
    settings = settings or ServiceSettings()
    return [
        *quota.controllers(planes, kit, settings.first_grant),
        *projects.controllers(planes, keeper, kit),
        *furnishing.controllers(planes, kit),
        *entitlements.controllers(planes, kit),
        *locations.controllers(planes, kit),
        *network.controllers(planes, kit),
    ]
