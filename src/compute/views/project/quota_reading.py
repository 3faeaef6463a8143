"""The objects that a view of quota is made of, read from a project."""

import asyncio
from dataclasses import dataclass

from compute.api.compute import Instance
from compute.api.quota import BUCKETS, AllowanceBucket, ResourceClaim
from compute.views.project.quota import QuotaObjects
from compute.views.reading import ProjectReader
from kubekit.api.errors import Forbidden
from kubekit.client.client import Client, K

_EVERYWHERE = ""


@dataclass(frozen=True, slots=True)
class QuotaReader:
    """Reads a project. Quota is shared by its namespaces, so all of them are read, if the user may."""

    client: Client
    namespace: str

    async def objects(self) -> QuotaObjects:
        buckets, claims, instances = await asyncio.gather(
            ProjectReader(self.client, BUCKETS).if_served(AllowanceBucket),
            self._if_served(ResourceClaim),
            self._all(Instance),
        )
        return QuotaObjects(buckets=buckets, claims=claims, instances=instances)

    async def buckets(self) -> tuple[AllowanceBucket, ...]:
        """The buckets alone; none where quota is not served, or may not be read."""
        return await ProjectReader(self.client, BUCKETS).if_served(AllowanceBucket) or ()

    async def _all(self, kind: type[K]) -> tuple[K, ...]:
        try:
            return await ProjectReader(self.client, _EVERYWHERE).all(kind)
        except Forbidden:
            return await ProjectReader(self.client, self.namespace).all(kind)

    async def _if_served(self, kind: type[K]) -> tuple[K, ...] | None:
        everywhere = await ProjectReader(self.client, _EVERYWHERE).if_served(kind)
        if everywhere is not None:
            return everywhere
        return await ProjectReader(self.client, self.namespace).if_served(kind)
