"""Connects the sources of a controller to the informers of the clusters of one role.

This happens in every process, whether it leads or not: only the workers wait for the lease.
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
    """The sources of a controller on one role, and their informers in each of its clusters.

    The write context follows the same clusters, so that passes can wait for their own writes there.
    """

    def __init__(
        self, sources: Sequence[Source[Any]], enqueue: Enqueue, context: WriteContext
    ) -> None:
        self._sources = sources
        self._enqueue = enqueue
        self._context = context
        self._informers: dict[ClusterName, list[Informer[Any]]] = {}
        self._unlisten: dict[ClusterName, list[Callable[[], None]]] = {}

    @property
    def ready(self) -> bool:
        """Whether every informer is ready."""
        return all(
            informer.ready for informers in self._informers.values() for informer in informers
        )

    def engage(self, cluster: Cluster) -> None:
        """Listen to the informers of a cluster."""
        if any(source.awaited for source in self._sources):
            self._context.freshness.follow(cluster.client.raw, cluster.informers)
        informers = [cluster.informers.of(source.kind) for source in self._sources]
        self._informers[cluster.name] = informers
        self._unlisten[cluster.name] = [
            informer.listen(partial(self._on_change, source))
            for source, informer in zip(self._sources, informers, strict=True)
        ]

    def disengage(self, cluster: Cluster) -> None:
        """Stop listening to the informers of a cluster."""
        del self._informers[cluster.name]
        for unlisten in self._unlisten.pop(cluster.name):
            unlisten()
        self._context.freshness.unfollow(cluster.client.raw)
        if self._context.recorder is not None:
            self._context.recorder.forget(cluster.client)
            self._context.recorder.forget(cluster.connection)

    def of(self, cluster: ClusterName) -> Sequence[Informer[Any]]:
        """The informers of a cluster, one for each source."""
        return self._informers.get(cluster, ())

    def primary(self, cluster: ClusterName) -> Informer[Any] | None:
        """The informer of the kind that requests name, if that kind is a source."""
        pairs = zip(self._sources, self.of(cluster), strict=False)
        return next((informer for source, informer in pairs if source.to is None), None)

    def _on_change(self, source: Source[Any], changed: CacheChange[Any]) -> None:
        for request in source.requests(changed):
            self._enqueue(request)
