"""Networks that cannot be made, and the Instances that wait for them."""

from collections.abc import Iterable
from typing import Final

from compute.api import gates, names
from compute.api.compute import Instance
from compute.api.conditions import ConditionType
from compute.api.networking import NetworkBinding
from compute.api.reasons import Reason
from compute.decide import joins
from compute.decide.conditions import find
from compute.decide.gating import closed
from compute.runtime.clusters import Cluster, Clusters
from compute.runtime.requests import ClusterName, Request
from compute.runtime.sources import To

_BY_DEPLOYMENT: Final = "the name of its deployment, if it waits for networks"


def failure(cell: Cluster, instance: Instance) -> str | None:
    """What the first network that cannot be made says of itself; None when all may still come.

    Once its Network gate is open, an Instance has the networks it needs.
    """
    if not _waits(instance):
        return None
    bindings = cell.informers.of(NetworkBinding).cache
    deployment = joins.deployment_name(instance)
    for interface in range(len(instance.spec.network_interfaces)):
        name = names.network_binding(deployment, interface)
        binding = bindings.get(instance.metadata.namespace, name)
        said = find(binding.status.conditions, ConditionType.READY) if binding else None
        if said and (said.status, said.reason) == ("False", Reason.NETWORK_FAILED_TO_CREATE):
            return said.message
    return None


def attached(cell: Clusters) -> To[NetworkBinding]:
    """Each NetworkBinding asks for the Instances that wait for it."""

    def to(cluster: ClusterName, binding: NetworkBinding) -> Iterable[Request]:
        parts = names.network_binding_parts(binding.metadata.name)
        if parts is None:
            return
        instances = cell.get(cluster).informers.of(Instance).cache
        instances.add_index(_BY_DEPLOYMENT, _deployment)
        place = f"{binding.metadata.namespace}/{parts[0]}"
        for instance in instances.by(_BY_DEPLOYMENT, place):
            yield Request(cluster, instance.metadata.namespace, instance.metadata.name)

    return to


def _deployment(instance: Instance) -> Iterable[str]:
    if _waits(instance):
        yield f"{instance.metadata.namespace}/{joins.deployment_name(instance)}"


def _waits(instance: Instance) -> bool:
    return gates.NETWORK in closed(instance)
