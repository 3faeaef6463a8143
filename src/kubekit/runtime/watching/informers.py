"""The informers of one cluster: one for each requested kind, shared by all of its users."""

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any, Final, TypeVar, cast

from kubekit.api.meta import Object
from kubekit.client.client import Client
from kubekit.environment import ExecutionEnvironment
from kubekit.runtime.requests import ClusterName
from kubekit.runtime.scope import Scope
from kubekit.runtime.watching.informer import Informer
from kubekit.runtime.watching.watched_part import WHOLE, WatchedPart

K = TypeVar("K", bound=Object)
KindSelectors = Mapping[type[Object], WatchedPart]
"""What to watch of a kind. Of a kind that is not in it, all objects are watched."""

ALL_OBJECTS: Final[KindSelectors] = MappingProxyType({})


class Informers:
    """The informers of a cluster. They run in the cluster's scope and end with it."""

    def __init__(
        self,
        cluster: ClusterName,
        client: Client,
        environment: ExecutionEnvironment,
        scope: Scope,
        parts: KindSelectors = ALL_OBJECTS,
    ) -> None:
        self._cluster = cluster
        self._client = client
        self._environment = environment
        self._scope = scope
        self._parts = parts
        self._of: dict[type[Object], Informer[Any]] = {}

    def __iter__(self) -> Iterator[Informer[Any]]:
        return iter(tuple(self._of.values()))

    def of(self, kind: type[K]) -> Informer[K]:
        """The informer of a kind, started at the first call."""
        informer = self._of.get(kind)
        if informer is None:
            part = self._parts.get(kind, WHOLE)
            informer = Informer(self._cluster, self._client, kind, self._environment, part)
            self._scope.spawn(informer.run(), f"informer of {kind.RESOURCE.kind}")
            self._of[kind] = informer
        return cast("Informer[K]", informer)

    def find(self, kind: type[K]) -> Informer[K] | None:
        """The informer of a kind, if it was started."""
        return cast("Informer[K] | None", self._of.get(kind))

    @property
    def synced(self) -> bool:
        """Whether every cache is synced, except those of kinds that the server does not serve."""
        return all(informer.ready for informer in self)

    async def wait_synced(self) -> None:
        """Wait until all informers are ready that were started so far."""
        for informer in self:
            await informer.wait_ready()

    def problems(self) -> list[str]:
        """The reasons why caches are not complete."""
        return [
            f"{informer.kind.RESOURCE.kind}: {informer.problem or 'not listed yet'}"
            for informer in self
            if not informer.ready
        ]
