"""A source that stays silent while what matters of an object stays as it is.

A cluster of the hub renews its status all the time, and a deployment counts its instances one by
one. Whoever needs to know only whether the cluster is ready, or the deployment there, would
otherwise look at everything that hangs on it, each time. What comes and what goes is always told.
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


def turning(kind: type[K], clusters: Clusters, to: To[K], aspect: Aspect[K]) -> Source[Any]:
    """A source of what ``to`` says, whenever an object comes, goes, or has another ``aspect``."""
    return _Turning(kind, clusters, to, aspect=aspect)


def presence(of: Object) -> object:
    """Whether the object is there to stay; it tells nothing else of it."""
    return of.deleting


@dataclass(frozen=True, slots=True)
class _Turning(Source[K], Generic[K]):
    aspect: Aspect[K] = presence

    def requests(self, changed: CacheChange[K]) -> Iterable[Request]:
        old, new = changed.old, changed.new
        if old is not None and new is not None and self.aspect(old) == self.aspect(new):
            return ()
        return Source.requests(self, changed)
