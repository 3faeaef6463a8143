"""A source that filters updates by a predicate, as predicates of controller-runtime do.

A cluster of the hub renews its status all the time, and a deployment counts its Instances one by
one. A mapping that depends only on whether the cluster is ready, or the deployment exists, would
otherwise requeue every object that belongs to it each time. Creations and deletions always pass.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from kubekit.api.meta import Object
from kubekit.runtime.clusters import Clusters
from kubekit.runtime.requests import Request
from kubekit.runtime.sources import Source, To
from kubekit.runtime.watching.changes import CacheChange

K = TypeVar("K", bound=Object)
Aspect = Callable[[K], object]


def mapped_on_change(
    kind: type[K], clusters: Clusters, to: To[K], aspect: Aspect[K]
) -> Source[Any]:
    """A source of the requests of ``to``, if an object is created, deleted or changes ``aspect``."""
    return _OnChange(kind, clusters, to, aspect=aspect)


def presence(of: Object) -> object:
    """The aspect of mappings that depend only on whether an object exists and is not deleting."""
    return of.deleting


@dataclass(frozen=True, slots=True)
class _OnChange(Source[K], Generic[K]):
    aspect: Aspect[K] = presence

    def requests(self, changed: CacheChange[K]) -> Iterable[Request]:
        old, new = changed.old, changed.new
        if old is not None and new is not None and self.aspect(old) == self.aspect(new):
            return ()
        return Source.requests(self, changed)
