"""Which controllers a process runs, by its role. The same in a world on one machine and in many."""

from compute.api import labels
from compute.api.compute import Instance, WorkloadDeployment
from compute.api.quota import ResourceClaim
from compute.controllers.cell.deployment import controller as deployment
from compute.controllers.cell.instance import controller as instance
from compute.controllers.cell.planes import CellPlanes, CellSettings
from compute.controllers.cell.write_back import controller as write_back
from compute.controllers.management.federator import controller as federator
from compute.controllers.management.hub import namespaces
from compute.controllers.management.planes import ManagementPlanes
from compute.controllers.management.projector import controller as projector
from compute.controllers.management.workload import controller as workload
from compute.decide.deployment.drains import PLAIN, Grace
from kubekit.runtime.controller import Controller
from kubekit.runtime.controller_factory import ControllerFactory
from kubekit.runtime.watching.informers import KindSelectors


def management(
    planes: ManagementPlanes, factory: ControllerFactory, grace: Grace = PLAIN
) -> list[Controller]:
    """From Workloads to the hub, and back. What is no longer wanted goes after the ``grace``."""
    return [
        *workload.controllers(planes, factory, grace=grace),
        *federator.controllers(planes, factory),
        *namespaces.controllers(planes, factory),
        *projector.controllers(planes, factory),
    ]


def cell(
    planes: CellPlanes, settings: CellSettings, factory: ControllerFactory
) -> list[Controller]:
    """From deployments to Instances, and their copies on the hub."""
    return [
        *deployment.controllers(planes, settings, factory),
        *instance.controllers(planes, settings, factory),
        *write_back.controllers(planes, settings, factory),
    ]


def hub_of_cell(cell: str, city: str) -> KindSelectors:
    """What a cell looks at on the hub: its own copies, and what may own them."""
    return {
        Instance: f"{labels.SOURCE_CLUSTER}={cell}",
        WorkloadDeployment: f"{labels.TOPOLOGY_CITY_CODE}={city}",
    }


def projects_of_cell(cell: str) -> KindSelectors:
    """What a cell looks at in projects: the claims that it made."""
    return {ResourceClaim: f"{labels.SOURCE_CLUSTER}={cell}"}
