"""Networks that failed, and the Instances that wait for them."""

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
    """The failure of the first network that failed; None if all may still become ready.

    Once its Network gate is open, an Instance has the networks it needs.
    """
    if not _waits(instance):
        return None
    bindings = cell.informers.of(NetworkBinding).cache
    bindings.add_index(_BY_OWNER, _owner)
    own = bindings.by(_BY_OWNER, _deployment_key(instance))
    for interface in range(len(instance.spec.network_interfaces)):
        binding = binding_of(instance, interface, own)
        condition = find(binding.status.conditions, ConditionType.READY) if binding else None
        if (
            binding
            and condition
            and condition.status == "False"
            and has(condition.reason, Trait.NETWORK_FAILURE)
        ):
            return failed(binding, condition)
    return None


def waiting_instances(cell: Clusters) -> To[NetworkBinding]:
    """Each NetworkBinding requeues the Instances that wait for it."""

    def to(cluster: ClusterName, binding: NetworkBinding) -> Iterable[Request]:
        instances = cell.get(cluster).informers.of(Instance).cache
        instances.add_index(_BY_DEPLOYMENT, _deployment)
        for deployment in _owner(binding):
            for instance in instances.by(_BY_DEPLOYMENT, deployment):
                yield Request(cluster, instance.metadata.namespace, instance.metadata.name)

    return to


def _deployment(instance: Instance) -> Iterable[str]:
    if _waits(instance):
        yield _deployment_key(instance)


def _owner(binding: NetworkBinding) -> Iterable[str]:
    if deployment := deployment_of(binding):
        yield f"{binding.metadata.namespace}/{deployment}"


def _deployment_key(instance: Instance) -> str:
    """The index key of an Instance's deployment."""
    return f"{instance.metadata.namespace}/{joins.deployment_name(instance)}"


def _waits(instance: Instance) -> bool:
    return gates.NETWORK in closed(instance)
