"""A controller's ear on the clusters of one role.

It hears in every process, whether that process leads or not: only working waits for the lease.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from kubekit.runtime.clusters import Cluster
from kubekit.runtime.reconciling.passes import WriteContext
from kubekit.runtime.requests import ClusterName, Enqueue
from kubekit.runtime.sources import Source
from kubekit.runtime.watching.changes import CacheChange
from kubekit.runtime.watching.informer import Informer


class SourceHandlers:
    """The sources of a controller on one role: listened to in each of its clusters.

    The ledger hears of the same clusters: what is written there can be waited for.
    """

    def __init__(
        self, sources: Sequence[Source[Any]], enqueue: Enqueue, context: WriteContext
    ) -> None:
        self._sources = sources
        self._enqueue = enqueue
        self._context = context
        self._informers: dict[ClusterName, list[Informer[Any]]] = {}
        self._ends: dict[ClusterName, list[Callable[[], None]]] = {}

    @property
    def ready(self) -> bool:
        """Whether no informer has anything left to wait for."""
        return all(one.ready for informers in self._informers.values() for one in informers)

    def engage(self, cluster: Cluster) -> None:
        """Listen to a cluster."""
        if any(source.awaited for source in self._sources):
            self._context.freshness.follow(cluster.client.raw, cluster.informers)
        informers = [cluster.informers.of(source.kind) for source in self._sources]
        self._informers[cluster.name] = informers
        self._ends[cluster.name] = [
            informer.listen(partial(self._on_change, source))
            for source, informer in zip(self._sources, informers, strict=True)
        ]

    def disengage(self, cluster: Cluster) -> None:
        """Listen to a cluster no more."""
        del self._informers[cluster.name]
        for end in self._ends.pop(cluster.name):
            end()
        self._context.freshness.unfollow(cluster.client.raw)
        if self._context.recorder is not None:
            self._context.recorder.forget(cluster.client)
            self._context.recorder.forget(cluster.connection)

    def of(self, cluster: ClusterName) -> Sequence[Informer[Any]]:
        """The informers that are listened to in a cluster, one for each source."""
        return self._informers.get(cluster, ())

    def itself(self, cluster: ClusterName) -> Informer[Any] | None:
        """The informer of the kind that requests name, if it is a source at all."""
        heard = zip(self._sources, self.of(cluster), strict=False)
        return next((informer for source, informer in heard if source.to is None), None)

    def _on_change(self, source: Source[Any], changed: CacheChange[Any]) -> None:
        for request in source.requests(changed):
            self._enqueue(request)
