"""The controllers of the network service."""

from compute.services.network.bindings import NetworkBindings
from compute.services.network.claims import Claims
from compute.services.network.contexts import Contexts
from compute.services.network.faults import FaultKeysCheck
from compute.services.network.networks import Networks
from compute.services.planes import ServicePlanes
from kubekit.runtime.controller import Controller
from kubekit.runtime.controller_factory import ControllerFactory


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
