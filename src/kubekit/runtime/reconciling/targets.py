"""Which object was written, by name: what is counted and waited for outlives any one object."""

from typing import NamedTuple

from kubekit.client.transport import Place
from kubekit.runtime.interning import shared
from kubekit.runtime.requests import ClusterName


class Target(NamedTuple):
    """One object of one cluster. One that is deleted and made again is the same target."""

    cluster: ClusterName
    group: str
    plural: str
    namespace: str
    name: str

    def __str__(self) -> str:
        place = f"{self.namespace}/{self.name}" if self.namespace else self.name
        return f"{self.plural} {place}"


def target_of(cluster: ClusterName, place: Place, name: str = "") -> Target:
    """The object at a place; with ``name``, the one of that name in the collection there."""
    resource = place.resource
    # Targets are remembered for a minute: in words that others have as well.
    namespace, name = shared(place.namespace), shared(name or place.name)
    return Target(cluster, resource.group, resource.plural, namespace, name)
