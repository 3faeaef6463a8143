"""Whether a cell is reachable, and so can delete its objects."""

from compute.api import karmada, names
from compute.decide.federation.scheduling import is_ready
from kubekit.runtime.clusters import Cluster


async def is_reachable(hub: Cluster, cell: str) -> bool:
    """Whether a cell is reachable, and so can delete its objects.

    Only a live read can show that it is unreachable: since the cache was updated it may be reachable
    again, with running machines. Of a cell without a name nothing is known, so that counts as reachable:
    its machines have the time to stop that others have.
    """
    if names.is_unnamed_cell(cell):
        return True
    member = hub.informers.of(karmada.MemberCluster).cache.get("", cell)
    if member is None or not is_ready(member):
        member = await hub.client.find(karmada.MemberCluster, cell) if cell else None
    return member is not None and is_ready(member)
