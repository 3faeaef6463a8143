"""The controllers of the network service."""

from compute.services.network.bindings import NetworkBindings
from compute.services.network.claims import Claims
from compute.services.network.contexts import Contexts
from compute.services.network.faults import FaultKeysCheck
from compute.services.network.networks import Networks
from compute.services.planes import ServicePlanes
from kubekit.runtime.controller import Controller
from kubekit.runtime.controller_factory import Kit


def controllers(planes: ServicePlanes, kit: Kit) -> list[Controller]:
    """Networks in projects; bindings, contexts and claims in cells."""
    environment, cells = kit.environment, planes.cells
    networks = Networks(planes, environment, kit.recorder("networks"))
    bindings, claims = NetworkBindings(planes, environment), Claims(planes, environment)
    contexts, advice = (
        Contexts(planes, environment),
        FaultKeysCheck(cells, kit.recorder("network-faults")),
    )
    return [
        kit.controller("networks", networks, planes.projects, networks.sources()),
        kit.controller("network-bindings", bindings, cells, bindings.sources()),
        kit.controller("network-contexts", contexts, cells, contexts.sources()),
        kit.controller("subnet-claims", claims, cells, claims.sources()),
        kit.controller("network-faults", advice, cells, advice.sources()),
    ]
