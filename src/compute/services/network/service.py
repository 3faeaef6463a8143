"""The controllers of the network service."""

from typing import Final

from compute.api.compute import Instance, Workload
from compute.api.karmada import MemberCluster as Member
from compute.api.networking import Network, NetworkBinding, NetworkContext, Subnet, SubnetClaim
from compute.api.permissions import READ, WATCH, WRITE, ObjectScope, allow, events
from compute.services.network import faults
from compute.services.network.bindings import NetworkBindings
from compute.services.network.claims import Claims
from compute.services.network.contexts import Contexts
from compute.services.network.faults import FaultKeysCheck
from compute.services.network.networks import Networks
from compute.services.planes import ServicePlanes
from kubekit.api.kinds.core import ConfigMap, Namespace
from kubekit.runtime.controller import Controller
from kubekit.runtime.controller_factory import ControllerFactory

PERMISSIONS: Final = (
    *allow("project", (*READ, "patch"), Network),
    *allow("project", (*READ, *WRITE), Subnet),
    *allow("project", ("patch",), Network, Subnet, subresource="status"),
    *allow("project", WATCH, Workload),
    *events("project"),
    *allow("cell", READ, NetworkBinding, SubnetClaim, Namespace),
    *allow("cell", (*READ, "create", "delete"), NetworkContext),
    *allow("cell", (*READ, "create", "patch"), Subnet),
    *allow(
        "cell", ("patch",), NetworkBinding, NetworkContext, SubnetClaim, Subnet,
        subresource="status",
    ),
    *allow("cell", WATCH, ConfigMap, scope=ObjectScope(faults.NAMESPACE, (faults.NAME,))),
    *allow("cell", ("list",), Instance),
    *events("cell"),
    *allow("hub", READ, Member),
)  # fmt: skip


def controllers(planes: ServicePlanes, factory: ControllerFactory) -> list[Controller]:
    """Networks in projects; bindings, contexts and claims in cells."""
    environment, cells = factory.environment, planes.cells
    networks = Networks(planes, environment, factory.recorder("networks"))
    bindings, claims = NetworkBindings(planes, environment), Claims(planes, environment)
    contexts, check = (
        Contexts(planes, environment),
        FaultKeysCheck(cells, factory.recorder("network-faults")),
    )
    return [
        factory.controller("networks", networks, planes.projects, networks.sources()),
        factory.controller("network-bindings", bindings, cells, bindings.sources()),
        factory.controller("network-contexts", contexts, cells, contexts.sources()),
        factory.controller("subnet-claims", claims, cells, claims.sources()),
        factory.controller("network-faults", check, cells, check.sources()),
    ]
