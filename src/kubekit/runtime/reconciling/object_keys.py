"""The name of a written object: write counts and expectations outlive any one object."""

from typing import NamedTuple

from kubekit.client.transport import ResourceLocation
from kubekit.runtime.interning import interned
from kubekit.runtime.requests import ClusterName


class ObjectKey(NamedTuple):
    """One object of one cluster, by name. An object that is deleted and created again has the same key."""

    cluster: ClusterName
    group: str
    plural: str
    namespace: str
    name: str

    def __str__(self) -> str:
        name = f"{self.namespace}/{self.name}" if self.namespace else self.name
        return f"{self.plural} {name}"


def object_key(cluster: ClusterName, location: ResourceLocation, name: str = "") -> ObjectKey:
    """The key of a location; with ``name``, of the object of that name in the collection there."""
    resource = location.resource
    # Keys are kept for a minute, so their strings are interned.
    namespace, name = interned(location.namespace), interned(name or location.name)
    return ObjectKey(cluster, resource.group, resource.plural, namespace, name)
