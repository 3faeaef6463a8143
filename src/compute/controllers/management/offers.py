"""The cities that a project is offered: those of its LocationBindings, ready or not."""

from collections.abc import Iterable

from compute.api.networking import LocationBinding
from compute.decide import city_use
from kubekit.api.errors import NotFound
from kubekit.client.client import Client
from kubekit.runtime.clusters import Cluster


def seen(project: Cluster) -> frozenset[str]:
    """The cities as far as the cache knows. It may be behind, so nothing is removed because of it."""
    return city_use.offered(project.informers.of(LocationBinding).cache.list())


async def asked(client: Client, used: Iterable[str] = ()) -> frozenset[str]:
    """The cities as the project says right now; none where it does not know of locations at all.

    Where a binding cannot be read it may be of any of the cities ``used``: all of those are offered.
    """
    try:
        listed = await client.every(LocationBinding)
    except NotFound:
        return frozenset()
    found = city_use.offered(listed.items)
    return found.union(used) if listed.unreadable else found
