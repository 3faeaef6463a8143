"""Which object was written, by name: what is counted and waited for outlives any one object."""

from typing import NamedTuple

from kubekit.client.transport import ResourceLocation
from kubekit.runtime.interning import interned
from kubekit.runtime.requests import ClusterName


class ObjectKey(NamedTuple):
    """One object of one cluster. One that is deleted and made again is the same target."""

    cluster: ClusterName
    group: str
    plural: str
    namespace: str
    name: str

    def __str__(self) -> str:
        place = f"{self.namespace}/{self.name}" if self.namespace else self.name
        return f"{self.plural} {place}"


def object_key(cluster: ClusterName, place: ResourceLocation, name: str = "") -> ObjectKey:
    """The object at a place; with ``name``, the one of that name in the collection there."""
    resource = place.resource
    # Targets are remembered for a minute: in words that others have as well.
    namespace, name = interned(place.namespace), interned(name or place.name)
    return ObjectKey(cluster, resource.group, resource.plural, namespace, name)
