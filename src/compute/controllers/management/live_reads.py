"""Reading with care: what is not in a cache may not have come yet.

A pass waits for the caches of its own role alone. What it misses in another role's, or what it is
about to call gone, is asked of the server.
"""

from typing import Protocol, TypeVar

from kubekit.api.errors import Unavailable
from kubekit.api.meta import Object
from kubekit.runtime.clusters import Cluster

K = TypeVar("K", bound=Object)


class Read(Protocol):
    """A way to read one object: `known` or `live`."""

    async def __call__(
        self, cluster: Cluster, kind: type[K], name: str, namespace: str = ""
    ) -> K | None: ...


async def known(cluster: Cluster, kind: type[K], name: str, namespace: str = "") -> K | None:
    """The object as the cache has it, or as the server has it while the cache is not filled."""
    informer = cluster.informers.of(kind)
    if informer.synced:
        return informer.cache.get(namespace, name)
    return await cluster.client.find(kind, name, namespace)


async def live(cluster: Cluster, kind: type[K], name: str, namespace: str = "") -> K | None:
    """The object as the server has it."""
    return await cluster.client.find(kind, name, namespace)


async def certain(cluster: Cluster, kind: type[K], name: str, namespace: str = "") -> K | None:
    """The object as the server has it. None is certain: something may be removed because of it.

    A server that does not know the kind says "not found" as well; that is no answer.
    """
    found = await cluster.client.find(kind, name, namespace)
    if found is None and not cluster.informers.of(kind).synced:
        where = f"{cluster.name}: {kind.RESOURCE.kind} {namespace}/{name}"
        raise Unavailable(f"{where} is not found, which proves nothing before the first list")
    return found
