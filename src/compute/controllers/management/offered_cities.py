"""The cities that a project is offered: those of its LocationBindings, ready or not."""

from collections.abc import Iterable

from compute.api.networking import LocationBinding
from compute.decide import city_use
from kubekit.api.errors import NotFound
from kubekit.client.client import Client
from kubekit.runtime.clusters import Cluster


def cached_cities(project: Cluster) -> frozenset[str]:
    """The cities in the cache. It may lag, so nothing is removed because of it."""
    return city_use.offered(project.informers.of(LocationBinding).cache.list())


async def live_cities(client: Client, used: Iterable[str] = ()) -> frozenset[str]:
    """The cities, read live; none where the project does not serve locations.

    A binding that cannot be read may be of any of the cities ``used``, so all of those are offered.
    """
    try:
        listed = await client.every(LocationBinding)
    except NotFound:
        return frozenset()
    cities = city_use.offered(listed.items)
    return cities.union(used) if listed.unreadable else cities
