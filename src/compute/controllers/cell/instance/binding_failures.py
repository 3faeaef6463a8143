"""Networks that cannot be used, and the Instances that wait for them."""

from collections.abc import Iterable
from typing import Final

from compute.api import gates
from compute.api.compute import Instance
from compute.api.conditions import ConditionType
from compute.api.networking import NetworkBinding
from compute.api.reasons import Trait, has
from compute.decide import joins
from compute.decide.conditions import find
from compute.decide.networking.bindings import binding_of, deployment_of
from compute.decide.networking.networks import failed
from compute.decide.ranking import Candidate
from compute.decide.scheduling_gates import closed
from kubekit.runtime.clusters import Cluster, Clusters
from kubekit.runtime.requests import ClusterName, Request
from kubekit.runtime.sources import To

_BY_DEPLOYMENT: Final = "the name of its deployment, if it waits for networks"
_BY_OWNER: Final = "the name of the deployment it is for"


def failure(cell: Cluster, instance: Instance) -> Candidate | None:
    """What the first network that cannot be used says of itself; None when all may still come.

    Once its Network gate is open, an Instance has the networks it needs.
    """
    if not _waits(instance):
        return None
    bindings = cell.informers.of(NetworkBinding).cache
    bindings.add_index(_BY_OWNER, _owner)
    own = bindings.by(_BY_OWNER, _place(instance))
    for interface in range(len(instance.spec.network_interfaces)):
        binding = binding_of(instance, interface, own)
        said = find(binding.status.conditions, ConditionType.READY) if binding else None
        if binding and said and said.status == "False" and has(said.reason, Trait.NETWORK_FAILURE):
            return failed(binding, said)
    return None


def attached(cell: Clusters) -> To[NetworkBinding]:
    """Each NetworkBinding asks for the Instances that wait for it."""

    def to(cluster: ClusterName, binding: NetworkBinding) -> Iterable[Request]:
        instances = cell.get(cluster).informers.of(Instance).cache
        instances.add_index(_BY_DEPLOYMENT, _deployment)
        for place in _owner(binding):
            for instance in instances.by(_BY_DEPLOYMENT, place):
                yield Request(cluster, instance.metadata.namespace, instance.metadata.name)

    return to


def _deployment(instance: Instance) -> Iterable[str]:
    if _waits(instance):
        yield _place(instance)


def _owner(binding: NetworkBinding) -> Iterable[str]:
    if deployment := deployment_of(binding):
        yield f"{binding.metadata.namespace}/{deployment}"


def _place(instance: Instance) -> str:
    """The deployment of an Instance."""
    return f"{instance.metadata.namespace}/{joins.deployment_name(instance)}"


def _waits(instance: Instance) -> bool:
    return gates.NETWORK in closed(instance)
