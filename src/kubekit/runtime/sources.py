"""Where a controller's work comes from: changes of objects, turned into requests.

A source is on the clusters of one role. The request it makes names the cluster itself and keeps it,
whichever cluster the change was seen in: a hub's object asks for a look at a project's. There are
no filters, so no change, and above all no deletion, can be kept from a controller.
"""

import logging
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Final, Generic, TypeVar

from kubekit.api.meta import Object, OwnerReference
from kubekit.runtime.clusters import Clusters
from kubekit.runtime.requests import ClusterName, Request
from kubekit.runtime.watching.changes import CacheChange

_log: Final = logging.getLogger(__name__)

K = TypeVar("K", bound=Object)
To = Callable[[ClusterName, K], Iterable[Request]]


@dataclass(frozen=True, slots=True)
class Source(Generic[K]):
    """A kind that is listened to in every cluster of a role, and what a change of it asks for.

    Without ``to`` a change asks for a look at the object itself. Without ``awaited`` no pass waits
    until it sees its own writes there: that is for what is read live wherever it counts, in planes
    whose watches may stand still for long.
    """

    kind: type[K]
    clusters: Clusters
    to: To[K] | None = None
    awaited: bool = True

    def requests(self, changed: CacheChange[K]) -> Iterable[Request]:
        """What is to be looked at: for what the object was, and for what it is.

        An object that changes hands concerns its old owner as much as its new one.
        """
        if self.to is None:
            return (Request(changed.cluster, changed.namespace, changed.name),)
        asked: dict[Request, None] = {}
        for obj in (changed.old, changed.new):
            if obj is not None:
                asked |= dict.fromkeys(self._mapped(changed.cluster, obj))
        return asked

    def _mapped(self, cluster: ClusterName, obj: K) -> list[Request]:
        """The requests for one object. One that cannot be mapped must not stop the others."""
        assert self.to is not None
        try:
            return list(self.to(cluster, obj))
        except Exception:  # noqa: BLE001 - whatever it is, it is about this object alone
            where = f"{cluster}/{obj.metadata.namespace}/{obj.metadata.name}"
            about = {"kind": self.kind.RESOURCE.kind, "object": where}
            _log.exception("a change could not be mapped to requests", extra=about)
            return []


def own(kind: type[K], clusters: Clusters) -> Source[Any]:
    """Each object of the kind asks for itself."""
    return Source(kind, clusters)


def owned(kind: type[K], clusters: Clusters, owner: type[Object]) -> Source[Any]:
    """Each object of the kind asks for the ``owner`` that controls it, in the same cluster."""
    resource = owner.RESOURCE

    def to(cluster: ClusterName, obj: K) -> Iterable[Request]:
        namespace = obj.metadata.namespace if resource.namespaced else ""
        for reference in obj.metadata.owner_references:
            if reference.controller and _names(reference, owner):
                yield Request(cluster, namespace, reference.name)

    return Source(kind, clusters, to)


def mapped(kind: type[K], clusters: Clusters, to: To[K], *, awaited: bool = True) -> Source[Any]:
    """Each object of the kind asks for what ``to`` says, in the clusters that ``to`` names."""
    return Source(kind, clusters, to, awaited)


def _names(reference: OwnerReference, owner: type[Object]) -> bool:
    """Whether a reference is to this kind, in whichever version it was written."""
    group, slash, _ = reference.api_version.partition("/")
    resource = owner.RESOURCE
    return reference.kind == resource.kind and (group if slash else "") == resource.group
